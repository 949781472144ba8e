/** The dialogs of the plan screen, and the edits that they become. Each edit is checked before it is sent. */
import { askedName } from '../../../../domain/plan/estimate.ts';
import { cancelPlan, dropWarning, planAgain, setBudget } from '../../../../app/actions/index.ts';
import { expectedPlan, firstLineOf, formatCost, permissionChoices } from '../../../../app/views/index.ts';
import { ROOT, type TaskId } from '../../../../domain/ids.ts';
import { type Effort, EFFORTS } from '../../../../domain/models/provider.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { dependantsOf, totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../../../domain/result.ts';
import { ARGUMENT_NAME, TEMPLATE_NAME } from '../../../../domain/text/text.ts';
import type { TemplateRequest } from '../../../../ports/project-service.ts';
import type { RunState } from '../../../../events/index.ts';
import { budgetFields, checkFields, checksOf, descendants, editForm } from '../../components/plan-form.ts';
import { effortChoices, MODEL_HEADS, modelChoices, modelNamed, nameOf } from '../../components/plan-form.ts';
import { needChoices, OF_RUN, planAfter, readBudget, readForm, readIds } from '../../components/plan-form.ts';
import { roleChoices, type Subject, taskLine, titleOf, toolChoices, writesField } from '../../components/plan-form.ts';
import { writesOf } from '../../components/plan-form.ts';
import { capOf } from '../../components/plan/estimate.ts';
import type { Choice, Dialog, DialogEffect, Field, FormValues } from '../../frame/screen.ts';
import { checksField, choice, choiceField, pickFrom, textField, textIn } from '../../frame/screen.ts';
import { tint } from '../../text/blocks.ts';

/** Sends an edit, or tells why it is not possible. */
export function sendChecked(of: Subject, edit: PlanEdit): DialogEffect {
  const problem = of.problem(edit);
  return problem === null ? of.send(edit) : { toast: { level: 'warn', text: problem } };
}

/** Opens the task's text in the person's editor; an unchanged text has no effect. */
export function describeOutside(of: Subject): DialogEffect {
  const then = (text: string): DialogEffect => {
    const description = text.trim();
    if (description === of.task.description.trim()) return {};
    const edit: PlanEdit = { is: 'describe', task: of.task.id, description };
    const problem = description === '' ? 'The task is empty.' : of.problem(edit);
    return problem === null ? of.send(edit) : { toast: { level: 'warn', text: `${titleOf(of)}: ${problem}` } };
  };
  return { app: { edit: of.task.description, then } };
}

/** Every model with what the task would cost on it. */
export const modelDialog = (of: Subject): Dialog => ({
  is: 'pick',
  title: `Model of ${titleOf(of)}`,
  choices: modelChoices(of.choices).map((choice) => ({ ...choice, note: `${costOn(of, choice)}  ${choice.note}` })),
  heads: [MODEL_HEADS[0], `${'task cost'.padStart(COST)}  ${MODEL_HEADS[1]}`],
  folds: true,
  value: modelValue(of),
  then: (model) => of.send({ is: 'model', task: of.task.id, model }),
});

const COST = 9;

/** `  $0.02`: the cost of the task on a model; blank where the model cannot be used. */
function costOn(of: Subject, { value, whyNot }: Choice): string {
  const edit = { is: 'model', task: of.task.id, model: value } as const;
  const plan = whyNot === null ? planAfter(of, edit) : null;
  return (plan === null ? '' : formatCost(costsIn(plan, of).task)).padStart(COST);
}

export const budgetDialog = (of: Subject): Dialog =>
  editForm(of, `Budget of ${titleOf(of)}`, budgetFields(of.task.budget), (values) => {
    const budget = readBudget(values);
    return budget.ok ? ok({ is: 'budget', task: of.task.id, budget: budget.value }) : budget;
  });

/** What agents may do without asking: in all tasks, and in this one. */
export const permissionsDialog = (of: Subject): Dialog =>
  pickFrom(
    'Permissions',
    permissionChoices(of.plan, of.task),
    ({ value, label, note }) => choice(value, note, label),
    ({ edit }) => of.send(edit),
  );

