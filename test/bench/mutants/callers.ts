/** Which test files call which functions of the sources: recorded by `calls.ts` while all tests of a room run once. */
import { hash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
  globSync(`${CALLS}/*.json`, { cwd: copy }).map((name) =>
    Calls.parse(JSON.parse(readFileSync(join(copy, name), 'utf8'))),
  );

/** A recording with the milliseconds that its test file took. */
const Recording = Calls.extend({ took: z.number() });
type Recording = z.infer<typeof Recording>;

/** Keeps recordings beside the packages, so that the next run records only what has changed since: a room takes minutes. */
export class Recordings {
  readonly #copy: string;
  /** All that a test depends on but itself. */
  readonly #sources: string;

  constructor(copy: string) {
    this.#copy = copy;
    const files = globSync(['src/**/*.*', '.mimir/**/*.*', 'test/support/**/*.*'], { cwd: copy }).toSorted();
    this.#sources = files.map((file) => `${file} ${hash('sha256', readFileSync(join(copy, file)))}`).join('\n');
  }

  /** The recording of a test that passed with the same sources; none otherwise. */
  of(test: string): readonly Recording[] {
    try {
      return [Recording.parse(JSON.parse(readFileSync(this.#fileOf(test), 'utf8')))];
    } catch {
      return [];
    }
  }

  keep(recording: Recording): void {
    const file = this.#fileOf(recording.test);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(recording));
  }

  #fileOf(test: string): string {
    const name = hash('sha256', [this.#sources, test, readFileSync(join(this.#copy, test), 'utf8')].join('\0'));
    return join(this.#copy, 'node_modules/.cache/mutants', `${name}.json`);
  }
}

/** The sources that import each source: what is written outside of all functions works in theirs as well. */
export function importersIn(copy: string): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const file of globSync('src/**/*.ts', { cwd: copy })) {
    for (const [, path = ''] of readFileSync(join(copy, file), 'utf8').matchAll(/from '(\.[^']+)'/g)) {
      const imported = join(dirname(file), path);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

/** What is known of the tests of a room. */
export interface KnownTests {
  readonly calls: readonly Calls[];
  readonly importers: ReadonlyMap<string, readonly string[]>;
  /** Milliseconds. */
  readonly took: (test: string) => number;
}

/**
 * The tests that reach a fault: those that call the function around it, or else any function of its file or of one that imports
 * it. The ones named after the file are first, and then the quickest: most faults are noticed by them.
 */
export function testsReaching(
  { file, inside }: Pick<InFile, 'file' | 'inside'>,
  { calls, importers, took }: KnownTests,
): readonly string[] {
  const files = [file, ...(importers.get(file) ?? [])];
  const ofFiles = calls.filter(({ functions }) => files.some((each) => functions[each] !== undefined));
  const ofFunction = calls.filter(({ functions }) => inside !== null && functions[file]?.includes(inside) === true);
  const name = basename(file, '.ts');
  const isNamed = (test: string): boolean => basename(test).startsWith(name);
  return (ofFunction.length > 0 ? ofFunction : ofFiles)
    .map(({ test }) => test)
    .toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || took(a) - took(b));
}
