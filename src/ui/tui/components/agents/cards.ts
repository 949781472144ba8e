/** The pane of the agents as cards of five rows or as a table with one row each. Only the visible ones are composed. */
import { agentShare, agentTime, clip, expectedTask, fit, fitText, formatCost } from '../../../../app/views/index.ts';
import { formatDuration, formatShare, formatTokens, indentOf } from '../../../../app/views/index.ts';
import { type LimitShare, type Line, lineWidth, neverRan, restyle, type Span } from '../../../../app/views/index.ts';
import { span, spread, subtreeOf, todosOf, toLabel, widthOf, wrapText } from '../../../../app/views/index.ts';
import { type AgentId, type Millis, ROOT } from '../../../../domain/ids.ts';
import type { Todo } from '../../../../domain/turn.ts';
import { type AgentState, isIdle, tokensOfAgent } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { blank, box, scrollBar, sized, strong, tint } from '../../text/blocks.ts';
import { aboutSign, costText, gauge, inkOfShare } from '../costs.ts';
import { shownSign } from '../header.ts';
import { clipName, fittingModel, longestName } from '../names.ts';
import { doing, bareDoing, oneLine, statusSpan } from '../progress.ts';
import { lockOf, pinOf } from '../reviews.ts';
import { FEW } from './list.ts';

export type Density = 'card' | 'line';
export type DensitySetting = Density | 'auto';
const CARD_ROWS = 5;
const ROWS: Readonly<Record<Density, number>> = { card: CARD_ROWS, line: 1 };
const HEAD: Readonly<Record<Density, number>> = { card: 0, line: 1 };

/** The density for `count` agents, main included, in `rows` rows: cards for a few that all fit, else the table. */
export const densityFor = (wish: DensitySetting, count: number, rows: number): Density =>
  wish !== 'auto' ? wish : count <= FEW + 1 && count * CARD_ROWS <= rows ? 'card' : 'line';

/** Rows that `count` agents take, the headings included. */
export const rowsFor = (density: Density, count: number): number => HEAD[density] + count * ROWS[density];

/** The index of the agent in row `y` of the pane; negative in the headings. */
export const agentRowAt = (density: Density, top: number, y: number): number =>
  y < HEAD[density] ? -1 : Math.floor((top + y - HEAD[density]) / ROWS[density]);

interface CardOptions {
  readonly selected: boolean;
  /** The keys go to the pane of the cards. */
  readonly focused: boolean;
  /** Number of descendants that a fold hides. */
  readonly hidden: number;
  /** Levels below its ancestors in the list. */
  readonly indent: number;
}

export interface CardsView {
  readonly agents: readonly AgentState[];
  readonly selected: number;
  readonly density: Density;
  /** First row shown. */
  readonly top: number;
  readonly focused: boolean;
  /** A filter may hide all agents. */
  readonly cut?: boolean;
  /** Agents whose descendants are hidden; their rows show the number. */
  readonly folded?: ReadonlySet<AgentId>;
  /** Queued agents that share the row of the first of them. */
  readonly queue?: readonly AgentState[];
}

/** The first row to show so that the whole selected agent is visible, as near to `top` as possible. */
export function topFor(top: number, selected: number, density: Density, count: number, height: number): number {
  const rows = ROWS[density];
  const from = selected * rows;
  const room = height - HEAD[density];
  const most = Math.max(0, count * rows - room);
  const seen = Math.max(Math.min(top, from), Math.min(from, from + rows - room));
  return Math.max(0, Math.min(seen, most));
}

/** Exactly `height` lines of exactly `width` columns; the last column is the scroll bar. */
export function cardsPane(of: CardsView, context: Context, width: number, height: number): readonly Line[] {
  if (of.agents.length === 0) return emptyPane(of.cut === true, context, width, height);
  const rows = ROWS[of.density];
  const inner = Math.max(0, width - 1);
  const heads = of.density === 'line' ? [headRow(context, inner)] : [];
  const room = Math.max(0, height - heads.length);
  const first = Math.floor(of.top / rows);
  const lines: Line[] = [];
  for (let at = first; at < of.agents.length && lines.length < room + rows; at++) {
    const agent = of.agents[at];
    if (agent)
      lines.push(
        ...one(agent, context, inner, of, {
          selected: at === of.selected,
          focused: of.focused,
          indent: isBelow(agent, of.agents[at - 1]) ? indentOf(agent) : 0,
          hidden: of.folded?.has(agent.id) === true ? subtreeOf(context.state, agent).below : 0,
        }),
      );
  }
  const shown = [...heads, ...sized(lines.slice(of.top - first * rows), inner, room)].slice(0, height);
  const bar = ['', ...scrollBar(of.top, of.agents.length * rows, room, context.glyphs.scroll)].slice(1 - heads.length);
  return shown.map((line, row) => [...line, tint(bar[row] || ' ', 'muted')].slice(width > 0 ? 0 : line.length));
}

