/** Runs whose agents work on other machines: the real program, workers, a real database. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openTestCluster, type TestCluster } from '../support/cluster.ts';
import type { Rule } from '../support/double/script.ts';
import { needs } from '../support/needs.ts';
import { of, planText, runOn } from '../support/on-the-wire.ts';
import { runsFirst, saysDone } from '../support/own-tree-plans.ts';

needs('git', 'bubblewrap', 'postgres');

const open: TestCluster[] = [];
afterAll(() => Promise.all(open.map((one) => one.end())));

const plans = (...tasks: readonly (readonly [string, string, ...string[]])[]): Rule => ({
  when: { first: '# Roles' },
  answer: { text: planText(...tasks) },
});

async function cluster(...rules: readonly Rule[]): Promise<TestCluster> {
  const made = await openTestCluster([...rules, saysDone]);
  open.push(made);
  return made;
}

it('agents work on a worker: what they read, change and run there is in the project after the merge', async () => {
  const made = await cluster(
    plans(['Find the cache', 'finder'], ['Name it memory', 'code', 'task-1']),
    runsFirst('Name it memory', "sed -i 's/cache.set/memory.set/' src/cache.js; echo made > made.txt"),
    {
      when: { first: 'Find the cache', turn: 1 },
      answer: { calls: [{ tool: 'search', input: { pattern: 'cache' } }] },
    },
  );
  const one = await made.worker();
  const { code, err, events } = await runOn(made.machine, 'Rename the cache', '--cluster', '--mode', 'yolo');
  expect([code, err]).toEqual([0, '']);
  expect(readFileSync(path.join(made.machine.project, 'src/cache.js'), 'utf8')).toContain('memory.set');
  expect(readFileSync(path.join(made.machine.project, 'made.txt'), 'utf8')).toBe('made\n');
  expect(of(events, 'tool.finished').map(({ tool, ok }) => [tool, ok])).toEqual([
    ['search', true],
    ['bash', true],
  ]);
  expect(one.out()).not.toContain('took over');
  one.child.kill('SIGTERM');
  expect(await one.ended).toBe(0);
});
