/** A clock that goes backwards, no number, a sum too large: the budget is treated as spent. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../../src/domain/budget.ts';
import { ROOT, RoleName, SessionId } from '../../../../src/domain/ids.ts';
import { reserve } from '../../../../src/engine/gate/budget/reserve.ts';
import { timeExhausted, timeLeft } from '../../../../src/engine/gate/budget/limits.ts';
import { fold } from '../../../../src/events/fold.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import { EMPTY, type RunState } from '../../../../src/events/state.ts';
import { scriptedModel } from '../../../support/scripted.ts';

const START = Date.UTC(2026, 0, 1);
const model = scriptedModel('scripted/m', { price: { input: 1, output: 5 } });

function running(budget: Budget): RunState {
  const bodies: readonly EventBody[] = [
    {
      type: 'agent.created',
      agent: ROOT,
      parent: null,
      role: RoleName.parse('main'),
      name: 'main',
      task: '',
      taskId: null,
      tools: [],
      budget,
      dependsOn: [],
      model: { asked: 'm', used: model.id, because: null },
      iterations: 20,
    },
    { type: 'budget.changed', agent: ROOT, budget, by: 'test' },
    { type: 'agent.status', agent: ROOT, status: 'running', reason: '' },
  ];
  return bodies.reduce<RunState>(
    (state, body) =>
      fold(state, {
        ...body,
        v: 1,
        seq: state.seq + 1,
        time: new Date(START).toISOString(),
        session: SessionId.parse('clock'),
      }),
    EMPTY,
  );
}

describe('the time of a limit', () => {
  it.each([
    ['an hour back', START - 3_600_000, 0],
    ['no number', Number.NaN, 0],
    ['set right by a moment', START - 400, 10_000],
    ['as it was', START, 10_000],
    ['four seconds on', START + 4000, 6000],
  ])('is what it is by a clock that is %s (2.4)', (_, now, left) => {
    const state = running({ maxDuration: 10_000 });
    expect(timeLeft(state, ROOT, now)).toBe(left);
    expect(timeExhausted(state, ROOT, now) === null).toBe(left > 0);
    const promise = reserve(state, { agent: ROOT, model, inputBound: 100, now });
    expect(promise.ok).toBe(left > 0);
    if (!promise.ok) expect(JSON.parse(JSON.stringify(promise.exhausted))).toEqual(promise.exhausted);
  });
});

describe('a promise', () => {
  it.each([Number.NaN, Infinity, 1e300, -1e9, 0.5])('is never made for %d tokens of input (2.4, H10)', (inputBound) => {
    for (const budget of [{}, { maxTokens: 100_000 }, { maxCost: 5 }])
      expect(reserve(running(budget), { agent: ROOT, model, inputBound, now: START }).ok).toBe(false);
  });

  it('is never more than the limit leaves, also where the fractions of both prices add up to a hair more', () => {
    const cheap = { ...model, price: { input: 0.1, output: 0.2 } };
    const asked = { agent: ROOT, model: cheap, inputBound: 6, now: START };
    expect(reserve(running({ maxCost: 0.001 }), asked)).toEqual({
      ok: true,
      tokens: 5003,
      cost: 0.001,
      maxOutput: 4997,
    });
  });

  it('leaves room for a closing answer, and is made where nothing is left of a cost limit and the model costs nothing', () => {
    const outputFor = (rate: number, maxCost: number, kept: number): unknown => {
      const promise = reserve(running({ maxCost }), {
        agent: ROOT,
        model: { ...model, price: { input: rate, output: rate }, outputLimit: 20_000 },
        inputBound: 1000,
        now: START,
        reserves: () => ({ tokens: 0, cost: kept }),
        closing: { cached: 0 },
      });
      return promise.ok && promise.maxOutput;
    };
    expect([outputFor(0.5, 0.01, 0), outputFor(0, 1, 1)]).toEqual([6952, 16_384]);
  });

  it.each([Number.NaN, Infinity])('is never made at a price of %d (2.4)', (output) => {
    const priced = { ...model, price: { input: 1, output } };
    for (const budget of [{}, { maxTokens: 100_000 }, { maxCost: 5 }])
      expect(reserve(running(budget), { agent: ROOT, model: priced, inputBound: 100, now: START }).ok).toBe(false);
  });
});
