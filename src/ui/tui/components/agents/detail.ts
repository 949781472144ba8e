/** The pane of the opened agent: its facts, the bar of its tabs, and one tab. The run screen decides how it is scrolled. */
import { changesOf, clip, fit, formatLimit, formatTokens, labelOf } from '../../../../app/views/index.ts';
import { type Line, lineWidth, modelText, planSoFar, restReason, runSpending } from '../../../../app/views/index.ts';
import { type Span, span, type Style, todosOf, toLabel, waitOf, spawnerName } from '../../../../app/views/index.ts';
import { wrap, wrapText, writingWords, pendingWords } from '../../../../app/views/index.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { type AgentState, isIdle, plannedChecks, type RunState, tokensOfAgent } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { type Doc, docOfLines, linesOf, pane, scrollBar, sized, strong, tint } from '../../text/blocks.ts';
import { type Editor, editorText } from '../../text/editor.ts';
import { checkMark } from '../checks.ts';
import { costLines, costText, reservedText } from '../costs.ts';
import { statusSpan, writing } from '../progress.ts';
import { lockOf, pinOf } from '../reviews.ts';
import { marked } from '../text/inline.ts';
import { changesDoc, checkTabLines, infoLines, messageLines, messagesOf, todoLines, toolsDoc } from './detail-tabs.ts';
import { overviewLines } from './overview.ts';
import { transcriptDoc, type TranscriptNow } from './transcript.ts';

/** Lines above the scrolled part: two of facts and a stroke. */
const HEAD = 3;

export interface DetailView {
  readonly agent: AgentState;
  readonly tab: Tab;
  /** All items are unfolded, except those that were folded one by one. */
  readonly open: boolean;
  readonly detail: DetailUi;
  readonly top: number;
  readonly follow: boolean;
  /** Number of lines when following stopped. */
  readonly seen: number;
  readonly focused: boolean;
  /** The overview includes the last log entries, since no other pane shows them. */
  readonly feed: boolean;
}

/** Rows of the scrolled part in a pane of `height`. */
export const detailRows = (height: number, tab: Tab): number => Math.max(0, height - 2 - headRows(height, tab));

/** A low pane has no facts, and neither has the overview, which is about the run. */
const headRows = (height: number, tab: Tab): number => (height >= 10 && tab !== 'Overview' ? HEAD : 0);

/** The whole tab in lines of at most `width - 4` columns; `rows` of them are visible. */
export function detailDoc(
  of: Pick<DetailView, 'agent' | 'tab' | 'open' | 'detail' | 'follow' | 'feed'>,
  context: Context,
  width: number,
  rows: number,
): Doc {
  const inner = Math.max(1, width - 4);
  const { agent } = of;
  const isOpen = (item: number): boolean => of.open !== of.detail.unfolded.has(`${of.tab} ${item}`);
  switch (of.tab) {
    case 'Transcript': {
      const { open, follow, detail } = of;
      // A search needs all of the transcript; a person who has scrolled must keep what was visible.
      const slices = detail.find !== null ? 'never' : follow ? 'end' : 'begun';
      const options = {
        width: inner,
        open,
        isOpen,
        unfolded: detail.unfolded,
        glyphs: context.glyphs,
        slices,
      } as const;
      const doc = transcriptDoc(agent, nowOf(agent, context), options, context);
      return doc.total > 0 ? doc : docOfLines(nothingYet(agent, context, inner));
    }
    case 'Overview':
      return docOfLines(overviewLines(context, inner, rows, of.feed));
    case 'Todos':
      return docOfLines(todoLines(agent, context, inner));
    case 'Tools':
      return toolsDoc(agent, context, inner, isOpen);
    case 'Diffs':
      return changesDoc(agent, context, inner, isOpen);
    case 'Checks':
      return docOfLines(checkTabLines(agent, context, inner));
    case 'Messages':
      return docOfLines(messageLines(agent, context, inner));
    case 'Costs':
      return docOfLines(costLines(agent, context, inner));
    default:
      return docOfLines(infoLines(agent, context, inner));
  }
}

