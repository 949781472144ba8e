/** Which test files call which functions of the sources: recorded by `calls.ts` while all tests of a room run once. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { InFile } from './trial.ts';

/** Where the recordings are, below the copy of the checkout: one file a test file. */
export const CALLS = '.calls';

const Calls = z.strictObject({
  test: z.string(),
  /** Names of functions that were called, by source; '' are those without a name. */
  functions: z.record(z.string(), z.array(z.string())),
});
export type Calls = z.infer<typeof Calls>;

/** All recordings below `copy`. */
export const callsIn = (copy: string): readonly Calls[] =>
  readdirSync(join(copy, CALLS)).map((name) => Calls.parse(JSON.parse(readFileSync(join(copy, CALLS, name), 'utf8'))));

/**
 * The tests that reach a fault: those that call the function around it, or else any function of its file. The ones named after the
 * file are first, and then the quickest: most faults are noticed by them.
 */
export function testsReaching(
  { file, inside }: Pick<InFile, 'file' | 'inside'>,
  calls: readonly Calls[],
  took: (test: string) => number,
): readonly string[] {
  const ofFile = calls.filter(({ functions }) => functions[file] !== undefined);
  const ofFunction = ofFile.filter(({ functions }) => inside !== null && functions[file]?.includes(inside));
  const name = basename(file, '.ts');
  const isNamed = (test: string): boolean => basename(test).startsWith(name);
  return (ofFunction.length > 0 ? ofFunction : ofFile)
    .map(({ test }) => test)
    .toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || took(a) - took(b));
}
