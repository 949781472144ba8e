/** Beside the detail: who is busy, and who spent what. Tokens take the place of money where nothing costs anything. */
import { tokensOfAgent } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { inOrder, isAtWork } from '../agents.ts';
import { formatCost, formatTokens } from '../format.ts';
import type { Context } from '../screen.ts';
import { box } from '../text/box.ts';
import { fitText, span, spread } from '../text/clip.ts';
import { beside } from '../text/compose.ts';
import type { Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { formatLeft, waitOf } from '../waits.ts';
import { statusSpan } from './card.ts';
import { meter, sparkline } from './gauge.ts';
import { HELD_INK } from './header.ts';

const NAME = 12;

/** Exactly `height` lines of exactly `width` columns: two boxes, beside each other or, in a high pane, one above the other. */
export function sidePane(context: Context, width: number, height: number): readonly Line[] {
  if (height > 16) {
    const above = Math.min(Math.floor(height / 2), context.state.agents.size + 2);
    return [...activityBox(context, width, above), ...spendBox(context, width, height - above)];
  }
  const left = width >= 56 ? Math.floor(width / 2) : 0;
  if (left === 0) return spendBox(context, width, height);
  return beside(
    { lines: activityBox(context, left, height), width: left },
    { lines: spendBox(context, width - left, height), width: width - left },
  );
}

function pane(title: string, body: readonly Line[], context: Context, width: number, height: number): readonly Line[] {
  return box({
    width,
    height,
    glyphs: context.glyphs,
    border: 'light',
    style: { fg: 'border' },
    title: [span(title, { fg: 'muted', bold: true })],
    body,
  });
}

/** Those at work first, then the rest. */
function activityBox(context: Context, width: number, height: number): readonly Line[] {
  const agents = inOrder(context.state);
  const rows = [...agents.filter(isAtWork), ...agents.filter((agent) => !isAtWork(agent))];
  return pane(
    'Activity',
    rows.slice(0, Math.max(0, height - 2)).map((agent) => activityLine(agent, context, width - 4)),
    context,
    width,
    height,
  );
}

function activityLine(agent: AgentState, context: Context, width: number): Line {
  // What stands on the right takes 13 columns: six steps, a blank, `99 t/s`.
  const name = Math.max(4, width - 16);
  const { rate, steps } = context.activity?.(agent.id) ?? { rate: 0, steps: [] };
  const wait = waitOf(agent, context.now);
  const working = isAtWork(agent) && wait === null;
  const rest = wait === null ? agent.status : wait.left === null ? 'waits' : `in ${formatLeft(wait.left)}`;
  const words = working ? `${Math.round(rate)} t/s` : rest;
  return spread(
    [statusSpan(agent, context), span(` ${fitText(toLabel(agent.name), name)}`, { fg: `role:${agent.role}` })],
    [
      span(working ? sparkline(steps, context.glyphs) : '', { fg: 'focus' }),
      span(` ${words.padStart(6)}`, { fg: working ? 'fg' : wait === null ? 'faint' : HELD_INK }),
    ],
    Math.max(0, width),
  );
}

function spendBox(context: Context, width: number, height: number): readonly Line[] {
  const agents = inOrder(context.state);
  const free = agents.every(({ cost }) => cost === 0);
  const amount = (agent: AgentState): number => (free ? tokensOfAgent(agent) : agent.cost);
  const ranked = agents.filter((agent) => amount(agent) > 0).sort((a, b) => amount(b) - amount(a));
  const most = Math.max(1e-9, ...ranked.map(amount));
  const lines = ranked.slice(0, Math.max(0, height - 2)).map((agent) => {
    const number = free ? formatTokens(amount(agent)).padStart(5) : formatCost(amount(agent)).padStart(8);
    const cells = Math.max(0, width - 4 - NAME - 2 - number.length);
    return [
      span(`${fitText(toLabel(agent.name), NAME)} `, { fg: `role:${agent.role}` }),
      ...meter(amount(agent) / most, cells, `role:${agent.role}`, context.glyphs),
      span(` ${number}`, { fg: 'fg' }),
    ];
  });
  return pane(free ? 'Tokens by agent' : 'Spend by agent', lines, context, width, height);
}
