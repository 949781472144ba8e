/** One agent in full: its facts, and one of its tabs. Where it scrolls to is the screen's; what it says is here. */
import { todosOf } from '../../../../app/views/agents/agent-lines.ts';
import { isIdle, restOf, waitOf } from '../../../../app/views/agents/wait-reason.ts';
import { type FileChange, changeOf, changesOf } from '../../../../app/views/file-changes.ts';
import { planSoFar, writingWords } from '../../../../app/views/plan/plan-words.ts';
import { fit, lineWidth, span, spread } from '../../../../app/views/text/clip.ts';
import { counted, formatClock } from '../../../../app/views/text/format.ts';
import type { Ink, Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import type { AgentState, Block } from '../../../../events/state.ts';
import type { Context } from '../../frame/screen.ts';
import { box } from '../../text/box.ts';
import { sized } from '../../text/compose.ts';
import { editorText, type Editor } from '../../text/editor.ts';
import { costLines } from '../money/costs.ts';
import { lockOf, pinOf } from '../plan/mandatory-reviews.ts';
import type { Tab } from '../tabs.ts';
import { countSpans, diffLines } from '../text/diff.ts';
import { type Doc, type Part, docOf, docOfLines, GAP, linesOf } from '../text/doc.ts';
import { factLines } from './facts.ts';
import { linkOf } from '../text/links.ts';
import { transcriptDoc, type TranscriptNow } from './transcript.ts';
import { todoLine } from './card.ts';
import { scrollBar } from './cards.ts';
import { headLines, messageLines, tabBar } from './detail-head.ts';
import { pendingText, writing } from './doing.ts';
import { type ToolCall, rail, toolMeta } from './tool-block.ts';
import { statusSpan } from '../plan/status.ts';

/** Lines above the scrolled part: two of facts and a stroke. */
const HEAD = 3;

export interface DetailView {
  readonly agent: AgentState;
  readonly tab: Tab;
  /** Everything is unfolded, but for what was folded by itself. */
  readonly open: boolean;
  readonly detail: DetailUi;
  readonly top: number;
  readonly follow: boolean;
  /** Lines that there were when following stopped. */
  readonly seen: number;
  readonly focused: boolean;
}

/** Rows of the scrolled part in a pane of `height`. */
export const detailRows = (height: number): number => Math.max(0, height - 2 - headRows(height));

/** In a very low pane the facts give way to the transcript. */
const headRows = (height: number): number => (height >= 10 ? HEAD : 0);

/** All of the tab; its lines take at most `width - 4` columns each. */
export function detailDoc(
  of: Pick<DetailView, 'agent' | 'tab' | 'open' | 'detail' | 'follow'>,
  context: Context,
  width: number,
): Doc {
  const inner = Math.max(1, width - 4);
  const { agent } = of;
  const isOpen = (item: number): boolean => of.open !== of.detail.unfolded.has(`${of.tab} ${item}`);
  switch (of.tab) {
    case 'Transcript': {
      const { open, follow, detail } = of;
      // Who searches means all of it; who has scrolled must find again what was in sight.
      const slices = detail.find !== null ? 'never' : follow ? 'end' : 'begun';
      const look = { width: inner, open, isOpen, unfolded: detail.unfolded, glyphs: context.glyphs, slices } as const;
      const doc = transcriptDoc(agent, nowOf(agent, context), look, context);
      return doc.total > 0 ? doc : docOfLines(nothingYet(agent, context, inner));
    }
    case 'Todos':
      return docOfLines(todos(agent, context, inner));
    case 'Tools':
      return toolsDoc(agent, context, inner, { isOpen, at: of.detail.at });
    case 'Diffs':
      return changesDoc(agent, context, inner, { isOpen, at: of.detail.at });
    case 'Messages':
      return docOfLines(messageLines(agent, context, inner));
    case 'Costs':
      return docOfLines(costLines(agent, context, inner));
    default:
      return docOfLines(factLines(agent, context, inner));
  }
}

/** What belongs below the transcript's blocks right now. Main is given more of its text for the plan; here its end is enough. */
const nowOf = (agent: AgentState, context: Context): TranscriptNow => ({
  text: liveText(context.live.get(agent.id) ?? ''),
  reasoning: context.reasoning?.get(agent.id) ?? '',
  rate: context.activity?.(agent.id).rate ?? 0,
  wait: waitOf(agent, context.now),
  rest: agent.blocks.length === 0 ? '' : (restOf(agent, context.state) ?? ''),
  writing: writing(agent, context),
});

/** Of a plan, how far it is: its JSON is for the program. */
function liveText(text: string): string {
  const plan = text.length > MOST_LIVE ? planSoFar(text) : null;
  return plan === null ? text.slice(-MOST_LIVE) : writingWords(plan);
}

/** Characters of what streams that are wrapped anew for each frame. */
const MOST_LIVE = 16_000;

/** Exactly `height` lines of exactly `width` columns. */
export function detailPane(of: DetailView, context: Context, width: number, height: number): readonly Line[] {
  const { glyphs } = context;
  const doc = detailDoc(of, context, width);
  const rows = detailRows(height);
  const inner = Math.max(0, width - 4);
  const name: Line = [
    statusSpan(of.agent, context),
    span(' '),
    ...lockOf(of.agent, context),
    span(toLabel(of.agent.name), { fg: `role:${of.agent.role}`, bold: true }),
    ...pinOf(of.agent),
  ];
  const head =
    headRows(height) === 0
      ? []
      : [...headLines(of.agent, context, inner), [span(glyphs.light[4].repeat(inner), { fg: 'border' })]];
  return box({
    width,
    height,
    glyphs,
    border: of.focused ? 'heavy' : 'light',
    style: { fg: of.focused ? 'focus' : 'border' },
    title: name,
    titleEnd: tabBar(of, context, Math.max(12, width - 10 - Math.min(24, lineWidth(name)))),
    foot: findField(of, context),
    footEnd: footer(of, doc.total, rows, context),
    pad: 0,
    body: [...head.map((line): Line => [span(' '), ...fit(line, inner)]), ...body(of, doc, context, inner, rows)],
  });
}

/** The visible lines, the selected ones marked at their left, and the bar in the column between text and border. */
function body(of: DetailView, doc: Doc, { glyphs }: Context, inner: number, rows: number): readonly Line[] {
  const bar = scrollBar(of.top, doc.total, rows, glyphs.scroll);
  const shown = linesOf(doc, of.top, of.top + rows);
  const query = of.detail.find?.query.toLowerCase() ?? '';
  return sized(
    shown.map(({ line }) => (query === '' ? line : found(line, query))),
    inner,
    rows,
  ).map((line, row): Line => {
    const marked = of.focused && of.detail.at !== null && shown[row]?.item === of.detail.at;
    const sign: Span = marked ? [glyphs.selected, { fg: 'focus', bold: true }] : span(' ');
    return [sign, ...line, span(bar[row] ?? ' ', { fg: 'muted' })];
  });
}

/** What was searched for stands out, where it is in one piece. */
const found = (line: Line, query: string): Line =>
  line.flatMap(([text, style]): Line => {
    const out: Span[] = [];
    let at = 0;
    const low = text.toLowerCase();
    // Lower case of a few letters is longer: those lines are left as they are.
    if (low.length !== text.length) return [[text, style]];
    for (let next = low.indexOf(query); next !== -1; next = low.indexOf(query, at)) {
      if (next > at) out.push([text.slice(at, next), style]);
      out.push([text.slice(next, next + query.length), { ...style, inverse: true }]);
      at = next + query.length;
    }
    return at === 0 ? [[text, style]] : at < text.length ? [...out, [text.slice(at), style]] : out;
  });

/** `/race▌` while it is typed, `/race` afterwards. */
function findField({ detail: { find } }: DetailView, { glyphs }: Context): Line {
  if (find === null) return [];
  const text = toLabel(find.editor === null ? find.query : editorText(find.editor));
  const missed = find.editor === null && find.hit === null && find.seek === 0;
  return [
    span('/', { fg: 'focus', bold: true }),
    span(text, { fg: missed ? 'warn' : 'fg' }),
    ...(find.editor === null ? [] : [span(glyphs.selected, { fg: 'focus' })]),
    ...(missed ? [span(' not found', { fg: 'warn' })] : []),
  ];
}

function footer(of: DetailView, total: number, rows: number, { glyphs }: Context): Line {
  const end = Math.min(total, of.top + rows);
  if (of.tab !== 'Transcript') return total > rows ? [span(`${end}/${total}`, { fg: 'muted' })] : [];
  if (of.follow)
    return of.agent.outcome === null && of.agent.status !== 'pending'
      ? [span(`following ${glyphs.ellipsis === '…' ? '▼' : 'v'}`, { fg: 'ok' })]
      : [];
  const fresh = total - of.seen;
  const news = fresh > 0 ? `, ${fresh} new ${glyphs.ellipsis === '…' ? '—' : '-'}` : ` at ${end}/${total},`;
  return [span(`paused${news} G to follow`, { fg: 'warn' })];
}

function nothingYet(agent: AgentState, context: Context, width: number): readonly Line[] {
  const why = agent.status === 'pending' ? pendingText(agent, context) : 'Nothing was said yet.';
  if (isIdle(agent)) return idleLines(width);
  return [...wrapText(agent.task, width, { fg: 'muted' }), [], ...wrap([span(why, { fg: 'faint' })], width)];
}

/** What a run without a plan is for, and which keys go on from here. */
const idleLines = (width: number): readonly Line[] => [
  ...wrapText('This run has no plan: main waits for what it is told.', width, { fg: 'fg' }),
  [],
  ...wrap(
    [
      span('i', { fg: 'focus', bold: true }),
      span('  writes to main: it works as an agent, then waits again', { fg: 'muted' }),
    ],
    width,
    3,
  ),
  ...wrap(
    [span('a', { fg: 'focus', bold: true }), span('  spawns a child that works beside it', { fg: 'muted' })],
    width,
    3,
  ),
  ...wrap(
    [span('d', { fg: 'focus', bold: true }), span('  lets the run go on without this screen', { fg: 'muted' })],
    width,
    3,
  ),
];

function todos(agent: AgentState, context: Context, width: number): readonly Line[] {
  const list = todosOf(context.state, agent);
  if (list.length === 0)
    return wrap([span('No todo list yet: the agent writes it in its first turn.', { fg: 'faint' })], width);
  return list.flatMap((todo) => wrap(todoLine(todo, context), width, 2));
}

// The Diffs tab: the files that an agent changed, each with its counts, and its hunks where it was opened.

/** Where there are this few, they needn't be opened to be seen. */
const FEW = 3;

/** One part a file; its item is its number in `changesOf`. */
function changesDoc(agent: AgentState, context: Context, width: number, look: ListLook): Doc {
  const changes = changesOf(agent);
  if (changes.length === 0)
    return docOfLines(
      wrap([span('It changed no file. What a command changed is not seen here.', { fg: 'faint' })], width),
    );
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  const total: Line = spread(
    [span(counted(changes.length, 'file'), { fg: 'title', bold: true }), span(' changed', { fg: 'muted' })],
    countSpans({ added, removed }),
    width,
  );
  const files = changes.flatMap((change, item): readonly Part[] => {
    const open = look.isOpen(item) !== changes.length <= FEW;
    const part = { item, lines: fileLines(change, open, context, width) };
    return open ? [part, GAP] : [part];
  });
  return docOf([{ item: null, lines: [total] }, GAP, ...files]);
}

function fileLines(change: FileChange, open: boolean, { glyphs, state }: Context, width: number): readonly Line[] {
  const link = linkOf(change.path, state.cwd);
  const head = spread(
    [
      span(`${open ? glyphs.todo.active : glyphs.bullet} `, { fg: 'focus' }),
      span(toLabel(change.path), { fg: 'title', bold: true, ...(link === null ? {} : { link }) }),
      span(change.made ? '  new' : '', { fg: 'ok' }),
    ],
    countSpans(change),
    width,
    {},
    glyphs.ellipsis,
  );
  if (!open) return [head];
  const body = diffLines(change.diff, Math.max(1, width - 2), glyphs.ellipsis);
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

// The Tools tab: every call of an agent in one row, its output under the row that was opened.

interface ListLook {
  isOpen(item: number): boolean;
  readonly at: number | 'visible' | null;
}

/** The calls of an agent, oldest first, each with its place among the blocks. */
const callsIn = (blocks: readonly Block[]): readonly { readonly item: number; readonly block: ToolCall }[] =>
  blocks.flatMap((block, item) => (block.is === 'tool' ? [{ item, block }] : []));

/** One part a call; its item is the number of its block. */
function toolsDoc(agent: AgentState, context: Context, width: number, look: ListLook): Doc {
  const calls = callsIn(agent.blocks);
  if (calls.length === 0) return docOfLines(wrap([span('No tool was called yet.', { fg: 'faint' })], width));
  return docOf(
    calls.map(({ item, block }): Part => {
      const row = toolRow(block, context, width);
      return { item, lines: look.isOpen(item) ? [row, ...output(block, context, width)] : [row] };
    }),
  );
}

/** `✓ 20:31:02 read src/a.ts          142 lines · 0.1s` */
function toolRow(block: ToolCall, context: Context, width: number): Line {
  const known = ROWS.get(block);
  const key = `${width}:${context.glyphs.ellipsis}`;
  if (known?.key === key) return known.row;
  const { glyphs } = context;
  const [sign, ink]: readonly [string, Ink] =
    block.ok === null
      ? [glyphs.status.running, 'ok']
      : block.ok
        ? [glyphs.status.completed, 'ok']
        : [glyphs.status.failed, 'err'];
  const [verb = '', ...rest] = toLabel(block.label).split(' ');
  const left: Line = [
    span(`${sign} `, { fg: ink, bold: block.ok === false }),
    span(width >= 60 ? `${formatClock(block.started)}  ` : '', { fg: 'faint' }),
    span(verb, { fg: block.ok === false ? 'err' : 'title', bold: true }),
    span(rest.length > 0 ? ` ${rest.join(' ')}` : '', { fg: 'muted' }),
  ];
  const trimmed = block.output.trimEnd();
  const row = spread(
    left,
    toolMeta(block, trimmed === '' ? 0 : trimmed.split('\n').length, glyphs),
    width,
    {},
    glyphs.ellipsis,
  );
  ROWS.set(block, { key, row });
  return row;
}

const ROWS = new WeakMap<Block, { readonly key: string; readonly row: Line }>();

function output(block: ToolCall, { glyphs }: Context, width: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const change = changeOf(block);
  if (change !== null) return rail(diffLines(change.diff, inner, glyphs.ellipsis), glyphs);
  const text = block.output.trimEnd();
  const said = text === '' ? (block.ok === null ? 'It runs still.' : 'It gave nothing.') : text;
  return rail(wrapText(said, inner, { fg: text === '' ? 'faint' : block.ok === false ? 'err' : 'muted' }), glyphs);
}

export interface Find {
  readonly query: string;
  /** The field while it is typed; null when it was taken. */
  readonly editor: Editor | null;
  /** Line of the match that was gone to. */
  readonly hit: number | null;
  /** Where to go next; 0 when it was done. */
  readonly seek: 1 | -1 | 0;
}

export interface DetailUi {
  /** The selected block, call or file; `visible`: the one in sight, found once the size is known. */
  readonly at: number | 'visible' | null;
  /** Steps to another one, taken once the size is known. */
  readonly by: number;
  /** Items that are the other way than all the others: `Tools 3`. */
  readonly unfolded: ReadonlySet<string>;
  readonly find: Find | null;
  /** The first block that was laid out when it was last looked at; 0 when all were. */
  readonly front: number;
}
