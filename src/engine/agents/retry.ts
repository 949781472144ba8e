/** A retry: what of a failed run is put back to pending when the run is resumed, and what a new attempt is told of the one before it. */
import { headOf } from '../../domain/text/text.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { EventBody, EventType, MimirEvent } from '../../events/event.ts';
import { lostToProvider } from '../../events/queries.ts';
import { retryOf } from '../../events/retry.ts';
import type { RunState } from '../../events/state.ts';
import { closedBehind, gateWords } from '../reviews/record.ts';
import type { RunParts } from '../run/parts.ts';

/** Is the agent one of the plan in force? */
type IsPlanned = (id: AgentId) => boolean;

/**
 * Agents of a resumed run whose provider was lost, from one walk of the log. If the run had ended as failed, its failed tasks and those
 * behind them are put back to pending: the schedule runs them again from the beginning.
 */
export function retried(parts: RunParts, isPlanned: IsPlanned): ReadonlySet<AgentId> {
  const few = [...parts.recorder.each({ types: LOOKED_AT })];
  const lost = lostToProvider(few);
  // Messages to a run that had ended are answered, and nothing of it is tried again.
  if (!parts.recorder.state().answering && endedFailed(few)) retryAll(parts, isPlanned, lost);
  return lost;
}

const LOOKED_AT: readonly EventType[] = ['session.finished', 'session.resumed', 'model.started', 'model.failed'];

/** Did the run end as failed, and was it resumed once since? */
function endedFailed(stored: readonly MimirEvent[]): boolean {
  const last = stored.filter(({ type }) => type === 'session.finished' || type === 'session.resumed').at(-2);
  return last?.type === 'session.finished' && last.status === 'failed';
}

function retryAll({ recorder }: RunParts, isPlanned: IsPlanned, lost: ReadonlySet<AgentId>): void {
  const { failed, behind } = retryOf(recorder.state());
  const events = [
    // The conversation with a provider that was lost is continued instead.
    ...failed.filter((id) => isPlanned(id) && !lost.has(id)).map(triedAgain),
    ...behind.filter(isPlanned).map(waitsAgain),
  ];
  if (events.length > 0) recorder.record(...events);
}

export const triedAgain = (agent: AgentId): EventBody => ({
  type: 'agent.status',
  agent,
  status: 'pending',
  reason: 'tried again',
});

export const waitsAgain = (agent: AgentId): EventBody => ({
  type: 'agent.status',
  agent,
  status: 'pending',
  reason: 'waits again: what it needs is tried again',
});

/** Bytes of the former answer that a new try reads. */
const LAST_ANSWER = 4000;

/** What a new try of `agent` is told of the one before: why it failed or was not let pass, and its last words. Empty for a first try. */
export function attemptBefore(state: RunState, agent: AgentId): string {
  const one = state.agents.get(agent);
  if (one === undefined || one.firstRunAt === null) return '';
  const reviews = closedBehind(state, agent).map((gate) => gateWords(state, gate));
  const why = reviews.length > 0 ? reviews.join('\n\n') : (one.error ?? '');
  if (why === '') return '';
  const answer = one.summary === '' || one.summary === `Failed: ${why}` ? '' : headOf(one.summary, LAST_ANSWER);
  return [
    '## The attempt before this one',
    'This task was tried before, and that attempt failed. Its changes to files may still be there: look before you change them.',
    `Why it failed:\n\n${why}`,
    ...(answer === '' ? [] : [`Its answer:\n\n${answer}`]),
  ].join('\n\n');
}
