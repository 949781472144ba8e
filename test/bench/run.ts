/** How a measurement is repeated: sides in turn, so that what the machine does meanwhile falls on all of them alike. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Figure } from './table.ts';
import type { Programs } from './program.ts';
import { spreadOf } from './statistics.ts';

/** What a measurement is given. */
export interface Bench {
  readonly programs: Programs;
  /** Fewer and shorter repetitions, for working on the bench itself. */
  readonly quick: boolean;
  /** For people who wait. */
  readonly say: (words: string) => void;
}

export interface Measurement {
  readonly name: string;
  readonly about: string;
  measure(bench: Bench): Promise<readonly Figure[]>;
}

/** Runs every side once uncounted, then all of them `times` times in turn: A B A B. */
export async function inTurn<Side extends string, T>(
  times: number,
  sides: Readonly<Record<Side, () => Promise<T>>>,
): Promise<Record<Side, readonly T[]>> {
  const results: Partial<Record<Side, T[]>> = {};
  for (let round = 0; round <= times; round += 1) {
    for (const side of namesOf(sides)) {
      const result = await sides[side]();
      if (round > 0) (results[side] ??= []).push(result);
    }
  }
  return whole(results, namesOf(sides));
}

const namesOf = <Side extends string>(sides: Readonly<Record<Side, unknown>>): readonly Side[] => {
  const isSide = (name: string): name is Side => Object.hasOwn(sides, name);
  return Object.keys(sides).filter(isSide);
};

function whole<Side extends string, T>(
  results: Partial<Record<Side, T[]>>,
  names: readonly Side[],
): Record<Side, readonly T[]> {
  const isWhole = (all: Partial<Record<Side, readonly T[]>>): all is Record<Side, readonly T[]> =>
    names.every((name) => all[name] !== undefined);
  if (!isWhole(results)) throw new Error('nothing was measured');
  return results;
}

/** A figure of Mimir's and the floor's repetitions, `of` each. */
export function figure<T>(
  what: string,
  unit: Figure['unit'],
  of: (result: T) => number,
  { mimir, floor }: { readonly mimir: readonly T[]; readonly floor?: readonly T[] },
): Figure {
  return {
    what,
    unit,
    mimir: spreadOf(mimir.map(of)),
    floor: floor === undefined ? null : spreadOf(floor.map(of)),
  };
}

/** The machine, in one line: figures of two machines are no comparison. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  const commit = existsSync('.git') ? execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim() : '';
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0] ?? String(loadavg()[0]);
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} x ${model}, ${memory} GB, Node ${process.version}, load ${load} at the start, commit ${commit}`;
}
