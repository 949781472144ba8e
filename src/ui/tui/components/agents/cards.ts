/** The pane of the agents as cards or as a table with one row each. Only the visible ones are composed. */
import {
  agentTime,
  fit,
  fitText,
  formatCost,
  formatDuration,
  formatShare,
  formatTokens,
  indentOf,
  type Line,
  lineWidth,
  neverRan,
  restyle,
  span,
  subtreeOf,
  toLabel,
} from '../../../../app/views/index.ts';
import type { AgentId, Millis } from '../../../../domain/ids.ts';
import { type AgentState, tokensOfAgent } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { blank, scrollBar, sized, strong, tint } from '../../text/blocks.ts';
import { costText, gauge, inkOfShare } from '../costs.ts';
import { shownSign } from '../header.ts';
import { clipName, fittingModel, longestName } from '../names.ts';
import { bareDoing, statusSpan } from '../progress.ts';
import { lockOf, pinOf } from '../reviews.ts';
import { card, CARD_ROWS, type CardOptions, NEAR, shareShown, subtreeSpans } from './card.ts';
import { FEW } from './list.ts';

export type Density = 'card' | 'line';
export type DensitySetting = Density | 'auto';

const ROWS: Readonly<Record<Density, number>> = { card: CARD_ROWS, line: 1 };
/** Rows of headings above the agents. */
const HEAD: Readonly<Record<Density, number>> = { card: 0, line: 1 };

/** The density for `count` agents, main included, in `rows` rows: cards for a few that all fit, else the table. */
export const densityFor = (wish: DensitySetting, count: number, rows: number): Density =>
  wish !== 'auto' ? wish : count <= FEW + 1 && count * CARD_ROWS <= rows ? 'card' : 'line';

/** Rows that `count` agents take, the headings included. */
export const rowsFor = (density: Density, count: number): number => HEAD[density] + count * ROWS[density];

/** The index of the agent in row `y` of the pane; negative in the headings. */
export const agentRowAt = (density: Density, top: number, y: number): number =>
  y < HEAD[density] ? -1 : Math.floor((top + y - HEAD[density]) / ROWS[density]);

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

// The table. Its columns depend on the width only, so that all rows are aligned.

/** Widths of the columns, the blank before each included; 0 for a column that is left out. */
interface Columns {
  readonly name: number;
  readonly model: number;
  readonly budget: number;
  readonly cost: number;
  readonly time: number;
  readonly tokens: number;
}

/** The columns by the least width of the table. */
const TABLE: readonly (readonly [from: number, columns: Columns])[] = [
  [96, { name: 20, model: 13, budget: 11, cost: 10, time: 9, tokens: 7 }],
  [76, { name: 16, model: 0, budget: 11, cost: 10, time: 9, tokens: 0 }],
  [58, { name: 13, model: 0, budget: 9, cost: 8, time: 8, tokens: 0 }],
  [46, { name: 12, model: 0, budget: 6, cost: 8, time: 8, tokens: 0 }],
  [38, { name: 12, model: 0, budget: 0, cost: 8, time: 8, tokens: 0 }],
  [24, { name: 12, model: 0, budget: 0, cost: 0, time: 8, tokens: 0 }],
];
const NAME_ONLY: Columns = { name: 12, model: 0, budget: 0, cost: 0, time: 0, tokens: 0 };

/** Columns of the sign and the blank before the name. */
const SIGN = 2;

/** The activity column begins with the cost of the subtree from this width on. */
const WIDE_SUM = 18;

/** The columns of a table of `width`: the name has those of the longest, the activity the rest. */
function columnsIn(width: number, { state }: Context): Columns & { readonly words: number } {
  const at = TABLE.find(([from]) => width >= from)?.[1] ?? NAME_ONLY;
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
    'budget'.padStart(at.budget).slice(0, at.budget),
    ...(['cost', 'time', 'tokens'] as const).map((name) => name.padStart(at[name]).slice(0, at[name])),
  ].join('');
  return fit([tint(text, 'faint')], width);
}

