/** What a person is asked when work did not complete, or did not pass a review: who waits for it, why, and what they may choose. */
import type { AgentId } from '../../domain/ids.ts';
import type { ApprovalRequest } from '../../events/event.ts';
import type { RunState } from '../../events/state.ts';
import { closedBehind, gateWords } from '../reviews/record.ts';

/** `blocked` may be empty: nobody waits for what did not pass. */
export function failureQuestion(state: RunState, failed: AgentId, blocked: readonly AgentId[]): ApprovalRequest {
  const nameOf = (id: AgentId): string => state.agents.get(id)?.name ?? id;
  const closed = closedBehind(state, failed);
  const reviews = closed.map(({ role }) => role).join(' and ');
  const name = nameOf(failed);
  const what = closed.length === 0 ? `${name} did not complete` : `${reviews} review of ${name} did not pass`;
  const findings = closed.map((gate) => gateWords(state, gate)).join('\n\n');
  const why = findings === '' ? (state.agents.get(failed)?.error ?? 'It did not complete.') : findings;
  const names = blocked.map(nameOf).join(', ');
  const waiting = names === '' ? '' : `; ${names} ${blocked.length === 1 ? 'needs' : 'need'} it`;
  const skip = names === '' ? 'leave it so: the run ends as failed' : `leave out ${names}, the rest goes on`;
  return {
    action: 'failure',
    title: `${what}${waiting}`,
    exact: `${why}\n\nretry: run ${name} again\nskip: ${skip}\nstop: end the run, it can be resumed`,
    options: ['retry', 'skip', 'stop'],
    unsandboxed: false,
    because: '',
  };
}
