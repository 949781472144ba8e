/** A limit on time: what runs is ended at once, then it is asked; and people are told at 80 %. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { AGENT, filed, type TestRun, testRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const S1 = AGENT('ROOT::S1');
const planWith = (budget: Budget): unknown => ({ tasks: [{ id: 't', description: 'do t', role: 'finder', budget }] });
const warned = (run: TestRun): readonly unknown[] => run.events().filter(({ type }) => type === 'budget.warned');

describe('a limit on time', () => {
  it('ends the call at once, then asks; more time lets the agent go on', async () => {
    const world = fakeWorld();
    let calls = 0;
    const run = testRun({
      world,
      ...filed(planWith({ maxDuration: 2000 })),
      script: ({ agent }) => {
        if (agent !== S1) return undefined;
        calls += 1;
        return calls === 1 ? new Promise<undefined>(() => {}) : { text: 'done' };
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await world.advance(2000);
    const { approvals } = await run.until((state) => state.approvals.length > 0);
    expect(approvals[0]?.request.title).toBe("finder's budget of 2 s is used up");
    expect(run.state().agents.get(S1)?.open).toEqual([]);
    // Its clock stands still while a person thinks.
    await world.advance(500_000);
    await run.tell({
      do: 'answer',
      approval: run.state().approvals[0]?.id ?? '',
      allow: true,
      scope: 'once',
      text: '5m',
    });
    expect((await run.result).success).toBe(true);
    expect(run.state().agents.get(S1)?.budget.maxDuration).toBe(302_000);
    expect(world.sleepers()).toBe(0);
  });

  it.each([undefined, 90_000])(
    'that was %j before ends the call that is in progress when it is lowered',
    async (before) => {
      const world = fakeWorld();
      const run = testRun({
        world,
        person: false,
        ...filed(planWith(before === undefined ? {} : { maxDuration: before })),
        script: ({ agent }) => (agent === S1 ? new Promise<undefined>(() => {}) : undefined),
      });
      await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
      await world.advance(1000);
      await run.tell({ do: 'set budget', agent: S1, budget: { maxDuration: 5000 } });
      await world.advance(3999);
      expect(run.state().agents.get(S1)?.open.length).toBe(1);
      await world.advance(1);
      await run.result;
      expect(run.state().agents.get(S1)).toMatchObject({ open: [], endedBy: { is: 'limit' } });
      expect(world.sleepers()).toBe(0);
    },
  );

  it('is warned of at 80 %, once (2.6)', async () => {
    const world = fakeWorld();
    const run = testRun({
      world,
      person: false,
      plan: planWith({ maxDuration: 10_000 }),
      script: async ({ agent }) => {
        if (agent !== S1) return undefined;
        await world.sleep(9000);
        return { text: 'done' };
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await world.advance(7900);
    expect(warned(run)).toEqual([]);
    await world.advance(200);
    expect(warned(run)).toMatchObject([{ agent: S1, scope: 'agent', what: 'time', limit: 10_000 }]);
    await world.advance(2000);
    expect((await run.result).success).toBe(true);
    expect(warned(run).length).toBe(1);
  });
});
