/** What dialogs about a plan have in common: how a task is named, and a form that becomes one edit, judged at its fields. */
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { Result } from '../../../../domain/result.ts';
import type { Dialog, FormValues } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import type { Subject } from './check.ts';

/** `#4 oracle`, the task that a dialog is about. */
export const titleOf = ({ plan, task }: Subject): string => nameOf(plan, task);

/** `#4 oracle`. */
export const nameOf = (plan: SoundPlan, task: PlanTask): string => `#${plan.tasks.indexOf(task) + 1} ${task.role}`;

/** `#4 oracle  Explain the race`, in the role's colour. */
export const taskLine = (plan: SoundPlan, task: PlanTask): Line => [
  span(`#${plan.tasks.indexOf(task) + 1} `, { fg: 'muted' }),
  span(task.role, { fg: `role:${task.role}` }),
  span(`  ${task.description.split('\n')[0] ?? ''}`, { fg: 'fg' }),
];

/** A form that becomes one edit; what is wrong with it stands at its fields. */
export function editForm(
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