/** What is shown below the blocks of the transcript: streaming text, thoughts and waits. */
const nowOf = (agent: AgentState, context: Context): TranscriptNow => ({
  text: liveText(context.live.get(agent.id) ?? ''),
  reasoning: context.reasoning?.get(agent.id) ?? '',
  rate: context.activity?.(agent.id).rate ?? 0,
  wait: waitOf(agent, context.now),
  rest: agent.blocks.length === 0 ? '' : (restReason(agent, context.state) ?? ''),
  writing: writing(agent, context),
});

/** The end of a streaming text, from a blank line on, so that it begins alike for some frames; the progress of a plan instead of its JSON. */
function liveText(text: string): string {
  if (text.length <= MOST_LIVE) return text;
  const plan = planSoFar(text);
  if (plan !== null) return writingWords(plan);
  const from = text.indexOf('\n\n', text.length - MOST_LIVE);
  return text.slice(from === -1 ? -MOST_LIVE : from);
}

/** Most characters of a streaming text, which is wrapped again for each frame. */
const MOST_LIVE = 16_000;

/** Exactly `height` lines of exactly `width` columns. */
export function detailPane(of: DetailView, context: Context, width: number, height: number): readonly Line[] {
  const { glyphs } = context;
  const rows = detailRows(height, of.tab);
  const doc = detailDoc(of, context, width, rows);
  const inner = Math.max(0, width - 4);
  const mark = checkMark(of.agent, context);
  const name: Line = [
    statusSpan(of.agent, context),
    span(' '),
    ...lockOf(of.agent, context),
    strong(toLabel(of.agent.name), `role:${of.agent.role}`),
    ...pinOf(of.agent),
    ...(mark.length === 0 ? [] : [span('  '), ...mark]),
  ];
  const head =
    headRows(height, of.tab) === 0
      ? []
      : [...headLines(of.agent, context, inner), [tint(glyphs.light.horizontal.repeat(inner), 'border')]];
  return pane({
    width,
    height,
    glyphs,
    focused: of.focused,
    title: name,
    titleEnd: tabBar(of, context, Math.max(12, width - 10 - Math.min(24, lineWidth(name)))),
    foot: findField(of, context),
    footEnd: footer(of, doc.total, rows, context),
    pad: 0,
    body: [...head.map((line): Line => [span(' '), ...fit(line, inner)]), ...body(of, doc, context, inner, rows)],
  });
}

/** The visible lines, the selected ones marked at the left, with the scroll bar between text and border. */
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
    return [sign, ...line, tint(bar[row] ?? ' ', 'muted')];
  });
}

/** Highlights the matches of a search within each span. */
const found = (line: Line, query: string): Line =>
  line.flatMap((whole): Line => {
    const [text, style] = whole;
    const low = text.toLowerCase();
    const hits: number[] = [];
    // Some letters have a longer lower case, which would shift the matches.
    if (low.length === text.length)
      for (let at = low.indexOf(query); at !== -1; at = low.indexOf(query, at + query.length)) hits.push(at);
    return marked(
      whole,
      hits.map((at) => ({ at, length: query.length, style: { ...style, inverse: true } })),
    );
  });

/** `/race▌` while the word is typed, `/race` afterwards. */
function findField({ detail: { find } }: DetailView, { glyphs }: Context): Line {
  if (find === null) return [];
  const text = toLabel(find.editor === null ? find.query : editorText(find.editor));
  const missed = find.editor === null && find.hit === null && find.seek === 0;
  return [
    strong('/', 'focus'),
    tint(text, missed ? 'warn' : 'fg'),
    ...(find.editor === null ? [] : [tint(glyphs.selected, 'focus')]),
    ...(missed ? [tint(' not found', 'warn')] : []),
  ];
}

