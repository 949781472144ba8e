/** The pane of the agents: cards, two rows or one row each, as many as are visible; the rest isn't even composed. */
import { isHeld } from '../../../../app/views/agent-counts.ts';
import { indentOf, modelName, neverRan, subtreeOf, todosOf } from '../../../../app/views/agents/agent-lines.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import { fit, fitText, lineWidth, restyle, span, spread } from '../../../../app/views/text/clip.ts';
import { formatCost, formatDuration, formatShare, formatTokens } from '../../../../app/views/text/format.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import type { AgentId, Millis } from '../../../../domain/ids.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import { clipName, longestName } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { blank, sized } from '../../text/compose.ts';
import { gauge, inkOfShare, sparkline } from '../money/gauge.ts';
import { lockOf, pinOf } from '../plan/mandatory-reviews.ts';
import { type CardLook, card, CARD_ROWS, currentTodo, NEAR, shareShown, subtreeSpans } from './card.ts';
import { bareDoing, doing, oneLine } from './doing.ts';
import { costText } from '../money/spend.ts';
import { statusSpan } from '../plan/status.ts';

export type Density = 'card' | 'compact' | 'line';
export type DensityWish = Density | 'auto';

export const ROWS: Readonly<Record<Density, number>> = { card: CARD_ROWS, compact: 2, line: 1 };

/** The density for `count` agents in `rows` rows: cards when they fit or are few, lines when even two rows would be far too many. */
export function densityFor(wish: DensityWish, count: number, rows: number): Density {
  if (wish !== 'auto') return wish;
  const fitting = Math.floor(rows / CARD_ROWS);
  if (count <= Math.max(12, fitting)) return 'card';
  return count > 3 * Math.max(1, Math.floor(rows / ROWS.compact)) ? 'line' : 'compact';
}

export interface CardsView {
  readonly agents: readonly AgentState[];
  readonly selected: number;
  readonly density: Density;
  /** First row shown. */
  readonly top: number;
  readonly focused: boolean;
  /** A filter may have left nobody. */
  readonly cut?: boolean;
  /** Agents whose sub-agents are not in `agents`; they say how many those are. */
  readonly folded?: ReadonlySet<AgentId>;
}

/** The first row to show so that the selected agent is seen whole, moved as little as possible from `top`. */
export function topFor(top: number, selected: number, density: Density, count: number, height: number): number {
  const rows = ROWS[density];
  const from = selected * rows;
  const most = Math.max(0, count * rows - height);
  const seen = Math.max(Math.min(top, from), Math.min(from, from + rows - height));
  return Math.max(0, Math.min(seen, most));
}

/** Exactly `height` lines of exactly `width` columns; the last column is the scroll bar's. */
export function cardsPane(of: CardsView, context: Context, width: number, height: number): readonly Line[] {
  if (of.agents.length === 0) return emptyPane(of.cut === true, context, width, height);
  const rows = ROWS[of.density];
  const inner = Math.max(0, width - 1);
  const first = Math.floor(of.top / rows);
  const lines: Line[] = [];
  for (let at = first; at < of.agents.length && lines.length < height + rows; at++) {
    const agent = of.agents[at];
    if (agent)
      lines.push(
        ...one(agent, context, inner, of.density, {
          selected: at === of.selected,
          focused: of.focused,
          indent: isBelow(agent, of.agents[at - 1]) ? indentOf(agent) : 0,
          hidden: of.folded?.has(agent.id) === true ? subtreeOf(context.state, agent).below : 0,
        }),
      );
  }
  const shown = sized(lines.slice(of.top - first * rows), inner, height);
  const bar = scrollBar(of.top, of.agents.length * rows, height, context.glyphs.scroll);
  return shown.map((line, row) => [...line, span(bar[row] ?? ' ', { fg: 'muted' })].slice(width > 0 ? 0 : line.length));
}

/** Does it stand in the subtree of its parent? An order or a filter may have put it below somebody else. */
const isBelow = ({ parent }: AgentState, before: AgentState | undefined): boolean =>
  parent !== null && before !== undefined && (before.id === parent || before.id.startsWith(`${parent}::`));

/** One sign a row: the bar where the window is, blanks else; blanks only when everything is seen. */
export function scrollBar(top: number, total: number, height: number, sign: string): readonly string[] {
  if (total <= height) return Array.from({ length: height }, () => ' ');
  const size = Math.max(1, Math.round((height * height) / total));
  const from = Math.round((top / Math.max(1, total - height)) * (height - size));
  return Array.from({ length: height }, (_, row) => (row >= from && row < from + size ? sign : ' '));
}

function emptyPane(cut: boolean, context: Context, width: number, height: number): readonly Line[] {
  const words = cut
    ? 'No agent is like that: Esc shows all.'
    : context.state.phase === 'finished'
      ? 'No agent was started.'
      : 'Agents appear here when they are created.';
  const middle = Math.floor(height / 2);
  return blank(width, height).map((line, row) =>
    row === middle ? fit([span(`  ${words}`, { fg: 'faint' })], width) : line,
  );
}

