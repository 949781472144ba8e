import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Budget, tokensOf, type Usage } from '../../../../src/domain/budget.ts';
import { type AgentId, CallId, parentOf, RoleName, SessionId, toMicro } from '../../../../src/domain/ids.ts';
import { reserve, settle } from '../../../../src/engine/gate/budget/reserve.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import { foldAll } from '../../../../src/events/fold.ts';
import { committed } from '../../../../src/events/queries.ts';
import { scriptedModel } from '../../../support/scripted.ts';
import { memoryLog } from '../../../support/log.ts';
import { AGENT, calling, planOf, RULES, says, type Setting, type TestRun, testRun } from '../../../support/run.ts';
import { fakeWorld } from '../../../support/world.ts';

const S1 = AGENT('ROOT::S1');
const errorsOf = (run: TestRun): unknown[] =>
  [...run.state().agents.values()].slice(1).map(({ outcome, error }) => [outcome, error]);
const startedOf = (run: TestRun, agent: string): number =>
  run.events().filter((event) => event.type === 'model.started' && event.agent === agent).length;
const planWith = (budget: Budget, role = 'finder'): unknown => ({
  reason: '',
  tasks: [{ id: 't', description: 'do t', role, budget, writes: ['**'] }],
});

describe('a limit', () => {
  it.each([
    [{ maxTokens: 0 }, 'tokens'],
    [{ maxCost: 0 }, 'cost'],
    [{ maxDuration: 0 }, 'time'],
  ] as const)('of %j lets no call be made at all (G01, D17, O092)', async (budget, what) => {
    const run = testRun({ plan: planWith(budget), person: false });
    await run.result;
    expect(startedOf(run, S1)).toBe(0);
    const { outcome, error } = run.state().agents.get(S1) ?? {};
    expect(outcome).toBe('partial');
    expect(error).toMatch(new RegExp(`^Budget exceeded: the agent's ${what} `));
  });

  it('that would pay for less than a short answer is refused before the call (G03)', async () => {
    const run = testRun({ plan: planWith({ maxTokens: 300 }), person: false });
    await run.result;
    expect([startedOf(run, S1), errorsOf(run)]).toEqual([
      0,
      [
        [
          'partial',
          "Budget exceeded: the agent's tokens (0 tokens of 300 tokens used, and the next step does not fit); the plan's task or budgets.agent.maxTokens sets it",
        ],
      ],
    ]);
  });

  it('of the run is shared: what starts at the same tick is paid for, the rest is refused (G04, O147)', async () => {
    const ids = Array.from({ length: 8 }, (_, index): [string] => [`a${index}`]);
    const runBudget = { maxTokens: 45_000 };
    let most = 0;
    const run: TestRun = testRun({
      plan: planOf(...ids),
      runBudget,
      person: false,
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 8 } },
      script: ({ agent, purpose, maxOutputTokens: output }) => {
        most = Math.max(most, committed(run.state(), AGENT('ROOT')).tokens);
        // Each uses all that it was promised: nothing of it comes back for others.
        const promised = run.state().agents.get(agent)?.open[0]?.tokens ?? 0;
        return purpose.is === 'work' ? { text: 'done', usage: { input: promised - output, output } } : undefined;
      },
    });
    const result = await run.result;
    expect(most).toBeLessThanOrEqual(runBudget.maxTokens);
    expect(result.overBudget).toBe(true);
    const outcomes = [...run.state().agents.values()].slice(1).map(({ outcome }) => outcome);
    // A call promises about 8,200 tokens: five fit at once.
    expect(outcomes.filter((outcome) => outcome === 'completed').length).toBe(5);
    expect(outcomes.filter((outcome) => outcome === 'partial').length).toBe(3);
  });

  it.each([
    ['ten times too much', { input: 1_000_000 }],
    ['negative', { output: -5 }],
    ['no number', { input: Number.NaN }],
    ['a fraction', { output: 0.5 }],
  ])('is charged what was reserved when the usage reported is %s (G05)', async (_, usage) => {
    const run = testRun({ plan: planOf(['a']), script: says({ [S1]: [{ text: 'done', usage }] }) });
    await run.result;
    const started = run.events().find((event) => event.type === 'model.started' && event.agent === S1);
    const finished = run.events().find((event) => event.type === 'model.finished' && event.agent === S1);
    if (started?.type !== 'model.started' || finished?.type !== 'model.finished') throw new Error('no call');
    expect([tokensOf(finished.usage), finished.cost, finished.bounded]).toEqual([
      started.reserved.tokens,
      started.reserved.cost,
      true,
    ]);
  });

  it('that is not there stops nothing, and hands over what was said when one does (O092)', async () => {
    const run = testRun({
      plan: planWith({ maxTokens: 20_000 }),
      person: false,
      script: ({ agent }, n) =>
        agent === S1 ? { ...calling(`read ${n}`), text: `part ${n}`, usage: { input: 5000 } } : undefined,
    });
    await run.result;
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'partial', summary: 'part 1' });
  });

  it('is warned of once at 80 % (2.6)', async () => {
    const run = testRun({
      plan: planWith({ maxTokens: 10_000 }),
      person: false,
      runBudget: { maxTokens: 10_200 },
      script: ({ agent }, n) =>
        agent === S1 && n < 3
          ? { ...calling(`read ${n}`), usage: { input: n === 0 ? 8000 : 100, output: 100 } }
          : undefined,
    });
    await run.result;
    const warned = run
      .events()
      .flatMap((event) => (event.type === 'budget.warned' ? [`${event.scope} ${event.what}`] : []));
    expect(warned.toSorted()).toEqual(['agent tokens', 'run tokens']);
  });
});

