/** What a run had spent at points in time, for its curve: one point a settled call, thinned so that it stays small. */
import type { Millis, Usd } from '../domain/ids.ts';
import { fromMicro, toMicro } from '../domain/ids.ts';

/** The sums of all agents right after a call was settled. */
export interface SpendPoint {
  readonly at: Millis;
  readonly cost: Usd;
  readonly tokens: number;
}

/** Most points that are kept: more than any screen has columns for. */
export const MOST_POINTS = 400;

/** The series after one more call; the last point is always the true sum. What cost nothing at all adds none. */
export function withSpend(points: readonly SpendPoint[], at: Millis, cost: Usd, tokens: number): readonly SpendPoint[] {
  if (cost === 0 && tokens === 0) return points;
  const last = points.at(-1);
  const point = { at, cost: fromMicro(toMicro(last?.cost ?? 0) + toMicro(cost)), tokens: (last?.tokens ?? 0) + tokens };
  const next = [...points, point];
  // Every other one goes, not the last: the curve keeps its shape.
  return next.length <= MOST_POINTS ? next : next.filter((_, index) => (next.length - 1 - index) % 2 === 0);
}
