/** Actions on a run: stop it, retry its failed tasks, start a review that the plan does not have. */
import { type RoleName, ROOT } from '../../domain/ids.ts';
import type { MandatoryReview } from '../../domain/agents/agent.ts';
import { type AgentState, closedGates, isUnmerged, isVerified, retryOf, type RunState } from '../../events/index.ts';
import { resumeCost } from '../views/index.ts';
import { type Action, ENDED, type Interaction, rowOf } from './action.ts';

export const stopRun: Action<null> = {
  ...rowOf('run.stop'),
  whyNot: ({ finished }) => (finished === null ? null : ENDED),
  confirm: () => ({
    title: 'Stop the run?',
    lines: ['All agents stop.', 'The state is kept: mimir resume continues from the last recorded turn.'],
    yes: 'stop the run',
    no: 'keep it running',
    word: 'kill',
  }),
  command: () => ({ do: 'stop run', reason: 'stopped by the person' }),
};

/** Retries the failed tasks of a finished run. */
export const retryRun: Interaction & { readonly whyNot: (state: RunState) => string | null } = {
  ...rowOf('result.retry'),
  whyNot(state) {
    if (state.finished === null) return 'The run has not ended. Retry a single agent.';
    if (state.finished.status !== 'failed') return 'The run did not fail.';
    const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
    const isDone = agents.every((one) => one.outcome === 'completed' && isVerified(state, one));
    return isDone && agents.some(isUnmerged) ? 'No task failed. Merge what is not merged.' : null;
  },
};

/** Why an ended run cannot be resumed without a message, or null. An undo or a merge may have closed reviews of a completed one. */
export const whyNotResumeRun = (state: RunState): string | null =>
  state.finished?.status === 'stopped' || isReviewedAgain(state) ? null : 'This run was not stopped.';

/** What a resume of the run does, after its key. */
export const resumeText = (state: RunState): string =>
  isReviewedAgain(state) ? 'mandatory reviews run again' : resumeCost(state);

const isReviewedAgain = (state: RunState): boolean =>
  state.finished?.status === 'completed' && closedGates(state).length > 0;

/** One sentence that names the tasks that a retry runs. */
export function retryText(state: RunState): string {
  const { failed, behind } = retryOf(state);
  if (failed.length === 0) return 'Resuming the run where it failed.';
  const names = (ids: readonly AgentState['id'][]): string =>
    ids.map((id) => state.agents.get(id)?.name ?? id).join(', ');
  const count = failed.length + behind.length;
  const waiting = behind.length === 0 ? '' : `, then ${names(behind)}`;
  return `Running ${count} ${count === 1 ? 'task' : 'tasks'} again: ${names(failed)}${waiting}.`;
}

/** The mandatory reviews that a person may start. */
export const manualReviews = ({ plan }: Pick<RunState, 'plan'>): readonly MandatoryReview[] =>
  (plan?.forced ?? []).filter(({ triggers }) => triggers.includes('manual'));

export const startReview: Action<{ readonly role: RoleName }> = {
  ...rowOf('run.review'),
  whyNot: (state) => whyNotReview(state),
  command: (_, { role }) => ({ do: 'review', role }),
};

export function whyNotReview(state: RunState): string | null {
  if (state.finished !== null) return ENDED;
  return manualReviews(state).length === 0 ? 'No manual review is configured.' : null;
}
