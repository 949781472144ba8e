import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../src/domain/budget.ts';
import { ModelId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { spentOf } from '../../src/events/queries.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import type { ScriptedReply } from '../../src/models/scripted.ts';
import type { ModelFault } from '../../src/ports/model.ts';
import { eventsOf, throughTime, toldTo } from '../support/run-looks.ts';
import { AGENT, calling, FAST, MODELS, planOf, ROLES, RULES, SLOW, testRun } from '../support/run.ts';
import type { Script, Setting, TestRun } from '../support/run.ts';
import type { FakeWorld } from '../support/world.ts';
import { fakeWorld } from '../support/world.ts';

const ROOT = AGENT('ROOT');
const S1 = AGENT('ROOT::S1');
const fault = (is: ModelFault['is'], more: Partial<ModelFault> = {}): ScriptedReply => ({
  fault: { is, message: `it is ${is}`, ...more },
});

/** A run and its clock; the model `fast` only, unless the setting says more. */
function waiting(setting: Setting): { readonly run: TestRun; readonly world: FakeWorld } {
  const world = fakeWorld();
  const roles = ROLES.map((role) => ({ ...role, models: ['fast'] }));
  return { run: testRun({ plan: planOf(['a']), world, roles, ...setting }), world };
}
/** One that is carried through, whatever it waits for. */
async function ended(setting: Setting): Promise<TestRun> {
  const { run, world } = waiting(setting);
  await throughTime(run, world);
  return run;
}
/** The first agent meets these, one a call, and then gets its answer. */
const meets =
  (...faults: readonly ScriptedReply[]): Script =>
  ({ agent, purpose }, n) =>
    agent === S1 && purpose.is === 'work' ? faults[n] : undefined;
const retries = (run: TestRun): unknown[] =>
  run.events().flatMap((event) => (event.type === 'model.retry' ? [[event.attempt, event.attempts, event.wait]] : []));
const hops = (run: TestRun): unknown[] =>
  run.events().flatMap((event) => (event.type === 'model.fallback' ? [[event.from, event.to, event.cause]] : []));
const one = <T extends MimirEvent['type']>(run: TestRun, type: T): Extract<MimirEvent, { type: T }> => {
  const found = run.events().find((event): event is Extract<MimirEvent, { type: T }> => event.type === type);
  if (!found) throw new Error(`no ${type}`);
  return found;
};

describe('a call that failed', () => {
  it('is tried again up to five times, each try reserved and given free again (J03, G06)', async () => {
    const overloaded = fault('overloaded');
    const run = await ended({ script: meets(overloaded, overloaded, overloaded, overloaded) });
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', iterations: 1, open: [] });
    const started = eventsOf(run, 'model.started').flatMap((event) => (event.type === 'model.started' ? [event] : []));
    expect(new Set(started.map(({ call }) => call)).size).toBe(5);
    expect(started.every(({ reserved }) => reserved.tokens > 0)).toBe(true);
    const finished = eventsOf(run, 'model.finished')[0];
    expect(finished?.type === 'model.finished' && tokensOf(finished.usage)).toBe(
      tokensOf(run.state().agents.get(S1)?.usage ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }),
    );
    // Full jitter below a bound that doubles; chance stands still here, a little above its middle.
    expect(retries(run)).toEqual([
      [2, 5, 255],
      [3, 5, 510],
      [4, 5, 1020],
      [5, 5, 2041],
    ]);
  });

  it.each([
    ['silent', 2],
    ['malformed', 2],
    ['cut', 5],
    ['unreachable', 5],
    ['rate limited', 5],
  ] as const)('for "%s" is tried %i times in all (J05)', async (is, tries) => {
    const run = await ended({ script: ({ agent }) => (agent === S1 ? fault(is) : undefined) });
    expect(eventsOf(run, 'model.started').length).toBe(tries);
    expect(run.state().finished?.summary).toContain(`fast: it is ${is} (tried ${tries} times)`);
  });

  it.each(['refused', 'unauthorised', 'no credit'] as const)('for "%s" is not tried again (J07)', async (is) => {
    const run = await ended({ script: meets(fault(is), { text: 'never' }) });
    expect(eventsOf(run, 'model.started').length).toBe(1);
    expect(retries(run)).toEqual([]);
  });

  it.each([
    [2000, [[2, 5, 2255]]],
    [59_900, [[2, 5, 60_000]]],
    [86_400_000, [[2, 2, 60_000]]],
    [Number.POSITIVE_INFINITY, [[2, 2, 255]]],
    [-1, [[2, 5, 255]]],
    [Number.NaN, [[2, 5, 255]]],
  ])('waits as long as the provider asks, %d ms, and a minute at most (J01, J02)', async (retryAfterMs, waits) => {
    const run = await ended({ script: meets(fault('rate limited', { retryAfterMs })) });
    expect(retries(run)).toEqual(waits);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('is charged what it used up before it broke off, and never more than was reserved', async () => {
    const spent = { input: 100, output: 7, cacheRead: 0, cacheWrite: 0 };
    const run = await ended({
      script: meets(fault('cut', { spent }), fault('cut', { spent: { ...spent, output: 1e9 } })),
    });
    const [first, second] = eventsOf(run, 'model.failed');
    const [, other] = eventsOf(run, 'model.started');
    expect(first).toMatchObject({ usage: spent, cost: 0.000135, priced: true });
    if (second?.type !== 'model.failed' || other?.type !== 'model.started') throw new Error('no second try');
    expect([tokensOf(second.usage ?? spent), second.cost]).toEqual([other.reserved.tokens, other.reserved.cost]);
    const sum = run
      .events()
      .reduce((all, event) => all + ('usage' in event && event.usage !== undefined ? tokensOf(event.usage) : 0), 0);
    expect(spentOf(run.state()).tokens).toBe(sum);
  });

  it('is charged as well when it was ended on purpose', async () => {
    const go = Promise.withResolvers<void>();
    const spent = { input: 50, output: 5, cacheRead: 0, cacheWrite: 0 };
    const { run } = waiting({
      script: async ({ agent }, n) => {
        if (agent !== S1 || n > 0) return undefined;
        await go.promise;
        return fault('aborted', { spent });
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await run.tell({ do: 'kill', agent: S1 });
    await run.result;
    expect(one(run, 'model.failed').cause).toBe('aborted');
    go.resolve();
  });
});

describe('a wait for a provider', () => {
  const limited = fault('rate limited', { retryAfterMs: 12_000 });
  const until = (run: TestRun): Promise<unknown> => run.until(({ agents }) => agents.get(S1)?.status === 'waiting');

  it('is shown with its reason, is not the time of the agent, and ends in work', async () => {
    const { run, world } = waiting({ script: meets(limited) });
    await until(run);
    expect(run.state().agents.get(S1)).toMatchObject({
      reason: 'scripted is rate limited; next try in 13 s (2 of 5)',
      runningSince: null,
    });
    await world.advance(13_000);
    await run.result;
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', ranMs: 0 });
    expect(run.state().agents.get(ROOT)?.ranMs).toBe(12_255);
    expect(eventsOf(run, 'agent.status').map((event) => event.type === 'agent.status' && event.status)).toEqual([
      'initializing',
      'running',
      'waiting',
      'running',
    ]);
    expect(world.sleepers()).toBe(0);
  });

  it('of the planner is shown at ROOT, whose clock goes on: it is the run', async () => {
    const { run, world } = waiting({
      script: ({ purpose }, n) => (purpose.is === 'plan' && n === 0 ? limited : undefined),
    });
    await run.until(({ agents }) => agents.get(ROOT)?.status === 'waiting');
    expect(run.state().phase).toBe('planning');
    expect(run.state().agents.get(ROOT)?.reason).toBe('scripted is rate limited; next try in 13 s (2 of 5)');
    await world.advance(13_000);
    expect((await run.result).success).toBe(true);
    expect(run.state().agents.get(ROOT)?.ranMs).toBe(12_255);
  });

  it.each(['interrupt', 'kill'] as const)('ends at once with %s', async (act) => {
    const { run, world } = waiting({ script: meets(limited) });
    await until(run);
    await run.tell({ do: act, agent: S1 });
    if (act === 'interrupt') {
      await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
      expect(world.sleepers()).toBe(0);
      await run.tell({ do: 'resume', agent: S1 });
      await throughTime(run, world);
    }
    await run.result;
    expect(run.state().agents.get(S1)?.outcome).toBe(act === 'kill' ? 'killed' : 'completed');
    expect(world.sleepers()).toBe(0);
  });

  it('ends at once with an urgent message, which is read before the next try', async () => {
    const { run, world } = waiting({ script: meets(limited) });
    await until(run);
    await run.tell({ do: 'message', to: S1, text: 'stop that', delivery: 'urgent' });
    await throughTime(run, world);
    expect(toldTo(run, S1).length).toBe(2);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('that the run has no time for is not begun: the next model is asked, or the run can be resumed (J02)', async () => {
    const limits = { runBudget: { maxDuration: 5000 }, script: meets(limited) };
    const alone = await ended(limits);
    expect(alone.state().finished).toMatchObject({ status: 'stopped' });
    const other = scriptedModel('elsewhere/slow', { aliases: ['slow'] });
    const two = await ended({ ...limits, roles: ROLES, catalogue: [...MODELS.slice(0, 1), other] });
    expect(hops(two)).toEqual([[FAST, other.id, 'rate limited: it is rate limited']]);
    expect(two.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('takes no longer than the run may', async () => {
    const slow = fault('rate limited', { retryAfterMs: 4000 });
    const run = await ended({ runBudget: { maxDuration: 6000 }, script: meets(slow, slow, slow) });
    expect(run.state().lastAt - run.state().startedAt).toBeLessThanOrEqual(6000);
  });
});

describe('another model', () => {
  const other = scriptedModel('elsewhere/third', { aliases: ['third'] });
  const three = {
    roles: ROLES.map((role) => ({ ...role, models: ['fast', 'slow', 'third'] })),
    catalogue: [...MODELS, other],
  };
  const only =
    (answer: (model: string) => ScriptedReply | undefined): Script =>
    ({ agent, model }) =>
      agent === S1 ? answer(model) : undefined;

  it.each(['rate limited', 'overloaded', 'cut', 'silent', 'malformed'] as const)(
    'is asked when the tries are used up for "%s", with an event (D4)',
    async (is) => {
      const run = await ended({ roles: ROLES, script: only((model) => (model === FAST ? fault(is) : undefined)) });
      const tries = is === 'silent' || is === 'malformed' ? 2 : 5;
      expect(hops(run)).toEqual([[FAST, SLOW, `${is}: it is ${is} (tried ${tries} times)`]]);
      expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    },
  );

  it.each(['unauthorised', 'no credit', 'unreachable'] as const)(
    'of another provider only is asked after "%s" (J07)',
    async (is) => {
      const run = await ended({ ...three, script: only((model) => (model === other.id ? undefined : fault(is))) });
      expect(hops(run)).toMatchObject([[FAST, other.id, expect.stringContaining(is)]]);
      expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    },
  );

  it('is asked once for each cause in one turn, and never after "refused" or by force', async () => {
    const same = await ended({ ...three, script: only(() => fault('overloaded')) });
    expect(hops(same).length).toBe(1);
    const each = await ended({
      ...three,
      script: only((model) => (model === other.id ? undefined : fault(model === FAST ? 'overloaded' : 'cut'))),
    });
    expect(hops(each).length).toBe(2);
    const refused = await ended({ ...three, script: only(() => fault('refused')) });
    expect(hops(refused)).toEqual([]);
    expect(refused.state().agents.get(S1)?.error).toBe('fast: it is refused');
  });

  it('that no rule allows is named with the rule, and the agent fails (J08)', async () => {
    const from = { rule: 'deniedModels: [slow]', layer: 'managed', file: '/etc/mimir.yml', line: 3 } as const;
    const rules = { ...RULES, deniedModels: [{ written: 'slow', pattern: SLOW, from }] };
    const run = await ended({ roles: ROLES, rules, script: only(() => fault('overloaded')) });
    expect(run.state().agents.get(S1)).toMatchObject({
      outcome: 'failed',
      error:
        'fast: it is overloaded (tried 5 times); no other model may take its place: deniedModels: [slow] (managed, /etc/mimir.yml:3)',
    });
    expect(eventsOf(run, 'policy.decided')[0]).toMatchObject({ subject: SLOW, decision: 'deny', ...from });
  });

  it('is not asked at a provider that refused the key, by nobody any more (J07)', async () => {
    const asked: string[] = [];
    const run = await ended({
      ...three,
      plan: planOf(['a'], ['b', 'a'], ['c', 'b']),
      record: ({ model, purpose }) => void (purpose.is === 'work' && asked.push(model)),
      script: ({ purpose, model }) => (purpose.is === 'work' && model !== other.id ? fault('unauthorised') : undefined),
    });
    expect(asked).toEqual([FAST, other.id, other.id, other.id]);
    expect((await run.result).success).toBe(true);
  });
});

describe('a run that nobody answers', () => {
  it('ends in bounded time, can be resumed, and loses nothing (J09)', async () => {
    const down = await ended({
      plan: planOf(['a'], ['b'], ['c', 'a']),
      script: ({ agent, purpose }, n) =>
        purpose.is !== 'work' ? undefined : agent === S1 && n === 0 ? calling('read x') : fault('unreachable'),
    });
    expect(await down.result).toMatchObject({ success: false, status: 'stopped', errorIs: 'model' });
    expect((await down.result).error).toBe('no model could be reached. fast: it is unreachable (tried 5 times)');
    expect(down.state().lastAt - down.state().startedAt).toBeLessThan(60_000);
    const acts: string[] = [];
    const again = await ended({ log: down.log, acts });
    expect((await again.result).success).toBe(true);
    // What had been done was not done again.
    expect(acts).toEqual([]);
    expect([...again.state().agents.values()].slice(1).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 3 }, () => 'completed'),
    );
  });

  it('while it is planned says so and can be resumed', async () => {
    const run = await ended({ script: ({ purpose }) => (purpose.is === 'plan' ? fault('unauthorised') : undefined) });
    expect(await run.result).toMatchObject({ status: 'stopped', errorIs: 'model' });
    const again = await ended({ log: run.log });
    expect((await again.result).success).toBe(true);
  });

  it('but for its report hands over what was found', async () => {
    const run = await ended({
      plan: planOf(['a'], ['b']),
      script: ({ purpose }) => (purpose.is === 'merge' ? fault('overloaded') : undefined),
    });
    expect((await run.result).success).toBe(true);
  });

  it('in part goes on without those agents, and lets them in when it is resumed', async () => {
    const elsewhere = scriptedModel('elsewhere/slow', { aliases: ['slow'] });
    const roles = ROLES.map((role) => ({ ...role, models: role.name === 'oracle' ? ['slow'] : ['fast'] }));
    const plan = {
      reason: '',
      tasks: [
        { id: 'a', description: 'do a', role: 'finder', model: 'fast' },
        { id: 'o', description: 'do o', role: 'oracle', model: 'slow' },
      ],
    };
    const setting = { plan, roles, catalogue: [...MODELS.slice(0, 1), elsewhere] };
    const run = await ended({
      ...setting,
      script: ({ model }) => (model === elsewhere.id ? fault('overloaded') : undefined),
    });
    expect([...run.state().agents.values()].slice(1).map(({ outcome }) => outcome)).toEqual(['completed', 'failed']);
    expect((await run.result).status).toBe('failed');
    const again = await ended({ ...setting, log: run.log });
    expect((await again.result).success).toBe(true);
  });
});

describe('an answer of another model', () => {
  const wrong = ModelId.parse('scripted/opus');

  it('is paid for, not used, and pauses the run (A08)', async () => {
    const acts: string[] = [];
    const usage = { input: 40, output: 9 };
    const run = await ended({
      acts,
      script: ({ agent }, n) => (agent === S1 && n === 0 ? { ...calling('read x'), usage, model: wrong } : undefined),
    });
    expect(acts).toEqual([]);
    expect(one(run, 'model.failed')).toMatchObject({ cause: 'mismatch', usage: { input: 40, output: 9 } });
    expect(await run.result).toMatchObject({
      status: 'stopped',
      errorIs: 'denied',
      error: 'model_mismatch: fast: asked scripted/fast, but scripted/opus answered; nothing of the answer was used',
    });
    expect(run.state().agents.get(S1)).toMatchObject({
      status: 'interrupted',
      reason: expect.stringContaining('model_mismatch'),
    });
    const again = await ended({ log: run.log, acts });
    expect((await again.result).success).toBe(true);
    expect(acts).toEqual([]);
  });

  it('may be told by the provider as well', async () => {
    const run = await ended({ script: meets(fault('mismatch')) });
    expect(await run.result).toMatchObject({ status: 'stopped', errorIs: 'denied' });
  });
});