/** True if the agent is listed within the subtree of its parent; an order or a filter may have moved it. */
const isBelow = ({ parent }: AgentState, before: AgentState | undefined): boolean =>
  parent !== null && before !== undefined && (before.id === parent || before.id.startsWith(`${parent}::`));

function emptyPane(cut: boolean, context: Context, width: number, height: number): readonly Line[] {
  const words = cut
    ? 'No matching agents. Esc clears the filter.'
    : context.state.phase === 'finished'
      ? 'No agents were started.'
      : 'Agents appear here when they start.';
  const middle = Math.floor(height / 2);
  return blank(width, height).map((line, row) => (row === middle ? fit([tint(`  ${words}`, 'faint')], width) : line));
}

function one(
  agent: AgentState,
  context: Context,
  width: number,
  { density, queue = [] }: CardsView,
  options: CardOptions,
): readonly Line[] {
  if (density === 'card') return card(agent, context, width, options);
  const room = Math.max(0, width - 1);
  const row = agent === queue[0] ? queueRow(queue, context, room) : agentRow(agent, context, room, options);
  const mark = tint(options.selected ? context.glyphs.selected : ' ', options.focused ? 'focus' : 'muted');
  const line = fit([mark, ...row], width);
  return [options.selected ? restyle(line, { bg: 'selection' }) : line];
}

// The cards.

const TODOS = 3;

/** Exactly five lines of exactly `width` columns. */
export function card(agent: AgentState, context: Context, width: number, options: CardOptions): readonly Line[] {
  const { glyphs } = context;
  return box({
    width,
    height: CARD_ROWS,
    glyphs,
    kind: 'card',
    border: options.selected ? 'heavy' : 'light',
    style: { fg: options.selected ? (options.focused ? 'focus' : 'muted') : 'border' },
    title: title(agent, context, width, options.indent),
    titleEnd: metrics(agent, context, width),
    foot: doing(agent, context),
    footEnd: [...foldedSpans(options.hidden), ...subtreeSpans(agent, context), ...budget(agent, context, width)],
    body: todoLines(agent, context, Math.max(0, width - 5)).map((line): Line => [span(' '), ...line]),
  });
}

/** `● ╰ finder  haiku-4.5`; only the used model, `→ offline`, where the requested one does not fit beside it. */
function title(agent: AgentState, context: Context, width: number, indent: number): Line {
  const { glyphs } = context;
  const free = width - lineWidth(metrics(agent, context, width)) - 9;
  const name: Line = [
    statusSpan(agent, context),
    tint(' ', 'faint'),
    ...nameLine(agent, context, indent, Math.max(8, free - 2 - lineWidth(pinOf(agent)))),
    ...pinOf(agent),
  ];
  const room = free - lineWidth(name);
  const model = fittingModel(agent.model, room, glyphs);
  // A few letters of a model are unreadable.
  return width < 34 || room < Math.min(6, widthOf(model)) ? name : [...name, tint(`  ${model}`, 'muted')];
}

/** `╰ ▣ finder 2`, indented by two columns per level, with the name in the rest of `room` columns. */
function nameLine(agent: AgentState, context: Context, indent: number, room: number): Line {
  const child = indent === 0 ? '' : `${' '.repeat(2 * (indent - 1))}${context.glyphs.child} `;
  const before: Line = [tint(child, 'faint'), ...lockOf(agent, context)];
  const name = clipName(agent.name, Math.max(1, room - lineWidth(before)));
  return [...before, strong(name, `role:${agent.role}`)];
}

/** `2m 13s · $0.12 · 31k tok`; empty for an agent that never ran. */
function metrics(agent: AgentState, context: Context, width: number): Line {
  if (neverRan(agent)) return [];
  const dot = tint(` ${context.glyphs.dot} `, 'faint');
  const about = aboutSign(agent, context);
  const tokens = `${about}${formatTokens(tokensOfAgent(agent))}`;
  const parts: Span[] = [tint(formatDuration(agentTime(agent, context.state, context.now)), 'fg')];
  if (width >= 30) parts.push(dot, strong(`${about}${costText(agent)}`, 'fg'));
  if (width >= 44) parts.push(dot, tint(width >= 70 ? `${tokens} tok` : tokens, 'muted'));
  return parts;
}

