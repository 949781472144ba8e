import { describe, expect, it } from 'vitest';
import {
  type Act,
  acting,
  ask,
  gate,
  has,
  LED,
  notices,
  outcomes,
  rulesWith,
  spawned,
  spawns,
  waits,
} from '../../support/children.ts';
import { AGENT, calling, planOf, RULES, type TestRun } from '../../support/run.ts';

const S1 = 'ROOT::S1';
const CHILD = 'ROOT::S1::S1';

describe('a child whose parent ends first', () => {
  const orphan = (
    orphans: 'adopt' | 'kill' | 'keep',
    more: readonly Act[] = [],
  ): { run: TestRun; go: PromiseWithResolvers<void> } => {
    const go = gate();
    const run = acting(
      { [S1]: [spawns(S1, { name: 'Ada' })], [CHILD]: [...more, waits(go)] },
      { plan: LED, rules: rulesWith({ orphans }) },
    );
    return { run, go };
  };

  it('is taken on by ROOT, which hears of it, and its answer is part of the report (D14)', async () => {
    const { run, go } = orphan('adopt');
    await has(run, S1, 'completed');
    expect(run.state().agents.get(AGENT(CHILD))?.owner).toBe('ROOT');
    go.resolve();
    await run.result;
    expect(notices(run)).toEqual([`ROOT < ${CHILD} completed: Child Ada completed: ${CHILD} is done`]);
    const merged = run.events().find((event) => event.type === 'model.started' && event.purpose === 'merge');
    expect(merged).toBeDefined();
    expect(outcomes(run)).toEqual([`${S1} completed`, `${CHILD} completed`]);
  });

  it('is abandoned where the rules say so, and nobody is told (D14, S127, S151)', async () => {
    const { run } = orphan('kill');
    const result = await run.result;
    expect(outcomes(run)).toEqual([`${S1} completed`, `${CHILD} abandoned`]);
    expect([notices(run), result.success]).toEqual([[], false]);
  });

  it('is kept where the rules say so: it works on, and nobody is told (D14)', async () => {
    const { run, go } = orphan('keep');
    await has(run, S1, 'completed');
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} completed`, `${CHILD} completed`]);
    expect([run.state().agents.get(AGENT(CHILD))?.owner, notices(run)]).toEqual([S1, []]);
  });

  it('is taken on also when its parent failed (S127)', async () => {
    const go = gate();
    const run = acting(
      { [S1]: [spawns(S1, {}, { text: 'no', stopReason: 'refused' })], [CHILD]: [waits(go)] },
      { plan: LED },
    );
    await has(run, S1, 'failed');
    expect(run.state().agents.get(AGENT(CHILD))?.owner).toBe('ROOT');
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} failed`, `${CHILD} completed`]);
  });
});

describe('the end of a run', () => {
  it('waits for children that were spawned while the report was written, and tells what they found', async () => {
    const [merging, go] = [gate(), gate()];
    const run = acting(
      { 'ROOT::S3': [waits(go)] },
      {
        plan: planOf(['a'], ['b']),
        script: async ({ purpose }) => {
          if (purpose.is === 'merge') await merging.promise;
          return undefined;
        },
      },
    );
    await run.until(({ phase }) => phase === 'merging');
    expect(await spawned(run, 'ROOT', { name: 'Ada' })).toBe('ROOT::S3');
    merging.resolve();
    await run.until(({ agents }) => agents.get(AGENT('ROOT'))?.iterations === 2);
    expect(run.state().finished).toBe(null);
    go.resolve();
    await run.result;
    expect(run.state().finished?.summary).toBe('merged\n\n## Ada, later\n\nROOT::S3 is done');
  });

  it('loses none of two hundred children, and shares the slots among them (S151, S158)', async () => {
    const go = gate();
    const run = acting(
      { [S1]: [waits(go)] },
      {
        rules: {
          ...rulesWith({ maxPerParent: { ...RULES.maxNestingDepth, value: 256 } }),
          maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 500 },
        },
      },
    );
    await run.until(({ agents }) => agents.get(AGENT(S1))?.iterations === 1);
    const ids = await Promise.all(Array.from({ length: 200 }, () => spawned(run, 'ROOT')));
    expect(new Set(ids).size).toBe(200);
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual([S1, ...ids].map((id) => `${id} completed`));
    expect(notices(run).length).toBe(200);
  });

  it('stops children with the run', async () => {
    const go = gate();
    const run = acting({ [S1]: [spawns(S1, {}, calling('read x')), waits(go)], [CHILD]: [waits(go)] }, { plan: LED });
    await run.until(({ agents }) => agents.get(AGENT(CHILD))?.iterations === 1);
    run.stop('Ctrl-C');
    expect((await run.result).status).toBe('stopped');
    expect(outcomes(run)).toEqual([`${S1} -`, `${CHILD} -`]);
    expect((await ask(run, { do: 'stop run', reason: '' })).ok).toBe(false);
  });
});
