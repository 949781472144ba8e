/** Messages to one agent, to all or to main; after the end of a run they resume it. Also requests a commit from main. */
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { mainAgent, type RunState } from '../../events/index.ts';
import type { Command, Delivery } from '../../ports/controls.ts';
import { closedReason, touchedFiles } from '../views/index.ts';
import { type Action, ENDED, NO_RUN, rowOf, whyNotAgent } from './action.ts';

type MessageArgs = Omit<Extract<Command, { readonly do: 'message' }>, 'do'>;
const command = (_: RunState, args: MessageArgs): Command => ({ do: 'message', ...args });

export const messageAgent: Action<MessageArgs> = {
  ...rowOf('run.message'),
  whyNot: (state, { to }) => whyNotMessage(state, to),
  command,
};

/** Why a message to this agent, or to all, cannot be sent, or null. After the end of the run main receives it. */
export function whyNotMessage(state: RunState, to: MessageArgs['to']): string | null {
  if (to === 'all') return state.finished === null ? null : ENDED;
  if (isFollowUp(state)) return whyNotTalk(state);
  return whyNotAgent(state, to, (agent) => {
    const words = closedReason(agent);
    return words === null ? null : `${agent.name} ${words}.`;
  });
}

export const messageAll: Action<MessageArgs> = {
  ...rowOf('run.messageAll'),
  whyNot: (state) => whyNotMessage(state, 'all'),
  command,
};

/** The words for the time of delivery in line mode. */
export const DELIVERIES: Readonly<Record<string, Delivery>> = {
  later: 'sequential',
  next: 'important',
  now: 'urgent',
};
export const messageMain: Action<{ readonly text: string }> = {
  ...rowOf('result.message'),
  whyNot: ({ session, phase, finished }, { text }) => {
    if (session === null) return NO_RUN;
    if (text.trim() === '') return 'The message is empty.';
    if (finished?.status === 'rejected') return 'The plan of this run was discarded.';
    return phase === 'approving' ? 'Approve the plan first, or re-plan.' : null;
  },
  command: (state, { text }) => ({ do: 'message', to: mainAgent(state), text, delivery: 'important' }),
};

/** True if a message to main resumes the run, by `ProjectService.resume`: a run that has ended accepts no commands. */
export const isFollowUp = ({ finished }: Pick<RunState, 'finished'>): boolean => finished !== null;

/** The recipient of a message written while `selected` is selected: that agent, or main if none is selected or the run has ended. */
export const recipientOf = (state: RunState, selected: AgentId | null): AgentId =>
  selected === null || selected === ROOT || isFollowUp(state) ? mainAgent(state) : selected;

/** Why main accepts no message now, or null. */
export const whyNotTalk = (state: RunState): string | null => messageMain.whyNot(state, { text: 'any' });

const KEEPS_FILES: ReadonlySet<string> = new Set(
  'read_file list_files search git git_commit read_finding give_verdict update_todos send_message ask_user Task'.split(
    ' ',
  ),
);

/** Why main cannot be asked to commit now, or null. It can once a tool that may change files was used after the last commit. */
export function whyNotCommit(state: RunState): string | null {
  const tools = [...state.agents.values()].flatMap(({ blocks }) => blocks.filter((block) => block.is === 'tool'));
  const last = tools.filter(({ tool, ok }) => tool === 'git_commit' && ok === true).map(({ started }) => started);
  const changes = tools.filter(({ tool }) => !KEEPS_FILES.has(tool));
  const isLeft = changes.some(({ started }) => started > Math.max(...last));
  const why = changes.length === 0 ? NO_CHANGES : 'The work of this run is committed.';
  return whyNotTalk(state) ?? (isLeft ? null : why);
}

/** Why no pull request can be made of the changes of the run, as far as its state tells, or null. */
export const whyNotRequest = (state: RunState): string | null =>
  state.finished === null ? 'The run continues.' : whyNoChanges(state);

/** Why there are no changes to look at, or null. */
export const whyNoChanges = (state: RunState): string | null =>
  touchedFiles(state).some(({ by }) => by.length > 0) ? null : NO_CHANGES;

const NO_CHANGES = 'This run changed no file.';

/** The message with which an agent of an ended run continues, to resolve the conflicts of its merge. */
export const RESOLVE_REQUEST = 'Resolve the conflicts of your merge.';

/** The message of the commit key. The approval of the commit shows the commit message. */
export const COMMIT_REQUEST =
  'Commit the changes of this run with one call of git_commit: a first line of at most 72 characters that says what changed, an empty line, and why, in the style of the commits of this repository.';
