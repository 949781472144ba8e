/** What is reserved for a call, to the token and the micro-dollar, and at which limit it no longer fits. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../../src/domain/budget.ts';
import { type AgentId, CallId, type ModelId, SessionId } from '../../../../src/domain/ids.ts';
import type { Price } from '../../../../src/domain/models/provider.ts';
import { dayLimitsFor, openBudgets } from '../../../../src/engine/gate/budget/budgets.ts';
import { type Asked, ClosingReserves, reserve } from '../../../../src/engine/gate/budget/reserve.ts';
import { openRecorder } from '../../../../src/engine/gate/recorder.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import { foldAll } from '../../../../src/events/fold.ts';
import { EMPTY, type RunState } from '../../../../src/events/state.ts';
import type { DayLedger } from '../../../../src/ports/daily-budget.ts';
import { written } from '../../../policy/some-rules.ts';
import { memoryLog } from '../../../support/log.ts';
import { AGENT, FAST, RULES, SLOW } from '../../../support/run.ts';
import { scriptedModel } from '../../../support/scripted.ts';
import { created } from '../../../support/story.ts';
import { fakeWorld } from '../../../support/world.ts';

const [ROOT, S1, S2] = [AGENT('ROOT'), AGENT('ROOT::S1'), AGENT('ROOT::S2')];
const SESSION = SessionId.parse('test-session');
const PRICE: Price = { input: 1, output: 2, cacheRead: 0.1 };

const stateOf = (...bodies: readonly EventBody[]): RunState =>
  foldAll(memoryLog().append(SESSION, '2026-01-01T00:00:00.000Z', bodies));

/** The reservation of a call of 1000 tokens with at most 5000 in its answer, below a limit of the run. */
const reserved = (budget: Budget, asked: Partial<Asked> & { readonly price?: Price | null } = {}) => {
  const { price = PRICE, ...more } = asked;
  const model = scriptedModel('scripted/any', { price, outputLimit: 5000 });
  return reserve({ ...EMPTY, budget }, { agent: ROOT, model, inputBound: 1000, now: 0, ...more });
};

const exhausted = (what: 'tokens' | 'cost', limit: number) => ({
  ok: false,
  exhausted: { type: 'budget.exhausted', agent: ROOT, scope: 'run', what, spent: 0, limit },
});

describe('what is reserved for a call', () => {
  it('is its prompt and the longest answer, at their worst price', () => {
    expect(reserved({})).toEqual({ ok: true, tokens: 6000, cost: 0.011, maxOutput: 5000 });
  });

  it('has no longer answer than 16384 tokens, whatever the model can give', () => {
    const model = scriptedModel('scripted/long', { price: PRICE, outputLimit: 100_000 });
    expect(reserved({}, { model })).toMatchObject({ ok: true, maxOutput: 16_384, tokens: 17_384 });
  });

  it('has the answer that still fits, of 256 tokens at least', () => {
    expect(reserved({ maxTokens: 1256 })).toEqual({ ok: true, tokens: 1256, cost: 0.001512, maxOutput: 256 });
    expect(reserved({ maxTokens: 1255 })).toEqual(exhausted('tokens', 1255));
    expect(reserved({ maxCost: 0.001512 })).toEqual({ ok: true, tokens: 1256, cost: 0.001512, maxOutput: 256 });
    expect(reserved({ maxCost: 0.001511 })).toEqual(exhausted('cost', 0.001511));
    expect(reserved({ maxTokens: 2000, maxCost: 0.002 })).toMatchObject({ maxOutput: 500 });
    expect(reserved({ maxTokens: 1300, maxCost: 0.002 })).toMatchObject({ maxOutput: 300 });
  });

  it('is nothing that can not be counted', () => {
    expect(reserved({}, { inputBound: Number.NaN })).toEqual(exhausted('tokens', 0));
    expect(reserved({}, { inputBound: Number.MAX_SAFE_INTEGER })).toEqual(exhausted('tokens', 0));
    expect(reserved({ maxTokens: 1e6 }, { inputBound: Number.NaN })).toEqual(exhausted('tokens', 1e6));
    expect(reserved({ maxCost: 1 }, { inputBound: Number.NaN })).toMatchObject({ ok: false });
    expect(reserved({}, { inputBound: -6000 })).toMatchObject({ ok: false });
  });
});

