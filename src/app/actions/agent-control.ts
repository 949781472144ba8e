/** Actions on one agent: its controls, such as interrupt and kill; its mode, model and budget. Also the mode of the run. */
import type { Budget } from '../../domain/budget.ts';
import { type AgentId, ROOT, type TaskId } from '../../domain/ids.ts';
import { type Mode, MODES } from '../../domain/reason.ts';
import { type AgentState, type Control, CONTROLS, controls, refusedControl } from '../../events/index.ts';
import { type RunState } from '../../events/index.ts';
import type { ModePreview } from '../../ports/controls.ts';
import { plural } from '../views/index.ts';
import { END_QUESTIONS } from './kill.ts';
import type { Action, AgentAction, Confirmation } from './action.ts';
import { ENDED, rowOf, whyNotAgent, whyNotRunning } from './action.ts';

/** The action for a control of an agent. */
export function agentControl(name: Control): AgentAction {
  const { names, isPossible } = CONTROLS[name];
  const confirm = END_QUESTIONS[name];
  return {
    id: `run.${name}`,
    hint: name,
    word: name,
    arguments: 'N',
    ...names,
    whyNot: (state, { agent }) =>
      whyNotAgent(state, agent, (one) => (isPossible(one) ? null : `${one.name} ${refusedControl(name, one)}.`)),
    command: (_, { agent }) => ({ do: name, agent }),
    ...(confirm === undefined ? {} : { confirm }),
  };
}

/** The actions for all controls, in the order of the help. */
export const AGENT_CONTROLS: readonly AgentAction[] = controls().map(agentControl);

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
      one.id === ROOT ? 'main has the mode of the run: change that instead.' : whyNotRunning(one),
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
