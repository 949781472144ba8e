/** What the plan screen asks a person, and the edit that an answer becomes. Every edit is judged at its field first. */
import type { PlanEdit } from '../../domain/plan-edit.ts';
import type { PlanTask } from '../../domain/plan.ts';
import { dependantsOf } from '../../domain/plan-view.ts';
import type { Result } from '../../domain/result.ts';
import { ok } from '../../domain/result.ts';
import type { Dialog, FormValues } from '../dialog.ts';
import { span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { askedName, modelNamed } from './plan-check.ts';
import type { Subject } from './plan-check.ts';
import {
  budgetFields,
  modelChoices,
  needChoices,
  readBudget,
  readIds,
  roleChoices,
  toolChoices,
} from './plan-fields.ts';

const titleOf = ({ plan, task }: Subject): string => `#${plan.tasks.indexOf(task) + 1} ${task.role}`;

export function describeDialog(of: Subject): Dialog {
  const editOf = (description: string): PlanEdit => ({ is: 'describe', task: of.task.id, description });
  return {
    is: 'text',
    title: `${titleOf(of)}: what it is to do`,
    hint: '',
    value: of.task.description,
    lines: 10,
    yes: 'save',
    check: (text) => (text.trim() === '' ? 'say what the agent is to do' : of.problem(editOf(text))),
    then: (text) => of.send(editOf(text)),
  };
}

export const modelDialog = (of: Subject): Dialog => ({
  is: 'pick',
  title: `${titleOf(of)}: model`,
  choices: modelChoices(of.choices),
  value: modelValue(of),
  then: (model) => of.send({ is: 'model', task: of.task.id, model }),
});

export const roleDialog = (of: Subject): Dialog => ({
  is: 'pick',
  title: `${titleOf(of)}: role`,
  choices: roleChoices(of.choices),
  value: of.task.role,
  then: (role) => of.send({ is: 'role', task: of.task.id, role }),
});

export const budgetDialog = (of: Subject): Dialog =>
  form(of, `${titleOf(of)}: budget`, budgetFields(of.task.budget), (values) => {
    const budget = readBudget(values);
    return budget.ok ? ok({ is: 'budget', task: of.task.id, budget: budget.value }) : budget;
  });

export const toolsDialog = (of: Subject): Dialog =>
  form(
    of,
    `${titleOf(of)}: tools`,
    [{ is: 'checks', name: 'tools', label: 'Tools', values: of.task.tools, choices: toolChoices(of.choices, of.task) }],
    (values) => ok({ is: 'tools', task: of.task.id, tools: values.checks['tools'] ?? [] }),
  );

export const needsDialog = (of: Subject): Dialog =>
  form(
    of,
    `${titleOf(of)}: what it needs first`,
    [
      {
        is: 'checks',
        name: 'needs',
        label: 'Needs',
        values: of.task.dependsOn,
        choices: needChoices(of.plan, of.task),
      },
    ],
    (values) => ok({ is: 'depends', task: of.task.id, dependsOn: readIds(values, 'needs') }),
  );

/** Manual mode: everything about one agent (CONTRACT O106). */
export const manualDialog = (of: Subject): Dialog =>
  form(
    of,
    `${titleOf(of)}: by hand`,
    [
      {
        is: 'text',
        name: 'task',
        label: 'Task',
        value: of.task.description,
        lines: 4,
        hint: 'what the agent is to do',
      },
      { is: 'choice', name: 'role', label: 'Role', value: of.task.role, choices: roleChoices(of.choices) },
      { is: 'choice', name: 'model', label: 'Model', value: modelValue(of), choices: modelChoices(of.choices) },
      ...budgetFields(of.task.budget),
      {
        is: 'checks',
        name: 'needs',
        label: 'Needs',
        values: of.task.dependsOn,
        choices: needChoices(of.plan, of.task),
      },
    ],
    (values) => {
      const budget = readBudget(values);
      if (!budget.ok) return budget;
      return ok({
        is: 'form',
        task: of.task.id,
        description: values.texts['task'] ?? of.task.description,
        role: values.texts['role'] ?? of.task.role,
        // Untouched, the name stays as it was asked for: it may stand for a substituted model.
        model: values.texts['model'] === modelValue(of) ? of.task.model.asked : (values.texts['model'] ?? ''),
        budget: budget.value,
        dependsOn: readIds(values, 'needs'),
      });
    },
  );

/** A new task; it needs the selected one unless that is unchecked. */
export const addDialog = (of: Subject): Dialog =>
  form(
    of,
    'Add an agent',
    [
      { is: 'text', name: 'task', label: 'Task', value: '', lines: 4, hint: 'what the agent is to do' },
      { is: 'choice', name: 'role', label: 'Role', value: of.task.role, choices: roleChoices(of.choices) },
      { is: 'checks', name: 'needs', label: 'Needs', values: [], choices: needChoices(of.plan, null) },
    ],
    (values) =>
      ok({
        is: 'add',
        description: values.texts['task'] ?? '',
        role: values.texts['role'] ?? of.task.role,
        dependsOn: readIds(values, 'needs'),
      }),
  );

export function dropDialog(of: Subject): Dialog {
  const dependants = dependantsOf(of.plan, of.task.id);
  const nameOf = (task: PlanTask): Line => [
    span(`#${of.plan.tasks.indexOf(task) + 1} `, { fg: 'muted' }),
    span(task.role, { fg: `role:${task.role}` }),
    span(`  ${task.description.split('\n')[0] ?? ''}`, { fg: 'fg' }),
  ];
  const [waits, they] = dependants.length === 1 ? ['1 task waits', 'It'] : [`${dependants.length} tasks wait`, 'They'];
  const heir = of.task.dependsOn.length === 0 ? 'nothing in its place' : 'what it needed';
  const warning: readonly Line[] = [[], [span(`${waits} for it. ${they} will need ${heir}:`, { fg: 'warn' })]];
  return {
    is: 'confirm',
    title: `Drop ${titleOf(of)}?`,
    lines: [nameOf(of.task), ...(dependants.length === 0 ? [] : warning), ...dependants.map((task) => nameOf(task))],
    yes: 'drop it',
    no: 'keep it',
    word: '',
    then: () => of.send({ is: 'drop', task: of.task.id }),
  };
}

export const cancelDialog = (): Dialog => ({
  is: 'confirm',
  title: 'Cancel this plan?',
  lines: [[span('Your edits are lost, and nothing runs.', { fg: 'fg' })]],
  yes: 'cancel the plan',
  no: 'go on',
  word: '',
  then: () => ({ commands: [{ do: 'reject plan' }] }),
});

export const againDialog = (edited: boolean): Dialog => ({
  is: 'text',
  title: 'Plan again',
  hint: edited
    ? 'A hint for the planner, or nothing. Your edits are lost.'
    : 'A hint for the planner, or nothing: fewer agents, also check the docs …',
  value: '',
  lines: 1,
  yes: 'plan again',
  check: () => null,
  then: (hint) => ({ commands: [{ do: 'plan again', hint: hint.trim() }] }),
});

/** The value of the model in force among the choices: as it was asked for, or else what is used for it. */
function modelValue({ choices, task }: Subject): string {
  const option = modelNamed(choices, task.model.asked) ?? modelNamed(choices, task.model.used);
  return option === undefined ? task.model.asked : askedName(option);
}

function form(
  of: Subject,
  title: string,
  fields: Extract<Dialog, { readonly is: 'form' }>['fields'],
  read: (values: FormValues) => Result<PlanEdit, string>,
): Dialog {
  return {
    is: 'form',
    title,
    fields,
    check: (values) => {
      const edit = read(values);
      return edit.ok ? of.problem(edit.value) : edit.fault;
    },
    then: (values) => {
      const edit = read(values);
      return edit.ok ? of.send(edit.value) : { toast: { level: 'error', text: edit.fault } };
    },
  };
}
