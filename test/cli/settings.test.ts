/** Settings of a person's own file, felt in a run of the real program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Home } from '../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../support/cli.ts';
import { part } from '../support/like.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

const runWith = async (config: string): Promise<readonly Record<string, unknown>[]> => {
  writeFileSync(join(home.config, 'config.yml'), config);
  const { code, out, err } = await home.run(['run', 'Review this repository, and give an overview', '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return jsonLines(out);
};

it('approves beforehand, plans without a role and runs one at a time as the settings say (O127, O130, O131, D5)', async () => {
  const events = await runWith(
    'agentOrchestration: { promptForApproval: false, maxParallelAgents: 1, roles: { tester: { enabled: false } } }\n',
  );
  expect(events.filter(({ type }) => type === 'plan.approved')).toEqual([
    part({ by: 'agentOrchestration.promptForApproval: false' }),
  ]);
  const roles = events.filter(({ type }) => type === 'agent.created').map(({ role }) => role);
  expect(roles).toEqual(['main', 'reviewer', 'oracle']);
  let [now, most] = [0, 0];
  for (const { type, agent, status } of events) {
    if (agent === 'ROOT') continue;
    if (type === 'agent.status' && status === 'running') now += 1;
    if (type === 'agent.finished') now -= 1;
    most = Math.max(most, now);
  }
  expect(most).toBe(1);
});

it('gives the whole task to one agent where orchestration is off, and another model where one is set (O125, O132)', async () => {
  const events = await runWith(
    'agentOrchestration:\n  enabled: false\n  promptForApproval: false\n  roles: { main: { defaultModel: o3-mini } }\n',
  );
  const [, agent, ...others] = events.filter(({ type }) => type === 'agent.created');
  expect(others).toEqual([]);
  expect(agent).toMatchObject({
    role: 'main',
    task: 'Review this repository, and give an overview',
    model: { asked: 'o3-mini', used: 'offline/analyst' },
  });
});