describe('a model that costs nothing', () => {
  const free: Price = { input: 0, output: 0 };

  it.each([free, null])('fits any limit of dollars but one of nothing: %j', (price) => {
    expect(reserved({ maxCost: 0.000001 }, { price })).toEqual({ ok: true, tokens: 6000, cost: 0, maxOutput: 5000 });
    expect(reserved({ maxCost: 0 }, { price })).toEqual(exhausted('cost', 0));
    expect(reserved({ maxCost: 0.000001 }, { price, closing: { cached: 0 } })).toMatchObject({ maxOutput: 5000 });
    expect(reserved({ maxCost: 0 }, { price, closing: { cached: 0 } })).toMatchObject({ ok: false });
  });

  it('for its answer alone fits where its prompt is paid for', () => {
    const price: Price = { input: 1, output: 0 };
    expect(reserved({ maxCost: 0.001 }, { price })).toEqual({ ok: true, tokens: 6000, cost: 0.001, maxOutput: 5000 });
    expect(reserved({ maxCost: 0.000999 }, { price })).toEqual(exhausted('cost', 0.000999));
  });
});

describe('a call after which a closing answer must fit', () => {
  const closing = { cached: 0 };

  it('reserves nothing for it itself, and says what it may need', () => {
    expect(reserved({}, { closing })).toEqual({
      ok: true,
      tokens: 6000,
      cost: 0.011,
      maxOutput: 5000,
      closing: { tokens: 10_096, cost: 0.012144 },
    });
  });

  it('has 1024 tokens for its own answer at least, or as many as the model can give', () => {
    expect(reserved({ maxTokens: 8144 }, { closing })).toMatchObject({ ok: true, maxOutput: 1024 });
    expect(reserved({ maxTokens: 8143 }, { closing })).toEqual(exhausted('tokens', 8143));
    const model = scriptedModel('scripted/short', { price: PRICE, outputLimit: 500 });
    expect(reserved({ maxTokens: 7096 }, { closing, model })).toMatchObject({ ok: true, maxOutput: 500 });
    expect(reserved({ maxTokens: 7095 }, { closing, model })).toMatchObject({ ok: false });
    expect(reserved({ maxCost: 0.011216 }, { closing })).toMatchObject({ ok: true, maxOutput: 1024 });
    expect(reserved({ maxCost: 0.011215 }, { closing })).toEqual(exhausted('cost', 0.011215));
  });

  it('counts what is probably read from the cache as a tenth, and at its own price', () => {
    const cached = { cached: 500 };
    expect(reserved({ maxTokens: 7694 }, { closing: cached })).toMatchObject({ ok: true, maxOutput: 1024 });
    expect(reserved({ maxTokens: 7693 }, { closing: cached })).toMatchObject({ ok: false });
    expect(reserved({ maxCost: 0.010766 }, { closing: cached })).toMatchObject({ ok: true, maxOutput: 1024 });
    expect(reserved({ maxCost: 0.010765 }, { closing: cached })).toMatchObject({ ok: false });
    // No more is read from it than is sent.
    const all = reserved({ maxTokens: 20_000 }, { closing: { cached: 1000 } });
    expect(reserved({ maxTokens: 20_000 }, { closing: { cached: 9000 } })).toEqual(all);
    // Where the price of the cache is unknown it is that of the prompt.
    const price: Price = { input: 1, output: 2 };
    expect(reserved({ maxCost: 0.011216 }, { price, closing: cached })).toMatchObject({ ok: true });
    expect(reserved({ maxCost: 0.011215 }, { price, closing: cached })).toMatchObject({ ok: false });
  });
});

