/**
 * `npm run bench -- mutants [FOLDER] [--each N] [--seed N] [--near]`: plants small faults in the sources that guard people most, in
 * a copy of the checkout, and tells which of them the tests of their room notice: first each alone under the quick tests that call
 * the function it is in, then what these missed under all. Stryker is not used: the tests start the program from its sources. With
 * `--near` the second step is left out.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isEquivalent } from './mutants/equivalent.ts';
import { Judge, type Judged } from './mutants/judge.ts';
import { judgedLine, reportOf } from './mutants/report.ts';
import { ROOMS } from './mutants/rooms.ts';
import { type Case, casesBelow, sampleOf } from './mutants/sample.ts';
import { copyOf } from './mutants/trial.ts';

const ROOT = join(import.meta.dirname, '../..');
const USAGE = 'npm run bench -- mutants [FOLDER OR START OF A FILE] [--each N] [--seed N] [--near]';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** The exit code: 0 where every fault was noticed, 1 where some were not, 2 for wrong words. */
export async function mutants(words: readonly string[]): Promise<number> {
  const asked = askedFor(words);
  if (typeof asked === 'string') {
    say(`${asked}\n${USAGE}`);
    return 2;
  }
  const all = casesBelow(asked.below, ROOT);
  if (all.length === 0) {
    const there = ROOMS.flatMap(({ sources }) => sources).join('\n');
    say(`there is nothing to change below ${asked.below}; there are\n${there}`);
    return 2;
  }
  const chosen = sampleOf(all, asked.each, asked.seed);
  const [equivalent, planted] = parted(chosen, ({ file, change }) => isEquivalent(file, change));
  say(`${chosen.length} of ${all.length} mutants, seed ${asked.seed}; ${equivalent.length} change nothing`);
  const judged = await judgedAll(planted, asked.near);
  process.stdout.write(reportOf(judged, equivalent));
  return judged.every(({ verdict }) => verdict !== 'survived') ? 0 : 1;
}

interface Asked {
  readonly below: string;
  readonly each: number;
  readonly seed: number;
  readonly near: boolean;
}

function askedFor(words: readonly string[]): Asked | string {
  try {
    const options = {
      each: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      near: { type: 'boolean', default: false },
    } as const;
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [each, seed] = [Number(values.each), Number(values.seed)];
    if (![each, seed].every((number) => Number.isSafeInteger(number) && number > 0))
      return '--each and --seed are whole numbers from 1';
    if (positionals.length > 1) return 'one folder at a time';
    return { below: positionals[0] ?? 'src', each, seed, near: values.near };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const parted = <T>(all: readonly T[], is: (one: T) => boolean): readonly [yes: readonly T[], no: readonly T[]] => [
  all.filter(is),
  all.filter((one) => !is(one)),
];

async function judgedAll(cases: readonly Case[], near: boolean): Promise<readonly Judged[]> {
  const judge = new Judge(copyOf(ROOT), say);
  const judged: Judged[] = [];
  for (const one of cases) {
    judged.push({ ...one, verdict: await judge.near(one) });
    say(`${judged.length}/${cases.length} ${judgedLine(judged.at(-1) ?? { ...one, verdict: 'survived' })}`);
  }
  if (near) return judged;
  const [missed, noticed] = parted(judged, ({ verdict }) => verdict === 'survived');
  const looked: Judged[] = [];
  await judge.wide(missed, (one) => {
    looked.push(one);
    say(`${looked.length}/${missed.length} by all of the room: ${judgedLine(one)}`);
  });
  return [...noticed, ...looked];
}
