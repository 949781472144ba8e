/**
 * What was spent over time, as a curve against what the plan expected and the cap; tokens where nothing costs anything. Drawn
 * once for each change of the data and second, in braille by blessed-contrib's canvas, in columns of signs where only ASCII is.
 */
import { expectedPlan } from '../../../../app/views/spending/expected-plan.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import { totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { RunState } from '../../../../events/state.ts';
import type { SpendPoint } from '../../../../events/state.ts';
import { formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import type { Context } from '../../frame/screen.ts';
import { drawn } from '../../terminal/surface/canvas.ts';
import { fit, fitText, span, spread } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';

const AXIS = 8;

/** What the curve shows and how far it goes. */
interface Plot {
  readonly points: readonly { readonly at: Millis; readonly value: number }[];
  readonly from: Millis;
  readonly now: Millis;
  /** Right end of the time axis. */
  readonly to: Millis;
  /** Top of the value axis. */
  readonly most: number;
  /** Where the plan expects to end; null without one. */
  readonly plan: { readonly from: Millis; readonly to: Millis; readonly value: number } | null;
  readonly cap: number | null;
  readonly format: (value: number) => string;
}

/** True when money is what there is to show. */
export const costsMoney = ({ spend }: Pick<RunState, 'spend'>): boolean => (spend.at(-1)?.cost ?? 0) > 0;

const KNOWN = new WeakMap<readonly SpendPoint[], { readonly key: string; readonly lines: readonly Line[] }>();

/** Exactly `height` lines of exactly `width` columns: the curve, and below it the axis of time. */
export function spendChart(context: Context, width: number, height: number): readonly Line[] {
  const { state, glyphs } = context;
  if (height < 3 || width < AXIS + 8) return Array.from({ length: Math.max(0, height) }, () => fit([], width));
  const now = state.finished === null ? context.now : state.lastAt;
  const key = `${width}x${height} ${Math.floor(now / 1000)} ${glyphs.ellipsis} ${state.planDigest} ${state.budget.maxCost}`;
  const known = KNOWN.get(state.spend);
  if (known?.key === key) return known.lines;
  const { lines, whole } = charted(plotOf(state, now), context, width, height);
  if (whole) KNOWN.set(state.spend, { key, lines });
  return lines;
}

function charted(
  plot: Plot | null,
  { glyphs }: Context,
  width: number,
  height: number,
): { readonly lines: readonly Line[]; readonly whole: boolean } {
  if (plot === null) {
    const words = wrap([span('Nothing was spent yet.', { fg: 'faint' })], width);
    return { lines: Array.from({ length: height }, (_, row) => fit(words[row] ?? [], width)), whole: true };
  }
  const [columns, rows] = [width - AXIS, height - 2];
  const ascii = glyphs.ellipsis !== '…';
  const curve = ascii ? null : drawn(columns, rows, (pencil) => drawCurve(plot, pencil, columns * 2, rows * 4));
  const body = curve ?? bars(plot, glyphs, columns, rows);
  const labels = new Map([
    [0, plot.format(plot.most)],
    [rows >> 1, plot.format(plot.most / 2)],
    [rows - 1, plot.format(0)],
  ]);
  const lines = body.map((line, row): Line => {
    const label = fitText(labels.get(row) ?? '', AXIS - 2, 'right');
    const tick = labels.has(row) ? glyphs.lane[4] : glyphs.light[5];
    return fit([span(`${label} `, { fg: 'faint' }), span(tick, { fg: 'border' }), ...line], width);
  });
  const foot: Line = [
    span(' '.repeat(AXIS - 1)),
    span(glyphs.light[2] + glyphs.light[4].repeat(columns), { fg: 'border' }),
  ];
  const times = spread(
    [span(`${' '.repeat(AXIS)}0s`, { fg: 'faint' })],
    [span(formatDuration(plot.to - plot.from), { fg: 'faint' })],
    width,
  );
  return { lines: [...lines, fit(foot, width), times], whole: ascii || curve !== null };
}

/** Null where nothing was spent. */
function plotOf(state: RunState, now: Millis): Plot | null {
  const last = state.spend.at(-1);
  if (last === undefined) return null;
  const money = last.cost > 0;
  const points = state.spend.map(({ at, cost, tokens }) => ({ at, value: money ? cost : tokens }));
  const plan = planned(state, money);
  const cap = (money ? state.budget.maxCost : state.budget.maxTokens) ?? null;
  return {
    points,
    from: state.startedAt,
    now,
    to: Math.max(now, plan?.to ?? 0, state.startedAt + 1000),
    most: topOf(Math.max(money ? last.cost : last.tokens, plan?.value ?? 0), cap),
    plan,
    cap,
    format: money ? (dollars) => `$${dollars.toFixed(dollars < 1 ? 3 : 2)}` : formatTokens,
  };
}

/** A cap far above what happens would press the curve flat. */
const topOf = (high: number, cap: number | null): number =>
  cap !== null && cap <= high * 2 ? Math.max(cap, high) : Math.max(high * 1.05, 1e-6);

function planned(state: RunState, money: boolean): Plot['plan'] {
  const { plan } = state;
  if (plan === null) return null;
  const totals = totalsOf(expectedPlan(plan, state.choices), Math.max(1, parallelOf(state)));
  const value = money ? totals.knownCost : totals.tokens;
  const began = [...state.agents.values()].flatMap((one) =>
    one.parent === null || one.firstRunAt === null ? [] : [one.firstRunAt],
  );
  if (value === 0 || began.length === 0) return null;
  const from = Math.min(...began);
  return { from, to: from + Math.max(1, totals.seconds) * 1000, value };
}

/** What was spent at a time: it stays until the next call is settled. */
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

type Pencil = Parameters<Parameters<typeof drawn>[2]>[0];

/** The area in every other column of dots, its edge as a line, the plan dotted, the cap dashed. */
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

/** The same in columns of signs, for terminals without braille and until it is there. */
function bars({ points, from, to, now, most }: Plot, glyphs: Glyphs, columns: number, rows: number): readonly Line[] {
  const heights = Array.from({ length: columns }, (_, column) => {
    const at = from + ((column + 1) / columns) * (to - from);
    return at > now + (to - from) / columns ? 0 : (valueAt(points, Math.min(at, now)) / most) * rows;
  });
  const full = glyphs.spark.at(-1) ?? '#';
  return Array.from({ length: rows }, (_, row): Line => {
    const below = rows - row - 1;
    const text = heights.map((high) => (high >= below + 0.5 ? full : ' ')).join('');
    return [span(text, { fg: 'focus' })];
  });
}
