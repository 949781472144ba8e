/** Which tasks of a run that failed run again when it is retried. */
import type { AgentOutcome } from '../domain/agents/agent.ts';
import type { AgentId } from '../domain/ids.ts';
import { isTakenOut } from './queries.ts';
import type { AgentState, RunState } from './state.ts';

export interface Retry {
  /** Planned agents that failed, were ended early, could not do something since nobody could be asked, or did not pass a review that blocks. */
  readonly failed: readonly AgentId[];
  /** Planned agents that were skipped because of those; not those that a person left out. */
  readonly behind: readonly AgentId[];
}

/** What a retry of the run would run again, in the order of the plan; both lists are empty when nothing failed. */
export function retryOf({ agents, gates }: RunState): Retry {
  const planned = [...agents.values()].filter((one) => one.taskId !== null && !isTakenOut(one));
  const isBlocked = ({ id }: AgentState): boolean =>
    gates.some(
      ({ agent, open, onFailure, trigger }) => agent === id && !open && onFailure === 'block' && trigger === 'on-write',
    );
  const idsOf = (which: (one: AgentState) => boolean): readonly AgentId[] => planned.filter(which).map(({ id }) => id);
  return {
    failed: idsOf((one) => one.outcome !== null && (FAILED.has(one.outcome) || isBlocked(one) || lacksAnswers(one))),
    behind: idsOf(({ outcome, endedBy }) => outcome === 'skipped' && endedBy?.is !== 'person'),
  };
}

/** Something was denied only because nobody could be asked. */
const lacksAnswers = ({ unanswered = [] }: AgentState): boolean => unanswered.length > 0;

const FAILED: ReadonlySet<AgentOutcome> = new Set(['failed', 'killed', 'abandoned']);
