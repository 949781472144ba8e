/** Beside the detail: who is busy, and who spent what. Tokens take the place of money where nothing costs anything. */
import { runSpending } from '../../../../app/views/spending/spending.ts';
import { isResting, shownStatus } from '../../../../app/views/agent-counts.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import { inOrder, isAtWork } from '../../../../app/views/agents/agent-lines.ts';
import { formatCost, formatLimit, formatTokens } from '../../../../app/views/text/format.ts';
import { fitName, nameColumn } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { box } from '../../text/box.ts';
import { span, spread } from '../../../../app/views/text/clip.ts';
import { beside } from '../../text/compose.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { type Wait, formatLeft, isIdle, waitOf } from '../../../../app/views/agents/wait-reason.ts';
import { meter, sparkline } from './gauge.ts';
import { HELD_INK } from '../header.ts';
import { costsMoney, spendChart } from './spend-chart.ts';
import { statusSpan } from '../plan/status.ts';

/** Columns of a name in the ranking: at least so many, and at most half of a row. */
const NAME = 12;
/** Rows that the chart takes in a high pane, borders and all. */
const CHART = 18;
const LOWEST_CHART = 10;

/**
 * Exactly `height` lines of exactly `width` columns: boxes, beside each other or, in a high pane, one above the other. They show
 * the keys' focus together.
 */
export function sidePane(context: Context, width: number, height: number, focused = false): readonly Line[] {
  const look = { width, height, focused };
  if (height > 16 || (height >= 9 && width < 56)) return stacked(context, look);
  const left = width >= 56 ? Math.floor(width / 2) : 0;
  if (left === 0) return spendBox(context, look);
  return beside(
    { lines: activityBox(context, { ...look, width: left }), width: left },
    { lines: spendBox(context, { ...look, width: width - left }), width: width - left },
  );
}

interface Look {
  readonly width: number;
  readonly height: number;
  readonly focused: boolean;
}

/** The curve where there is room for it, then who is busy, then who spent what. */
function stacked(context: Context, look: Look): readonly Line[] {
  const { width, height } = look;
  const agents = context.state.agents.size;
  const wanted = Math.min(CHART, height - 16);
  const chart = wanted >= LOWEST_CHART && width >= 32 ? wanted : 0;
  const above = Math.max(4, Math.min(Math.floor((height - chart) / 2), agents + 2));
  return [
    ...(chart === 0 ? [] : curveBox(context, { ...look, height: chart })),
    ...activityBox(context, { ...look, height: above }),
    ...spendBox(context, { ...look, height: height - chart - above }),
  ];
}

function curveBox(context: Context, look: Look): readonly Line[] {
  const { width, height } = look;
  const { state } = context;
  const money = costsMoney(state);
  const { cost, tokens } = runSpending(state);
  const cap = money ? state.budget.maxCost : state.budget.maxTokens;
  const of = cap === undefined ? '' : ` of ${money ? formatLimit(cap) : formatTokens(cap)}`;
  return pane(
    { title: money ? 'Spend' : 'Tokens', end: `${money ? formatCost(cost) : formatTokens(tokens)}${of}` },
    spendChart(context, Math.max(0, width - 4), height - 2),
    context,
    look,
  );
}

interface Titles {
  readonly title: string;
  readonly end?: string;
}

function pane(
  { title, end = '' }: Titles,
  body: readonly Line[],
  context: Context,
  { width, height, focused }: Look,
): readonly Line[] {
  return box({
    width,
    height,
    glyphs: context.glyphs,
    border: focused ? 'heavy' : 'light',
    style: { fg: focused ? 'focus' : 'border' },
    title: [span(title, { fg: 'muted', bold: true })],
    titleEnd: end === '' ? [] : [span(end, { fg: 'faint' })],
    body,
  });
}

/** Those at work first, then the rest. */
function activityBox(context: Context, look: Look): readonly Line[] {
  const { width, height } = look;
  const agents = inOrder(context.state);
  const rows = [...agents.filter(isAtWork), ...agents.filter((agent) => !isAtWork(agent))];
  return pane(
    { title: 'Activity', end: width >= 50 ? 'tokens/s, last 60 s' : '' },
    rows.slice(0, Math.max(0, height - 2)).map((agent) => activityLine(agent, context, width - 4)),
    context,
    look,
  );
}

/** Of who doesn't work: how long it waits, or where it stands. */
function restWords(agent: AgentState, wait: Wait | null): string {
  if (wait !== null) return wait.left === null ? 'waits' : `in ${formatLeft(wait.left)}`;
  return isIdle(agent)
    ? 'idle'
    : isResting(agent)
      ? 'waits'
      : agent.outcome === 'killed'
        ? 'killed'
        : shownStatus(agent);
}

function activityLine(agent: AgentState, context: Context, width: number): Line {
  const { rate, steps } = context.activity?.(agent.id) ?? { rate: 0, steps: [] };
  const wait = waitOf(agent, context.now);
  const working = isAtWork(agent) && wait === null && !isResting(agent);
  const words = working ? `${Math.round(rate)} t/s` : restWords(agent, wait);
  // The name, a blank and `1234 t/s` are always there; the sparkline has what is left of the minute.
  const name = Math.max(4, Math.min(nameColumn(context.state, 14, Math.floor(width / 2)), width - 16));
  const room = Math.max(0, Math.min(60, width - name - 12));
  return spread(
    [statusSpan(agent, context), span(` ${fitName(agent.name, name, context.glyphs)}`, { fg: `role:${agent.role}` })],
    [
      span(working ? sparkline(steps.slice(-room), context.glyphs) : '', { fg: 'focus' }),
      span(` ${words.padStart(8)}`, { fg: working ? 'fg' : wait === null ? 'faint' : HELD_INK }),
    ],
    Math.max(0, width),
  );
}

function spendBox(context: Context, look: Look): readonly Line[] {
  const { width, height } = look;
  const agents = inOrder(context.state);
  const free = agents.every(({ cost }) => cost === 0);
  const amount = (agent: AgentState): number => (free ? tokensOfAgent(agent) : agent.cost);
  const ranked = agents.filter((agent) => amount(agent) > 0).sort((a, b) => amount(b) - amount(a));
  const most = Math.max(1e-9, ...ranked.map(amount));
  const name = nameColumn(context.state, NAME, Math.floor((width - 4) / 2));
  const lines = ranked.slice(0, Math.max(0, height - 2)).map((agent) => {
    const number = free ? formatTokens(amount(agent)).padStart(5) : formatCost(amount(agent)).padStart(8);
    const cells = Math.max(0, width - 4 - name - 2 - number.length);
    return [
      span(`${fitName(agent.name, name, context.glyphs)} `, { fg: `role:${agent.role}` }),
      ...meter(amount(agent) / most, cells, `role:${agent.role}`, context.glyphs),
      span(` ${number}`, { fg: 'fg' }),
    ];
  });
  const none: readonly Line[] = [[span('Nothing was spent yet.', { fg: 'faint' })]];
  const title = free ? 'Tokens by agent' : 'Spend by agent';
  return pane({ title }, lines.length === 0 ? none : lines, context, look);
}
