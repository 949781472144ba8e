/** The charts of a run as lines: spend over time, shares by agent and model, token rates, and a timeline. Each is readable without colour. */
import { agentTime, allReserved, expectedPlan, fit, fitText, formatCost } from '../../../app/views/index.ts';
import { formatDuration, formatLimit, formatShare, formatTokens, indentOf } from '../../../app/views/index.ts';
import { type Ink, inOrder, type Line, modelName, parallelOf } from '../../../app/views/index.ts';
import { runSpending, sinceStart, type Spending, span, spread, wrap } from '../../../app/views/index.ts';
import { tokensOf } from '../../../domain/budget.ts';
import type { Millis } from '../../../domain/ids.ts';
import { memoize } from '../../../domain/memoize.ts';
import { totalsOf } from '../../../domain/plan/plan-view.ts';
import { isAtWork, type RunState, tokensOfAgent } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { canDraw, drawCanvas, type Pencil } from '../terminal/canvas.ts';
import { beside, blank, sized, strong, tint } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { gauge, meter, sparkline, uncertainText } from './costs.ts';
import { fitName, nameColumn } from './names.ts';
import { statusSpan } from './progress.ts';

/** Fewest columns of a name; it gets at most a quarter of a row. */
const NAME = 14;
const columnIn = ({ state }: Context, width: number): number => nameColumn(state, NAME, Math.floor(width / 4));
const GAP = 3;

/** All charts, in lines of exactly `width` columns; `height`, the rows of the screen, decides how high the curve is. */
export function chartLines(context: Context, width: number, height: number): readonly Line[] {
  const high = Math.max(8, Math.min(20, Math.floor(height * 0.4)));
  const curve = [...overTime(context, width), ...spendChart(context, width, high), fit([], width)];
  const half = Math.floor((width - GAP) / 2);
  const [left, right] = width >= 100 ? [half, width - GAP - half] : [width, width];
  const agents = section(`${unitOf(context.state).name} by agent`, shares(spenders(context), 12, context, left), left);
  const models = section('By model', shares(byModel(context), 8, context, right), right);
  const busy = section('Tokens/s', activity(context, right), right);
  const ran = section('Timeline', gantt(context, width), width);
  if (width < 100) return [...curve, ...agents, ...models, ...busy, ...ran];
  const pair = beside(
    { lines: agents, width: left },
    { lines: [], width: GAP },
    { lines: [...models, ...busy], width: right },
  );
  return [...curve, ...pair, ...ran];
}

const section = (title: string, lines: readonly Line[], width: number): readonly Line[] => [
  fit([strong(title, 'title')], width),
  ...lines.map((line) => fit(line, width)),
  fit([], width),
];

type Amount = Pick<Spending, 'cost' | 'tokens'>;
type Unit = ReturnType<typeof unitOf>;

/** The unit of a run: money where some was spent, else tokens. `of` takes an amount in it, the texts show one. */
export const unitOf = ({ spend, budget }: Pick<RunState, 'spend' | 'budget'>) =>
  (spend.at(-1)?.cost ?? 0) > 0
    ? ({
        name: 'Spend',
        cap: budget.maxCost,
        of: ({ cost }: Amount) => cost,
        text: formatCost,
        capText: formatLimit,
        axisText: formatCost,
      } as const)
    : ({
        name: 'Tokens',
        cap: budget.maxTokens,
        of: ({ tokens }: Amount) => tokens,
        text: formatTokens,
        capText: formatTokens,
        axisText: formatTokens,
      } as const);

/** `Spend over time  $0.38 of $2.00 ▰▰··  19%`, and the legend of the curve. */
function overTime({ state, glyphs }: Context, width: number): readonly Line[] {
  const spending = runSpending(state);
  const unit = unitOf(state);
  const left: Line = [
    strong(`${unit.name} over time  `, 'title'),
    strong(unit.text(unit.of(spending)), 'fg'),
    ...uncertainText(spending.uncertain).map((text) => tint(` + ${text}`, 'warn')),
    ...ofCap(unit, unit.of(spending), unit.of(allReserved(spending)), glyphs),
  ];
  return [spread(left, width >= 90 ? LEGEND : [], width)];
}