type TaskField = 'task' | 'role' | 'model' | 'effort' | 'tokens' | 'tools' | 'needs' | 'writes' | 'checks';

/** The form that edits everything about a task, with the effect on the price; `at` has the keys at first. */
export const taskForm =
  (at: TaskField) =>
  (of: Subject): Dialog => {
    const read = (values: FormValues): Result<PlanEdit, string> => readTask(of, values);
    return {
      ...editForm(of, `Edit ${titleOf(of)}`, taskFields(of), read),
      at,
      effect(values) {
        const edit = read(values);
        return edit.ok ? costEffect(of, edit.value) : null;
      },
    };
  };

const taskFields = (of: Subject): readonly Field[] => [
  textField('task', 'Task', of.task.description, 'what the agent should do', 4),
  choiceField('role', 'Role', of.task.role, roleChoices(of.choices, of.plan.tasks.length)),
  choiceField('model', 'Model', modelValue(of), taskModels(of)),
  choiceField('effort', 'Effort', of.task.effort ?? '', effortChoices(of.choices, of.task)),
  ...budgetFields(of.task.budget),
  checksField('tools', 'Tools', of.task.tools, toolChoices(of.choices, of.task)),
  checksField('needs', 'Depends on', of.task.dependsOn, needChoices(of.plan, of.task)),
  writesField(of),
  ...checkFields(of),
];

function taskModels(of: Subject): readonly Choice[] {
  const { used, because } = of.task.model;
  const own = because === null ? null : modelValue(of);
  const note = `${modelNamed(of.choices, used)?.label ?? used} is used instead: ${because}`;
  return modelChoices(of.choices).map((choice) => (choice.value === own ? { ...choice, note } : choice));
}

function readTask(of: Subject, values: FormValues): Result<PlanEdit, string> {
  const budget = readBudget(values);
  if (!budget.ok) return budget;
  const description = values.texts['task'] ?? of.task.description;
  if (description.trim() === '') return fail('The task is empty.');
  return ok({
    is: 'form',
    task: of.task.id,
    description,
    role: values.texts['role'] ?? of.task.role,
    // Untouched, the name stays as it was asked for: it may stand for a substituted model.
    model: values.texts['model'] === modelValue(of) ? of.task.model.asked : (values.texts['model'] ?? ''),
    budget: budget.value,
    dependsOn: readIds(values, 'needs'),
    ...toolsOf(of, values),
    ...effortOf(of, values),
    ...writesOf(of, values),
    ...checksOf(of, values),
  });
}

/** `Cost of the task $0.02 -> $0.06, of the plan $0.32 -> $0.37`; null where the edit is not possible. */
function costEffect(of: Subject, edit: PlanEdit): string | null {
  const plan = planAfter(of, edit);
  if (plan === null) return null;
  const [before, after] = [of.plan, plan].map((one) => costsIn(one, of));
  const change = (name: 'task' | 'plan'): string => {
    const [from, to] = [formatCost(before?.[name] ?? null), formatCost(after?.[name] ?? null)];
    return from === to ? to : `${from} -> ${to}`;
  };
  return `Cost of the task ${change('task')}, of the plan ${change('plan')}`;
}

function costsIn(plan: SoundPlan, { choices, task }: Subject): Readonly<Record<'task' | 'plan', number | null>> {
  const expected = expectedPlan(plan, choices);
  const found = expected.tasks.find(({ id }) => id === task.id);
  return { task: found?.estimatedCost ?? null, plan: totalsOf(expected, 1).knownCost };
}

/** The checked tools; left out where they are unchanged, so that another role brings its own. */
function toolsOf({ task }: Subject, { checks }: FormValues): { readonly tools?: readonly string[] } {
  const tools = checks['tools'];
  if (tools === undefined) return {};
  const same = tools.length === task.tools.length && tools.every((tool) => task.tools.includes(tool));
  return same ? {} : { tools };
}