function footer(of: DetailView, total: number, rows: number, { glyphs }: Context): Line {
  const end = Math.min(total, of.top + rows);
  if (of.tab !== 'Transcript') return total > rows ? [tint(`${end}/${total}`, 'muted')] : [];
  if (of.follow)
    return of.agent.outcome === null && of.agent.status !== 'pending'
      ? [tint(`following ${glyphs.ellipsis === '…' ? '▼' : 'v'}`, 'ok')]
      : [];
  const fresh = total - of.seen;
  const news = fresh > 0 ? `, ${fresh} new ${glyphs.ellipsis === '…' ? '—' : '-'}` : ` at ${end}/${total},`;
  return [tint(`scrolled${news} G to follow`, 'warn')];
}

function nothingYet(agent: AgentState, context: Context, width: number): readonly Line[] {
  const why = agent.status === 'pending' ? pendingWords(agent, context.state) : 'No messages yet.';
  if (isIdle(agent)) return idleLines(width);
  return [...wrapText(agent.task, width, { fg: 'muted' }), [], ...wrap([tint(why, 'faint')], width)];
}

/** The purpose of a run without a plan, and the keys to continue with. */
const idleLines = (width: number): readonly Line[] => [
  ...wrapText('This run has no plan. main waits for messages.', width, { fg: 'fg' }),
  [],
  ...wrap([strong('i', 'focus'), tint('  message main: it works as an agent, then waits again', 'muted')], width, 3),
  ...wrap([strong('a', 'focus'), tint('  spawn a child agent', 'muted')], width, 3),
  ...wrap([strong('d', 'focus'), tint('  detach: keep running in the background', 'muted')], width, 3),
];

export interface Find {
  readonly query: string;
  /** The field while the word is typed; null afterwards. */
  readonly editor: Editor | null;
  readonly hit: number | null;
  /** Direction of a pending search; 0 when it is done. */
  readonly seek: 1 | -1 | 0;
}

export interface DetailUi {
  /** The selected block, call or file; `visible`: a visible one, found once the size is known. */
  readonly at: number | 'visible' | null;
  /** Pending steps of the selection, taken once the size is known. */
  readonly by: number;
  /** Items folded or unfolded one by one, against the setting for all: `Tools 3`. */
  readonly unfolded: ReadonlySet<string>;
  readonly find: Find | null;
  /** The first block that was laid out in the last frame; 0 when all were. */
  readonly front: number;
}

/** The tabs of an opened agent, in their order. */
export const TABS = [
  'Overview',
  'Transcript',
  'Todos',
  'Tools',
  'Diffs',
  'Checks',
  'Messages',
  'Costs',
  'Info',
] as const;
export type Tab = (typeof TABS)[number];

/** The tabs of this agent. The overview of the run is a tab of main, unless main waits alone for its first message. */
export function tabsOf(agent: AgentState, state: RunState): readonly Tab[] {
  const hasOverview = agent.id === ROOT && !(state.idle && state.agents.size === 1);
  const hasChecks = plannedChecks(state, agent).length > 0;
  return TABS.filter((tab) => (tab !== 'Overview' || hasOverview) && (tab !== 'Checks' || hasChecks));
}

/** Two lines of facts, at most `width` columns each. */
function headLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const budgets = agent.budget.maxCost === undefined ? withoutCap(agent) : costBudget(agent, context.state);
  const first = pairs([['model', toLabel(modelText(agent.model, context.glyphs))], ...origin(agent, context.state)]);
  const second = (spent: string): Line =>
    pairs([
      ['turn', `${agent.iterations} of ${agent.maxIterations}`],
      ['tools', String(agent.toolCalls)],
      ['spent', spent],
    ]);
  const reserved = reservedText(agent);
  const whole = second(reserved === '' ? budgets : `${budgets} + ${reserved}`);
  return [clip(first, width), clip(lineWidth(whole) <= width ? whole : second(budgets), width)];
}