const LEGEND: Line = [
  tint('solid', 'focus'),
  tint(' spent  ', 'faint'),
  tint('dotted', 'warn'),
  tint(' estimated  ', 'faint'),
  tint('dashed', 'err'),
  tint(' budget', 'faint'),
];

function ofCap({ cap, capText }: Unit, used: number, reserved: number, glyphs: Glyphs): Line {
  if (cap === undefined || cap === 0) return [];
  return [
    tint(` of ${capText(cap)}  `, 'muted'),
    ...gauge({ spent: used / cap, reserved: reserved / cap }, 10, glyphs),
    tint(` ${formatShare(used / cap)}`, 'fg'),
  ];
}

/** What an agent or a model used, in the unit of the run. */
interface Share {
  readonly name: string;
  readonly ink: Ink;
  readonly value: number;
}

const byValue = (rows: readonly Share[]): readonly Share[] => rows.toSorted((a, b) => b.value - a.value);

/** The agents that used something, the largest share first. */
export function spenders({ state }: Context): readonly Share[] {
  const unit = unitOf(state);
  const rows = inOrder(state).map((agent): Share => {
    const value = unit.of({ cost: agent.cost, tokens: tokensOfAgent(agent) });
    return { name: agent.name, ink: `role:${agent.role}`, value };
  });
  return byValue(rows.filter(({ value }) => value > 0));
}

function byModel({ state }: Context): readonly Share[] {
  const unit = unitOf(state);
  const sums = new Map<string, number>();
  for (const { model, cost, usage } of [...state.agents.values()].flatMap((agent) => agent.byModel))
    sums.set(model, (sums.get(model) ?? 0) + unit.of({ cost, tokens: tokensOf(usage) }));
  return byValue([...sums].map(([model, value]): Share => ({ name: modelName(model), ink: 'info', value })));
}

function shares(rows: readonly Share[], most: number, context: Context, width: number): readonly Line[] {
  if (rows.length === 0) return [[tint('No data yet.', 'faint')]];
  const all = rows.reduce((sum, { value }) => sum + value, 0);
  return shareBars(rows.slice(0, most), { column: columnIn(context, width), digits: 9, all }, context, width);
}

/** One bar per row, with its number in `digits` columns and, unless `all` is null, its percentage of `all`. */
export function shareBars(
  rows: readonly Share[],
  { column, digits, all }: { readonly column: number; readonly digits: number; readonly all: number | null },
  { state, glyphs }: Context,
  width: number,
): readonly Line[] {
  const unit = unitOf(state);
  const most = Math.max(1e-12, ...rows.map(({ value }) => value));
  return rows.map(({ name, ink, value }): Line => {
    const number = ` ${unit.text(value).padStart(digits)}`;
    const share = all === null ? '' : formatShare(all === 0 ? 0 : value / all).padStart(6);
    return [
      tint(`${fitName(name, column)} `, ink),
      ...meter(value / most, Math.max(0, width - column - 1 - number.length - share.length), ink, glyphs),
      tint(number, 'fg'),
      tint(share, 'faint'),
    ];
  });
}

/** The token rate of each working agent over the last seconds. */
function activity(context: Context, width: number): readonly Line[] {
  const busy = inOrder(context.state).filter(isAtWork);
  if (busy.length === 0) return [[tint('No active agents.', 'faint')]];
  const column = columnIn(context, width);
  return busy.slice(0, 10).map((agent): Line => {
    const { rate, steps } = context.activity?.(agent.id) ?? { rate: 0, steps: [] };
    const room = Math.max(6, Math.min(60, width - column - 10));
    return [
      tint(`${fitName(agent.name, column)} `, `role:${agent.role}`),
      tint(sparkline(steps.slice(-room), context.glyphs).padStart(width - column - 10), 'focus'),
      tint(` ${String(Math.round(rate)).padStart(4)} t/s`, 'fg'),
    ];
  });
}

