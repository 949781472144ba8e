import { expect, it } from 'vitest';
import { ok } from '../../../src/domain/result.ts';
import { AGENT, filed, RULES, testRun, testTools } from '../../support/run.ts';

const S1 = AGENT('ROOT::S1');
const PLAN = {
  tasks: [{ id: 'a', description: 'do a', role: 'oracle', writes: ['a'], checks: [{ run: 'make' }] }],
};

it('runs a check although the rules change while the project is looked at for it', async () => {
  let rules = RULES;
  const acts: string[] = [];
  let looks = 0;
  const run = testRun({
    ...filed(PLAN),
    port: {
      ...testTools(acts),
      sandbox: { is: 'bubblewrap' },
      snapshot: async () => {
        looks += 1;
        rules = { ...RULES, policyHash: `hash ${looks}` };
        return Promise.resolve(ok(`tree ${looks}`));
      },
    },
    policyWatcher: { now: () => ok(rules) },
  });
  await run.until(({ agents }) => (agents.get(S1)?.checks ?? []).some(({ end }) => end !== null));
  await run.tell({ do: 'stop run', reason: 'enough' });
  await run.result;
  const begun = run.events().flatMap((event) => (event.type === 'check.started' ? [event.tree] : []));
  // The first look is that of the run, before its agents.
  expect([begun[0], acts[0]]).toEqual(['tree 2', 'bash make']);
});
