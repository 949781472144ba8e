/** Actions on one agent: interrupt, resume, retry, skip; its mode, model and budget. Also the mode of the run. */
import type { Budget } from '../../domain/budget.ts';
import { type AgentId, ROOT, type TaskId } from '../../domain/ids.ts';
import { type Mode, MODES } from '../../domain/reason.ts';
import { type AgentState, type Control, refusedControl, type RunState } from '../../events/index.ts';
import type { ModePreview } from '../../ports/controls.ts';
import { plural, isIdle, isInterruptible } from '../views/index.ts';
import { killedAgents } from './kill.ts';
import type { Action, AgentAction, Confirmation } from './action.ts';
import { ENDED, rowOf, whyNotAgent, whyNotRunning } from './action.ts';

/** The action for a control that needs no confirmation and is possible if `isPossible`. */
const control = (does: Exclude<Control, 'kill'>, isPossible: (agent: AgentState) => boolean): AgentAction => ({
  ...rowOf(`run.${does}`),
  whyNot: (state, { agent }) =>
    whyNotAgent(state, agent, (one) => (isPossible(one) ? null : `${one.name} ${refusedControl(does, one)}.`)),
  command: (_, { agent }) => ({ do: does, agent }),
});

export const interruptAgent = control('interrupt', (agent) => isInterruptible(agent) && !isIdle(agent));

export const resumeAgent = control('resume', ({ status, outcome }) => status === 'interrupted' && outcome === null);

export const retryAgent = control('retry', ({ status }) => status === 'failed');

export const skipAgent: AgentAction = {
  ...control('skip', ({ status, outcome }) => status === 'pending' && outcome === null),
  confirm: (state, { agent }) => {
    const [first = agent, ...others] = killedAgents(state, agent).map(({ name }) => name);
    return {
      title: `Skip ${first}?`,
      lines: [
        others.length === 0 ? 'It never runs.' : `It never runs, nor do ${others.join(', ')}, which depend on it.`,
      ],
      yes: 'skip',
      no: 'keep it in the plan',
      word: '',
    };
  },
};

export const setMode: Action<{ readonly mode: Mode }> = {
  ...rowOf('app.mode'),
  arguments: MODES.join('|'),
  whyNot: ({ session, finished }) => (session === null ? 'No run has started yet.' : finished === null ? null : ENDED),
  command: (_, { mode }) => ({ do: 'set mode', mode }),
};

/** `mode` null removes the pin. */
export const pinMode: Action<{ readonly agent: AgentId; readonly mode: Mode | null }> = {
  ...rowOf('run.pin'),
  arguments: `N ${MODES.join('|')}|off`,
  whyNot: (state, { agent }) =>
    whyNotAgent(state, agent, (one) =>
      one.id === ROOT ? 'main has the mode of the run. Press Shift-Tab to change it.' : whyNotRunning(one),
    ),
  command: (_, { agent, mode }) => ({ do: 'pin mode', agent, mode }),
};

/** Names the agents that a change of mode affects: the whole run, or with an agent that agent and its children. */
export const modeReach = (agent: AgentId | null): string =>
  `Applies to ${agent === null ? 'all agents' : 'this agent and its children'}, including new ones.`;

/** The question that previews a change of mode. */
export const modeQuestion = (state: RunState, agent: AgentId | null, preview: ModePreview): Confirmation => ({
  title: 'Change the mode?',
  lines: [
    `${modeReach(agent)}${preview.looser ? ' It asks less often.' : ''}`,
    ...preview.changes.map((one) => `- ${one}`),
    ...(preview.answers === 0 ? [] : [`! ${plural(preview.answers, 'open question')} will be approved now`]),
  ],
  yes: 'change',
  no: 'keep',
  word: 'yes',
});

/** The task of an agent that has not started; its model and budget are changed in the plan. Null: they are changed on the agent itself. */
export const plannedTask = ({ status, firstRunAt, taskId }: AgentState): TaskId | null =>
  status === 'pending' && firstRunAt === null ? taskId : null;

/** Why the model and the budget of an agent cannot be changed now, or null. */
export const whyNotSet = (state: RunState, agent: AgentId): string | null => whyNotAgent(state, agent, whyNotRunning);

export const setModel: Action<{ readonly agent: AgentId; readonly model: string }> = {
  ...rowOf('run.model'),
  whyNot: (state, { agent }) => whyNotSet(state, agent),
  command: (_, { agent, model }) => ({ do: 'set model', agent, model }),
};

export const setBudget: Action<{ readonly agent: AgentId; readonly budget: Budget }> = {
  ...rowOf('run.budget'),
  whyNot: (state, { agent }) => whyNotSet(state, agent),
  command: (_, { agent, budget }) => ({ do: 'set budget', agent, budget }),
};
