/** Many agents on four workers that are killed and stopped all the time: nothing is lost, and no effect happens twice. */
import { afterAll, expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Bench, openBench, type ScriptedWorker } from './scripted.ts';

needs('postgres');

const [AGENTS, STEPS, STEP_MS, KILLS] =
  process.env['MIMIR_TEST_KILLS'] === 'many' ? [100, 20, 300, 20] : [30, 10, 300, 5];

let open: Bench | null = null;
afterAll(() => open?.end());

const countOf = (lines: readonly string[], id: string): number => lines.filter((line) => line === id).length;

it('completes every agent while workers are killed one after the other and another stands still', async () => {
  const at = (open = await openBench());
  const workers: ScriptedWorker[] = await Promise.all(['a', 'b', 'c', 'd'].map((id) => at.worker(id)));
  let kills = 0;
  let still: ScriptedWorker | undefined;
  const kill = (): void => {
    const [oldest] = workers.splice(0, 1);
    kills += 1;
    // A stopped one comes back at the next kill, when others have gone on.
    still?.child.kill('SIGCONT');
    still = kills % 3 === 0 ? oldest : undefined;
    oldest?.child.kill(still ? 'SIGSTOP' : 'SIGKILL');
    void at.worker(`next ${kills}`).then((worker) => workers.push(worker));
  };
  // By what is done, not by the clock: a fast machine has as many kills as a slow one.
  const every = Math.floor((AGENTS * STEPS) / (KILLS + 1));
  let done = 0;
  const seen = new Map<string, number>();
  const agent = async (name: string): Promise<readonly string[]> => {
    const results: string[] = [];
    for (let n = 0; n < STEPS; n += 1) {
      const id = `${name}.${n}`;
      const result = await at.step(name, id, { ms: STEP_MS, repeat: n % 2 === 0 ? 'never' : 'safe' });
      seen.set(id, countOf(at.lines(), id));
      results.push(result.replace(/ on .*/, ''));
      done += 1;
      if (done % every === 0 && kills < KILLS) kill();
    }
    return results;
  };
  const names = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`);
  const results = await Promise.all(names.map(agent));
  const lines = at.lines();
  expect(kills).toBe(KILLS);
  // Safe steps are done, effects are done or unknown.
  const odd = results.flatMap((all) =>
    all.filter((result, n) => result !== 'done' && (n % 2 === 1 || result !== 'unknown')),
  );
  expect(odd).toEqual([]);
  // No recorded step has run again, and no effect twice.
  expect([...seen].filter(([id, count]) => countOf(lines, id) !== count)).toEqual([]);
  const twice = [...seen.keys()].filter((id) => Number(id.split('.')[1]) % 2 === 0 && countOf(lines, id) > 1);
  expect(twice).toEqual([]);
  // At most one step of each agent is repeated for each kill.
  const repeated = names.map((name) => lines.filter((line) => line.startsWith(`${name}.`)).length - STEPS);
  expect(Math.max(...repeated)).toBeLessThanOrEqual(kills);
});
