/** Many agents below one limit: what is promised to calls under way is not spent, and comes back when they end. */
import { describe, expect, it } from 'vitest';
import { committed, spentOf } from '../../src/events/queries.ts';
import type { AgentState } from '../../src/events/state.ts';
import { scriptedModel } from '../support/scripted.ts';
import { cutLog } from '../support/log.ts';
import { throughTime } from '../support/run-looks.ts';
import { AGENT, planOf, RULES, type Setting, type TestRun, testRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const ROOT = AGENT('ROOT');
const COUNT = 32;
const DEAR = [
  scriptedModel('scripted/fast', { aliases: ['fast'], outputLimit: 16_000, price: { input: 3, output: 15 } }),
];

interface Shared {
  readonly run: TestRun;
  readonly most: number;
}

async function sharing(maxCost: number, setting: Setting = {}): Promise<Shared> {
  const world = fakeWorld();
  let most = 0;
  const run: TestRun = testRun({
    plan: planOf(...Array.from({ length: COUNT }, (_, n) => [`t${n}`] as const)),
    world,
    catalogue: DEAR,
    rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: COUNT } },
    runBudget: { maxCost },
    person: false,
    script: async ({ purpose }) => {
      if (purpose.is !== 'work') return undefined;
      most = Math.max(most, committed(run.state(), ROOT).cost);
      await world.sleep(1000);
      return { text: 'done', usage: { input: 1000, output: 100 } };
    },
    ...setting,
  });
  await throughTime(run, world);
  return { run, most };
}

const outcomes = (run: TestRun): readonly unknown[] => [
  ...new Set([...run.state().agents.values()].map(({ outcome }) => outcome)),
];

describe('a limit that many agents share', () => {
  it('ends nobody for what others only promised: who does not fit yet waits until they are done (2.6)', async () => {
    const { run, most } = await sharing(1);
    expect(outcomes(run)).toEqual(['completed']);
    expect(most).toBeLessThanOrEqual(1);
    expect(spentOf(run.state()).cost).toBeLessThan(0.3);
    const waits = run.events().filter((event) => event.type === 'agent.status' && event.status === 'waiting');
    expect(waits.length).toBeGreaterThan(0);
    expect(run.events().filter(({ type }) => type === 'budget.exhausted')).toEqual([]);
  });

  it('lets nobody begin who was killed while waiting for others', async () => {
    const world = fakeWorld();
    const go = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(...Array.from({ length: 8 }, (_, n) => [`t${n}`] as const)),
      world,
      catalogue: DEAR,
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 8 } },
      runBudget: { maxCost: 0.3 },
      person: false,
      script: async ({ purpose }) => {
        if (purpose.is !== 'work') return undefined;
        await go.promise;
        return { text: 'done', usage: { input: 1000, output: 100 } };
      },
    });
    const isWaiting = (one: AgentState): boolean => one.waitingFor?.is === 'budget';
    const { agents } = await run.until((state) => [...state.agents.values()].filter(isWaiting).length > 2);
    const waiting = [...agents.values()].filter(isWaiting).map(({ id }) => id);
    const killed = waiting.at(-1) ?? ROOT;
    await run.tell({ do: 'kill', agent: killed });
    go.resolve();
    await throughTime(run, world);
    const asked = run.events().flatMap((event) => (event.type === 'model.started' ? [event.agent] : []));
    expect(waiting.map((id) => asked.includes(id))).toEqual(waiting.map((id) => id !== killed));
    expect(run.state().agents.get(killed)?.outcome).toBe('killed');
  });

  it('ends who does not fit into what is really left, and never spends more (O092)', async () => {
    const { run, most } = await sharing(0.06);
    expect(outcomes(run)).toContain('partial');
    expect(most).toBeLessThanOrEqual(0.06);
    expect(run.state().phase).toBe('finished');
  });

  it('is not waited for where a crash left a promise open: that never ends (D11)', async () => {
    const { run } = await sharing(1);
    const events = run.events();
    const first = events.findIndex((event) => event.type === 'model.finished' && event.agent !== ROOT);
    const again = await sharing(0.5, { log: cutLog(run.options.session, events.slice(0, first)) });
    expect(again.run.state().phase).toBe('finished');
    expect(outcomes(again.run)).toContain('partial');
  });
});
