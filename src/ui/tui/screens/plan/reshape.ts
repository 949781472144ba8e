/** Dialogs that change which tasks there are: add, drop, split and join. What they would break is said before they do. */
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import { TaskId } from '../../../../domain/ids.ts';
import type { PlanTask } from '../../../../domain/plan/plan.ts';
import { dependantsOf } from '../../../../domain/plan/plan-view.ts';
import { fail, ok } from '../../../../domain/result.ts';
import type { Choice, Dialog } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import type { Subject } from '../../components/plan-form/check.ts';
import { descendants, needChoices, readIds, roleChoices } from '../../components/plan-form/fields.ts';
import { editForm, nameOf, taskLine, titleOf } from '../../components/plan-form/form.ts';

/** A new task; it needs the selected one unless that is unchecked. */
export function addDialog(of: Subject): Dialog {
  const roles = roleChoices(of.choices, of.plan.tasks.length + 1);
  const role = (roles.find(({ value }) => value === of.task.role) ?? roles.at(-1))?.value ?? of.task.role;
  return editForm(
    of,
    'Add an agent',
    [
      { is: 'text', name: 'task', label: 'Task', value: '', lines: 4, hint: 'what the agent is to do' },
      { is: 'choice', name: 'role', label: 'Role', value: role, choices: roles },
      { is: 'checks', name: 'needs', label: 'Needs', values: [], choices: needChoices(of.plan, null) },
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
  const [waits, they] = dependants.length === 1 ? ['1 task waits', 'It'] : [`${dependants.length} tasks wait`, 'They'];
  const heir = of.task.dependsOn.length === 0 ? 'nothing in its place' : 'what it needed';
  const warning: readonly Line[] = [[], [span(`${waits} for it. ${they} will need ${heir}:`, { fg: 'warn' })]];
  return {
    is: 'confirm',
    title: `Drop ${titleOf(of)}?`,
    lines: [
      taskLine(of.plan, of.task),
      ...(dependants.length === 0 ? [] : warning),
      ...dependants.map((task) => taskLine(of.plan, task)),
    ],
    yes: 'drop it',
    no: 'keep it',
    word: '',
    then: () => of.send({ is: 'drop', task: of.task.id }),
  };
}

const PARTS = 'parts';

/** One task becomes several: a line each, one after the other or side by side. */
export const splitDialog = (of: Subject): Dialog =>
  editForm(
    of,
    `Split ${titleOf(of)}: a line for each part`,
    [
      {
        is: 'text',
        name: PARTS,
        label: 'Parts',
        value: partsOf(of.task.description).join('\n'),
        lines: 6,
        hint: 'a line for each part',
      },
      {
        is: 'choice',
        name: 'order',
        label: 'They run',
        value: 'chain',
        choices: [
          { value: 'chain', label: 'one after the other', note: 'each waits for the one before', whyNot: null },
          { value: 'beside', label: 'side by side', note: 'none waits for another', whyNot: null },
        ],
      },
    ],
    (values) => {
      const descriptions = (values.texts[PARTS] ?? '')
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '');
      if (descriptions.length < 2) return fail('Parts: at least two lines, one for each part');
      return ok({ is: 'split', task: of.task.id, descriptions, inOrder: values.texts['order'] !== 'beside' });
    },
  );

/** What a text seems to be made of: its lines, else its sentences, else itself. */
function partsOf(description: string): readonly string[] {
  const parts = (by: RegExp): readonly string[] =>
    description
      .split(by)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const lines = parts(/\n+/);
  return lines.length > 1 ? lines : parts(/(?<=[.;])\s+/);
}

/** Another task becomes part of this one; those that would make a circle are struck. */
export function joinDialog(of: Subject): Dialog {
  const editOf = (other: TaskId): PlanEdit => ({ is: 'join', task: of.task.id, other });
  return {
    is: 'pick',
    title: `Join another task to ${titleOf(of)}`,
    choices: joinChoices(of),
    value: '',
    then: (value) => {
      const other = TaskId.safeParse(value);
      if (!other.success) return {};
      const problem = of.problem(editOf(other.data));
      return problem === null ? of.send(editOf(other.data)) : { toast: { level: 'warn', text: problem } };
    },
  };
}

/** Those that can be joined first. */
function joinChoices(of: Subject): readonly Choice[] {
  const { plan, task } = of;
  const choices = plan.tasks.flatMap((other): readonly Choice[] => {
    if (other.id === task.id) return [];
    const between = plan.tasks.find((third) => isBetween(of, other, third));
    const why = between === undefined ? null : `${nameOf(plan, between)} stands between them: that would be a circle`;
    return [
      {
        value: other.id,
        label: nameOf(plan, other),
        note: other.description.split('\n')[0] ?? '',
        whyNot: of.fixed(other) ?? why,
      },
    ];
  });
  return [...choices.filter(({ whyNot }) => whyNot === null), ...choices.filter(({ whyNot }) => whyNot !== null)];
}

/** Does one of the two wait for `third`, and that for the other? Joined, they would wait for it and it for them. */
function isBetween({ plan, task }: Subject, other: PlanTask, { id }: PlanTask): boolean {
  const leads = (from: TaskId, to: TaskId): boolean => descendants(plan, from).has(to);
  return (leads(task.id, id) && leads(id, other.id)) || (leads(other.id, id) && leads(id, task.id));
}
