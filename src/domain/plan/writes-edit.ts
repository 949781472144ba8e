/** Edits of what a task may change, and of the order that follows from it. */
import type { PlanEdit } from './plan-edit.ts';
import type { PlanTask, SoundPlan } from './plan.ts';
import type { Draft } from './drafts.ts';
import { allNamed, named } from './drafts.ts';
import { writesOf, writesText } from '../writes.ts';

/** Null: what its role may where nothing is said. */
export function withWrites({ writes: _before, ...draft }: Draft, writes: readonly string[] | null): Draft {
  return writes === null ? draft : { ...draft, writes };
}

/** Another task after the edit: said of one of two, it holds for both. */
export const besideIt = (draft: Draft, edit: PlanEdit): Draft =>
  edit.is === 'alongside' && draft.alongside !== undefined
    ? { ...draft, alongside: draft.alongside.filter((id) => id !== edit.task) }
    : draft;

/** What goes with a task to another role: nothing where nobody chose it, and it follows from the role. */
export function chosenWrites(
  { writes }: PlanTask,
  before: Parameters<typeof writesOf>[1],
): { readonly writes?: readonly string[] } {
  return writes.join('\n') === writesOf(undefined, before).join('\n') ? {} : { writes };
}

/** What such an edit does, for the log. */
export function writesEditText(
  edit: Extract<PlanEdit, { readonly is: 'writes' | 'alongside' }>,
  plan: SoundPlan,
): string {
  const name = named(plan, edit.task);
  if (edit.is === 'writes')
    return `${name}: may change ${edit.writes === null ? 'what its role may' : writesText(edit.writes)}`;
  return edit.others.length === 0
    ? `${name}: waits for all that may change the same`
    : `${name}: may run beside ${allNamed(plan, edit.others)}`;
}
