/** The sandbox: what it adds to a command, whether a key gets in, and what is left when commands that won't end are ended. */
import { runProgram } from '../../../src/tools/process/run-program.ts';
import { runSandboxed } from '../../../src/tools/sandbox/sandbox.ts';
import { sleepers } from '../../tools/living.ts';
import { percentile, spreadOf } from '../statistics.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted, times, worst } from './part.ts';
import type { BoxedPlace } from './place.ts';
import { inPlace } from './place.ts';

const BASH = '/bin/bash';
const shell = (command: string): readonly string[] => ['--noprofile', '--norc', '-c', command];

export const box = (size: Size): Promise<readonly Figure[]> =>
  inPlace(async (place) => [
    ...(await overhead(place, size)),
    await secrets(place, size),
    ...(await ends(place, size)),
  ]);

const boxed = (
  place: BoxedPlace,
  command: string,
  signal = new AbortController().signal,
): ReturnType<typeof runSandboxed> =>
  runSandboxed(
    place.sandbox,
    { box: 'read-write', file: BASH, args: shell(command), cwd: place.project, env: place.environment },
    { timeLimit: 60_000, signal },
  );

/** Side by side: each boxed run beside a plain one. */
async function overhead(place: BoxedPlace, size: Size): Promise<readonly Figure[]> {
  const [plain, inside]: [number[], number[]] = [[], []];
  const { environment, project } = place;
  for (let round = -3; round < times(size, 200); round += 1) {
    const begun = performance.now();
    await runProgram({
      file: BASH,
      args: shell('true'),
      cwd: project,
      env: environment,
      timeLimit: 60_000,
      signal: new AbortController().signal,
    });
    const between = performance.now();
    const { exit } = await boxed(place, 'true');
    if (exit !== 0) throw new Error('a command in the box did not end well');
    if (round < 0) continue;
    plain.push(between - begun);
    inside.push(performance.now() - between);
  }
  const usual = percentile(plain, 50);
  const added = inside.map((ms) => ms - usual);
  return [
    { what: 'a command in the box', unit: 'ms', mimir: spreadOf(inside), floor: spreadOf(plain) },
    { what: 'the box adds', unit: 'ms', mimir: spreadOf(added), floor: null },
    { what: 'the box adds, p95', unit: 'ms', mimir: spreadOf([percentile(added, 95)]), floor: null },
  ];
}

/** A key in the environment of this process, and everything in the box that could show it. */
async function secrets(place: BoxedPlace, size: Size): Promise<Figure> {
  const count = times(size, 100);
  let seen = 0;
  for (let round = 0; round < count; round += 1) {
    const key = `sk-canary-${round}-${Math.random().toString(36).slice(2)}`;
    process.env['ANTHROPIC_API_KEY'] = key;
    const { stdout, stderr } = await boxed(place, 'env; cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ');
    if (`${stdout}${stderr}`.includes(key)) seen += 1;
  }
  delete process.env['ANTHROPIC_API_KEY'];
  return counted('keys seen in the box', seen, count);
}

/** Names itself by how long it sleeps; `on` tells that all of it runs. */
const stubborn = (seconds: number): string =>
  `trap "" TERM HUP; setsid sleep ${seconds} & nohup sleep ${seconds} >/dev/null 2>&1 & (setsid bash -c 'trap "" TERM; sleep ${seconds}' &); sleep 0.05; echo on; sleep ${seconds}`;
const polite = (seconds: number): string => `setsid sleep ${seconds} & sleep ${seconds} & sleep 0.05; echo on; wait`;
const left = (seconds: number): number => sleepers(new RegExp(`^sleep ${seconds}$`)).length;

async function ends(place: BoxedPlace, size: Size): Promise<readonly Figure[]> {
  let survivors = 0;
  const end = async (command: string, seconds: number): Promise<number> => {
    const stop = new AbortController();
    const running = boxed(place, command, stop.signal);
    while (left(seconds) < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const begun = performance.now();
    stop.abort('stopped');
    await running;
    const took = performance.now() - begun;
    survivors += left(seconds);
    return took;
  };
  const [easy, hard]: [number[], number[]] = [[], []];
  const count = times(size, 160);
  for (let round = 0; round < count; round += 1) easy.push(await end(polite(9000 + round), 9000 + round));
  const harder = times(size, 40);
  for (let round = 0; round < harder; round += 1) hard.push(await end(stubborn(9500 + round), 9500 + round));
  return [
    counted('trees of processes ended, survivors', survivors, count + harder),
    worst('the end of a tree that obeys, worst', easy),
    worst('the end of a tree that does not, worst', hard),
  ];
}
