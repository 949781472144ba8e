/** What the plan screen asks a person, and the edit that an answer becomes. Every edit is judged at its field first. */
import { permissionsEdit } from '../../../../app/actions/index.ts';
import { permissionChoices } from '../../../../app/views/permissions.ts';
import { type Effort, EFFORTS } from '../../../../domain/models/effort.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { ROOT } from '../../../../domain/ids.ts';
import type { RunState } from '../../../../events/state.ts';
import { ok } from '../../../../domain/result.ts';
import type { Dialog, DialogEffect, FormValues } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import { capOf } from '../../components/plan/totals.ts';
import { askedName, modelNamed, type Subject } from '../../components/plan-form/check.ts';
import {
  budgetFields,
  effortChoices,
  modelChoices,
  needChoices,
  OF_RUN,
  readBudget,
  readIds,
  roleChoices,
  toolChoices,
} from '../../components/plan-form/fields.ts';
import { editForm, titleOf } from '../../components/plan-form/form.ts';
import { writesField, writesOf } from '../../components/plan-form/writes.ts';

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

/** The task's text in the person's own editor; nothing happens when it comes back as it was. */
export function describeOutside(of: Subject): DialogEffect {
  const then = (text: string): DialogEffect => {
    const description = text.trim();
    if (description === of.task.description.trim()) return {};
    const edit: PlanEdit = { is: 'describe', task: of.task.id, description };
    const problem = description === '' ? 'say what the agent is to do' : of.problem(edit);
    return problem === null ? of.send(edit) : { toast: { level: 'warn', text: `${titleOf(of)}: ${problem}` } };
  };
  return { app: { edit: of.task.description, then } };
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
  choices: roleChoices(of.choices, of.plan.tasks.length),
  value: of.task.role,
  then: (role) => of.send({ is: 'role', task: of.task.id, role }),
});

export const budgetDialog = (of: Subject): Dialog =>
  editForm(of, `${titleOf(of)}: budget`, budgetFields(of.task.budget), (values) => {
    const budget = readBudget(values);
    return budget.ok ? ok({ is: 'budget', task: of.task.id, budget: budget.value }) : budget;
  });

export const toolsDialog = (of: Subject): Dialog =>
  editForm(
    of,
    `${titleOf(of)}: tools`,
    [{ is: 'checks', name: 'tools', label: 'Tools', values: of.task.tools, choices: toolChoices(of.choices, of.task) }],
    (values) => ok({ is: 'tools', task: of.task.id, tools: values.checks['tools'] ?? [] }),
  );

/** What agents may do without asking, of all tasks and of this one. */
export function permissionsDialog(of: Subject): Dialog {
  const choices = permissionChoices(of.plan, of.task);
  return {
    is: 'pick',
    title: 'What agents may do without asking',
    choices: choices.map(({ value, label, note }) => ({ value, label, note, whyNot: null })),
    value: '',
    then: (chosen) => {
      const found = choices.find(({ value }) => value === chosen);
      return found === undefined ? {} : of.send(permissionsEdit(found.args));
    },
  };
}

export const needsDialog = (of: Subject): Dialog =>
  editForm(
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

/** Manual mode: everything about one agent. */
export const manualDialog = (of: Subject): Dialog =>
  editForm(
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
      {
        is: 'choice',
        name: 'role',
        label: 'Role',
        value: of.task.role,
        choices: roleChoices(of.choices, of.plan.tasks.length),
      },
      { is: 'choice', name: 'model', label: 'Model', value: modelValue(of), choices: modelChoices(of.choices) },
      {
        is: 'choice',
        name: 'effort',
        label: 'Effort',
        value: of.task.effort ?? '',
        choices: effortChoices(of.choices, of.task),
      },
      ...budgetFields(of.task.budget),
      { is: 'checks', name: 'tools', label: 'Tools', values: of.task.tools, choices: toolChoices(of.choices, of.task) },
      {
        is: 'checks',
        name: 'needs',
        label: 'Needs',
        values: of.task.dependsOn,
        choices: needChoices(of.plan, of.task),
      },
      writesField(of),
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
        ...toolsOf(of, values),
        ...effortOf(of, values),
        ...writesOf(of, values),
      });
    },
  );

/** The tools that were ticked; left out where nobody touched them, so that another role brings its own. */
function toolsOf({ task }: Subject, { checks }: FormValues): { readonly tools?: readonly string[] } {
  const tools = checks['tools'];
  if (tools === undefined) return {};
  const same = tools.length === task.tools.length && tools.every((tool) => task.tools.includes(tool));
  return same ? {} : { tools };
}

/** The effort that was chosen; left out where nobody touched it. */
function effortOf({ task }: Subject, { texts }: FormValues): { readonly effort?: Effort | null } {
  const chosen = texts['effort'] ?? '';
  if (chosen === (task.effort ?? '')) return {};
  return { effort: EFFORTS.find((one) => one === chosen) ?? null };
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

/** A draft is given up by going back to the plan in force. */
export const forgetDialog = (state: RunState, then: DialogEffect): Dialog => ({
  is: 'confirm',
  title: 'Give your changes up?',
  lines: [[span('The plan goes on as it was approved.', { fg: 'fg' })]],
  yes: 'give them up',
  no: 'keep them',
  word: '',
  then: () => (state.plan === null ? then : { drafted: { is: 'replace', plan: state.plan }, ...then }),
});

/** What the whole run may use: raised where an estimate is over it. The rules may have less to give. */
export const capDialog = (state: RunState): Dialog => ({
  is: 'form',
  title: 'What the whole run may use',
  fields: budgetFields(capOf(state), OF_RUN),
  check: (values) => {
    const budget = readBudget(values);
    if (!budget.ok) return budget.fault;
    if (Object.keys(budget.value).length === 0) return 'say at least one limit';
    return null;
  },
  then: (values) => {
    const budget = readBudget(values);
    return budget.ok ? { commands: [{ do: 'set budget', agent: ROOT, budget: budget.value }] } : {};
  },
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
