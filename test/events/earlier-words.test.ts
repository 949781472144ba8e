/** Reasons of logs that have them only as sentences. */
import { describe, expect, it } from 'vitest';
import { type AgentOutcome, statusOfOutcome } from '../../src/domain/agents/agent.ts';
import { ROOT } from '../../src/domain/ids.ts';
import { withReasons } from '../../src/events/earlier-words.ts';
import type { EndedBy, EventBody } from '../../src/events/event.ts';

const waiting = (reason: string, more: object = {}): EventBody => ({
  type: 'agent.status',
  agent: ROOT,
  status: 'waiting',
  reason,
  ...more,
});

describe('a wait that an earlier version recorded', () => {
  const provider = { is: 'provider', why: 'anthropic is rate limited' };
  it.each([
    ['idle', { is: 'message' }],
    ['waits for its children', { is: 'children' }],
    ['its work is judged', { is: 'review' }],
    ['its commit is judged', { is: 'review' }],
    ["waits for the answer about the run's cost limit", { is: 'limit' }],
    ['anthropic is rate limited; next try in 12 s', { ...provider, wait: 12_000 }],
    ['anthropic is rate limited; next try in 12 s (try 2)', { ...provider, wait: 12_000, attempt: 2 }],
    ['anthropic is rate limited; next try in 12 s (2 of 5)', { ...provider, wait: 12_000, attempt: 2, attempts: 5 }],
    ['anthropic is rate limited; in line for the next try (try 3)', { ...provider, wait: null, attempt: 3 }],
    ['anthropic is rate limited', { ...provider, wait: null }],
  ])('by the words "%s" is told as data', (reason, waitingFor) => {
    expect(withReasons(waiting(reason))).toEqual(waiting(reason, { waitingFor }));
  });

  it('is that of a task behind one that failed as well', () => {
    const blocked: EventBody = { type: 'agent.status', agent: ROOT, status: 'pending', reason: 'blocked by #1 finder' };
    expect(withReasons(blocked)).toEqual({ ...blocked, waitingFor: { is: 'task' } });
  });

  it('stays as it is where it says nothing, or says it as data already', () => {
    const silent = waiting('');
    const told = waiting('idle', { waitingFor: { is: 'children' } });
    expect([withReasons(silent), withReasons(told)]).toEqual([silent, told]);
    expect(withReasons(told)).toBe(told);
  });
});

describe('an end that an earlier version recorded', () => {
  const interrupted = (reason: string): EventBody => ({
    type: 'agent.status',
    agent: ROOT,
    status: 'interrupted',
    reason,
  });
  const ended = (outcome: AgentOutcome, error: string): EventBody => ({
    type: 'agent.finished',
    agent: ROOT,
    status: statusOfOutcome(outcome),
    outcome,
    summary: '',
    error,
    metrics: { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 0, toolCalls: 0 },
  });
  const stopped = (summary: string): EventBody => ({
    type: 'session.finished',
    status: 'stopped',
    summary,
    totals: { cost: 0, tokens: 0, agents: 0, duration: 0 },
  });

  it.each<[EventBody, EndedBy]>([
    [interrupted('interrupted by you'), { is: 'person' }],
    [interrupted('the run was stopped'), { is: 'run' }],
    [ended('killed', 'killed by you'), { is: 'person' }],
    [ended('killed', 'killed by engineer'), { is: 'agent', name: 'engineer' }],
    [ended('killed', 'killed with its parent'), { is: 'parent' }],
    [ended('abandoned', 'its parent stopped'), { is: 'parent' }],
    [ended('abandoned', 'the run was stopped'), { is: 'run' }],
    [ended('skipped', 'skipped by you'), { is: 'person' }],
    [ended('skipped', 'taken out of the plan'), { is: 'plan' }],
    [stopped('handed over'), { is: 'hand-over' }],
  ])('as %o tells what ended it', (event, endedBy) => {
    expect(withReasons(event)).toEqual({ ...event, endedBy });
  });

  it('stays as it is where the same words mean something else', () => {
    const others = [
      ended('failed', 'killed by you'),
      ended('killed', 'no credit'),
      stopped('Ctrl-C'),
      interrupted('no'),
    ];
    expect(others.map((event) => withReasons(event))).toEqual(others);
  });
});

describe('a question and a notice that an earlier version recorded', () => {
  const asked = (request: object): unknown =>
    withReasons({
      type: 'approval.requested',
      agent: ROOT,
      call: null,
      approval: 'approval-1',
      request: { action: 'shell', title: '', exact: '', options: [], unsandboxed: false, because: '', ...request },
    });

  it('tell by their words what they are about', () => {
    expect(asked({ because: 'always asked: rm of everything in / (default)' })).toMatchObject({
      request: { destroys: 'rm of everything in /' },
    });
    expect(asked({ action: 'budget', options: ['finish: now', 'add: $1.00 more'] })).toMatchObject({
      request: { adds: 1 },
    });
  });

  it.each([
    ['Child scout was killed by the person: so far', true],
    ['Child scout failed: it was killed by you', true],
    ['Child scout failed: its process was killed by the system', undefined],
  ])('of a child: "%s"', (content, killed) => {
    const sent: EventBody = {
      type: 'message.sent',
      agent: ROOT,
      from: ROOT,
      to: ROOT,
      kind: 'error',
      delivery: 'important',
      content,
      notice: { of: ROOT, is: 'error' },
    };
    expect(withReasons(sent)).toMatchObject({
      notice: killed === undefined ? { is: 'error' } : { is: 'error', killed },
    });
  });
});
