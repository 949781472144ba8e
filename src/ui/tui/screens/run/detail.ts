/** The keys of the opened agent's pane: tabs, scrolling, selecting, copying and opening a block, searching. */
import { ROOT } from '../../../../domain/ids.ts';
import { type AgentState, type Block, childOf } from '../../../../events/index.ts';
import { ALL, bind, cycled, stepOf } from '../../frame/keymap.ts';
import type { Binding, Context, Effect } from '../../frame/screen.ts';
import { edit, editorText, openEditor } from '../../text/editor.ts';
import type { Input } from '../../terminal/terminal.ts';
import { type Find, type Tab, tabsOf } from '../../components/agents/detail.ts';
import { changesOf, transcriptText } from '../../../../app/views/index.ts';
import { codeOf } from '../../components/text/markdown.ts';
import { isList, NO_DETAIL, type RunUi, scrollBy, select, selectedOf, SILENT } from './state.ts';

const PAGE = 10;

/** A key that is available while the pane is focused and no search word is being typed. */
const key = (
  of: Parameters<typeof bind>[0],
  run: Binding<RunUi>['run'],
  why: Binding<RunUi>['whyNot'] = () => null,
): Binding<RunUi> =>
  bind(of, run, (ui, context) => (ui.focus === 'detail' && !isFinding(ui) ? why(ui, context) : SILENT));

const whileFinding = (ui: RunUi): string | null => (isFinding(ui) ? null : SILENT);

/** Take precedence over the keys of the screen while the pane is focused. */
export const DETAIL_KEYS: readonly Binding<RunUi>[] = [
  key('detail.scroll', (ui, _, pressed) => ({ ui: scrolled(ui, pressed) })),
  key('run.tab', (ui, context, pressed) => ({
    ui: toTab(ui, context, pressed === 'right' || pressed === 'l' ? 1 : -1),
  })),
  key('detail.select', (ui) =>
    isList(ui.tab) ? { ui: toggled(ui) } : { ui: withDetail(ui, { at: ui.detail.at === null ? 'visible' : null }) },
  ),
  key('detail.block', (ui, _, pressed) => ({ ui: stepped(ui, pressed === 'J' ? 1 : -1) })),
  key('detail.enter', entered, (ui) => (ui.detail.at === null ? SILENT : null)),
  key(
    'detail.leave',
    (ui) => ({ ui: { ...ui, detail: { ...NO_DETAIL, unfolded: ui.detail.unfolded } } }),
    (ui) => (ui.detail.find === null && (ui.detail.at === null || isList(ui.tab)) ? SILENT : null),
  ),
  key('run.unfold', (ui) => ({ ui: ui.detail.at === null ? { ...ui, open: !ui.open } : toggled(ui) })),
  key('detail.copy', copied, (ui, context) => (chosenText(ui, context) === null ? 'Nothing to copy yet.' : null)),
  key(
    'detail.copyCode',
    (ui, context) => ({ app: { copy: codeOf(chosenText(ui, context)?.text ?? ''), what: 'the code' } }),
    (ui, context) => (codeOf(chosenText(ui, context)?.text ?? '') === '' ? 'It contains no code.' : null),
  ),
  key(
    'detail.open',
    (ui, context) => ({ app: { edit: editorTextOf(ui, context), then: () => ({}) } }),
    (ui, context) => (canOpen(ui, context) ? null : 'Nothing to open yet.'),
  ),
  key('detail.find', (ui) => ({
    ui: withFind(ui, { query: '', editor: openEditor(ui.detail.find?.query ?? '', true), hit: null, seek: 0 }),
  })),
  key(
    'detail.next',
    (ui, _, pressed) => ({
      ui: ui.detail.find === null ? ui : withFind(ui, { ...ui.detail.find, seek: pressed === 'n' ? 1 : -1 }),
    }),
    (ui) => (ui.detail.find === null ? SILENT : null),
  ),
  bind('run.charts', { dialog: { is: 'charts' } }, (ui, { state }) =>
    isFinding(ui) ? SILENT : state.agents.size === 0 ? 'No agents yet.' : null,
  ),
  bind('find.take', (ui) => ({ ui: taken(ui) }), whileFinding),
  bind('find.leave', (ui) => ({ ui: withFind(ui, null) }), whileFinding),
];

/** True while a search word is being typed, so that letters go to the field. */
export const isFinding = (ui: RunUi): boolean => (ui.detail.find?.editor ?? null) !== null;

/** The effect of an input on the search field; null when the field does not use it. */
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

function scrolled(ui: RunUi, pressed: string): RunUi {
  const toEnd = pressed === 'G' || pressed === 'end';
  const by = stepOf(pressed, PAGE);
  // In a list the selection moves instead, and the pane scrolls with it.
  if (isList(ui.tab)) return stepped(ui, by);
  if (!toEnd) return scrollBy(withDetail(ui, { at: null }), by === -ALL ? -ui.top : by);
  return { ...withDetail(ui, { at: null }), follow: true, top: Number.MAX_SAFE_INTEGER };
}

const stepped = (ui: RunUi, by: number): RunUi =>
  withDetail(ui, ui.detail.at === null && !isList(ui.tab) ? { at: 'visible', by: 0 } : { by: ui.detail.by + by });

function toTab(ui: RunUi, context: Context, by: 1 | -1): RunUi {
  const agent = selectedOf(ui, context);
  return agent === undefined ? ui : withTab(ui, cycled(tabsOf(agent, context.state), ui.tab, by));
}

/** Opens another tab at its beginning; the transcript at its end. */
export const withTab = (ui: RunUi, tab: Tab): RunUi => ({
  ...ui,
  tab,
  top: 0,
  follow: tab === 'Transcript',
  detail: { ...NO_DETAIL, unfolded: ui.detail.unfolded },
});

function toggled(ui: RunUi): RunUi {
  if (typeof ui.detail.at !== 'number') return ui;
  const name = `${ui.tab} ${ui.detail.at}`;
  const unfolded = new Set(ui.detail.unfolded);
  if (!unfolded.delete(name)) unfolded.add(name);
  return withDetail(ui, { unfolded });
}

const selectedBlock = (ui: RunUi, agent: AgentState): Block | null =>
  typeof ui.detail.at === 'number' && ui.tab !== 'Diffs' ? (agent.blocks[ui.detail.at] ?? null) : null;

/** Opens the child of the selected call; unfolds any other block. */
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

/** True if there is a text to open. Asked in each frame, so the text itself is not made here. */
function canOpen(ui: RunUi, context: Context): boolean {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return false;
  return ui.detail.at === null ? agent.blocks.length > 0 : (selectedText(ui, agent)?.text ?? '') !== '';
}

function editorTextOf(ui: RunUi, context: Context): string {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return '';
  if (ui.detail.at !== null) return selectedText(ui, agent)?.text ?? '';
  return transcriptText(agent, agent.id === ROOT ? context.state.task : agent.task);
}