/** An agent is near a limit from this share of it on. */
const NEAR = 0.8;

/** The share of its limits that is shown for an agent. Null without limits, before it starts, and after its end, where a low share would
 * read as remaining work; an agent that came near a limit keeps its share. Null for main, whose limits are those of the run. */
function shareShown(agent: AgentState, { state, now }: Context): LimitShare | null {
  const share = agent.id === ROOT || neverRan(agent) ? null : agentShare(state, agent, now);
  return share === null || (agent.outcome !== null && share.spent < NEAR) ? null : share;
}

/** `▰▰▰▰·  79%`, from 80 % on with words: `near its limit ▰▰▰▰·  87%`. Empty without a budget. */
function budget(agent: AgentState, context: Context, width: number): Line {
  const share = shareShown(agent, context);
  if (share === null) return [];
  const { spent } = share;
  const near = spent >= NEAR;
  const ink = near ? inkOfShare(spent) : 'muted';
  return [
    ...(near ? [tint(nearWords(spent, agent, width), ink)] : []),
    ...gauge(share, 5, context.glyphs),
    span(` ${formatShare(spent).padStart(4)}`, { fg: ink, bold: near }),
  ];
}

/** A finished agent, and a narrow card, have a sign instead of words. */
function nearWords(share: number, { outcome }: AgentState, width: number): string {
  if (width < 70 || outcome !== null) return '! ';
  return share >= 1 ? 'limit reached ' : 'near its limit ';
}

const foldedSpans = (hidden: number): Line => (hidden === 0 ? [] : [strong(`+${hidden} hidden `, 'info')]);

/** `Σ $0.08 `: the cost of an agent with its descendants, where that is more than its own; empty for main. */
function subtreeSpans(agent: AgentState, { state, glyphs }: Context): Line {
  if (agent.parent === null || agent.children.length === 0) return [];
  const { cost, priced } = subtreeOf(state, agent);
  const sign = glyphs.ellipsis === '…' ? 'Σ' : 'all';
  return cost <= agent.cost ? [] : [tint(`${sign} ${costText({ cost, priced })} `, 'muted')];
}

/** The three todos around the current one; for a finished agent the task and the number of todos done; without todos the task. */
function todoLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const todos = todosOf(context.state, agent);
  if (todos.length === 0) return withoutTodos(agent, context, width);
  if (agent.outcome !== null) return finishedLines(agent, todos, width);
  const from = windowStart(todos);
  const shown = todos.slice(from, from + TODOS);
  const more = todos.length - shown.length;
  return shown.map((todo, index) => {
    const last = index === TODOS - 1 && more > 0;
    return last
      ? spread(todoLine(todo, context), [tint(`... +${more} more`, 'muted')], width)
      : todoLine(todo, context);
  });
}

/** The task and `3/5 todos`. Open todos are not listed, since they would look unfinished. */
function finishedLines(agent: AgentState, todos: readonly Todo[], width: number): readonly Line[] {
  const done = todos.filter(({ status }) => status === 'completed').length;
  const task = wrapText(oneLine(agent.task), Math.max(1, width), { fg: 'muted' }).slice(0, TODOS - 1);
  return [...task, [tint(`${done}/${todos.length} todos`, 'faint')]];
}

function withoutTodos(agent: AgentState, context: Context, width: number): readonly Line[] {
  const faint = agent.status === 'pending' ? 'faint' : 'muted';
  const task = wrapText(oneLine(agent.task), Math.max(1, width), { fg: faint });
  const last = TODOS - 1;
  if (task.length <= TODOS) return [...task, ...underTask(agent, context, width).slice(0, TODOS - task.length)];
  const more = tint(` ${context.glyphs.ellipsis}`, 'faint');
  return [...task.slice(0, last), clip([...(task[last] ?? []), more], width)];
}

/** The lines below the task: the error where the foot is too short for it, the estimate before the start, else the last tool calls. */
function underTask(agent: AgentState, context: Context, width: number): readonly Line[] {
  const error = oneLine(agent.error ?? agent.reason);
  if (isIdle(agent) && agent.blocks.length === 0) return idleKeys(context);
  if (agent.status === 'failed' && widthOf(error) > width - 14)
    return wrapText(error, Math.max(1, width), { fg: 'err' });
  return neverRan(agent) ? expected(agent, context) : lastDeeds(agent, context);
}

