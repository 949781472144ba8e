/** The wall clock is set, or the machine sleeps, while a run goes on: no limit on time counts the jump. */
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/domain/ids.ts';
import { elapsedOf } from '../../src/events/queries.ts';
import { AGENT, filed, type TestRun, testRun } from '../support/run.ts';
import { type FakeWorld, fakeWorld } from '../support/world.ts';

const S1 = AGENT('ROOT::S1');
const HOUR = 3_600_000;
const plan = { tasks: [{ id: 't', description: 'do t', role: 'finder', budget: { maxDuration: 10_000 } }] };

/** A world whose wall clock can be set. */
function settable(): FakeWorld & { set(by: number): void } {
  const world = fakeWorld();
  let offset = 0;
  return { ...world, now: () => world.now() + offset, set: (by) => void (offset += by) };
}

/** One agent whose first call takes 5 s; its limit, and the run's, is 10 s. */
function running(world: FakeWorld, seconds = 5): TestRun {
  return testRun({
    world,
    person: false,
    runBudget: { maxDuration: 10_000 },
    ...filed(plan),
    script: async ({ agent, purpose }) => {
      if (agent !== S1 || purpose.is !== 'work') return undefined;
      await world.sleep(seconds * 1000);
      return { text: 'done' };
    },
  });
}

const clocks = (run: TestRun): readonly unknown[] => run.events().filter(({ type }) => type === 'clock.moved');

describe('a clock that jumps', () => {
  it.each([
    ['an hour ahead', HOUR],
    ['a day ahead', 24 * HOUR],
    ['an hour back', -HOUR],
  ])('%s ends no run, and is no time of it', async (_, by) => {
    const world = settable();
    const run = running(world);
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await world.advance(3000);
    world.set(by);
    await world.advance(3000);
    expect((await run.result).status).toBe('completed');
    expect(clocks(run)).toMatchObject([{ by }]);
    const { agents } = run.state();
    expect(agents.get(S1)?.outcome).toBe('completed');
    expect([S1, ROOT].map((id) => agents.get(id)?.ranMs)).toEqual([5000, 5000]);
    expect(run.events().some(({ type }) => type === 'budget.warned' || type === 'budget.exhausted')).toBe(false);
  });

  it('back makes no time free: the limit holds when it is used up', async () => {
    const world = settable();
    const run = running(world, 60);
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await world.advance(9000);
    world.set(-HOUR);
    await world.advance(1100);
    await run.result;
    expect(run.events().find(({ type }) => type === 'budget.exhausted')).toMatchObject({ what: 'time' });
  });

  it('is recorded once, in front of what comes next; times in the log are the wall clock', async () => {
    const world = settable();
    const run = running(world);
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    world.set(HOUR);
    await world.advance(5000);
    await run.result;
    const events = run.events();
    const at = events.findIndex(({ type }) => type === 'clock.moved');
    expect(events[at + 1]?.type).toBe('model.finished');
    expect(Date.parse(events[at + 1]?.time ?? '')).toBe(world.now());
    expect(clocks(run)).toHaveLength(1);
    const agent = run.state().agents.get(S1);
    expect(agent === undefined ? null : elapsedOf(agent, agent.lastAt)).toBe(5000);
  });
});