describe('closing answers of others', () => {
  const model = scriptedModel('scripted/any', { price: PRICE, outputLimit: 5000 });
  const need = { tokens: 100_000, cost: 1 };
  const state = stateOf(created(S1, { budget: { maxTokens: 20_000, maxCost: 0.1 } }));
  const closingReserves = (ids: readonly string[]): ClosingReserves => {
    const all = new ClosingReserves();
    for (const id of ids) all.set(AGENT(id), need);
    return all;
  };
  const fits = (reserves: readonly string[], of: RunState = state): boolean =>
    reserve(of, {
      agent: S1,
      model,
      inputBound: 1000,
      now: 0,
      reserves: (limit) => closingReserves(reserves).below(limit),
    }).ok;

  it('are kept free of a limit that they are below, and of no other', () => {
    expect(fits([])).toBe(true);
    expect(fits(['ROOT::S2', 'ROOT::S10', 'ROOT'])).toBe(true);
    expect(fits(['ROOT::S1'])).toBe(false);
    expect(fits(['ROOT::S1::S1'])).toBe(false);
  });

  it('are all below the limit of the run, in tokens and in dollars', () => {
    const run = (budget: Budget): RunState => ({ ...stateOf(created(S1)), budget });
    expect(fits(['ROOT::S2'], run({ maxTokens: 101_256 }))).toBe(true);
    expect(fits(['ROOT::S2'], run({ maxTokens: 101_255 }))).toBe(false);
    expect(fits(['ROOT::S2'], run({ maxCost: 1.001512 }))).toBe(true);
    expect(fits(['ROOT::S2'], run({ maxCost: 1.001511 }))).toBe(false);
    expect(fits(['ROOT::S2', 'ROOT::S3'], run({ maxTokens: 201_256 }))).toBe(true);
    expect(fits(['ROOT::S2', 'ROOT::S3'], run({ maxTokens: 201_255 }))).toBe(false);
  });

  it('sum to those of the agent and its descendants without the one that asks, after any changes', () => {
    const id = fc
      .constantFrom('ROOT', 'ROOT::S1', 'ROOT::S1::S1', 'ROOT::S1::S2', 'ROOT::S10', 'ROOT::S10::S1')
      .map(AGENT);
    const change = fc.record({ id, tokens: fc.nat(1000), cents: fc.nat(999), gone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change), id, fc.option(id), (changes, limit, except) => {
        const all = new ClosingReserves();
        const model = new Map<AgentId, number>();
        for (const { id, tokens, cents, gone } of changes) {
          if (gone) all.delete(id);
          else all.set(id, { tokens, cost: cents / 100 });
          if (gone) model.delete(id);
          else model.set(id, tokens * 1000 + cents);
        }
        const counted = [...model].filter(([one]) => one !== except && (one === limit || one.startsWith(`${limit}::`)));
        const { tokens, cost } = all.below(limit, except);
        expect(tokens).toBe(counted.reduce((sum, [, both]) => sum + Math.floor(both / 1000), 0));
        expect(Math.round(cost * 100)).toBe(counted.reduce((sum, [, both]) => sum + (both % 1000), 0));
      }),
    );
  });
});

describe('a limit of the day', () => {
  const from = written('budgets.day.maxTokens: 1000000', 4);
  const started = (agent: AgentId, call: string, model: ModelId, tokens: number): EventBody => ({
    type: 'model.started',
    agent,
    call: CallId.parse(call),
    model,
    purpose: 'work',
    reserved: { tokens, cost: tokens / 1000 },
  });

  /** Two agents with a call each in flight, and one of S1 that a crash left open. */
  function limitsWith(others: 'counted' | 'ended') {
    const recorder = openRecorder(memoryLog(), SESSION, fakeWorld());
    recorder.record(created(S1), created(S2), started(S1, 'left', FAST, 1));
    const budgets = openBudgets();
    for (const call of ['one', 'two']) budgets.inFlight.begin(CallId.parse(call));
    recorder.record(started(S1, 'one', FAST, 20), started(S2, 'two', SLOW, 300));
    const day: DayLedger = {
      reserve: () => null,
      settle: () => undefined,
      today: (matches) => (matches === undefined ? { tokens: 5321, cost: 5.321 } : { tokens: 4021, cost: 4.021 }),
      close: () => undefined,
    };
    const rules = () => ({
      ...RULES,
      dayBudget: { value: { maxTokens: 1e6 }, from },
      modelBudgets: [
        { model: { written: FAST, pattern: FAST, from }, budget: { value: { maxCost: 7 }, from } },
        { model: { written: SLOW, pattern: SLOW, from }, budget: { value: { maxCost: 8 }, from } },
      ],
    });
    const signal = new AbortController().signal;
    const parts = { ...budgets, day, recorder, rules, world: fakeWorld(), signal, fail: () => undefined };
    return dayLimitsFor({ ...parts, models: { models: () => [] } }, FAST, others);
  }

  it('is that of all models, and that of the model itself', () => {
    expect(limitsWith('counted')).toEqual([
      { scope: 'day', from, model: null, budget: { maxTokens: 1e6 }, used: { tokens: 5321, cost: 5.321 } },
      { scope: 'model', from, model: FAST, budget: { maxCost: 7 }, used: { tokens: 4021, cost: 4.021 } },
    ]);
  });

  it('would be freed of what this run’s calls in flight reserve, each of its own model, and of nothing else', () => {
    expect(limitsWith('ended').map(({ used }) => used)).toEqual([
      { tokens: 5001, cost: 5.001 },
      { tokens: 4001, cost: 4.001 },
    ]);
  });
});
