/** The last word of an agent in the log: how it ended, with its metrics. What follows from it for others is the ties'. */
import type { AgentOutcome, WorkOutcome } from '../../domain/agents/agent.ts';
import { statusOfOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { unreachable } from '../../domain/result.ts';
import type { EndedBy, EventBody } from '../../events/event.ts';
import { elapsedOf, isFinal, tokensOfAgent } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { World } from '../../ports/world.ts';
import type { End } from '../messaging/child-end.ts';
import type { Recorder } from '../run/recorder.ts';
import { unansweredReason } from './unanswered.ts';

/** Why an agent was ended from outside. An interrupt is none of them: it can be resumed. */
export type EndCause = 'kill' | 'run stopped' | 'parent ended';

/** What an agent has to do with others beside its work. */
export interface Ties {
  /** Does it want to hear of children that still work? Then it waits for them at the end of its turn. */
  isOwed(agent: AgentId): boolean;
  /** Records how the agent has ended, with all that follows from it. */
  end(end: End): void;
  /** It works no more. */
  left(agent: AgentId): void;
  /** Tells of each message to the agent; returns what ends that. */
  onMail(agent: AgentId, heard: () => void): () => void;
}

export interface Ending {
  readonly recorder: Recorder;
  readonly world: World;
  readonly ties: Ties;
}

export function close(
  { ties, recorder }: Ending,
  agent: AgentId,
  outcome: Exclude<WorkOutcome, { is: 'stopped' }>,
  before: string,
): AgentOutcome {
  const end = (how: AgentOutcome, summary: string, error: string | null): AgentOutcome => {
    ties.end({ agent, outcome: how, summary, error, silent: false });
    return how;
  };
  switch (outcome.is) {
    case 'completed': {
      // Work that nobody could be asked about is not done, whatever the answer says.
      const left = unansweredReason(recorder.state(), agent);
      return end(left === null ? 'completed' : 'partial', joined(before, outcome.summary), left);
    }
    case 'partial':
      return end('partial', outcome.summary, outcome.reason);
    case 'failed':
      // "Failed: <message>" is what the result says.
      return end('failed', `Failed: ${outcome.reason}`, outcome.reason);
    default:
      return unreachable(outcome);
  }
}

/** An answer to a later message must not take the place of the work itself. */
const joined = (before: string, now: string): string =>
  before === '' || now.startsWith(before) ? now : `${before}\n\n${now}`;

/** Why an agent did not end by itself: as a sentence, and as data. */
export interface EndReason {
  readonly error: string | null;
  readonly endedBy?: EndedBy;
}

/** `silent`: who would be told of the kill knows, or ends as well. */
export interface Killed {
  readonly why: EndReason;
  readonly silent: boolean;
}

/** `by` null: the person. */
export function killedBy(agents: RunState['agents'], by: AgentId | null): EndReason {
  if (by === null) return KILLED_BY_PERSON;
  const name = agents.get(by)?.name ?? by;
  return { error: `killed by ${name}`, endedBy: { is: 'agent', name } };
}

export const KILLED_BY_PERSON: EndReason = { error: 'killed by you', endedBy: { is: 'person' } };
export const PARENT_STOPPED: EndReason = { error: 'its parent stopped', endedBy: { is: 'parent' } };
/** A review that the stop of the run cut off is made again by another agent. */
export const CUT_OFF: EndReason = { error: 'the run was stopped', endedBy: { is: 'run' } };
export const INTERRUPTED = {
  status: 'interrupted',
  reason: 'interrupted by you',
  endedBy: { is: 'person' },
} as const;
/** A resumed run goes on with the agent. */
export const RUN_STOPPED = { status: 'interrupted', reason: 'the run was stopped', endedBy: { is: 'run' } } as const;

/** Was it an agent that killed it: its parent, or one above that, which took the branch along? */
export const isKilledByAgent = ({ outcome, endedBy }: AgentState): boolean =>
  outcome === 'killed' && (endedBy?.is === 'agent' || endedBy?.is === 'parent');

/** Killed and abandoned are final; a stopped run leaves the agent for a resume. */
export function closeStopped(
  parts: Ending,
  agent: AgentId,
  { end, killed }: { readonly end: EndCause; readonly killed: Killed },
): AgentOutcome | null {
  const state = parts.recorder.state().agents.get(agent);
  if (state === undefined || isFinal(state)) return state?.outcome ?? null;
  if (end === 'run stopped') return leftForResume(parts, state);
  const outcome = end === 'kill' ? 'killed' : 'abandoned';
  const lastWords = state.blocks.findLast(({ is }) => is === 'said');
  const summary = lastWords?.is === 'said' ? lastWords.text : '';
  const why = outcome === 'killed' ? killed.why : PARENT_STOPPED;
  parts.ties.end({ agent, outcome, summary, ...why, silent: killed.silent });
  return outcome;
}

/** Who stopped the run may have said why already. */
function leftForResume({ recorder }: Ending, { id, status }: AgentState): null {
  if (status !== 'interrupted') recorder.record({ type: 'agent.status', agent: id, ...RUN_STOPPED });
  return null;
}

/** The final state of an agent, with its metrics, for the log. */
export function finishedEvent(
  { recorder, world }: Pick<Ending, 'recorder' | 'world'>,
  agent: AgentId,
  outcome: AgentOutcome,
  summary: string,
  why: string | null | EndReason,
): EventBody {
  const { error, endedBy } = typeof why === 'string' || why === null ? { error: why } : why;
  const state = recorder.state();
  const one = state.agents.get(agent);
  if (!one) throw new Error(`${agent} was never created`);
  const now = world.now();
  const metrics = {
    startTime: new Date(one.firstRunAt ?? now).toISOString(),
    endTime: new Date(now).toISOString(),
    duration: elapsedOf(one, now),
    tokensUsed: tokensOfAgent(one),
    cost: one.cost,
    iterations: one.iterations,
    toolCalls: one.toolCalls,
  };
  const by = endedBy === undefined ? {} : { endedBy };
  return { type: 'agent.finished', agent, status: statusOfOutcome(outcome), outcome, summary, error, ...by, metrics };
}
