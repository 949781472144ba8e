/** The keys of the opened agent's pane: tabs, scrolling, selecting a block, copying and opening it, searching. */
import { ROOT } from '../../../../domain/ids.ts';
import type { AgentState, Block } from '../../../../events/state.ts';
import type { Binding, Context, Effect } from '../../frame/screen.ts';
import { edit, editorText, openEditor } from '../../text/editor.ts';
import type { Input } from '../../terminal/terminal.ts';
import { childOf } from '../../../../events/queries.ts';
import { type Tab, TABS } from '../../components/tabs.ts';
import { changesOf } from '../../../../app/views/file-changes.ts';
import { transcriptText } from '../../../../app/views/agents/transcript-text.ts';
import { codeOf } from '../../components/text/markdown.ts';
import { isList, NO_DETAIL } from './detail-state.ts';
import { type RunUi, scrollBy, select, selectedOf } from './state.ts';
import type { Find } from '../../components/agents/detail.ts';

const SILENT = '';
const PAGE = 10;

/** Only while the pane is the one that keys go to, and no word is typed for a search. */
const inDetail = (ui: RunUi): string | null => (ui.focus === 'detail' && !isFinding(ui) ? null : SILENT);

const key = (
  of: Pick<Binding<RunUi>, 'keys' | 'action' | 'hint' | 'help'>,
  run: Binding<RunUi>['run'],
  why: Binding<RunUi>['whyNot'] = () => null,
): Binding<RunUi> => ({ ...of, whyNot: (ui, context) => inDetail(ui) ?? why(ui, context), run });

/** Before the screen's own keys: while the pane has them, these are meant. */
export const DETAIL_KEYS: readonly Binding<RunUi>[] = [
  key(
    {
      keys: ['up', 'down', 'k', 'j', 'pageup', 'pagedown', 'ctrl-u', 'ctrl-d', 'g', 'home', 'G', 'end'],
      action: 'detail.scroll',
      hint: 'scroll',
      help: 'Scroll the opened agent; in lists the next row. G goes to the end and follows what is new.',
    },
    (ui, _, pressed) => ({ ui: scrolled(ui, pressed) }),
  ),
  key(
    { keys: ['left', 'right', 'h', 'l'], action: 'run.tab', hint: 'tab', help: 'Another tab of the opened agent.' },
    (ui, _, pressed) => ({ ui: toTab(ui, pressed === 'right' || pressed === 'l' ? 1 : -1) }),
  ),
  key(
    {
      keys: [' '],
      action: 'detail.select',
      hint: 'block',
      help: 'Select a block, to copy or open it; again lets it go. In lists it unfolds the row.',
    },
    (ui) =>
      isList(ui.tab) ? { ui: toggled(ui) } : { ui: withDetail(ui, { at: ui.detail.at === null ? 'visible' : null }) },
  ),
  key(
    { keys: ['K', 'J'], action: 'detail.block', hint: '', help: 'Select the block before, or the next one.' },
    (ui, _, pressed) => ({ ui: stepped(ui, pressed === 'J' ? 1 : -1) }),
  ),
  key(
    {
      keys: ['enter'],
      action: 'detail.enter',
      hint: 'open',
      help: 'Open the selected block: the sub-agent that a call made, else its whole output.',
    },
    (ui, context) => entered(ui, context),
    (ui) => (ui.detail.at === null ? SILENT : null),
  ),
  key(
    { keys: ['esc'], action: 'detail.leave', hint: '', help: 'Let go of the selected block, or of the search.' },
    (ui) => ({ ui: { ...ui, detail: { ...NO_DETAIL, unfolded: ui.detail.unfolded } } }),
    (ui) => (ui.detail.find === null && (ui.detail.at === null || isList(ui.tab)) ? SILENT : null),
  ),
  key(
    {
      keys: ['o'],
      action: 'run.unfold',
      hint: 'unfold',
      help: 'Show folded output whole, or fold it again: of the selected block, else of all.',
    },
    (ui) => ({ ui: ui.detail.at === null ? { ...ui, open: !ui.open } : toggled(ui) }),
  ),
  key(
    {
      keys: ['y'],
      action: 'detail.copy',
      hint: 'copy',
      help: 'Copy the selected block; without one, what the agent said last.',
    },
    (ui, context) => copied(ui, context),
    (ui, context) => (chosenText(ui, context) === null ? 'There is nothing to copy yet.' : null),
  ),
  key(
    {
      keys: ['Y'],
      action: 'detail.copyCode',
      hint: '',
      help: 'Copy the code in the selected block, or in what the agent said last.',
    },
    (ui, context) => ({ app: { copy: codeOf(chosenText(ui, context)?.text ?? ''), what: 'the code' } }),
    (ui, context) => (codeOf(chosenText(ui, context)?.text ?? '') === '' ? 'There is no code in it.' : null),
  ),
  key(
    {
      keys: ['e'],
      action: 'detail.open',
      hint: 'editor',
      help: 'Open the selected block, or all of the transcript, in your editor. Changes go nowhere.',
    },
    (ui, context) => ({ app: { edit: editorTextOf(ui, context), then: () => ({}) } }),
    (ui, context) => (canOpen(ui, context) ? null : 'There is nothing to open yet.'),
  ),
  key(
    { keys: ['/'], action: 'detail.find', hint: 'find', help: 'Search in what is shown of the opened agent.' },
    (ui) => ({
      ui: withFind(ui, { query: '', editor: openEditor(ui.detail.find?.query ?? '', true), hit: null, seek: 0 }),
    }),
  ),
  key(
    { keys: ['n', 'N'], action: 'detail.next', hint: 'next', help: 'The next match of the search, or the one before.' },
    (ui, _, pressed) => ({
      ui: ui.detail.find === null ? ui : withFind(ui, { ...ui.detail.find, seek: pressed === 'n' ? 1 : -1 }),
    }),
    (ui) => (ui.detail.find === null || ui.detail.find.editor !== null ? SILENT : null),
  ),
  {
    keys: ['c'],
    action: 'run.charts',
    hint: '',
    help: 'Show spend, activity and time of the run as charts.',
    whyNot: (ui, { state }) => (isFinding(ui) ? SILENT : state.agents.size === 0 ? 'There is no agent yet.' : null),
    run: () => ({ dialog: { is: 'charts' } }),
  },
  {
    keys: ['enter'],
    action: 'find.take',
    hint: 'find',
    help: 'Go to the first match.',
    whyNot: (ui) => (isFinding(ui) ? null : SILENT),
    run: (ui) => ({ ui: taken(ui) }),
  },
  {
    keys: ['esc', 'ctrl-c'],
    action: 'find.leave',
    hint: 'cancel',
    help: 'Leave the search.',
    whyNot: (ui) => (isFinding(ui) ? null : SILENT),
    run: (ui) => ({ ui: withFind(ui, null) }),
  },
];

