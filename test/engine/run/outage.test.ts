import { expect, it } from 'vitest';
import { acting, gate, statusesOf, waits } from '../../support/children.ts';
import { AGENT, calling, planOf } from '../../support/run.ts';

const S1 = AGENT('ROOT::S1');

it('lets an agent that an outage holds back go on at its end, also where its reason has changed meanwhile', async () => {
  const go = gate();
  let outage: (text: string | null) => void = () => undefined;
  const run = acting(
    { [S1]: [waits(go, calling('read x'))] },
    { plan: planOf(['a']), elsewhere: (on) => void ({ outage } = on) },
  );
  await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
  const shown = (): readonly unknown[] => {
    const { status, reason } = run.state().agents.get(S1) ?? {};
    return [status, reason];
  };
  const all = ['the database is away', 'the database refuses', 'the database refuses', null].map((text) => {
    outage(text);
    return shown();
  });
  expect(all).toEqual([
    ['waiting', 'the database is away'],
    ['waiting', 'the database refuses'],
    ['waiting', 'the database refuses'],
    ['running', ''],
  ]);
  go.resolve();
  await run.result;
  expect(statusesOf(run, S1)).toEqual(['initializing', 'running', 'waiting', 'waiting', 'running', 'completed']);
});
