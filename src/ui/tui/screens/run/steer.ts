/** Keys of the run screen that change what an agent may do: another model, another budget, one more agent. */
import { ROOT } from '../../../../domain/ids.ts';
import { isFinal, tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import type { Dialog, DialogEffect, Binding, Context } from '../../frame/screen.ts';
import { formatTokens } from '../../../../app/views/text/format.ts';
import { addToRunning, budgetOfPending, modelOfPending } from '../plan/amend.ts';
import { askedName, modelNamed } from '../../components/plan-form/check.ts';
import { budgetFields, modelChoices, OF_RUN, readBudget } from '../../components/plan-form/fields.ts';
import { selectedOf, type RunUi } from './state.ts';
import { costText } from '../../components/money/spend.ts';

export const STEER_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['M'],
    action: 'run.model',
    hint: 'model',
    help: 'Give the selected agent another model from its next turn on; its conversation stays.',
    whyNot: (ui, context) => open(ui, context) ?? (context.state.choices === null ? 'No models are known here.' : null),
    run: (ui, context) => onSelected(ui, context, modelOf),
  },
  {
    keys: ['b'],
    action: 'run.budget',
    hint: 'budget',
    help: 'Give the selected agent more, or less: tokens, dollars, time. Of main it is the run.',
    whyNot: open,
    run: (ui, context) => onSelected(ui, context, budgetOf),
  },
  {
    keys: ['a'],
    action: 'run.add',
    hint: 'add',
    help: 'Add an agent to the plan that runs; shows the difference first.',
    whyNot: (_, { state }) =>
      // Without a plan the key spawns a child.
      state.idle
        ? ''
        : state.finished
          ? 'The run has ended.'
          : state.approvedDigest === null
            ? 'No plan is approved yet.'
            : null,
    run: (_, context) => addToRunning(context),
  },
];

function open(ui: RunUi, context: Context): string | null {
  if (context.state.finished) return 'The run has ended.';
  const agent = selectedOf(ui, context);
  if (agent === undefined) return 'There is no agent yet.';
  return isFinal(agent) ? `${agent.name} has ended already.` : null;
}

function onSelected(
  ui: RunUi,
  context: Context,
  effect: (agent: AgentState, context: Context) => DialogEffect,
): DialogEffect {
  const agent = selectedOf(ui, context);
  return agent === undefined ? {} : effect(agent, context);
}

/** Has it not begun, so that it is the plan that is changed? */
const isPlanned = (agent: AgentState): boolean => agent.status === 'pending' && agent.firstRunAt === null;

function modelOf(agent: AgentState, context: Context): DialogEffect {
  const { choices } = context.state;
  if (choices === null) return {};
  if (isPlanned(agent) && agent.taskId !== null) return modelOfPending(agent.taskId, context);
  const present = modelNamed(choices, agent.model.asked) ?? modelNamed(choices, agent.model.used);
  return {
    dialog: {
      is: 'pick',
      title: `${agent.name}: model from its next turn on (now ${modelName(agent.model.used)})`,
      choices: modelChoices(choices),
      value: present === undefined ? agent.model.asked : askedName(present),
      then: (model) => ({ commands: [{ do: 'set model', agent: agent.id, model }] }),
    },
  };
}

function budgetOf(agent: AgentState, context: Context): DialogEffect {
  if (isPlanned(agent) && agent.taskId !== null) return budgetOfPending(agent.taskId, context);
  return { dialog: budgetForm(agent, context) };
}

function budgetForm(agent: AgentState, { state }: Context): Dialog {
  const whose = agent.id === ROOT ? 'the whole run' : agent.name;
  const spent = `${costText(agent)}, ${formatTokens(tokensOfAgent(agent))} tokens so far`;
  return {
    is: 'form',
    title: `Budget of ${whose}: ${spent}`,
    fields: budgetFields(agent.id === ROOT ? state.budget : agent.budget, OF_RUN),
    check: (values) => {
      const budget = readBudget(values);
      return budget.ok ? null : budget.fault;
    },
    then: (values) => {
      const budget = readBudget(values);
      return budget.ok ? { commands: [{ do: 'set budget', agent: agent.id, budget: budget.value }] } : {};
    },
  };
}