/** `● finder 2   Search legacyRefresh   ▰▰▱ 37%  $0.0310   12s`, in exactly `width` columns. */
function agentRow(agent: AgentState, context: Context, width: number, { hidden, indent }: CardOptions): Line {
  const at = columnsIn(width, context);
  const head = [...nameCell(agent, context, at.name, indent), ...modelCell(agent, context, at.model)];
  const words = bareDoing(agent, context);
  // An agent without figures shows in their columns why it waits.
  if (neverRan(agent)) return fit([...head, ...cell(words, width - lineWidth(head), context)], width);
  const below =
    hidden > 0
      ? hiddenSpans(agent, context, hidden, at.words - 1)
      : at.words < WIDE_SUM
        ? []
        : subtreeSpans(agent, context);
  return fit(
    [
      ...head,
      ...cell([...below, ...words], at.words, context),
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
  return fit([...head, ...cell(words, width - lineWidth(head), context)], width);
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

/** `+3 hidden (all $0.0912)  `: the descendants that a fold hides and the cost of the subtree, as far as there is room. */
function hiddenSpans(agent: AgentState, { state }: Context, hidden: number, room: number): Line {
  if (hidden === 0) return [];
  const all = room < 30 ? '' : ` (all ${formatCost(subtreeOf(state, agent).cost)})`;
  const words = room < 10 ? `+${hidden}` : `+${hidden} hidden`;
  return [strong(words, 'info'), tint(`${all}  `, 'muted')];
}

/** `● ╰ finder 2   `, indented by two columns per level. */
function nameCell(agent: AgentState, context: Context, width: number, indent: number): Line {
  const { glyphs } = context;
  const child = indent === 0 ? '' : `${' '.repeat(2 * (indent - 1))}${glyphs.child} `;
  const before: Line = [tint(child, 'faint'), ...lockOf(agent, context)];
  const pin = pinOf(agent);
  const isPinShown = width - lineWidth(pin) >= 8;
  const room = width - (isPinShown ? lineWidth(pin) : 0);
  const name = clipName(agent.name, Math.max(1, room - lineWidth(before)), glyphs);
  const whole: Line = [...before, strong(name, `role:${agent.role}`)];
  const cut = fit(whole, room, {}, glyphs.ellipsis);
  return [statusSpan(agent, context), span(' '), ...cut, ...(isPinShown ? pin : [])];
}

/** The used model, behind an arrow where another one was requested. */
function modelCell({ model }: AgentState, context: Context, width: number): Line {
  return cell([tint(fittingModel(model, 0, context.glyphs), 'muted')], width, context);
}

function numbers(agent: AgentState, context: Context, { time, cost, tokens }: Columns): Line {
  const right = (text: string, width: number): string =>
    width === 0 ? '' : ` ${fitText(text, width - 1, 'right', context.glyphs.ellipsis)}`;
  return [
    strong(right(narrowCost(agent, cost - 1), cost), 'fg'),
    tint(right(narrowTime(agentTime(agent, context.state, context.now)), time), 'fg'),
    tint(right(formatTokens(tokensOfAgent(agent)), tokens), 'muted'),
  ];
}

/** `99m 59s`, then `1h 40m`. */
function narrowTime(ms: Millis): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 100 ? formatDuration(ms) : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** Shortens the cost where needed, so that the sign of an unknown price is not cut. */
function narrowCost(agent: AgentState, room: number): string {
  const text = costText(agent);
  return agent.priced || text.length <= room ? text : `$${agent.cost.toFixed(2)}+?`;
}

/** A column of text after a blank. */
const cell = (line: Line, width: number, { glyphs }: Context): Line =>
  width <= 1 ? [] : [span(' '), ...fit(line, width - 1, {}, glyphs.ellipsis)];
