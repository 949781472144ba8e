/** Reasons of logs that have them only as sentences. */
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/domain/ids.ts';
import { withReasons } from '../../src/events/earlier-words.ts';
import type { EventBody } from '../../src/events/event.ts';

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

  it('stays as it is where it says nothing, or says it as data already', () => {
    const silent = waiting('');
    const told = waiting('idle', { waitingFor: { is: 'children' } });
    expect([withReasons(silent), withReasons(told)]).toEqual([silent, told]);
    expect(withReasons(told)).toBe(told);
  });
});