/** One bar per agent, from its first turn to its end, on the time axis of the run. */
function gantt(context: Context, width: number): readonly Line[] {
  const { state, glyphs } = context;
  const now = state.finished === null ? context.now : state.lastAt;
  const total = Math.max(1000, sinceStart(state, now));
  const column = columnIn(context, width);
  const cells = Math.max(4, width - column - 12);
  const place = (at: Millis): number =>
    Math.max(0, Math.min(cells, Math.round((sinceStart(state, at) / total) * cells)));
  const ran = inOrder(state).filter(({ firstRunAt }) => firstRunAt !== null);
  if (ran.length === 0) return [[tint('No agents yet.', 'faint')]];
  return ran.map((agent): Line => {
    const from = Math.min(cells - 1, place(agent.firstRunAt ?? 0));
    const to = Math.max(from + 1, place(agent.endedAt ?? now));
    const indent = ' '.repeat(Math.min(4, indentOf(agent)));
    return [
      statusSpan(agent, context),
      tint(` ${indent + fitName(agent.name, column - indent.length)} `, `role:${agent.role}`),
      tint(glyphs.bar.none.repeat(from), 'border'),
      tint(glyphs.bar.critical.repeat(to - from), `role:${agent.role}`),
      tint(glyphs.bar.none.repeat(cells - to), 'border'),
      tint(` ${formatDuration(agentTime(agent, state, now)).padStart(8)}`, 'fg'),
    ];
  });
}

// The spend over time as a curve, beside the estimate of the plan and the limit. It is drawn once for each change of the data and each
// second: in braille by the canvas of blessed-contrib, in columns of signs where only ASCII is available.

const AXIS = 8;
type Plot = NonNullable<ReturnType<typeof plotOf>>;

/** Exactly `height` lines of exactly `width` columns: the curve, and below it the axis of time. */
export function spendChart(context: Context, width: number, height: number): readonly Line[] {
  const { state } = context;
  if (height < 3 || width < AXIS + 8) return blank(width, height);
  return charted({ ...context, now: state.finished === null ? context.now : state.lastAt }, width, height);
}

const charted = memoize(
  ({ state: { spend, planDigest, budget }, now, glyphs }: Context, width: number, height: number) => [
    spend,
    width,
    height,
    Math.floor(now / 1000),
    glyphs.ellipsis,
    planDigest,
    budget.maxCost,
    canDraw(),
  ],
  drawChart,
);

function drawChart({ state, now, glyphs }: Context, width: number, height: number): readonly Line[] {
  const plot = plotOf(state, now);
  if (plot === null) return sized(wrap([tint('Nothing spent yet.', 'faint')], width), width, height);
  const [columns, rows] = [width - AXIS, height - 2];
  const draw = (pencil: Pencil): void => drawCurve(plot, pencil, columns * 2, rows * 4);
  const body = (glyphs.ellipsis === '…' ? drawCanvas(columns, rows, draw) : null) ?? bars(plot, glyphs, columns, rows);
  const labels = new Map([
    [0, plot.format(plot.most)],
    [rows >> 1, plot.format(plot.most / 2)],
    [rows - 1, plot.format(0)],
  ]);
  const lines = body.map((line, row): Line => {
    const label = fitText(labels.get(row) ?? '', AXIS - 2, 'right');
    const tick = labels.has(row) ? glyphs.lane.teeLeft : glyphs.light.vertical;
    return fit([tint(`${label} `, 'faint'), tint(tick, 'border'), ...line], width);
  });
  const foot: Line = [
    span(' '.repeat(AXIS - 1)),
    tint(glyphs.light.bottomLeft + glyphs.light.horizontal.repeat(columns), 'border'),
  ];
  const end = tint(formatDuration(plot.to - plot.from), 'faint');
  return [...lines, fit(foot, width), spread([tint(`${' '.repeat(AXIS)}0s`, 'faint')], [end], width)];
}

