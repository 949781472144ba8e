import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE, tokensOf } from '../../../../src/domain/budget.ts';
import { toMicro } from '../../../../src/domain/ids.ts';
import { costOf, type Price } from '../../../../src/domain/models/provider.ts';
import { reserve, settle } from '../../../../src/engine/gate/budget/reserve.ts';
import type { MimirEvent } from '../../../../src/events/event.ts';
import { fold, foldAll } from '../../../../src/events/fold.ts';
import { committed, spentOf } from '../../../../src/events/queries.ts';
import { EMPTY, type RunState } from '../../../../src/events/state.ts';
import { scriptedModel, type ScriptedReply } from '../../../support/scripted.ts';
import { ended } from '../../../support/faulty.ts';
import { eventsOf } from '../../../support/run-looks.ts';
import { memoryLog } from '../../../support/log.ts';
import { AGENT, calling, FAST, MODELS, planOf, RULES, type TestRun, testRun } from '../../../support/run.ts';
import { fakeWorld } from '../../../support/world.ts';

const ROOT = AGENT('ROOT');
const S1 = AGENT('ROOT::S1');
const TIERED: Price = {
  input: 3,
  output: 15,
  cacheRead: 0.3,
  cacheWrite: 3.75,
  tiers: [{ above: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 }],
};

describe('what a call costs', () => {
  const reserved = { tokens: 1_000_000, cost: 100 };
  it.each([
    ['plain tokens', { input: 1000, output: 100 }, 0.0045],
    ['tokens read from the cache', { cacheRead: 1000 }, 0.0003],
    ['tokens written to the cache', { cacheWrite: 1000 }, 0.00375],
    ['as much as the first tier holds', { input: 100_000, cacheRead: 100_000 }, 0.33],
    ['one token more: all of it is dearer', { input: 100_000, cacheRead: 100_001 }, 0.660001],
    ['no more for a long answer', { input: 1000, output: 300_000 }, 4.503],
  ])('is right for %s (D10)', (_, usage, cost) => {
    const used = { ...NO_USAGE, ...usage };
    expect(settle(scriptedModel('scripted/tiered', { price: TIERED }), used, reserved)).toEqual({
      usage: used,
      cost,
      priced: true,
      bounded: false,
    });
  });

  it('is never more than was promised, in whatever classes and tiers it is counted (2.6)', () => {
    const rate = fc.double({ min: 0, max: 100, noNaN: true });
    const rates = fc.record(
      { input: rate, output: rate, cacheRead: rate, cacheWrite: rate },
      { requiredKeys: ['input', 'output'] },
    );
    const price: fc.Arbitrary<Price> = fc
      .tuple(rates, fc.array(fc.tuple(fc.integer({ min: 1, max: 60_000 }), rates), { maxLength: 3 }))
      .map(([base, tiers]) => ({
        ...base,
        tiers: tiers.map(([above, more]) => ({ above, ...more })).toSorted((a, b) => a.above - b.above),
      }));
    const share = fc.integer({ min: 0, max: 50_000 });
    fc.assert(
      fc.property(
        price,
        fc.integer({ min: 1, max: 50_000 }),
        fc.record({ input: share, output: share, cacheRead: share, cacheWrite: share }),
        (p, inputBound, usage) => {
          const model = scriptedModel('scripted/any', { price: p });
          const state = { ...EMPTY, budget: {} };
          const promise = reserve(state, { agent: ROOT, model, inputBound, now: 0 });
          if (!promise.ok) throw new Error('without a limit nothing is refused');
          const settled = settle(model, usage, promise);
          expect(toMicro(settled.cost)).toBeLessThanOrEqual(toMicro(promise.cost));
          expect(tokensOf(settled.usage)).toBeLessThanOrEqual(promise.tokens);
          // A usage that keeps to what was asked is never taken for one that can't be true.
          const honest = {
            ...NO_USAGE,
            input: Math.min(usage.input, inputBound),
            output: Math.min(usage.output, promise.maxOutput),
          };
          expect(settle(model, honest, promise)).toMatchObject({ bounded: false, cost: costOf(p, honest) });
        },
      ),
    );
  });
});

describe('a request whose bytes do not fit', () => {
  const plan = {
    reason: '',
    tasks: [{ id: 't', description: 'x'.repeat(3000), role: 'finder', budget: { maxTokens: 3200 } }],
  };

  it('is counted by the provider, and goes if that fits (2.6)', async () => {
    const run = await ended({ plan, scripted: { count: () => 700 } });
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    const started = eventsOf(run, 'model.started')[0];
    expect(started?.type === 'model.started' && started.reserved.tokens).toBe(3200);
  });

  it.each([
    ['nothing', null],
    ['too much', 5000],
    ['nonsense', Number.NaN],
    ['less than nothing', -1],
  ])('is refused when the provider counts %s', async (_, count) => {
    const run = await ended({ plan, person: false, scripted: { count: () => count } });
    expect(run.state().agents.get(S1)?.outcome).toBe('partial');
    expect(eventsOf(run, 'model.started')).toEqual([]);
  });

  it('is judged again after the count: others may have taken what was left', async () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => ({ id, description: 'x'.repeat(6000), role: 'finder' }));
    const limit = 11_000;
    let most = 0;
    const run: TestRun = testRun({
      plan: { reason: '', tasks },
      runBudget: { maxTokens: limit },
      person: false,
      scripted: { count: ({ purpose }) => (purpose.is === 'work' ? 1600 : null) },
      script: () => {
        most = Math.max(most, committed(run.state(), ROOT).tokens);
        return undefined;
      },
    });
    await run.result;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(limit);
  });
});