describe('a limit on time', () => {
  const timed = (setting: Setting): { readonly run: TestRun; readonly world: ReturnType<typeof fakeWorld> } => {
    const world = fakeWorld();
    return { run: testRun({ world, plan: planWith({ maxDuration: 2000 }, 'oracle'), ...setting }), world };
  };

  it('ends the call of a model that trickles (O041, G09)', async () => {
    const { run, world } = timed({
      person: false,
      script: ({ agent }) => (agent === S1 ? new Promise<undefined>(() => {}) : undefined),
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await world.advance(1999);
    expect(run.state().agents.get(S1)?.outcome).toBe(null);
    await world.advance(60);
    await run.result;
    expect(errorsOf(run)[0]).toEqual([
      'partial',
      "Budget exceeded: the agent's time (2 s of 2 s used, and the next step does not fit); the plan's task or budgets.agent.maxDuration sets it",
    ]);
    expect(world.sleepers()).toBe(0);
  });

  it('leaves out the time that a person needs to answer (D19)', async () => {
    const { run, world } = timed({ script: says({ [S1]: [calling('write x')] }) });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    await world.advance(60_000);
    expect(run.state().approvals.length).toBe(1);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    expect((await run.result).success).toBe(true);
    const finished = run.events().find((event) => event.type === 'agent.finished' && event.agent === S1);
    expect(finished?.type === 'agent.finished' && finished.metrics.duration).toBe(0);
  });

  it('of a parent counts the time of its child', async () => {
    const plan = {
      reason: '',
      tasks: [{ id: 't', description: 'do t', role: 'oracle', maySpawn: true, budget: { maxDuration: 2000 } }],
    };
    const input = { description: 'look', prompt: 'look', subagent_type: 'explore' };
    const { run, world } = timed({
      plan,
      person: false,
      mode: 'yolo',
      script: ({ agent, purpose }) => {
        if (purpose.is !== 'work') return undefined;
        return agent === S1 ? { text: '', calls: [{ tool: 'Task', input }] } : new Promise<undefined>(() => {});
      },
    });
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S1::S1'))?.open.length === 1);
    await world.advance(2100);
    await run.result;
    expect(run.state().agents.get(S1)?.outcome).toBe('partial');
  });
});

/** Agents, some of them children of others, who ask for calls of any size in any order. */
const IDS = ['ROOT::S1', 'ROOT::S2', 'ROOT::S1::S1', 'ROOT::S3'].map(AGENT);
const count = fc.integer({ min: 0, max: 30_000 });
const usage = fc.record<Usage>({
  input: count,
  output: count,
  cacheRead: fc.integer({ min: -5, max: 2000 }),
  cacheWrite: fc.integer({ min: 0, max: 2000 }),
});
interface Ask {
  readonly agent: AgentId;
  readonly bytes: number;
  readonly price: { readonly input: number; readonly output: number };
  readonly usage: Usage;
}

const ask: fc.Arbitrary<Ask> = fc.record({
  agent: fc.constantFrom(...IDS),
  bytes: fc.integer({ min: 1, max: 20_000 }),
  price: fc.record({ input: fc.integer({ min: 0, max: 20 }), output: fc.double({ min: 0, max: 80, noNaN: true }) }),
  usage,
});
const budget = fc.record<{ maxTokens: number; maxCost: number }>({
  maxTokens: fc.integer({ min: 0, max: 100_000 }),
  maxCost: fc.double({ min: 0, max: 2, noNaN: true }),
});

describe('what is spent and promised together', () => {
  const session = SessionId.parse('property');
  const created = (agent: AgentId, limits: Budget): EventBody => ({
    type: 'agent.created',
    agent,
    parent: parentOf(agent),
    role: RoleName.parse('finder'),
    name: agent,
    task: '',
    taskId: null,
    tools: [],
    budget: limits,
    dependsOn: [],
    model: { asked: 'm', used: scriptedModel().id, because: null },
    iterations: 20,
  });

  /** All ask at once; replies come in any order. With `careful` as the gate does it, else checking without a promise. */
  async function most(
    asks: readonly Ask[],
    limits: { readonly run: Budget; readonly agents: readonly Budget[] },
    order: fc.Scheduler,
    careful: boolean,
  ): Promise<boolean> {
    const log = memoryLog();
    const record = (...bodies: readonly EventBody[]): unknown =>
      log.append(session, '2026-01-01T00:00:00.000Z', bodies);
    const state = (): ReturnType<typeof foldAll> => foldAll(log.read(session));
    record(created(AGENT('ROOT'), {}), ...IDS.map((id, index) => created(id, limits.agents[index] ?? {})));
    const run = (): ReturnType<typeof state> => ({ ...state(), budget: limits.run });
    let kept = true;
    const look = (): void => {
      const now = state();
      for (const [id, limit] of [
        [AGENT('ROOT'), limits.run] as const,
        ...IDS.map((one, at) => [one, limits.agents[at] ?? {}] as const),
      ]) {
        const used = committed(now, id);
        kept &&= used.limitTokens <= (limit.maxTokens ?? Infinity);
        kept &&= toMicro(used.cost) <= toMicro(limit.maxCost ?? Infinity);
      }
    };
    const one = async ({ agent, bytes, price, usage: reported }: Ask, index: number): Promise<void> => {
      await order.schedule(Promise.resolve(), `ask ${index}`);
      const model = scriptedModel('scripted/m', { price });
      const promise = reserve(run(), { agent, model, inputBound: bytes, now: 0 });
      if (!promise.ok) return;
      const call = CallId.parse(`call-${index}`);
      const reserved = { tokens: promise.tokens, cost: promise.cost };
      const begun = { type: 'model.started', agent, call, model: model.id, purpose: 'work', reserved } as const;
      if (careful) record(begun);
      look();
      await order.schedule(Promise.resolve(), `reply ${index}`);
      if (!careful) record(begun);
      const { bounded: _, ...settled } = settle(model, reported, reserved);
      record({ type: 'model.finished', agent, call, model: model.id, ...settled, stopReason: 'end', ms: 0, calls: [] });
      look();
    };
    const all = Promise.all(asks.map(one));
    await order.waitIdle();
    await all;
    return kept;
  }

  const anything = [
    fc.array(ask, { minLength: 1, maxLength: 12 }),
    fc.record({ run: budget, agents: fc.array(budget, { minLength: 4, maxLength: 4 }) }),
    fc.scheduler(),
  ] as const;

  it('never exceeds a limit, of an agent, its parent or the run, however calls interleave', async () => {
    const property = fc.asyncProperty(...anything, async (asks, limits, order) => {
      expect(await most(asks, limits, order, true)).toBe(true);
    });
    await fc.assert(property, { numRuns: 150 });
  });

  it('would exceed it if calls were checked and not reserved: the property can tell', async () => {
    const same: Ask = {
      agent: S1,
      bytes: 2000,
      price: { input: 0, output: 0 },
      usage: { input: 2000, output: 3000, cacheRead: 0, cacheWrite: 0 },
    };
    const limits = { run: { maxTokens: 6000 }, agents: [] };
    const naive = fc.asyncProperty(fc.scheduler(), (order) => most([same, same, same], limits, order, false));
    const { failed } = await fc.check(naive, { numRuns: 100, endOnFailure: true });
    expect(failed).toBe(true);
  });
});