/** The data of the curve with the ends of its axes, the estimate of the plan and the limit; null where nothing was spent yet. */
function plotOf(state: RunState, now: Millis) {
  const last = state.spend.at(-1);
  if (last === undefined) return null;
  const unit = unitOf(state);
  const plan = planned(state, unit);
  const cap = unit.cap ?? null;
  return {
    points: state.spend.map((point) => ({ at: point.at, value: unit.of(point) })),
    from: state.startedAt,
    now,
    /** Right end of the time axis. */
    to: Math.max(now, plan?.to ?? 0, state.startedAt + 1000),
    most: topOf(Math.max(unit.of(last), plan?.value ?? 0), cap),
    plan,
    cap,
    format: unit.axisText,
  };
}

/** The top of the value axis. A limit far above the curve is left out, since it would flatten the curve. */
const topOf = (high: number, cap: number | null): number =>
  cap !== null && cap <= high * 2 ? Math.max(cap, high) : Math.max(high * 1.05, 1e-6);

function planned(state: RunState, unit: Unit) {
  const { plan } = state;
  if (plan === null) return null;
  const totals = totalsOf(expectedPlan(plan, state.choices), Math.max(1, parallelOf(state)));
  const value = unit.of({ cost: totals.knownCost, tokens: totals.tokens });
  const began = [...state.agents.values()].flatMap((one) =>
    one.parent === null || one.firstRunAt === null ? [] : [one.firstRunAt],
  );
  if (value === 0 || began.length === 0) return null;
  const from = Math.min(...began);
  return { from, to: from + Math.max(1, totals.seconds) * 1000, value };
}

/** The amount spent at a time: the value of the last point before it. */
function valueAt(points: Plot['points'], at: Millis): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.at ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return points[low - 1]?.value ?? 0;
}

/** Draws the spend as a line over a dotted area, the plan dotted and the limit dashed. */
function drawCurve(plot: Plot, pencil: Pencil, width: number, height: number): void {
  const x = (at: Millis): number => Math.round(((at - plot.from) / (plot.to - plot.from)) * (width - 1));
  const y = (value: number): number => Math.round((1 - Math.min(1, value / plot.most)) * (height - 1));
  const end = Math.min(width - 1, x(plot.now));
  let before = y(0);
  for (let column = 0; column <= end; column++) {
    const top = y(valueAt(plot.points, plot.from + (column / (width - 1)) * (plot.to - plot.from)));
    pencil.line([column, before], [column, top], 'focus');
    for (let dot = height - 1; column % 2 === 0 && dot > top; dot -= 2) pencil.dot(column, dot, 'focus');
    before = top;
  }
  const { plan, cap } = plot;
  if (plan !== null)
    for (let column = x(plan.from); column <= x(plan.to); column += 3)
      pencil.dot(column, y((plan.value * (column - x(plan.from))) / Math.max(1, x(plan.to) - x(plan.from))), 'warn');
  if (cap !== null && cap <= plot.most)
    for (let column = 0; column < width; column++) if (column % 6 < 3) pencil.dot(column, y(cap), 'err');
}

/** The same in columns of signs, for terminals without braille and until the canvas is loaded. */
function bars({ points, from, to, now, most }: Plot, glyphs: Glyphs, columns: number, rows: number): readonly Line[] {
  const heights = Array.from({ length: columns }, (_, column) => {
    const at = from + ((column + 1) / columns) * (to - from);
    return at > now + (to - from) / columns ? 0 : (valueAt(points, Math.min(at, now)) / most) * rows;
  });
  const full = glyphs.spark.at(-1) ?? '#';
  return Array.from({ length: rows }, (_, row): Line => {
    const below = rows - row - 1;
    const text = heights.map((high) => (high >= below + 0.5 ? full : ' ')).join('');
    return [tint(text, 'focus')];
  });
}
