/** Calibration of estimates from earlier runs: the ratio of actual to estimated use, by role and model. The store keeps the samples;
 * estimate.ts makes ranges of them. */
import type { ModelId, RoleName } from '../ids.ts';

/** One agent that completed a planned task: its actual use as a share of the estimate (1: exact). */
export interface Sample {
  /** Its run: several agents of one run count as one run of experience. */
  readonly run: string;
  readonly role: RoleName;
  readonly model: ModelId;
  readonly tokens: number;
  readonly seconds: number;
  /** Null where either price is unknown or the model is free. */
  readonly cost: number | null;
}

/** Shares of the estimate; `low` and `high` exclude a tenth on each side. */
export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** The experience with one role on one model; null stands for any of them. */
export interface Learned {
  readonly role: RoleName | null;
  readonly model: ModelId | null;
  readonly runs: number;
  readonly tokens: Spread;
  readonly seconds: Spread;
  readonly cost: Spread;
}

/** The wide assumption without experience. */
export const NO_RUNS: Spread = { low: 0.6, median: 1, high: 1.7 };

/** From this many runs on, a spread is computed from them. */
const FEWEST_RUNS = 3;

/** Everything that the samples support, specific before general: role and model, role, all. */
export function learnedFrom(samples: readonly Sample[]): readonly Learned[] {
  const groups = new Map<string, { readonly of: Pick<Learned, 'role' | 'model'>; readonly samples: Sample[] }>();
  for (const sample of samples) {
    for (const of of [
      { role: sample.role, model: sample.model },
      { role: sample.role, model: null },
      { role: null, model: null },
    ]) {
      const key = JSON.stringify([of.role, of.model]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { of, samples: [sample] });
      else group.samples.push(sample);
    }
  }
  return [...groups.values()]
    .map(({ of, samples: own }) => oneLearned(of, own))
    .filter(({ runs }) => runs >= FEWEST_RUNS);
}

function oneLearned(of: Pick<Learned, 'role' | 'model'>, samples: readonly Sample[]): Learned {
  const runs = [...Map.groupBy(samples, ({ run }) => run).values()];
  const tokens = spreadOf(runs.map((own) => own.map((sample) => sample.tokens)));
  const costs = runs
    .map((own) => own.flatMap(({ cost }) => (cost === null ? [] : [cost])))
    .filter(({ length }) => length > 0);
  return {
    ...of,
    runs: runs.length,
    tokens,
    seconds: spreadOf(runs.map((own) => own.map(({ seconds }) => seconds))),
    // Cost follows tokens where too few runs had a price.
    cost: costs.length < FEWEST_RUNS ? tokens : spreadOf(costs),
  };
}

/** From the 10th to the 90th percentile of the ratios; each run has one vote. Two imagined runs, as extreme as any seen and as the
 * assumption without experience, widen the spread of a short history; among hundreds they have no effect. */
function spreadOf(runs: readonly (readonly number[])[]): Spread {
  const each = (share: number): readonly number[] => sorted(runs.map((own) => percentile(sorted(own), share)));
  const [lows, highs, median] = [tamed(each(0.1)), tamed(each(0.9)), percentile(each(0.5), 0.5)];
  const least = Math.min(median * NO_RUNS.low, ...lows.slice(0, 1));
  const most = Math.max(median * NO_RUNS.high, ...highs.slice(-1));
  const at = (share: number, real: readonly number[]): number => rounded(percentile([least, ...real, most], share));
  return { low: at(0.1, lows), median: rounded(median), high: at(0.9, highs) };
}

/** The most by which a single run may exceed the next one; a changed clock or a suspended machine is no experience. */
const FURTHEST = 2;

function tamed(ascending: readonly number[]): readonly number[] {
  const [second = 0, last = Number.POSITIVE_INFINITY] = [ascending[1], ascending.at(-2)];
  return ascending.map((one) => Math.min(Math.max(one, second / FURTHEST), last * FURTHEST));
}

const sorted = (numbers: readonly number[]): readonly number[] => numbers.toSorted((a, b) => a - b);
const rounded = (share: number): number => Math.round(share * 1000) / 1000;

/** By rank among the future values: of 9 numbers the smallest is the 10th percentile. */
function percentile(ascending: readonly number[], share: number): number {
  const at = Math.min(Math.max(share * (ascending.length + 1) - 1, 0), ascending.length - 1);
  const [below = 0, above = below] = [ascending[Math.floor(at)], ascending[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
}