/** True while the word that is searched for is typed: letters are the field's. */
export const isFinding = (ui: RunUi): boolean => (ui.detail.find?.editor ?? null) !== null;

/** What the search field makes of an input; null when it isn't the field's. */
export function findTyped(ui: RunUi, input: Input): Effect<RunUi> | null {
  const { find } = ui.detail;
  if (find === null || find.editor === null) return null;
  const editor = edit(find.editor, input);
  return editor === null ? null : { ui: withFind(ui, { ...find, editor }) };
}

const withDetail = (ui: RunUi, detail: Partial<RunUi['detail']>): RunUi => ({
  ...ui,
  detail: { ...ui.detail, ...detail },
});
const withFind = (ui: RunUi, find: Find | null): RunUi => withDetail(ui, { find });

function taken(ui: RunUi): RunUi {
  const editor = ui.detail.find?.editor ?? null;
  const query = editor === null ? '' : editorText(editor).replaceAll('\n', ' ').trim();
  return withFind(ui, query === '' ? null : { query, editor: null, hit: null, seek: 1 });
}

const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -PAGE,
  'ctrl-u': -PAGE / 2,
  pagedown: PAGE,
  'ctrl-d': PAGE / 2,
};
const ALL = 1_000_000;

function scrolled(ui: RunUi, pressed: string): RunUi {
  const toEnd = pressed === 'G' || pressed === 'end';
  const by = STEPS[pressed] ?? (toEnd ? ALL : -ALL);
  // In a list the selection moves, and the pane with it.
  if (isList(ui.tab)) return stepped(ui, by);
  if (!toEnd) return scrollBy(withDetail(ui, { at: null }), by === -ALL ? -ui.top : by);
  return { ...withDetail(ui, { at: null }), follow: true, top: Number.MAX_SAFE_INTEGER };
}

