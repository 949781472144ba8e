/** A sound plan on its way back to the check: tasks as a person would write them, fresh ids, and how edits name tasks. */
import type { SoundPlan } from './plan.ts';
import { toPersonForm } from './plan-view.ts';
import type { PersonTask } from './plan-view.ts';

/** What is left out is chosen anew by the check. */
export type Draft = Pick<PersonTask, 'id' | 'description' | 'role' | 'dependsOn'> & Partial<PersonTask>;
export type Drafts = readonly Draft[];

export const draftsOf = (plan: SoundPlan): Drafts => toPersonForm(plan).tasks;

/** `count` ids of the form `task-N`, from the smallest N behind the number of tasks on, that are free and not in `given`. */
export function freshIds(plan: SoundPlan, count: number, given: readonly string[] = []): readonly string[] {
  const taken = new Set([...plan.tasks.map(({ id }) => id), ...given].map((id) => id.toLowerCase()));
  const ids: string[] = [];
  for (let number = plan.tasks.length + 1; ids.length < count; number++) {
    if (!taken.has(`task-${number}`)) ids.push(`task-${number}`);
  }
  return ids;
}

/** `#2 finder`, by its place in `plan`; the id where it has none. */
export function named(plan: SoundPlan, id: string): string {
  const at = plan.tasks.findIndex((each) => each.id === id);
  const task = plan.tasks[at];
  return task === undefined ? id : `#${at + 1} ${task.role}`;
}

export const allNamed = (plan: SoundPlan, ids: readonly string[]): string =>
  ids.map((id) => named(plan, id)).join(', ') || 'nothing';