/** The chosen effort; left out where it is unchanged. */
function effortOf({ task }: Subject, { texts }: FormValues): { readonly effort?: Effort | null } {
  const chosen = texts['effort'] ?? '';
  return chosen === (task.effort ?? '') ? {} : { effort: EFFORTS.find((one) => one === chosen) ?? null };
}

export const cancelDialog = (state: RunState): Dialog => ({
  is: 'confirm',
  title: 'Discard this plan?',
  lines: [[tint('Edits are lost.', 'fg')]],
  yes: 'discard',
  no: 'keep editing',
  then: () => ({ commands: [cancelPlan.command(state, null)] }),
});

/** Discards the draft; the approved plan stays. */
export const forgetDialog = (state: RunState, then: DialogEffect): Dialog => ({
  is: 'confirm',
  title: 'Discard your changes?',
  lines: [[tint('The approved plan continues unchanged.', 'fg')]],
  yes: 'discard',
  no: 'keep editing',
  then: () => (state.plan === null ? then : { drafted: { is: 'replace', plan: state.plan }, ...then }),
});

/** Sets the budget of the run. Policy may allow less. */
export const capDialog = (state: RunState): Dialog =>
  readForm(
    'Run budget',
    budgetFields(capOf(state), OF_RUN),
    (values) => {
      const budget = readBudget(values);
      return budget.ok && Object.keys(budget.value).length === 0 ? fail('Enter at least one limit.') : budget;
    },
    (budget) => ({ commands: [setBudget.command(state, { agent: ROOT, budget })] }),
  );

export const againDialog = (edited: boolean, state: RunState): Dialog => ({
  is: 'text',
  title: 'Re-plan',
  hint: edited ? 'Optional hint. Your edits are lost.' : 'Optional hint, e.g. "fewer agents"',
  value: '',
  lines: 1,
  yes: 're-plan',
  check: () => null,
  then: (hint) => ({ commands: [planAgain.command(state, { hint })] }),
});

function modelValue({ choices, task }: Subject): string {
  const option = modelNamed(choices, task.model.asked) ?? modelNamed(choices, task.model.used);
  return option === undefined ? task.model.asked : askedName(option);
}

/** A new task, by default with the role of the selected one. */
export function addDialog(of: Subject): Dialog {
  const roles = roleChoices(of.choices, of.plan.tasks.length + 1);
  const role = (roles.find(({ value }) => value === of.task.role) ?? roles.at(-1))?.value ?? of.task.role;
  return editForm(
    of,
    'Add task',
    [
      textField('task', 'Task', '', 'what the agent should do', 4),
      choiceField('role', 'Role', role, roles),
      checksField('needs', 'Depends on', [], needChoices(of.plan, null)),
    ],
    (values) =>
      ok({
        is: 'add',
        description: values.texts['task'] ?? '',
        role: values.texts['role'] ?? role,
        dependsOn: readIds(values, 'needs'),
      }),
  );
}

export function dropDialog(of: Subject): Dialog {
  const dependants = dependantsOf(of.plan, of.task.id);
  const warning = dropWarning(of.plan, of.task);
  return {
    is: 'confirm',
    title: `Delete ${titleOf(of)}?`,
    lines: [
      taskLine(of.plan, of.task),
      ...(warning === null ? [] : [[], [tint(warning, 'warn')]]),
      ...dependants.map((task) => taskLine(of.plan, task)),
    ],
    yes: 'delete',
    no: 'keep',
    then: () => of.send({ is: 'drop', task: of.task.id }),
  };
}

const PARTS = 'parts';

/** Splits a task into one per line, sequential or parallel. */
export const splitDialog = (of: Subject): Dialog =>
  editForm(
    of,
    `Split ${titleOf(of)}`,
    [
      textField(PARTS, 'Parts', partsOf(of.task.description).join('\n'), 'one per line', 6),
      choiceField('order', 'Order', 'chain', [choice('chain', '', 'sequential'), choice('beside', '', 'parallel')]),
    ],
    (values) => {
      const descriptions = (values.texts[PARTS] ?? '')
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
      if (descriptions.length < 2) return fail('Parts: enter at least two lines.');
      return ok({ is: 'split', task: of.task.id, descriptions, inOrder: values.texts['order'] !== 'beside' });
    },
  );

