/** Limits against a state: what counts as used, when time is over, and when there is a warning. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../../src/domain/budget.ts';
import { AgentId, CallId, ModelId, ROOT, RoleName, SessionId } from '../../../../src/domain/ids.ts';
import { spentLimit, timeLeft, timeOver, warnings } from '../../../../src/engine/gate/budget/limits.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import { fold } from '../../../../src/events/fold.ts';
import { EMPTY, type RunState } from '../../../../src/events/state.ts';

const S1 = AgentId.parse('ROOT::S1');
const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
const choice = { asked: 'm', used: ModelId.parse('scripted/m'), because: null };

/** An agent with this budget that began to work at `BEGIN`; `calls`: tokens of calls in flight and of ended ones. */
function stateWith(budget: Budget, calls: { readonly open?: number; readonly ended?: number } = {}): RunState {
  const created = (agent: AgentId, of: Budget): EventBody => ({
    type: 'agent.created',
    agent,
    parent: agent === ROOT ? null : ROOT,
    role: RoleName.parse('finder'),
    name: agent,
    task: '',
    taskId: null,
    tools: [],
    budget: of,
    dependsOn: [],
    model: choice,
    iterations: 20,
  });
  const call = CallId.parse('c1');
  const of = { agent: S1, call, model: choice.used } as const;
  const started = (tokens: number): EventBody => ({
    type: 'model.started',
    ...of,
    purpose: 'work',
    reserved: { tokens, cost: 0 },
  });
  const usage = { input: calls.ended ?? 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const finished: EventBody = {
    type: 'model.finished',
    ...of,
    usage,
    cost: 0,
    priced: true,
    stopReason: 'end',
    ms: 1,
    calls: [],
  };
  const bodies: readonly EventBody[] = [
    created(ROOT, {}),
    created(S1, budget),
    { type: 'agent.status', agent: S1, status: 'running', reason: '' },
    ...(calls.ended === undefined ? [] : [started(calls.ended), finished]),
    ...(calls.open === undefined ? [] : [started(calls.open)]),
  ];
  return bodies.reduce<RunState>(
    (before, body) =>
      fold(before, {
        ...body,
        v: 1,
        seq: before.seq + 1,
        time: new Date(BEGIN).toISOString(),
        session: SessionId.parse('limits'),
      }),
    EMPTY,
  );
}

const limitOf = (budget: Budget) => ({ agent: S1, scope: 'agent', budget, reserved: {} }) as const;

describe('a limit of time', () => {
  const budget = { maxDuration: 10_000 };

  it('is over when all of it is used, and not a millisecond before', () => {
    const state = stateWith(budget);
    const overAt = (after: number): boolean => timeOver(state, limitOf(budget), BEGIN + after) !== null;
    expect([0, 9998, 9999, 10_000, 10_001].map(overAt)).toEqual([false, false, false, true, true]);
    expect(timeOver(state, limitOf(budget), BEGIN + 10_000)).toEqual({
      type: 'budget.exhausted',
      agent: S1,
      scope: 'agent',
      what: 'time',
      spent: 10_000,
      limit: 10_000,
    });
  });

  it('has a fifth of it for the closing answer, which other calls may not use', () => {
    const state = stateWith(budget);
    const left = (after: number): readonly number[] =>
      (['whole', 'closing reserved'] as const).map((time) => timeLeft(state, S1, BEGIN + after, time));
    expect([left(0), left(7999)]).toEqual([
      [10_000, 8000],
      [2001, 1],
    ]);
    expect(timeOver(state, limitOf(budget), BEGIN + 7999, 'closing reserved')).toBeNull();
    expect(timeOver(state, limitOf(budget), BEGIN + 8000, 'closing reserved')).toMatchObject({ what: 'time' });
  });

  it('is over where the clock went backwards', () => {
    expect(timeOver(stateWith(budget), limitOf(budget), BEGIN - 60_000)).toMatchObject({ spent: 10_000 });
  });
});

describe('tokens of calls in flight', () => {
  const budget = { maxTokens: 1000 };
  const warned = (calls: Parameters<typeof stateWith>[1]): readonly unknown[] =>
    warnings(stateWith(budget, calls), S1, BEGIN).map((event) =>
      'spent' in event ? [event.what, event.spent] : event,
    );

  it('are no reason for a warning, and those of ended calls are from 80 % on', () => {
    expect([
      warned({ open: 900 }),
      warned({ ended: 799 }),
      warned({ ended: 800 }),
      warned({ ended: 800, open: 100 }),
    ]).toEqual([[], [], [['tokens', 800]], [['tokens', 800]]]);
  });

  it('do not make a budget spent, and those of ended calls do when they are all of it', () => {
    const spent = (calls: Parameters<typeof stateWith>[1]): string | null =>
      spentLimit(stateWith(budget, calls), S1, BEGIN);
    expect([spent({ open: 1000 }), spent({ ended: 999 })]).toEqual([null, null]);
    expect(spent({ ended: 1000 })).toBe(
      "ROOT::S1's budget is spent (1000 tokens of 1000 tokens): give it more first (`budget ROOT::S1 …` in line mode, b on its card), then send again",
    );
  });
});
