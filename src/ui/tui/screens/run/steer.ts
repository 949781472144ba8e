/** Keys of the run screen that change or create agents: model, budget, another task of the plan, a child. */
import { askedName } from '../../../../domain/plan/estimate.ts';
import { childName, ENDED, NO_AGENT, plannedTask, setBudget, setModel } from '../../../../app/actions/index.ts';
import { spawnChild, whyNotSet, whyNotSpawn } from '../../../../app/actions/index.ts';
import { formatTokens, modelName } from '../../../../app/views/index.ts';
import { SpawnRequest } from '../../../../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../../../../domain/ids.ts';
import { type AgentState, tokensOfAgent } from '../../../../events/index.ts';
import { costText } from '../../components/costs.ts';
import { stillWords } from '../../components/notices.ts';
import { budgetFields, MODEL_HEADS, modelChoices, modelNamed, OF_RUN, readBudget } from '../../components/plan-form.ts';
import { readForm } from '../../components/plan-form.ts';
import { bind } from '../../frame/keymap.ts';
import type { Binding, Choice, Context, Dialog, DialogEffect, Effect, Field, FormValues } from '../../frame/screen.ts';
import { choice, choiceField, textField, textIn } from '../../frame/screen.ts';
import { addToRunning, budgetOfPending, modelOfPending } from '../plan/amend.ts';
import { type RunUi, selectedOf } from './state.ts';

/** The binding of an action on the selected agent. */
export function bindSelected(
  of: Parameters<typeof bind>[0],
  run: (agent: AgentState, context: Context, ui: RunUi) => Effect<RunUi>,
  whyNot: (agent: AgentState, context: Context) => string | null,
  value: (agent: AgentState) => string = () => '',
): Binding<RunUi> {
  const select =
    <T>(none: T, act: (agent: AgentState, context: Context, ui: RunUi) => T) =>
    (ui: RunUi, context: Context): T => {
      const agent = selectedOf(ui, context);
      return agent === undefined ? none : act(agent, context, ui);
    };
  return bind(of, select({}, run), select(NO_AGENT, whyNot), select('', value));
}

export const STEER_KEYS: readonly Binding<RunUi>[] = [
  bindSelected(
    setModel,
    modelOf,
    ({ id }, { state }) =>
      whyNotSet(state, id) ?? (state.choices === null ? 'The models cannot be listed here.' : null),
  ),
  bindSelected(
    setBudget,
    budgetOf,
    ({ id }, { state }) => whyNotSet(state, id),
    (agent) => `${agent.name}: ${costText(agent)}`,
  ),
  bind(
    'run.add',
    (_, context) => addToRunning(context),
    (_, { state }) =>
      // Without a plan the key spawns a child.
      state.idle ? '' : state.finished ? ENDED : state.approvedDigest === null ? 'No plan is approved yet.' : null,
  ),
];

function modelOf(agent: AgentState, context: Context): DialogEffect {
  const { choices } = context.state;
  if (choices === null) return {};
  const task = plannedTask(agent);
  if (task !== null) return modelOfPending(task, context);
  const present = modelNamed(choices, agent.model.asked) ?? modelNamed(choices, agent.model.used);
  return {
    dialog: {
      is: 'pick',
      title: `${agent.name}: model from the next turn (now ${modelName(agent.model.used)})`,
      choices: modelChoices(choices),
      heads: MODEL_HEADS,
      folds: true,
      value: present === undefined ? agent.model.asked : askedName(present),
      then: (model) => ({ commands: [setModel.command(context.state, { agent: agent.id, model })] }),
    },
  };
}

function budgetOf(agent: AgentState, context: Context): DialogEffect {
  const task = plannedTask(agent);
  return task === null ? { dialog: budgetForm(agent, context) } : budgetOfPending(task, context);
}

function budgetForm(agent: AgentState, { state }: Context): Dialog {
  const whose = agent.id === ROOT ? 'the run' : agent.name;
  const spent = `${costText(agent)}, ${formatTokens(tokensOfAgent(agent))} tokens so far`;
  return readForm(
    `Budget of ${whose}: ${spent}`,
    budgetFields(agent.id === ROOT ? state.budget : agent.budget, OF_RUN),
    readBudget,
    (budget) => ({ commands: [setBudget.command(state, { agent: agent.id, budget })] }),
  );
}