const stepped = (ui: RunUi, by: number): RunUi =>
  withDetail(ui, ui.detail.at === null && !isList(ui.tab) ? { at: 'visible', by: 0 } : { by: ui.detail.by + by });

const toTab = (ui: RunUi, by: 1 | -1): RunUi =>
  withTab(ui, TABS[(TABS.indexOf(ui.tab) + by + TABS.length) % TABS.length] ?? 'Transcript');

/** Another tab of the opened agent, from its beginning; the transcript from its end. */
export function withTab(ui: RunUi, tab: Tab): RunUi {
  return { ...ui, tab, top: 0, follow: tab === 'Transcript', detail: { ...NO_DETAIL, unfolded: ui.detail.unfolded } };
}

/** The selected item the other way: folded or unfolded. */
function toggled(ui: RunUi): RunUi {
  if (typeof ui.detail.at !== 'number') return ui;
  const name = `${ui.tab} ${ui.detail.at}`;
  const unfolded = new Set(ui.detail.unfolded);
  if (!unfolded.delete(name)) unfolded.add(name);
  return withDetail(ui, { unfolded });
}

function selectedBlock(ui: RunUi, agent: AgentState): Block | null {
  return typeof ui.detail.at === 'number' && ui.tab !== 'Diffs' ? (agent.blocks[ui.detail.at] ?? null) : null;
}

/** The child of the selected call, which is then the one that is open; of all other blocks their whole text. */
function entered(ui: RunUi, context: Context): Effect<RunUi> {
  const agent = selectedOf(ui, context);
  const block = agent === undefined ? null : selectedBlock(ui, agent);
  const child = agent && block?.is === 'tool' ? childOf(block.call, agent, context.state) : undefined;
  return { ui: child === undefined ? toggled(ui) : { ...select(ui, child), tab: 'Transcript' } };
}

interface Chosen {
  readonly text: string;
  readonly what: string;
}

/** What `y` and `e` are about; null where there is nothing. */
function chosenText(ui: RunUi, context: Context): Chosen | null {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return null;
  const chosen = selectedText(ui, agent);
  return chosen === null || chosen.text.trim() === '' ? null : chosen;
}

function selectedText(ui: RunUi, agent: AgentState): Chosen | null {
  if (ui.tab === 'Diffs') {
    const change = changesOf(agent)[typeof ui.detail.at === 'number' ? ui.detail.at : 0];
    return change === undefined
      ? null
      : { text: `${change.path}\n${change.diff}\n`, what: `the changes of ${change.path}` };
  }
  const block = selectedBlock(ui, agent);
  if (block !== null) return { text: textOf(block), what: WHAT[block.is] };
  const said = agent.blocks.findLast(({ is }) => is === 'said');
  return said?.is === 'said' ? { text: said.text, what: `the last words of ${agent.name}` } : null;
}

const WHAT: Readonly<Record<Block['is'], string>> = {
  told: 'the message',
  said: 'the answer',
  tool: 'the output',
  note: 'the note',
};

function textOf(block: Block): string {
  if (block.is === 'tool') return block.output === '' ? block.label : block.output;
  return block.is === 'note' ? [block.text, block.more ?? ''].join('\n').trim() : block.text;
}

function copied(ui: RunUi, context: Context): Effect<RunUi> {
  const chosen = chosenText(ui, context);
  return chosen === null ? {} : { app: { copy: chosen.text, what: chosen.what } };
}

/** Whether there is a text to open, asked at every frame: the text itself is made when it is opened. */
function canOpen(ui: RunUi, context: Context): boolean {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return false;
  return ui.detail.at === null ? agent.blocks.length > 0 : (selectedText(ui, agent)?.text ?? '') !== '';
}

/** The selected block, else the whole transcript. */
function editorTextOf(ui: RunUi, context: Context): string {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return '';
  if (ui.detail.at !== null) return selectedText(ui, agent)?.text ?? '';
  return transcriptText(agent, agent.id === ROOT ? context.state.task : agent.task);
}
