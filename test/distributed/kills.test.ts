/** Many agents on four workers that are killed and stopped all the time: nothing is lost, and no effect happens twice. */
import { afterAll, expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Bench, openBench, type ScriptedWorker } from './scripted.ts';

needs('postgres');

const [AGENTS, STEPS, STEP_MS, KILL_EVERY_MS] =
  process.env['MIMIR_TEST_KILLS'] === 'many' ? [100, 20, 300, 3000] : [30, 10, 300, 3000];

let open: Bench | null = null;
afterAll(() => open?.end());

const countOf = (lines: readonly string[], id: string): number => lines.filter((line) => line === id).length;

it('completes every agent while a worker is killed every three seconds and another stands still', async () => {
  const at = (open = await openBench());
  const workers: ScriptedWorker[] = await Promise.all(['a', 'b', 'c', 'd'].map((id) => at.worker(id)));
  let kills = 0;
  const kill = setInterval(() => {
    const [oldest] = workers.splice(0, 1);
    kills += 1;
    // Every third is only stopped, and comes back when others have its agents.
    if (kills % 3 === 0) {
      oldest?.child.kill('SIGSTOP');
      setTimeout(() => oldest?.child.kill('SIGCONT'), 4 * KILL_EVERY_MS);
    } else oldest?.child.kill('SIGKILL');
    void at.worker(`next ${kills}`).then((worker) => workers.push(worker));
  }, KILL_EVERY_MS);
  const seen = new Map<string, number>();
  const agent = async (name: string): Promise<readonly string[]> => {
    const results: string[] = [];
    for (let n = 0; n < STEPS; n += 1) {
      const id = `${name}.${n}`;
      const result = await at.step(name, id, { ms: STEP_MS, repeat: n % 2 === 0 ? 'never' : 'safe' });
      seen.set(id, countOf(at.lines(), id));
      results.push(result.replace(/ on .*/, ''));
    }
    return results;
  };
  const names = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`);
  const results = await Promise.all(names.map(agent));
  clearInterval(kill);
  const lines = at.lines();
  expect(kills).toBeGreaterThan(1);
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
