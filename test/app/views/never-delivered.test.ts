/** What was said to somebody who never read it is named at the end of a run; what a child told an idle main is for the person. */
import { expect, it } from 'vitest';
import { ROOT } from '../../../src/domain/ids.ts';
import type { AgentId } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { unfinishedWork } from '../../../src/app/views/run-summary.ts';
import { FINDER, stateAfter } from '../../support/story.ts';

const sent = (from: AgentId | 'person', to: AgentId, notice?: { of: AgentId; is: 'completed' }): EventBody => ({
  type: 'message.sent',
  agent: from === 'person' ? null : from,
  from,
  to,
  kind: notice === undefined ? 'request' : 'result',
  delivery: 'important',
  content: 'Child scout completed: found.',
  ...(notice === undefined ? {} : { notice }),
});

it('S040: counts a word of the person that nobody read, and no notice that main keeps for the person', () => {
  const notice = { of: FINDER, is: 'completed' } as const;
  expect(unfinishedWork(stateAfter(sent('person', ROOT)))).toEqual(['1 message was never delivered']);
  expect(unfinishedWork(stateAfter(sent(FINDER, ROOT, notice)))).toEqual([]);
});