/** The tasks that it depends on; of an agent beside the plan, its creator; of main without a plan, that there is none. */
function origin(agent: AgentState, state: RunState): readonly (readonly [name: string, value: string])[] {
  if (agent.parent === null && state.idle) return [['plan', 'none']];
  if (agent.spawned !== null) return [['spawned by', spawnerName(agent.spawned, state)]];
  if (agent.call !== null && agent.parent !== null) return [['called by', toLabel(labelOf(state, agent.parent))]];
  const needs = agent.dependsOn.map((id) => toLabel(labelOf(state, id))).join(', ');
  return needs === '' ? [] : [['depends on', needs]];
}

const pairs = (of: readonly (readonly [name: string, value: string])[]): Line =>
  of.flatMap(([name, value], index): readonly Span[] => [
    tint(`${index === 0 ? '' : '   '}${name} `, 'faint'),
    tint(value, 'fg'),
  ]);

/** Main has the limits of the run, so the cost of the run is shown as well. */
function costBudget(agent: AgentState, state: RunState): string {
  const spent = agent.id === ROOT ? `${costText(agent)}, the run ${costText(runSpending(state))}` : costText(agent);
  return `${spent} of ${formatLimit(agent.budget.maxCost ?? 0)}`;
}

/** Tokens with their limit, and the cost where there is one. */
const withoutCap = (agent: AgentState): string =>
  agent.cost > 0 || !agent.priced ? `${costText(agent)}, ${tokenBudget(agent)}` : tokenBudget(agent);

function tokenBudget(agent: AgentState): string {
  const used = formatTokens(tokensOfAgent(agent));
  const { maxTokens } = agent.budget;
  return maxTokens === undefined ? `${used} tok` : `${used} of ${formatTokens(maxTokens)} tok`;
}

/** The tabs in at most `room` columns: all of them, at first closer together, else those around the active one. */
export function tabBar(of: { readonly agent: AgentState; readonly tab: Tab }, context: Context, room: number): Line {
  const { glyphs } = context;
  const tabs = tabsOf(of.agent, context.state);
  const stroke = ` ${glyphs.light.vertical} `;
  /** The tabs from `from` to `to`, with signs where there are more on a side. */
  const bar = (from: number, to: number, between = stroke): Line => [
    tint(from > 0 ? `${glyphs.needs} ` : '', 'faint'),
    ...tabs.slice(from, to).flatMap((tab, index): Line => {
      const name = withCount(tab, of.agent, context);
      const style: Style = tab === of.tab ? { fg: 'focus', bold: true, underline: true } : { fg: 'muted' };
      return [tint(index === 0 ? '' : between, 'border'), span(name, style)];
    }),
    tint(to < tabs.length ? ` ${glyphs.unlocks}` : '', 'faint'),
  ];
  const all = [bar(0, tabs.length), bar(0, tabs.length, '  ')].find((line) => lineWidth(line) <= room);
  if (all !== undefined) return all;
  let [from, to] = [tabs.indexOf(of.tab), tabs.indexOf(of.tab) + 1];
  const fits = (low: number, high: number): boolean =>
    low >= 0 && high <= tabs.length && lineWidth(bar(low, high)) <= room;
  // The following tabs come first.
  while (fits(from, to + 1)) to += 1;
  while (fits(from - 1, to)) from -= 1;
  return bar(from, to);
}

/** `Todos 1/5`, `Tools 19`; a tab without content has no number. */
function withCount(tab: Tab, agent: AgentState, { state }: Context): string {
  const count = COUNTS[tab]?.(agent, state) || '';
  return count === '' ? tab : `${tab} ${count}`;
}

const COUNTS: Readonly<Partial<Record<Tab, (agent: AgentState, state: RunState) => number | string>>> = {
  Todos: (agent, state) => {
    const todos = todosOf(state, agent);
    return todos.length === 0 ? '' : `${todos.filter(({ status }) => status === 'completed').length}/${todos.length}`;
  },
  Tools: ({ toolCalls }) => toolCalls,
  Diffs: (agent) => changesOf(agent).length,
  Checks: (agent, state) => plannedChecks(state, agent).length,
  Messages: (agent, state) => messagesOf(agent, state).length,
};