/** The parts of a text: its lines, else its sentences. */
function partsOf(description: string): readonly string[] {
  const parts = (by: RegExp): readonly string[] =>
    description
      .split(by)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const lines = parts(/\n+/);
  return lines.length > 1 ? lines : parts(/(?<=[.;])\s+/);
}

/** Merges another task into this one; those that can be merged first. Tasks that would create a cycle cannot be chosen. */
export function joinDialog(of: Subject): Dialog {
  const { plan, task } = of;
  const whyNot = (other: PlanTask): string | null => {
    const between = plan.tasks.find((third) => isBetween(of, other, third));
    return of.fixed(other) ?? (between ? `cannot merge: ${nameOf(plan, between)} is between them` : null);
  };
  const list = pickFrom(
    `Merge into ${titleOf(of)}`,
    plan.tasks.filter(({ id }) => id !== task.id),
    (other) => ({ ...choice(other.id, firstLineOf(other.description), nameOf(plan, other)), whyNot: whyNot(other) }),
    (other) => sendChecked(of, { is: 'join', task: task.id, other: other.id }),
  );
  return { ...list, choices: list.choices.toSorted((a, b) => Number(a.whyNot !== null) - Number(b.whyNot !== null)) };
}

/** True if `third` is between the two tasks, so that merging them would create a cycle. */
function isBetween({ plan, task }: Subject, other: PlanTask, { id }: PlanTask): boolean {
  const leads = (from: TaskId, to: TaskId): boolean => descendants(plan, from).has(to);
  return (leads(task.id, id) && leads(id, other.id)) || (leads(other.id, id) && leads(id, task.id));
}

// Saving a plan as a template.

export const keepDialog = (plan: SoundPlan, task: string): Dialog =>
  readForm(
    'Save as template',
    [
      textField('name', 'Name', slug(firstLineOf(task)), 'audit, release-check …'),
      textField('description', 'Description', firstLineOf(task), 'when to use it'),
      textField('words', 'Variables', '', 'one per line: path = src/auth', 4),
    ],
    (values) => templateOf(plan, values),
    (keep) => ({ app: { keep } }),
  );

function templateOf(plan: SoundPlan, values: FormValues): Result<TemplateRequest, string> {
  const name = textIn(values, 'name');
  if (!TEMPLATE_NAME.test(name))
    return fail('Name: use lower-case letters, digits and "-" (at most 40), for example release-check');
  const lines = textIn(values, 'words')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const parsed = lines.map((line) => argumentOf(line, plan));
  const wrong = parsed.find((one) => !one.ok);
  if (wrong !== undefined && !wrong.ok) return wrong;
  const words = parsed.flatMap((one) => (one.ok ? [one.value] : []));
  const twice = words.find(({ name: own }, index) => words.findIndex((other) => other.name === own) !== index);
  if (twice !== undefined) return fail(`Variables: ${twice.name} is defined twice`);
  return ok({ name, description: textIn(values, 'description'), plan, arguments: words });
}

/** `path = src/auth`, or the words alone, from which the name is made. */
function argumentOf(line: string, plan: SoundPlan): Result<TemplateRequest['arguments'][number], string> {
  const [, named, rest] = /^([A-Za-z][\w-]*)\s*=\s*(.+)$/.exec(line) ?? [];
  const text = rest ?? line;
  const name = slug(named ?? text);
  if (!ARGUMENT_NAME.test(name)) return fail(`Variables: give "${text}" a name, for example path = ${text}`);
  const stands = plan.tasks.some(({ description }) => description.includes(text));
  return stands ? ok({ name, text }) : fail(`Variables: no task contains "${text}"`);
}

/** `Fix the race` as `fix-the-race`. */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
