import { expect, it } from 'vitest';
import { exitCodeOf, exitCodeOfEnd } from '../../../src/app/process/index.ts';
import type { RunResult } from '../../../src/engine/run/open-run.ts';

const result = (status: RunResult['status'], more: Partial<RunResult> = {}): RunResult => ({
  success: status === 'completed',
  status,
  message: '',
  metadata: { totalCost: 0, totalTokens: 0, agentCount: 0 },
  overBudget: false,
  error: null,
  errorIs: null,
  ...more,
});

it.each([
  ['completed', {}, 0],
  ['failed', {}, 1],
  ['stopped', {}, 1],
  ['rejected', {}, 4],
  ['failed', { errorIs: 'denied' }, 3],
  ['failed', { overBudget: true }, 5],
  ['failed', { errorIs: 'model' }, 6],
  ['stopped', { errorIs: 'model' }, 6],
  ['stopped', { errorIs: 'denied' }, 3],
  ['stopped', { errorIs: 'log' }, 1],
] as const)('a run that is %s with %j ends with exit code %d', (status, more, code) => {
  expect(exitCodeOf(result(status, more), null)).toBe(code);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('a run that is ended by %s tells that one with %d', (signal, code) => {
  expect(exitCodeOf(result('stopped'), signal)).toBe(code);
});

it('of a run of another process the end alone decides, and none is a failure', () => {
  const ends = (['completed', 'failed', 'stopped', 'rejected'] as const).map((status) => exitCodeOfEnd({ status }));
  expect([...ends, exitCodeOfEnd(null)]).toEqual([0, 1, 1, 4, 1]);
});