// The form for a child agent. The engine decides whether the child is allowed.

/** The role of a child where none is named. */
const USUAL = 'code';
const OWN_MODEL = '';

export const SPAWN_KEYS: readonly Binding<RunUi>[] = [
  bind(
    spawnChild,
    (_, context) => formFor(context.state.agents.get(ROOT), context),
    (_, context) => (context.state.idle ? whyNotBelow(context, ROOT) : ''),
  ),
  bindSelected('run.spawnBelow', formFor, ({ id }, context) => whyNotBelow(context, id)),
];

const whyNotBelow = (context: Context, parent: AgentId): string | null =>
  context.state.finished === null ? (stillWords(context) ?? whyNotSpawn(context.state, parent)) : ENDED;

function formFor(parent: AgentState | undefined, context: Context): DialogEffect {
  return parent === undefined ? {} : { dialog: spawnForm(parent, context) };
}

const NOTHING: FormValues = { texts: {}, checks: {} };

/** The form for a child of `parent`, with the values typed before a refusal. */
function spawnForm(parent: AgentState, context: Context, { texts }: FormValues = NOTHING): Dialog {
  const field = (name: string, label: string, lines: number, hint: string): Field =>
    textField(name, label, texts[name] ?? '', hint, lines);
  const roles = rolesIn(context);
  const usual = roles.find(({ value }) => value === USUAL) ?? roles[0];
  const wakes = `optional: ${parent.name} continues after these seconds, or when it ends`;
  return {
    is: 'form',
    title: `Spawn a child of ${parent.name} (${parent.id})`,
    yes: 'spawn',
    fields: [
      field('prompt', 'Prompt', 4, 'instructions: who it is and what to do'),
      usual === undefined
        ? field('role', 'Role', 1, USUAL)
        : choiceField('role', 'Role', texts['role'] ?? usual.value, roles),
      field('name', 'Name', 1, 'optional'),
      modelsIn(context, texts['model']) ?? field('model', 'Model', 1, 'role default'),
      field('wait', 'Wait', 1, wakes),
    ],
    check: problemIn,
    then: (values) => ({
      commands: [spawnChild.command(context.state, { parent: parent.id, wish: wishOf(values) })],
      again: spawnForm(parent, context, values),
    }),
  };
}

const rolesIn = ({ projectService }: Context): readonly Choice[] =>
  projectService.agents.all.flatMap(({ name, description }) => (name === 'main' ? [] : choice(name, description)));

function modelsIn({ state }: Context, before = OWN_MODEL): Field | null {
  if (state.choices === null) return null;
  const own = choice(OWN_MODEL, '', 'role default');
  return choiceField('model', 'Model', before, [own, ...modelChoices(state.choices)]);
}

const typedIn = (values: FormValues, name: string): string | null => textIn(values, name) || null;

function wishOf(values: FormValues): SpawnRequest {
  const [role, name, wait] = [typedIn(values, 'role'), typedIn(values, 'name'), typedIn(values, 'wait')];
  return {
    prompt: typedIn(values, 'prompt') ?? '',
    role,
    model: typedIn(values, 'model'),
    name: childName(name, role),
    wait: wait === null ? null : Number(wait),
    workingDir: null,
  };
}

function problemIn(values: FormValues): string | null {
  if (typedIn(values, 'prompt') === null) return 'Prompt: enter its instructions';
  const wait = typedIn(values, 'wait');
  if (wait !== null && !(/^\d+$/.test(wait) && Number(wait) <= 86_400))
    return 'Wait: enter 0 to 86400 seconds, or nothing';
  const read = SpawnRequest.safeParse(wishOf(values));
  if (read.success) return null;
  const [issue] = read.error.issues;
  return `${String(issue?.path[0] ?? 'Prompt').replace(/^./, (letter) => letter.toUpperCase())}: ${issue?.message ?? ''}`;
}
