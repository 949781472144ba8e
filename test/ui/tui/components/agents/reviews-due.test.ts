/** A review that is pending is none that failed: not on the screen, in the report, in lines or in the audit. */
import { expect, it } from 'vitest';
import { RoleName, ROOT, SessionId } from '../../../../../src/domain/ids.ts';
import { foldAll } from '../../../../../src/events/fold.ts';
import type { EventBody, MimirEvent } from '../../../../../src/events/event.ts';
import { unfinishedWork } from '../../../../../src/app/views/run-summary.ts';
import { gateWords } from '../../../../../src/ui/tui/components/reviews.ts';

const gate = {
  type: 'forced.gate',
  agent: ROOT,
  role: RoleName.parse('security'),
  trigger: 'always',
  tree: '',
  open: false,
  onFailure: 'block',
} as const;
const DUE: EventBody = { ...gate, why: 'new work is reviewed when the agent is idle', due: { since: 0, keeps: {} } };
const CLOSED: EventBody = { ...gate, why: 'it ended without a verdict', upTo: 1 };

const stateOf = (body: EventBody): ReturnType<typeof foldAll> => {
  const event: MimirEvent = {
    v: 1,
    seq: 1,
    time: '2026-01-01T00:00:00.000Z',
    session: SessionId.parse('test-session'),
    ...body,
  };
  return foldAll([event]);
};

it.each([
  ['security reviews it when it is idle', DUE, 'review pending: security', 'info'],
  ['security did not pass: it ended without a verdict', CLOSED, 'review failed: security', 'error'],
])('O138: says of a gate: %s', (words, body, open, level) => {
  const state = stateOf(body);
  const [first] = state.gates;
  expect(first && gateWords(first, state).text).toBe(words);
  expect(unfinishedWork(state)).toEqual([open]);
  expect(state.log.map((line) => line.level)).toEqual([level]);
});