/** The keys to continue with, before anything has happened. */
const idleKeys = ({ state }: Context): readonly Line[] =>
  state.finished === null
    ? [
        [strong('i', 'focus'), tint(' message main: it works, then waits again', 'faint')],
        [strong('a', 'focus'), tint(' spawn a child agent', 'faint')],
      ]
    : [];

/** `est. 1m 10s · $0.05`, from the plan; empty for an agent without a task. */
function expected({ taskId, outcome }: AgentState, { state, glyphs }: Context): readonly Line[] {
  const planned = outcome === null ? state.plan?.tasks.find(({ id }) => id === taskId) : undefined;
  if (planned === undefined) return [];
  const task = expectedTask(planned, state);
  const cost = task.estimatedCost ?? 0;
  const money = cost > 0 ? formatCost(cost) : `${formatTokens(task.estimatedTokens)} tokens`;
  const time = formatDuration(task.estimatedSeconds * 1000);
  return [[tint(`est. ${time} ${glyphs.dot} ${money}`, 'faint')]];
}

/** `✓ Search refreshToken`: the last finished calls, the newest at the bottom. */
function lastDeeds({ blocks }: AgentState, { glyphs }: Context): readonly Line[] {
  const lines: Line[] = [];
  for (let at = blocks.length - 1; at >= 0 && lines.length < TODOS - 1; at--) {
    const block = blocks[at];
    if (block?.is !== 'tool' || block.ok === null) continue;
    const sign = glyphs.status[block.ok ? 'completed' : 'failed'];
    lines.unshift([tint(`${sign} `, block.ok ? 'ok' : 'err'), tint(oneLine(block.label), 'faint')]);
  }
  return lines;
}

/** `▸ Explain the race`. */
export function todoLine(todo: Todo, { glyphs }: Context): Line {
  const sign = tint(`${glyphs.todo[todo.status]} `, todo.status === 'pending' ? 'faint' : 'ok');
  const ink = todo.status === 'active' ? 'title' : todo.status === 'completed' ? 'faint' : 'muted';
  return [sign, tint(oneLine(todo.description), ink)];
}

/** Index of the first shown todo: the last one done, the current and the next one are shown. */
function windowStart(todos: readonly Todo[]): number {
  const current = currentTodo(todos);
  const wanted = current === -1 ? todos.length - TODOS : current - 1;
  return Math.max(0, Math.min(wanted, todos.length - TODOS));
}

const currentTodo = (todos: readonly Todo[]): number => {
  const active = todos.findIndex(({ status }) => status === 'active');
  return active !== -1 ? active : todos.findIndex(({ status }) => status !== 'completed');
};

// The table. Its columns depend on the width only, so that all rows are aligned.

/** Widths of the columns, the blank before each included; 0 for a column that is left out. */
type Columns = Readonly<Record<'name' | 'model' | 'budget' | 'cost' | 'time' | 'tokens', number>>;

type Breakpoint = readonly [from: number, columns: Columns];

const TABLE: readonly [Breakpoint, ...Breakpoint[]] = [
  [96, { name: 20, model: 13, budget: 11, cost: 10, time: 9, tokens: 7 }],
  [76, { name: 16, model: 0, budget: 11, cost: 10, time: 9, tokens: 0 }],
  [58, { name: 13, model: 0, budget: 9, cost: 8, time: 8, tokens: 0 }],
  [46, { name: 12, model: 0, budget: 6, cost: 8, time: 8, tokens: 0 }],
  [38, { name: 12, model: 0, budget: 0, cost: 8, time: 8, tokens: 0 }],
  [24, { name: 12, model: 0, budget: 0, cost: 0, time: 8, tokens: 0 }],
  [0, { name: 12, model: 0, budget: 0, cost: 0, time: 0, tokens: 0 }],
];

/** Columns of the sign and the blank before the name. */
const SIGN = 2;

/** The activity column begins with the cost of the subtree from this width on. */
const WIDE_SUM = 18;

/** The columns of a table of `width`: the name has those of the longest, the activity the rest. */
function columnsIn(width: number, { state }: Context): Columns & { readonly words: number } {
  const [, at] = TABLE.find(([from]) => width >= from) ?? TABLE[0];
  const others = SIGN + at.model + at.budget + at.cost + at.time + at.tokens;
  const most = Math.max(at.name, Math.floor((width - others) * 0.6));
  const name = Math.max(at.name, Math.min(most, longestName(state).indented));
  return { ...at, name, words: width - others - name };
}

