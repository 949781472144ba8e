import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentId, ROOT, TaskId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import {
  activityOf,
  committed,
  isFinal,
  lostToProvider,
  spentOf,
  taskOf,
  tokensOfAgent,
} from '../../src/events/queries.ts';
import {
  agentAfter,
  asked,
  began,
  created,
  FINDER,
  finished,
  NESTED,
  replied,
  REVIEWER,
  said,
  stateAfter,
  status,
  told,
  used,
  callId,
  MODEL,
} from '../support/story.ts';

const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };

describe('the task of an agent', () => {
  it('is that of the plan for which it, or who started it, works; null where nobody does', () => {
    const task = { ...created(FINDER), taskId: TaskId.parse('one') };
    const state = stateAfter(created(ROOT), task, created(NESTED), created(REVIEWER));
    expect([FINDER, NESTED, REVIEWER, ROOT].map((agent) => taskOf(state, agent))).toEqual(['one', 'one', null, null]);
  });
});

describe('what is committed', () => {
  const state = stateAfter(
    created(ROOT),
    created(FINDER),
    created(NESTED),
    created(REVIEWER),
    replied(ROOT, 'c0', { usage, cost: 0.01 }),
    replied(FINDER, 'c1', { usage, cost: 0.02 }),
    asked(NESTED, 'c2', 1000, 0.5),
    replied(REVIEWER, 'c3', { usage, cost: 0.04 }),
  );

  it('counts an agent with all its children, calls in flight at what they may cost', () => {
    expect(committed(state, FINDER)).toEqual({
      tokens: 1015,
      limitTokens: 1015,
      cost: 0.52,
      reservedTokens: 1000,
      reservedCost: 0.5,
    });
    expect(committed(state, REVIEWER)).toEqual({
      tokens: 15,
      limitTokens: 15,
      cost: 0.04,
      reservedTokens: 0,
      reservedCost: 0,
    });
  });

  it('counts the whole run at ROOT, its own calls included (D18)', () => {
    expect(committed(state, ROOT)).toEqual({
      tokens: 1045,
      limitTokens: 1045,
      cost: 0.57,
      reservedTokens: 1000,
      reservedCost: 0.5,
    });
  });

  it('is spent only when the call is settled', () => {
    expect(spentOf(state)).toEqual({ tokens: 45, cost: 0.07 });
  });

  it('adds up thousands of small sums without drifting', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 100_000 }), { minLength: 1, maxLength: 200 }), (micros) => {
        const calls = micros.map((micro, index) => replied(FINDER, `c${index}`, { cost: micro / 1_000_000 }));
        const sum = micros.reduce((all, micro) => all + micro, 0);
        expect(committed(stateAfter(created(FINDER), ...calls), FINDER).cost).toBe(sum / 1_000_000);
      }),
    );
  });
});

describe('who was lost to a provider', () => {
  const failed = (agent: AgentId, cause: string): EventBody => ({
    type: 'model.failed',
    agent,
    call: callId('c1'),
    model: MODEL,
    cause,
    message: cause,
  });

  it('is who made no call after one that the provider failed (J09)', () => {
    const state = stateAfter(
      ...[FINDER, REVIEWER, NESTED].map((agent) => created(agent)),
      asked(FINDER, 'c1'),
      failed(FINDER, 'overloaded'),
      asked(REVIEWER, 'c2'),
      failed(REVIEWER, 'cut'),
      asked(REVIEWER, 'c3'),
      asked(NESTED, 'c4'),
      failed(NESTED, 'refused'),
    );
    expect([...lostToProvider(state)]).toEqual([FINDER]);
  });
});

describe('what an agent does right now', () => {
  it('is the tool that runs, else its last message, else its reason', () => {
    const doing = (...bodies: readonly EventBody[]): string =>
      activityOf(agentAfter(FINDER, created(FINDER), ...bodies));
    expect(doing(told(FINDER, 'find'), status(FINDER, 'pending', 'needs #1'))).toBe('needs #1');
    expect(doing(said(FINDER, 'c1', '\n  \nI look\nat it'))).toBe('I look');
    expect(doing(said(FINDER, 'c1', 'I look'), began(FINDER, 't1'))).toBe('read src/a.ts');
    expect(doing(began(FINDER, 't1'), used(FINDER, 't1', 'x'), said(FINDER, 'c2', 'done'), told(FINDER, 'ok'))).toBe(
      'done',
    );
  });
});

describe('small questions', () => {
  it('have small answers', () => {
    const agent = agentAfter(FINDER, created(FINDER), replied(FINDER, 'c1', { usage }));
    expect([tokensOfAgent(agent), isFinal(agent)]).toEqual([15, false]);
    expect(isFinal(agentAfter(FINDER, created(FINDER), finished(FINDER)))).toBe(true);
  });
});
