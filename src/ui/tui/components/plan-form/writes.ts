/** What the plan screen asks about files that a task may change, and about the order that follows from it. */
import { alongsideEdit, typedWrites, writesEdit, writesIn } from '../../../../app/actions/index.ts';
import { orderedWith } from '../../../../app/views/plan-order.ts';
import { ok } from '../../../../domain/result.ts';
import type { Dialog, Field, FormValues } from '../../frame/screen.ts';
import type { Subject } from './check.ts';
import { readIds } from './fields.ts';
import { editForm, nameOf, titleOf } from './form.ts';

export const writesField = ({ task }: Subject): Field => ({
  is: 'text',
  name: 'writes',
  label: 'Writes',
  value: typedWrites(task),
  lines: 1,
  hint: 'src/** docs/*.md; ** is the whole project; empty: nothing',
});

/** The globs that were typed into that field; left out where nobody touched them, so that another role brings its own. */
export function writesOf({ task }: Subject, { texts }: FormValues): { readonly writes?: readonly string[] } {
  const typed = texts['writes'] ?? '';
  return typed === typedWrites(task) ? {} : { writes: writesIn(typed) };
}

export const writesDialog = (of: Subject): Dialog =>
  editForm(of, `${titleOf(of)}: files it may change`, [writesField(of)], (values) =>
    ok(writesEdit({ task: of.task.id, writes: writesIn(values.texts['writes'] ?? '') })),
  );

export const orderDialog = (of: Subject): Dialog =>
  editForm(
    of,
    `${titleOf(of)}: beside whom it may run`,
    [
      {
        is: 'checks',
        name: 'beside',
        label: 'Beside',
        values: orderedWith(of.plan, of.task).flatMap(({ id, alongside = [] }) =>
          alongside.includes(of.task.id) || (of.task.alongside ?? []).includes(id) ? [id] : [],
        ),
        choices: orderedWith(of.plan, of.task).map((other) => ({
          value: other.id,
          label: nameOf(of.plan, other),
          note: whyOrdered(of, other),
          whyNot: null,
        })),
      },
    ],
    (values) => ok(alongsideEdit({ task: of.task.id, others: readIds(values, 'beside') })),
  );

const whyOrdered = ({ task }: Subject, other: Subject['task']): string =>
  [
    ...(task.after ?? []).filter((one) => one.task === other.id),
    ...(other.after ?? []).filter((one) => one.task === task.id),
  ]
    .map(({ because }) => because)
    .join('; ') || 'order removed by you';