function headRow(context: Context, width: number): Line {
  const at = columnsIn(Math.max(0, width - 1), context);
  const text = [
    ' '.repeat(1 + SIGN) + fitText('agent', at.name, 'left', ''),
    at.model > 1 ? ` ${fitText('model', at.model - 1, 'left', '')}` : '',
    at.words > 8 ? ` ${fitText('activity', at.words - 1, 'left', '')}` : ' '.repeat(Math.max(0, at.words)),
    ...(['budget', 'cost', 'time', 'tokens'] as const).map((name) => name.padStart(at[name]).slice(0, at[name])),
  ].join('');
  return fit([tint(text, 'faint')], width);
}

/** `● finder 2   Search legacyRefresh   ▰▰▱ 37%  $0.03   12s`, in exactly `width` columns. */
function agentRow(agent: AgentState, context: Context, width: number, { hidden, indent }: CardOptions): Line {
  const at = columnsIn(width, context);
  const head = [...nameCell(agent, context, at.name, indent), ...modelCell(agent, context, at.model)];
  const words = bareDoing(agent, context);
  // An agent without figures shows in their columns why it waits.
  if (neverRan(agent)) return fit([...head, ...cell(words, width - lineWidth(head))], width);
  const below = at.words < WIDE_SUM ? [] : subtreeSpans(agent, context);
  return fit(
    [
      ...head,
      ...cell([...foldedSpans(hidden), ...below, ...words], at.words),
      ...budgetCell(agent, context, at.budget),
      ...numbers(agent, context, at),
    ],
    width,
  );
}

/** `○ 28 queued   Space lists them: tester 2, librarian 2, …` */
function queueRow(queue: readonly AgentState[], context: Context, width: number): Line {
  const at = columnsIn(width, context);
  const names = queue.slice(0, 8).map(({ name }) => toLabel(name));
  const head: Line = [
    shownSign('queued', context.glyphs),
    strong(` ${fitText(`${queue.length} queued`, at.name, 'left', '')}`, 'muted'),
  ];
  const words = [tint('Space lists them: ', 'info'), tint(names.join(', '), 'faint')];
  return fit([...head, ...cell(words, width - lineWidth(head))], width);
}

/** `▰▰▱ 37%`: spent solid, reserved hollow; blank without a share to show. */
function budgetCell(agent: AgentState, context: Context, width: number): Line {
  const share = width === 0 ? null : shareShown(agent, context);
  if (share === null) return [span(' '.repeat(width))];
  const near = share.spent >= NEAR;
  const text = `${near ? '!' : ''}${formatShare(share.spent)}`.padStart(5);
  const cells = Math.max(0, width - 1 - text.length);
  return [span(' '), ...gauge(share, cells, context.glyphs), tint(text, near ? inkOfShare(share.spent) : 'muted')];
}

function nameCell(agent: AgentState, context: Context, width: number, indent: number): Line {
  const pin = width - lineWidth(pinOf(agent)) >= 8 ? pinOf(agent) : [];
  const room = width - lineWidth(pin);
  const name = fit(nameLine(agent, context, indent, room), room);
  return [statusSpan(agent, context), span(' '), ...name, ...pin];
}

/** The used model, behind an arrow where another one was requested. */
const modelCell = ({ model }: AgentState, context: Context, width: number): Line =>
  cell([tint(fittingModel(model, 0, context.glyphs), 'muted')], width);

function numbers(agent: AgentState, context: Context, { time, cost, tokens }: Columns): Line {
  const right = (text: string, width: number): string => (width === 0 ? '' : ` ${fitText(text, width - 1, 'right')}`);
  return [
    strong(right(narrowCost(agent, cost - 1), cost), 'fg'),
    tint(right(narrowTime(agentTime(agent, context.state, context.now)), time), 'fg'),
    tint(right(formatTokens(tokensOfAgent(agent)), tokens), 'muted'),
  ];
}

function narrowTime(ms: Millis): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 100 ? formatDuration(ms) : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** Shortens the cost where needed, so that the sign of an unknown price is not cut. */
function narrowCost(agent: AgentState, room: number): string {
  const text = costText(agent);
  return agent.priced || text.length <= room ? text : `${formatCost(agent.cost)}+?`;
}

/** A column of text after a blank. */
const cell = (line: Line, width: number): Line => (width <= 1 ? [] : [span(' '), ...fit(line, width - 1)]);
