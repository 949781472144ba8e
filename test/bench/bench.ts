/**
 * `npm run bench [-- PART…] [--quick]`: measures Mimir beside floors written in the same harness, in one run, and prints a
 * Markdown table with the bars. The table goes to stdout, what happens meanwhile to stderr.
 * `npm run bench -- mutants …` measures the tests instead: mutants.ts.
 */
import { agents } from './agents.ts';
import { cluster } from './cluster.ts';
import { echo } from './echo.ts';
import { frame } from './frame.ts';
import { idle } from './idle.ts';
import { long } from './long.ts';
import { mutants } from './mutants.ts';
import { buildPrograms } from './program.ts';
import { reads } from './reads.ts';
import { replaying } from './replay.ts';
import { reply } from './reply.ts';
import type { Measurement } from './run.ts';
import { machine } from './run.ts';
import { security } from './security.ts';
import { size } from './size.ts';
import { soaking } from './soak.ts';
import { spawns } from './spawn.ts';
import { start } from './start.ts';
import type { Figure } from './table.ts';
import { tableOf, verdictOf } from './table.ts';
import { toolchains } from './toolchains.ts';
import { trees } from './trees.ts';

const MEASUREMENTS: readonly Measurement[] = [
  start,
  idle,
  reply,
  reads,
  agents,
  spawns,
  frame,
  echo,
  size,
  security,
  soaking,
  toolchains,
  replaying,
  long,
  trees,
  cluster,
];

const words = process.argv.slice(2);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
if (words[0] === 'mutants') process.exit(await mutants(words.slice(1)));
const quick = words.includes('--quick');
const names = words.filter((word) => word !== '--quick');
const unknown = names.filter((name) => MEASUREMENTS.every((measurement) => measurement.name !== name));
if (unknown.length > 0) {
  const list = MEASUREMENTS.map(({ name, about }) => `  ${name}: ${about}`).join('\n');
  process.stderr.write(`there is no measurement "${unknown.join(' ')}"; there are\n${list}\n`);
  process.exit(2);
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const about = machine();
const programs = await buildPrograms();
const figures: Figure[] = [];
const broken: string[] = [];
for (const measurement of MEASUREMENTS) {
  if (names.length > 0 && !names.includes(measurement.name)) continue;
  say(`${measurement.name}: ${measurement.about}`);
  try {
    const found = await measurement.measure({ programs, quick, say });
    say(tableOf(found));
    figures.push(...found);
  } catch (error) {
    broken.push(`${measurement.name}: ${error instanceof Error ? error.message : String(error)}`);
    say(broken.at(-1) ?? '');
  }
}
const missed = figures.filter((found) => verdictOf(found) === 'missed').length;
process.stdout.write(`${about}${quick ? ' (quick: not to be trusted)' : ''}\n\n${tableOf(figures)}\n`);
process.stdout.write(`\n${missed} ${missed === 1 ? 'bar' : 'bars'} missed\n`);
for (const words of broken) process.stdout.write(`\nNot measured: ${words}\n`);
process.exit(broken.length > 0 ? 1 : 0);
