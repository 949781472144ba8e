/** Says something to `main`: while a run goes on, as a message; of a run that has ended, as a follow-up for which it is resumed. */
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import { mainAgent } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import type { Action } from './action.ts';

export const messageMain: Action<{ readonly text: string }> = {
  name: 'Message main',
  help: 'Writes to main, which knows the plan and all results, has its tools and needs no new plan; after the end of the run as well.',
  keys: [],
  word: 'main',
  whyNot: ({ session, phase, finished }, { text }) => {
    if (session === null) return 'There is no run.';
    if (text.trim() === '') return 'An empty message is not sent.';
    if (finished?.status === 'rejected') return 'The plan of this run was rejected.';
    return phase === 'approving' ? 'The plan waits for you: approve it first, or ask for another plan.' : null;
  },
  command: (state, { text }) => ({ do: 'message', to: mainAgent(state), text, delivery: 'important' }),
};

/**
 * Does a message to main resume the run? Then a front end asks `Lobby.resume(session, text)` instead of submitting the command, and follows
 * the controls that it gets: a run that has ended takes no commands.
 */
export const isFollowUp = ({ finished }: Pick<RunState, 'finished'>): boolean => finished !== null;

/** To whom a message goes that is written while `selected` is chosen in the list: to main, unless another agent is, and always after the end. */
export const recipientOf = (state: RunState, selected: AgentId | null): AgentId =>
  selected === null || selected === ROOT || isFollowUp(state) ? mainAgent(state) : selected;

/** Why main takes no message now, or null. */
export const whyNotTalk = (state: RunState): string | null => messageMain.whyNot(state, { text: 'any' });

/** Why main is not asked to commit now, or null: after a commit it is again once a tool was used that may have changed something. */
export function whyNotCommit(state: RunState): string | null {
  const tools = [...state.agents.values()].flatMap(({ blocks }) => blocks.filter((block) => block.is === 'tool'));
  const last = tools.filter(({ tool, ok }) => tool === 'git_commit' && ok === true).map(({ started }) => started);
  const isLeft = last.length === 0 || tools.some(({ started }) => started > Math.max(...last));
  return whyNotTalk(state) ?? (isLeft ? null : 'The work of this run is committed.');
}

/** What a person asks of main by one key at the end of a run; the question about the commit shows its message. */
export const COMMIT_REQUEST =
  'Commit the changes of this run with one call of git_commit: a first line of at most 72 characters that says what changed, an empty line, and why, in the style of the commits of this repository.';
