/** Mimir itself is killed while commands run in its box: how long until nothing of them is left. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { sleepers } from '../../tools/living.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted, times, worst } from './part.ts';
import type { BoxedPlace } from './place.ts';
import { inPlace } from './place.ts';

const CHILD = join(import.meta.dirname, '../../support/box-child.ts');
/** Longer than that is as good as never, for the end; the start may be slow on a busy machine. */
const PATIENCE_MS = 5000;
const START_MS = 30_000;

export const orphans = (size: Size): Promise<readonly Figure[]> =>
  inPlace(async (place) => {
    const took: number[] = [];
    let survivors = 0;
    const count = times(size, 50);
    for (let round = 0; round < count; round += 1) {
      const ms = await killed(place, 9800 + round);
      if (ms === null) survivors += 1;
      else took.push(ms);
    }
    return [
      counted('kills of Mimir, survivors', survivors, count),
      // A survivor has no time: where nothing ever ended there is nothing to show.
      ...(took.length === 0 ? [] : [worst('Mimir killed, until nothing is left, worst', took)]),
    ];
  });

async function killed({ project, home, stateDir, environment }: BoxedPlace, seconds: number): Promise<number | null> {
  const command = `trap "" TERM HUP; setsid sleep ${seconds} & nohup sleep ${seconds} & sleep ${seconds}`;
  const orders = { root: project, home, stateDir, box: 'read-write', commands: [command] };
  const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const left = (): number => sleepers(new RegExp(`^sleep ${seconds}$`)).length;
  const until = async (holds: () => boolean, patience: number): Promise<boolean> => {
    const end = performance.now() + patience;
    while (!holds() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
    return holds();
  };
  if (!(await until(() => left() === 3, START_MS))) throw new Error('the command did not start');
  child.kill('SIGKILL');
  const begun = performance.now();
  return (await until(() => left() === 0, PATIENCE_MS)) ? performance.now() - begun : null;
}
