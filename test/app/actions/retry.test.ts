/** When a person may retry the failed tasks of a run. */
import { describe, expect, it } from 'vitest';
import { retryRun } from '../../../src/app/actions/run.ts';
import { ROOT } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { created, FINDER, finished, REVIEWER, stateAfter } from '../../support/story.ts';

const unmerged: readonly EventBody[] = [
  { type: 'tree.made', agent: FINDER, tree: 'story.S1.1', base: 'a' },
  finished(FINDER),
  { type: 'merge.finished', agent: FINDER, tree: 'story.S1.1', is: 'unmerged', because: '1 file changed' },
];
const end = (status: 'failed' | 'completed'): EventBody => ({
  type: 'session.finished',
  status,
  summary: '',
  totals: { cost: 0, tokens: 0, agents: 2, duration: 0 },
});
const whyNot = (...bodies: readonly EventBody[]): string | null =>
  retryRun.whyNot(stateAfter(created(ROOT), created(FINDER), created(REVIEWER), ...bodies));

describe('retrying a run', () => {
  it('is for one that has ended and failed', () => {
    expect(whyNot()).toBe('The run has not ended. Retry a single agent.');
    expect(whyNot(finished(FINDER), finished(REVIEWER), end('completed'))).toBe('The run did not fail.');
    expect(whyNot(finished(FINDER, 'failed'), finished(REVIEWER), end('failed'))).toBeNull();
  });

  it('is not for one in which only a merge is left, which a retry would leave as it is', () => {
    expect(whyNot(...unmerged, finished(REVIEWER), end('failed'))).toBe('No task failed. Merge what is not merged.');
    expect(whyNot(...unmerged, finished(REVIEWER, 'failed'), end('failed'))).toBeNull();
    expect(whyNot(...unmerged, finished(REVIEWER, 'skipped'), end('failed'))).toBeNull();
  });
});