function one(
  agent: AgentState,
  context: Context,
  width: number,
  density: Density,
  look: Required<CardLook>,
): readonly Line[] {
  if (density === 'card') return card(agent, context, width, look);
  const room = Math.max(0, width - 1);
  const rows = density === 'line' ? [agentRow(agent, context, room, look)] : agentRows(agent, context, room, look);
  const mark = span(look.selected ? context.glyphs.selected : ' ', { fg: look.focused ? 'focus' : 'muted' });
  return rows.map((row) => {
    const line = fit([mark, ...row], width);
    return look.selected ? restyle(line, { bg: 'selection' }) : line;
  });
}

// One agent on two rows or on one, as rows of a table: which columns there are is the width's to say, never the agent's, so that
// they stand under each other. What an agent is at is card.ts's to say.

/** Columns of the table; 0 for one that gave way. The blank before a column is part of it. */
interface Columns {
  readonly name: number;
  readonly model: number;
  readonly spark: number;
  readonly time: number;
  readonly cost: number;
  readonly tokens: number;
}

/** From so many columns on: what gives way, one after the other, is the model, some of the sparkline, all of it, tokens, cost, time. */
const TABLE: readonly (readonly [from: number, columns: Columns])[] = [
  [90, { name: 20, model: 13, spark: 9, time: 8, cost: 10, tokens: 6 }],
  [70, { name: 16, model: 0, spark: 9, time: 8, cost: 10, tokens: 6 }],
  [56, { name: 13, model: 0, spark: 9, time: 8, cost: 9, tokens: 5 }],
  [50, { name: 13, model: 0, spark: 7, time: 8, cost: 9, tokens: 5 }],
  [46, { name: 13, model: 0, spark: 0, time: 8, cost: 9, tokens: 5 }],
  [40, { name: 13, model: 0, spark: 0, time: 8, cost: 9, tokens: 0 }],
  [24, { name: 12, model: 0, spark: 0, time: 8, cost: 0, tokens: 0 }],
];
const NAME_ONLY: Columns = { name: 12, model: 0, spark: 0, time: 0, cost: 0, tokens: 0 };

const columnsFor = (width: number): Columns => TABLE.find(([from]) => width >= from)?.[1] ?? NAME_ONLY;

/** Sign and blank before the name. */
const SIGN = 2;
/** Columns without which a model is not named. */
const MODEL = 9;

/** As many columns as the longest name takes, so that all rows have the same. */
const nameIn = ({ state }: Context, least: number, most: number): number =>
  Math.max(least, Math.min(most, longestName(state).indented));

interface RowLook {
  /** How many of its sub-agents a fold keeps from sight. */
  readonly hidden: number;
  /** Levels it stands below others. */
  readonly indent: number;
}

/** Everything on one row of exactly `width` columns: sign, name, model, what it is at, activity, time, cost, tokens. */
function agentRow(agent: AgentState, context: Context, width: number, { hidden, indent }: RowLook): Line {
  const at = columnsFor(width);
  // The words keep what the name can spare.
  const used = SIGN + at.model + at.spark + at.time + at.cost + at.tokens;
  const name = nameIn(context, at.name, Math.floor((width - used) / 2));
  const head = [...nameCell(agent, context, name, indent), ...modelCell(agent, context, at.model)];
  const words = bareDoing(agent, context);
  // It has no numbers yet: why it waits may have their columns.
  if (neverRan(agent)) return fit([...head, ...cell(words, width - lineWidth(head), context)], width);
  // Nor does what is over have an activity.
  const spark = agent.outcome === null ? at.spark : 0;
  const room = width - lineWidth(head) - spark - at.time - at.cost - at.tokens;
  return fit(
    [
      ...head,
      ...cell([...hiddenSpans(agent, context, hidden, room - 1), ...words], room, context),
      ...sparkCell(agent, context, spark),
      ...numbers(agent, context, at),
    ],
    width,
  );
}

/** Two rows of exactly `width` columns: the numbers, and below them the todo at hand and the budget. */
function agentRows(
  agent: AgentState,
  context: Context,
  width: number,
  { hidden, indent }: RowLook,
): readonly [Line, Line] {
  const at = columnsFor(width);
  const used = SIGN + at.spark + at.time + at.cost + at.tokens;
  // Here the model gives way to a longer name, and says nothing by a letter or two.
  const name = nameIn(context, at.name, width - used);
  const model = Math.max(0, width - used - name);
  const head = fit(
    [
      ...nameCell(agent, context, name, indent),
      ...(model < MODEL ? [span(' '.repeat(model))] : modelCell(agent, context, model)),
      ...sparkCell(agent, context, at.spark),
      ...numbers(agent, context, at),
    ],
    width,
  );
  const room = ' '.repeat(SIGN + 2 * indent);
  return [head, spread([span(room), ...todoOrDoing(agent, context)], progress(agent, context, hidden, width), width)];
}

