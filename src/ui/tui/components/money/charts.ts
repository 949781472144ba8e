/** Charts of a run, from its state: whole sections of lines, side by side where there is room. Each reads without colour. */
import { allReserved, runSpending } from '../../../../app/views/spending/spending.ts';
import { agentTime, sinceStart } from '../../../../app/views/run-time.ts';
import { tokensOf } from '../../../../domain/budget.ts';
import type { Millis } from '../../../../domain/ids.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import { indentOf, inOrder, isAtWork, modelName } from '../../../../app/views/agents/agent-lines.ts';
import {
  formatCost,
  formatDuration,
  formatLimit,
  formatShare,
  formatTokens,
} from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { fitName, nameColumn } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { fit, span, spread } from '../../../../app/views/text/clip.ts';
import { beside } from '../../text/compose.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { gauge, meter, sparkline } from './gauge.ts';
import { uncertainText } from './spend.ts';
import { costsMoney, spendChart } from './spend-chart.ts';
import { statusSpan } from '../plan/status.ts';

/** Columns of a name: at least so many, and at most a quarter of a row. */
const NAME = 14;
const columnIn = ({ state }: Context, width: number): number => nameColumn(state, NAME, Math.floor(width / 4));
const GAP = 3;

/** As many lines as it takes, each exactly `width` columns; the curve takes what a screen of `height` rows leaves. */
export function chartLines(context: Context, width: number, height: number): readonly Line[] {
  const high = Math.max(8, Math.min(20, Math.floor(height * 0.4)));
  const curve = [...overTime(context, width), ...spendChart(context, width, high), fit([], width)];
  const half = Math.floor((width - GAP) / 2);
  const [left, right] = width >= 100 ? [half, width - GAP - half] : [width, width];
  const agents = section(byAgentTitle(context), byAgent(context, left), left);
  const models = section('By model', byModel(context, right), right);
  const busy = section('Tokens a second', activity(context, right), right);
  const ran = section('What ran when', gantt(context, width), width);
  if (width < 100) return [...curve, ...agents, ...models, ...busy, ...ran];
  const pair = beside(
    { lines: agents, width: left },
    { lines: [], width: GAP },
    { lines: [...models, ...busy], width: right },
  );
  return [...curve, ...pair, ...ran];
}

const section = (title: string, lines: readonly Line[], width: number): readonly Line[] => [
  fit([span(title, { fg: 'title', bold: true })], width),
  ...lines.map((line) => fit(line, width)),
  fit([], width),
];

/** `Spend over time  $0.38 of $2.00 ▰▰··  19%`, and what the signs of the curve mean. */
function overTime({ state, glyphs }: Context, width: number): readonly Line[] {
  const spending = runSpending(state);
  const { cost, tokens, uncertain } = spending;
  const reserved = allReserved(spending);
  const money = costsMoney(state);
  const left: Line = [
    span(money ? 'Spend over time  ' : 'Tokens over time  ', { fg: 'title', bold: true }),
    span(money ? formatCost(cost) : formatTokens(tokens), { fg: 'fg', bold: true }),
    span(
      uncertainText(uncertain)
        .map((text) => ` + ${text}`)
        .join(''),
      { fg: 'warn' },
    ),
    ...(money
      ? ofCap([cost, reserved.cost], state.budget.maxCost, formatLimit, glyphs)
      : ofCap([tokens, reserved.tokens], state.budget.maxTokens, formatTokens, glyphs)),
  ];
  return [spread(left, width >= 90 ? LEGEND : [], width)];
}

const LEGEND: Line = [
  span('curve', { fg: 'focus' }),
  span(' spent  ', { fg: 'faint' }),
  span('dotted', { fg: 'warn' }),
  span(' planned  ', { fg: 'faint' }),
  span('dashed', { fg: 'err' }),
  span(' cap', { fg: 'faint' }),
];

function ofCap(
  [used, reserved]: readonly [number, number],
  cap: number | undefined,
  format: (value: number) => string,
  glyphs: Glyphs,
): Line {
  if (cap === undefined || cap === 0) return [];
  const share = used / cap;
  return [
    span(` of ${format(cap)}  `, { fg: 'muted' }),
    ...gauge({ spent: share, reserved: reserved / cap }, 10, glyphs),
    span(` ${formatShare(share)}`, { fg: 'fg' }),
  ];
}

const byAgentTitle = ({ state }: Context): string => (costsMoney(state) ? 'Spend by agent' : 'Tokens by agent');

