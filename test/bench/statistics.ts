/** What several repetitions of a measurement come to: the middle, and how far they lie apart. */

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
  /** How many repetitions it is made of. */
  readonly count: number;
}

/** The spread of `values`, which are not empty. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('nothing was measured');
  return {
    min: Math.min(...values),
    median: percentile(values, 50),
    max: Math.max(...values),
    count: values.length,
  };
}

/** The value that `share` percent of `values` don't exceed; between two values in proportion. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = ((sorted.length - 1) * share) / 100;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}