/** The todo at hand while it works at it; else what it does, or how it ended. */
function todoOrDoing(agent: AgentState, context: Context): Line {
  const todos = todosOf(context.state, agent);
  const todo = todos[currentTodo(todos)];
  const asks = context.state.approvals.some((approval) => approval.agent === agent.id);
  if (todo === undefined || agent.outcome !== null || isHeld(agent) || asks) return doing(agent, context);
  return [span(`${context.glyphs.todo.active} `, { fg: 'ok' }), span(oneLine(todo.description), { fg: 'fg' })];
}

/** `+3 hidden  2/5 ▰▰···  37%` */
function progress(agent: AgentState, context: Context, hidden: number, width: number): Line {
  const todos = todosOf(context.state, agent);
  const done = todos.filter(({ status }) => status === 'completed').length;
  const share = shareShown(agent, context);
  return [
    ...(hidden === 0 && width >= WIDE_SUM
      ? subtreeSpans(agent, context)
      : hiddenSpans(agent, context, hidden, width - 40)),
    ...(todos.length === 0 ? [] : [span(`${done}/${todos.length} `.padStart(5), { fg: 'muted' })]),
    ...(share === null
      ? [span(' '.repeat(GAUGE + 5))]
      : [
          ...gauge(share, GAUGE, context.glyphs),
          span(`${share.spent >= NEAR ? '!' : ''}${formatShare(share.spent)}`.padStart(5), {
            fg: share.spent >= NEAR ? inkOfShare(share.spent) : 'muted',
          }),
        ]),
  ];
}

const GAUGE = 5;
/** From so many columns on there is room for what all below cost. */
const WIDE_SUM = 50;

/** `+3 hidden (all $0.0912)  `: what a fold keeps from sight and what all of it cost, as far as there is room. */
function hiddenSpans(agent: AgentState, { state }: Context, hidden: number, room: number): Line {
  if (hidden === 0) return [];
  const all = room < 30 ? '' : ` (all ${formatCost(subtreeOf(state, agent).cost)})`;
  const words = room < 10 ? `+${hidden}` : `+${hidden} hidden`;
  return [span(words, { fg: 'info', bold: true }), span(`${all}  `, { fg: 'muted' })];
}

/** `● ╰ finder 2   `, two columns a level; a wide name is cut. */
function nameCell(agent: AgentState, context: Context, width: number, indent: number): Line {
  const { glyphs } = context;
  const child = indent === 0 ? '' : `${' '.repeat(2 * (indent - 1))}${glyphs.child} `;
  const before: Line = [span(child, { fg: 'faint' }), ...lockOf(agent, context)];
  const pin = pinOf(agent);
  const isPinShown = width - lineWidth(pin) >= 8;
  const room = width - (isPinShown ? lineWidth(pin) : 0);
  const name = clipName(agent.name, Math.max(1, room - lineWidth(before)), glyphs);
  const whole: Line = [...before, span(name, { fg: `role:${agent.role}`, bold: true })];
  const cut = fit(whole, room, {}, glyphs.ellipsis);
  return [statusSpan(agent, context), span(' '), ...cut, ...(isPinShown ? pin : [])];
}

/** The model that works; an arrow in front of one that wasn't asked for. */
function modelCell({ model }: AgentState, context: Context, width: number): Line {
  const text = model.because === null ? modelName(model.asked) : `${context.glyphs.arrow} ${modelName(model.used)}`;
  return cell([span(toLabel(text), { fg: 'muted' })], width, context);
}

/** The last seconds of work; nothing once it is over. */
function sparkCell(agent: AgentState, context: Context, width: number): Line {
  if (width === 0) return [];
  const steps = agent.outcome === null ? (context.activity?.(agent.id).steps ?? []) : [];
  const text = sparkline(steps.slice(1 - width), context.glyphs);
  return [span(text.padStart(width), { fg: 'focus' })];
}

function numbers(agent: AgentState, context: Context, { time, cost, tokens }: Columns): Line {
  if (neverRan(agent)) return [span(' '.repeat(time + cost + tokens))];
  const right = (text: string, width: number): string =>
    width === 0 ? '' : ` ${fitText(text, width - 1, 'right', context.glyphs.ellipsis)}`;
  return [
    span(right(narrowTime(agentTime(agent, context.state, context.now)), time), { fg: 'fg' }),
    span(right(narrowCost(agent, cost - 1), cost), { fg: 'fg', bold: true }),
    span(right(formatTokens(tokensOfAgent(agent)), tokens), { fg: 'muted' }),
  ];
}

/** `99m 59s`, then `1h 40m`: seconds of what takes hours have no column. */
function narrowTime(ms: Millis): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 100 ? formatDuration(ms) : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** A part whose price isn't known must not be what is cut. */
function narrowCost(agent: AgentState, room: number): string {
  const text = costText(agent);
  return agent.priced || text.length <= room ? text : `$${agent.cost.toFixed(2)}+?`;
}

/** A column of text after a blank. */
const cell = (line: Line, width: number, { glyphs }: Context): Line =>
  width <= 1 ? [] : [span(' '), ...fit(line, width - 1, {}, glyphs.ellipsis)];
