/** A child beyond the plan as a form: what it is to do, as whom, by which model, and whether its parent waits. What may be is the engine's to say. */
import { ROOT } from '../../../../domain/ids.ts';
import { SpawnWish } from '../../../../domain/agents/spawn.ts';
import { isFinal } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import type { Choice, Dialog, DialogEffect, Field, FormValues, Binding, Context } from '../../frame/screen.ts';
import { stillWords } from '../../components/lost.ts';
import { modelChoices } from '../../components/plan-form/fields.ts';
import { selectedOf, type RunUi } from './state.ts';

/** The role where nobody asks for one (domain/agents/spawn.ts). */
const USUAL = 'code';
const OWN_MODEL = '';

export const SPAWN_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['a'],
    action: 'run.spawn',
    hint: 'spawn',
    help: 'In a run without a plan, spawn a child of main that works beside it.',
    whyNot: (_, context) => (context.state.idle ? (over(context.state.finished) ?? stillWords(context)) : ''),
    run: (_, context) => formFor(context.state.agents.get(ROOT), context),
  },
  {
    keys: ['S'],
    action: 'run.spawnBelow',
    hint: '',
    help: 'Spawn a child of the selected agent, beside the plan.',
    whyNot(ui, context) {
      const agent = selectedOf(ui, context);
      if (agent === undefined) return 'There is no agent yet.';
      return (
        over(context.state.finished) ??
        stillWords(context) ??
        (isFinal(agent) ? `${agent.name} has ended: it has no more children.` : null)
      );
    },
    run: (ui, context) => formFor(selectedOf(ui, context), context),
  },
];

const over = (finished: unknown): string | null => (finished === null ? null : 'The run has ended.');

const formFor = (parent: AgentState | undefined, context: Context): DialogEffect =>
  parent === undefined ? {} : { dialog: spawnForm(parent, context) };

const NOTHING: FormValues = { texts: {}, checks: {} };

/** The form for a child of `parent`, with what was typed before. */
function spawnForm(parent: AgentState, context: Context, { texts }: FormValues = NOTHING): Dialog {
  const field = (name: string, label: string, lines: number, hint: string): Field => ({
    is: 'text',
    name,
    label,
    value: texts[name] ?? '',
    lines,
    hint,
  });
  const wakes = `optional seconds: wakes ${parent.name} then, or at its end`;
  return {
    is: 'form',
    title: `Spawn a child of ${parent.name} (${parent.id})`,
    yes: 'spawn',
    fields: [
      field('prompt', 'Prompt', 4, 'all it is told: who it is, what to do'),
      chosen(rolesIn(context), texts['role']) ?? field('role', 'Role', 1, `empty: ${USUAL}`),
      field('name', 'Name', 1, 'optional, stands behind its role'),
      modelsIn(context, texts['model']) ??
        field('model', 'Model', 1, "as `mimir models` names it; empty: the role's own"),
      field('wait', 'Wait', 1, wakes),
    ],
    check: problemIn,
    then: (values) => ({
      commands: [{ do: 'spawn', parent: parent.id, wish: wishOf(values) }],
      again: spawnForm(parent, context, values),
    }),
  };
}

const rolesIn = ({ state, lobby }: Context): readonly Choice[] =>
  (lobby.agents?.all ?? state.choices?.roles ?? []).flatMap(({ name, description }) =>
    name === 'main' ? [] : [{ value: name, label: name, note: description, whyNot: null }],
  );

/** Null where no role is known here. */
function chosen(choices: readonly Choice[], before: string | undefined): Field | null {
  const [first] = choices;
  if (first === undefined) return null;
  const usual = choices.find(({ value }) => value === USUAL) ?? first;
  return { is: 'choice', name: 'role', label: 'Role', value: before ?? usual.value, choices };
}

/** Null where no model is known here. */
function modelsIn({ state }: Context, before = OWN_MODEL): Field | null {
  if (state.choices === null) return null;
  const own: Choice = { value: OWN_MODEL, label: "the role's own", note: '', whyNot: null };
  return { is: 'choice', name: 'model', label: 'Model', value: before, choices: [own, ...modelChoices(state.choices)] };
}

/** As it was typed; null where nothing was. */
const typedIn = ({ texts }: FormValues, name: string): string | null => {
  const typed = (texts[name] ?? '').trim();
  return typed === '' ? null : typed;
};

function wishOf(values: FormValues): SpawnWish {
  const [role, name, wait] = [typedIn(values, 'role'), typedIn(values, 'name'), typedIn(values, 'wait')];
  return {
    prompt: typedIn(values, 'prompt') ?? '',
    role,
    model: typedIn(values, 'model'),
    // As `mimir spawn ROLE --name` calls it.
    name: name === null || role === null ? name : `${role}-${name}`,
    wait: wait === null ? null : Number(wait),
    workingDir: null,
  };
}

function problemIn(values: FormValues): string | null {
  if (typedIn(values, 'prompt') === null) return 'Prompt: say what it is to do';
  const wait = typedIn(values, 'wait');
  if (wait !== null && !(/^\d+$/.test(wait) && Number(wait) <= 86_400)) return 'Wait: seconds, 0 to 86400, or nothing';
  const read = SpawnWish.safeParse(wishOf(values));
  if (read.success) return null;
  const [issue] = read.error.issues;
  return `${String(issue?.path[0] ?? 'Prompt').replace(/^./, (letter) => letter.toUpperCase())}: ${issue?.message ?? ''}`;
}
