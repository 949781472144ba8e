/** The pane of the agents: cards, two rows or one row each, as many as are visible; the rest isn't even composed. */
import type { AgentId } from '../../../../domain/ids.ts';
import type { AgentState } from '../../../../events/state.ts';
import { indentOf, subtreeOf } from '../../../../app/views/agents/agent-lines.ts';
import type { Context } from '../../shell/screen.ts';
import { fit, restyle, span } from '../../../../app/views/text/clip.ts';
import { blank, sized } from '../../text/compose.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { agentRow, agentRows } from './agent-rows.ts';
import type { CardLook } from './card.ts';
import { card, CARD_ROWS } from './card.ts';

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