/** What a scripted agent meets at one call. */
const meeting: fc.Arbitrary<ScriptedReply> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({ usage: fc.record({ input: fc.integer({ min: -1, max: 9000 }) }) })
      .map((more): ScriptedReply => ({ ...calling(`read ${more.usage.input}`), ...more })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('rate limited', 'overloaded', 'cut', 'silent', 'unreachable', 'malformed', 'too long'),
        fc.option(
          fc.record({ input: fc.integer({ min: 0, max: 20_000 }), output: fc.integer({ min: 0, max: 9000 }) }),
          { nil: undefined },
        ),
        fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
      )
      .map(
        ([is, spent, retryAfterMs]): ScriptedReply => ({
          fault: {
            is,
            message: is,
            ...(spent === undefined ? {} : { spent: { ...NO_USAGE, ...spent } }),
            ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          },
        }),
      ),
  },
);

/** Folds a log as it grows, and looks at the state after every event. */
function watched(look: (state: RunState, event: MimirEvent) => void): ReturnType<typeof memoryLog> {
  const log = memoryLog();
  let state = EMPTY;
  return {
    ...log,
    append: (session, time, bodies) => {
      const events = log.append(session, time, bodies);
      for (const event of events) {
        state = fold(state, event);
        look(state, event);
      }
      return events;
    },
  };
}

type Ended = Extract<MimirEvent, { type: 'model.finished' | 'model.failed' }>;

/** Every charge of the log, and whether it was within what had been reserved for its call. */
function charges(events: readonly MimirEvent[]): {
  readonly tokens: number;
  readonly micro: number;
  readonly within: boolean;
} {
  const promised = new Map(
    events.flatMap((event) => (event.type === 'model.started' ? [[event.call, event.reserved] as const] : [])),
  );
  const all = events
    .filter((event): event is Ended => event.type === 'model.finished' || event.type === 'model.failed')
    .map(({ call, usage = NO_USAGE, cost = 0 }) => ({
      tokens: tokensOf(usage),
      micro: toMicro(cost),
      reserved: promised.get(call) ?? { tokens: 0, cost: 0 },
    }));
  return {
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
    micro: all.reduce((sum, { micro }) => sum + micro, 0),
    within: all.every(({ tokens, micro, reserved }) => tokens <= reserved.tokens && micro <= toMicro(reserved.cost)),
  };
}

describe('the ledger of a run whose calls fail', () => {
  it('stays below its limits, charges no call more than was reserved, and adds up, however calls interleave (G06, J03)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(meeting, { minLength: 4, maxLength: 24 }),
        fc.integer({ min: 5000, max: 120_000 }),
        fc.double({ min: 0.01, max: 0.5, noNaN: true }),
        async (order, meetings, maxTokens, maxCost) => {
          let kept = true;
          const log = watched((state) => {
            const used = committed(state, ROOT);
            kept &&= used.tokens <= maxTokens && toMicro(used.cost) <= toMicro(maxCost);
          });
          const world = fakeWorld();
          let next = 0;
          const run = testRun({
            log,
            world,
            person: false,
            plan: planOf(['a'], ['b'], ['c'], ['d', 'a']),
            catalogue: [
              scriptedModel(FAST, { aliases: ['fast'], price: { ...TIERED, tiers: [] } }),
              ...MODELS.slice(1),
            ],
            rules: { ...RULES, onFailure: { ...RULES.onFailure, value: 'skip' } },
            runBudget: { maxTokens, maxCost },
            script: async ({ purpose }, n) => {
              await order.schedule(Promise.resolve(), `${purpose.is} ${n}`);
              return purpose.is === 'work' ? meetings[(next += 1) - 1] : undefined;
            },
          });
          const end = { yet: false };
          void run.result.finally(() => (end.yet = true));
          for (let steps = 0; !end.yet && steps < 5000; steps += 1) {
            if (order.count() > 0) await order.waitOne();
            else await world.advance(world.nextWake() ?? 0);
          }
          await run.result;
          const { tokens, micro, within } = charges(run.events());
          const spent = spentOf(foldAll(run.events()));
          expect([kept, within, spent.tokens, toMicro(spent.cost)]).toEqual([true, true, tokens, micro]);
          expect([...run.state().agents.values()].flatMap(({ open }) => open)).toEqual([]);
          expect(world.sleepers()).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });
});
