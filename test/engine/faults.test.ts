import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../src/domain/budget.ts';
import { spentOf } from '../../src/events/queries.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { scriptedModel } from '../support/scripted.ts';
import { ended, fault, hops, meets, one, waiting } from '../support/faulty.ts';
import { eventsOf, throughTime, toldTo } from '../support/run-looks.ts';
import { AGENT, FAST, MODELS, planOf, ROLES, RULES, type Script, type TestRun, testRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const ROOT = AGENT('ROOT');
const S1 = AGENT('ROOT::S1');
const retries = (run: TestRun): unknown[] =>
  run.events().flatMap((event) => (event.type === 'model.retry' ? [[event.attempt, event.attempts, event.wait]] : []));

describe('a call that failed', () => {
  it('is tried again, each try reserved and given free again (J03, G06)', async () => {
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
      [2, undefined, 255],
      [3, undefined, 510],
      [4, undefined, 1020],
      [5, undefined, 2041],
    ]);
  });

  it.each([
    ['malformed', 2],
    ['cut', 5],
  ] as const)('for "%s" is tried %i times in all', async (is, tries) => {
    const run = await ended({ script: ({ agent }) => (agent === S1 ? fault(is) : undefined) });
    expect(eventsOf(run, 'model.started').length).toBe(tries);
    expect(run.state().finished?.summary).toContain(`fast: it is ${is} (${tries} attempts)`);
  });

  it('is not counted among the tries that a reply nobody can read has, where the provider refused it', async () => {
    const run = await ended({ script: meets(fault('rate limited'), fault('rate limited'), fault('malformed')) });
    expect(eventsOf(run, 'model.started', S1).length).toBe(4);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it.each(['unreachable', 'overloaded', 'rate limited', 'silent'] as const)(
    'for "%s" is tried for ten minutes, with pauses that grow to a minute at most (J05, J09)',
    async (is) => {
      const { run, world } = waiting({ script: ({ agent }) => (agent === S1 ? fault(is) : undefined) });
      await throughTime(run, world);
      const waits = run.events().flatMap((event) => (event.type === 'model.retry' ? [event.wait] : []));
      expect(waits.slice(0, 9)).toEqual([255, 510, 1020, 2041, 4080, 8161, 16_322, 30_603, 30_603]);
      expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
      expect(waits.reduce((sum, wait) => sum + wait, 0)).toBe(600_000);
      expect(eventsOf(run, 'model.started').length).toBe(waits.length + 1);
      const said = new Set(run.events().flatMap((event) => (event.type === 'model.retry' ? [event.message] : [])));
      expect([...said]).toEqual([is === 'unreachable' ? fault(is).fault?.message : undefined]);
    },
  );

  it('for a fault of the provider is tried for as long as its entry says', async () => {
    const script: Script = ({ agent }) => (agent === S1 ? fault('overloaded') : undefined);
    const lasted = async (retryFor: number): Promise<number> => {
      const run = await ended({ script, scripted: { terms: { retryFor, answersAs: [], own: false } } });
      return run.state().lastAt - run.state().startedAt;
    };
    expect([await lasted(3000), await lasted(0)]).toEqual([3000, 0]);
  });

  it.each(['refused', 'unauthorised', 'no credit'] as const)('for "%s" is not tried again (J07)', async (is) => {
    const run = await ended({ script: meets(fault(is), { text: 'never' }) });
    expect(eventsOf(run, 'model.started').length).toBe(1);
    expect(retries(run)).toEqual([]);
  });

  it.each([
    [2000, [[2, undefined, 2255]]],
    [59_900, [[2, undefined, 60_000]]],
    [86_400_000, [[2, 2, 60_000]]],
    [Number.POSITIVE_INFINITY, [[2, 2, 255]]],
    [-1, [[2, undefined, 255]]],
    [Number.NaN, [[2, undefined, 255]]],
  ])('waits as long as the provider asks, %d ms, and a minute at most (J01, J02)', async (retryAfterMs, waits) => {
    const run = await ended({ script: meets(fault('rate limited', { retryAfterMs })) });
    expect(retries(run)).toEqual(waits);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('is charged at most the input that was reserved, where it broke off before its answer', async () => {
    const spent = { input: 1e9, output: 0, cacheRead: 0, cacheWrite: 0 };
    const requests: ModelRequest[] = [];
    const run = await ended({
      script: meets(fault('cut', { spent })),
      record: (request) => void requests.push(request),
    });
    const failed = run.events().find((event) => event.type === 'model.failed');
    const begun = run.events().find((event) => event.type === 'model.started' && event.call === failed?.call);
    const request = requests.find(({ call }) => call === failed?.call);
    const reserved = begun?.type === 'model.started' ? begun.reserved.tokens : 0;
    expect(failed?.usage).toEqual({ ...spent, input: reserved - (request?.maxOutputTokens ?? 0) });
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

  it.each(['kill', 'interrupt', 'message'] as const)('is charged as well when %s ends it (2.6)', async (act) => {
    const spent = { input: 50, output: 5, cacheRead: 0, cacheWrite: 0 };
    const { run } = waiting({
      scripted: { aborted: spent },
      script: ({ agent }, n) => (agent === S1 && n === 0 ? new Promise<undefined>(() => {}) : undefined),
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    const commands = {
      kill: { do: 'kill', agent: S1 },
      interrupt: { do: 'interrupt', agent: S1 },
      message: { do: 'message', to: S1, text: 'look', delivery: 'urgent' },
    } as const;
    await run.tell(commands[act]);
    await run.until(({ agents }) => agents.get(S1)?.open.length === 0);
    expect(one(run, 'model.failed')).toMatchObject({ cause: 'aborted', usage: spent, cost: 0.000075, priced: true });
    if (act === 'interrupt') run.stop('enough');
    await run.result;
    expect(spentOf(run.state()).tokens).toBeGreaterThanOrEqual(55);
  });
});

describe('a wait for a provider', () => {
  const limited = fault('rate limited', { retryAfterMs: 12_000 });
  const until = (run: TestRun): Promise<unknown> => run.until(({ agents }) => agents.get(S1)?.status === 'waiting');

  it('is shown with its reason, is not the time of the agent, and ends in work', async () => {
    const { run, world } = waiting({ script: meets(limited) });
    await until(run);
    expect(run.state().agents.get(S1)).toMatchObject({
      reason: 'scripted is rate limited; retrying in 13s (try 2)',
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
    expect(run.state().agents.get(ROOT)?.reason).toBe('scripted is rate limited; retrying in 13s (try 2)');
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

describe('64 agents whose provider is rate limited', () => {
  it('ask it once and not 64 times when the time is over, and all get through (J01)', async () => {
    const sent: number[] = [];
    const world = fakeWorld();
    const plan = planOf(...Array.from({ length: 64 }, (_, index): [string] => [`a${index}`]));
    const run = testRun({
      plan,
      world,
      rules: {
        ...RULES,
        maxTasksPerPlan: { ...RULES.maxTasksPerPlan, value: 64 },
        maxParallelAgents: { ...RULES.maxParallelAgents, value: 64 },
      },
      script: async ({ purpose }) => {
        if (purpose.is !== 'work') return undefined;
        sent.push(world.elapsed());
        // Whoever asks within the first five seconds is refused.
        const refused = world.elapsed() < 5000;
        await world.sleep(200);
        return refused ? fault('rate limited', { retryAfterMs: 2000 }) : undefined;
      },
    });
    await throughTime(run, world);
    expect((await run.result).success).toBe(true);
    expect(sent.filter((at) => at === 0).length).toBe(64);
    // Two go first alone and are refused; after the third there are two for each that got through.
    const later = sent.filter((at) => at > 0).map((at) => Math.floor(at / 100));
    const perTenth = [...new Set(later)].map((tenth) => later.filter((at) => at === tenth).length);
    expect(perTenth).toEqual([1, 1, 1, 2, 4, 8, 16, 32, 1]);
    expect([...run.state().agents.values()].every(({ status }) => status === 'completed')).toBe(true);
    expect(world.sleepers()).toBe(0);
  });
});
