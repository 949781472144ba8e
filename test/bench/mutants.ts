/**
 * `npm run bench -- mutants [FOLDER] [--sample N] [--seed N] [--near]`: plants small faults in the sources that guard people most, one at
 * a time in a copy of the checkout, and tells which of them the tests of their room notice. Stryker is not used: it would first
 * run every test with instrumented sources, and the tests start the program from its sources. With `--near` only the tests that
 * are named after the file are run: a first look, whose survivors may be noticed by others.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nearTests, ROOMS, type Room, sourcesOf } from './mutants/rooms.ts';
import { type Mutant, mutantsOf, planted } from './mutants/sites.ts';
import { copyOf, type Ended, runTests } from './mutants/trial.ts';

const ROOT = join(import.meta.dirname, '../..');
const USAGE = 'npm run bench -- mutants [FOLDER OR START OF A FILE] [--sample N] [--seed N] [--near]';
/** For tests that fail on their own when the machine is busy. */
const SHORTEST_LIMIT = 60_000;

interface Case extends Mutant {
  readonly room: Room;
  readonly file: string;
}

type Verdict = 'killed' | 'survived' | 'timed out';

interface Judged extends Case {
  readonly verdict: Verdict;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The exit code: 0 where every fault was noticed, 1 where some were not, 2 for wrong words. */
export async function mutants(words: readonly string[]): Promise<number> {
  const asked = askedFor(words);
  if (typeof asked === 'string') {
    say(`${asked}\n${USAGE}`);
    return 2;
  }
  const all = casesBelow(asked.below);
  if (all.length === 0) {
    say(
      `there is nothing to change below ${asked.below}; there are\n${ROOMS.flatMap(({ sources }) => sources).join('\n')}`,
    );
    return 2;
  }
  const chosen = sampleOf(all, asked.sample, asked.seed);
  say(`${chosen.length} of ${all.length} mutants, seed ${asked.seed}`);
  const copy = copyOf(ROOT);
  const limit = await limitOf(chosen, copy, asked.near);
  const judged: Judged[] = [];
  for (const one of chosen) {
    judged.push({ ...one, verdict: await verdictOn(one, copy, { limit, near: asked.near }) });
    say(`${judged.length}/${chosen.length} ${lineOf(judged.at(-1) ?? one)}`);
  }
  process.stdout.write(reportOf(judged));
  return judged.every(({ verdict }) => verdict !== 'survived') ? 0 : 1;
}

interface Asked {
  readonly below: string;
  readonly sample: number;
  readonly seed: number;
  readonly near: boolean;
}

function askedFor(words: readonly string[]): Asked | string {
  try {
    const options = {
      sample: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      near: { type: 'boolean', default: false },
    } as const;
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [sample, seed] = [Number(values.sample), Number(values.seed)];
    if (![sample, seed].every((number) => Number.isSafeInteger(number) && number > 0))
      return '--sample and --seed are whole numbers from 1';
    if (positionals.length > 1) return 'one folder at a time';
    return { below: positionals[0] ?? 'src', sample, seed, near: values.near };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const casesBelow = (below: string): readonly Case[] =>
  ROOMS.flatMap((room) =>
    sourcesOf(room, ROOT)
      .filter((file) => file.startsWith(below))
      .flatMap((file) => mutantsOf(readFileSync(join(ROOT, file), 'utf8')).map((one) => ({ ...one, room, file }))),
  );

/** The same ones for the same seed, in the order of their files. */
function sampleOf(all: readonly Case[], count: number, seed: number): readonly Case[] {
  let state = seed;
  // Park and Miller's generator.
  const next = (): number => (state = (state * 48_271) % 2_147_483_647);
  const drawn = all.map((one) => ({ one, lot: next() })).toSorted((a, b) => a.lot - b.lot);
  const chosen = new Set(drawn.slice(0, count).map(({ one }) => one));
  return all.filter((one) => chosen.has(one));
}

/** Thrice the time of their tests without a fault. Throws where they fail then: each fault would seem to be noticed. */
async function limitOf(chosen: readonly Case[], copy: string, near: boolean): Promise<number> {
  const tests = new Set(chosen.flatMap(({ room, file }) => (near ? nearTests(room, file, copy) : room.tests)));
  const { is, milliseconds, output } = await runTests(copy, [...tests], 3_600_000);
  say(`the tests ${is} without a fault, in ${Math.round(milliseconds / 1000)} s`);
  if (is !== 'passed') throw new Error(`the tests fail without a fault:\n${output.slice(-3000)}`);
  return Math.max(SHORTEST_LIMIT, 3 * milliseconds);
}

/** The tests that are named after the file first, then all of its room. */
async function verdictOn(
  one: Case,
  copy: string,
  { limit, near }: { readonly limit: number; readonly near: boolean },
): Promise<Verdict> {
  const file = join(copy, one.file);
  const source = readFileSync(file, 'utf8');
  const first = nearTests(one.room, one.file, copy);
  writeFileSync(file, planted(source, one));
  try {
    for (const tests of near || first === one.room.tests ? [first] : [first, one.room.tests]) {
      const { is } = await runTests(copy, tests, limit);
      if (is !== 'passed') return VERDICTS[is];
    }
    return 'survived';
  } finally {
    writeFileSync(file, source);
  }
}

const VERDICTS: Readonly<Record<Exclude<Ended['is'], 'passed'>, Verdict>> = {
  failed: 'killed',
  'timed out': 'timed out',
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const lineOf = ({ file, line, was, text, ...more }: Case | Judged): string =>
  `${'verdict' in more ? more.verdict : ''}  ${file}:${line}  ${oneLine(was)}  →  ${oneLine(text) || '(nothing)'}`;

function reportOf(judged: readonly Judged[]): string {
  const count = (is: Verdict): number => judged.filter(({ verdict }) => verdict === is).length;
  const missed = judged.filter(({ verdict }) => verdict !== 'killed').map(lineOf);
  const sums = `${judged.length} mutants: ${count('killed')} killed, ${count('survived')} survived, ${count('timed out')} timed out`;
  return `${[sums, ...missed].join('\n')}\n`;
}
