/** Retries a run that has ended as failed: its failed tasks run again, and those that were skipped behind them. */
import { retryOf } from '../../events/retry.ts';
import type { AgentState, RunState } from '../../events/state.ts';

/** The word, the key and the sentence of a retry, for the screen and for line mode. */
export const retryRun = {
  keys: ['R'],
  word: 'retry',
  help: 'Run the failed tasks again, and those that were skipped behind them; finished work stays.',
  /** Null when the run can be retried; else why not. */
  whyNot: ({ finished }: Pick<RunState, 'finished'>): string | null =>
    finished === null
      ? 'The run has not ended: retry a single agent.'
      : finished.status === 'failed'
        ? null
        : 'This run did not fail.',
};

/** One sentence about what a retry runs: `Retry runs 2 tasks again: finder, and tester behind it.` */
export function retryWords(state: RunState): string {
  const { failed, behind } = retryOf(state);
  if (failed.length === 0) return 'The run is resumed where it failed.';
  const names = (ids: readonly AgentState['id'][]): string =>
    ids.map((id) => state.agents.get(id)?.name ?? id).join(', ');
  const count = failed.length + behind.length;
  const waiting = behind.length === 0 ? '' : `, and behind ${failed.length === 1 ? 'it' : 'them'} ${names(behind)}`;
  return `Running ${count} ${count === 1 ? 'task' : 'tasks'} again: ${names(failed)}${waiting}.`;
}