function byAgent(context: Context, width: number): readonly Line[] {
  const money = costsMoney(context.state);
  const amount = (agent: AgentState): number => (money ? agent.cost : tokensOfAgent(agent));
  const ranked = inOrder(context.state)
    .filter((agent) => amount(agent) > 0)
    .sort((a, b) => amount(b) - amount(a));
  const all = ranked.reduce((sum, agent) => sum + amount(agent), 0);
  return shares(
    ranked.slice(0, 12).map((agent) => ({
      name: toLabel(agent.name),
      ink: `role:${agent.role}` as const,
      value: amount(agent),
      text: money ? formatCost(agent.cost) : formatTokens(tokensOfAgent(agent)),
    })),
    all,
    context,
    width,
  );
}

interface Share {
  readonly name: string;
  readonly ink: Ink;
  readonly value: number;
  readonly text: string;
}

/** One bar a row, with its number and its share of all. */
function shares(rows: readonly Share[], all: number, context: Context, width: number): readonly Line[] {
  if (rows.length === 0) return [[span('Nothing yet.', { fg: 'faint' })]];
  const most = Math.max(1e-12, ...rows.map(({ value }) => value));
  const { glyphs } = context;
  const column = columnIn(context, width);
  return rows.map(({ name, ink, value, text }): Line => {
    const cells = Math.max(0, width - column - 17);
    return [
      span(`${fitName(name, column, glyphs)} `, { fg: ink }),
      ...meter(value / most, cells, ink, glyphs),
      span(` ${text.padStart(9)}`, { fg: 'fg' }),
      span(` ${formatShare(all === 0 ? 0 : value / all).padStart(5)}`, { fg: 'faint' }),
    ];
  });
}

function byModel(context: Context, width: number): readonly Line[] {
  const money = costsMoney(context.state);
  const sums = new Map<string, { cost: number; tokens: number }>();
  for (const { byModel: used } of context.state.agents.values()) {
    for (const { model, cost, usage } of used) {
      const sum = sums.get(model) ?? { cost: 0, tokens: 0 };
      sums.set(model, { cost: sum.cost + cost, tokens: sum.tokens + tokensOf(usage) });
    }
  }
  const rows = [...sums].map(([model, { cost, tokens }]) => ({
    name: toLabel(modelName(model)),
    ink: 'info' as const,
    value: money ? cost : tokens,
    text: money ? formatCost(cost) : formatTokens(tokens),
  }));
  rows.sort((a, b) => b.value - a.value);
  const all = rows.reduce((sum, { value }) => sum + value, 0);
  return shares(rows.slice(0, 8), all, context, width);
}

/** Those at work, with their last seconds. */
function activity(context: Context, width: number): readonly Line[] {
  const busy = inOrder(context.state).filter(isAtWork);
  if (busy.length === 0) return [[span('Nobody is at work.', { fg: 'faint' })]];
  const column = columnIn(context, width);
  return busy.slice(0, 10).map((agent): Line => {
    const { rate, steps } = context.activity?.(agent.id) ?? { rate: 0, steps: [] };
    const room = Math.max(6, Math.min(60, width - column - 10));
    return [
      span(`${fitName(agent.name, column, context.glyphs)} `, { fg: `role:${agent.role}` }),
      span(sparkline(steps.slice(-room), context.glyphs).padStart(width - column - 10), { fg: 'focus' }),
      span(` ${String(Math.round(rate)).padStart(4)} t/s`, { fg: 'fg' }),
    ];
  });
}

/** One bar an agent, from its first turn to its end, under the clock of the run. */
function gantt(context: Context, width: number): readonly Line[] {
  const { state, glyphs } = context;
  const now = state.finished === null ? context.now : state.lastAt;
  const total = Math.max(1000, sinceStart(state, now));
  const column = columnIn(context, width);
  const cells = Math.max(4, width - column - 12);
  const place = (at: Millis): number =>
    Math.max(0, Math.min(cells, Math.round((sinceStart(state, at) / total) * cells)));
  const ran = inOrder(state).filter(({ firstRunAt }) => firstRunAt !== null);
  if (ran.length === 0) return [[span('No agent has begun yet.', { fg: 'faint' })]];
  return ran.map((agent): Line => {
    const from = Math.min(cells - 1, place(agent.firstRunAt ?? 0));
    const to = Math.max(from + 1, place(agent.endedAt ?? now));
    const indent = ' '.repeat(Math.min(4, indentOf(agent)));
    return [
      statusSpan(agent, context),
      span(` ${indent + fitName(agent.name, column - indent.length, glyphs)} `, { fg: `role:${agent.role}` }),
      span(glyphs.bar[2].repeat(from), { fg: 'border' }),
      span(glyphs.bar[0].repeat(to - from), { fg: `role:${agent.role}` }),
      span(glyphs.bar[2].repeat(cells - to), { fg: 'border' }),
      span(` ${formatDuration(agentTime(agent, state, now)).padStart(8)}`, { fg: 'fg' }),
    ];
  });
}
