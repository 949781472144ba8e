/** What the parts of the security bench share: how often at full size, and one way to time and to count. */
import type { Figure } from '../table.ts';
import { percentile, spreadOf } from '../statistics.ts';

export interface Size {
  /** Fewer repetitions, for working on the bench itself. */
  readonly quick: boolean;
  readonly say: (words: string) => void;
}

/** Repetitions: all of them, or a fiftieth. */
export const times = ({ quick }: Size, all: number): number => (quick ? Math.max(5, Math.round(all / 50)) : all);

/** Milliseconds of each of `count` runs of `act`, a few uncounted ones first. */
export async function timed(count: number, act: (index: number) => unknown): Promise<readonly number[]> {
  for (let index = 0; index < Math.min(3, count); index += 1) await act(index);
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const begun = performance.now();
    await act(index);
    found.push(performance.now() - begun);
  }
  return found;
}

/** One figure that is a sum or a count: how many of what must not be, of how many that could have been. */
export const counted = (what: string, value: number, of?: number): Figure => ({
  what,
  unit: '',
  mimir: spreadOf([value]),
  ...(of === undefined ? {} : { of }),
  floor: null,
});

/** The middle and the `share`th percentile of times. */
export const middleAnd = (what: string, share: number, values: readonly number[]): readonly Figure[] => [
  { what, unit: 'ms', mimir: spreadOf(values), floor: null },
  { what: `${what}, p${share}`, unit: 'ms', mimir: spreadOf([percentile(values, share)]), floor: null },
];

/** The worst of times. */
export const worst = (what: string, values: readonly number[]): Figure => ({
  what,
  unit: 'ms',
  mimir: spreadOf([Math.max(...values)]),
  floor: null,
});
