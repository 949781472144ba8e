/** What a task of a plan may change and what it comes after, in words for every screen. */
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { alongsideOf, writesText } from '../../domain/plan/writes.ts';

/** `the whole project`, `src/**, docs/**` or `nothing`; null of a task whose role can't change anything, where nothing is to be said. */
export function mayChange(task: PlanTask, canWrite: boolean): string | null {
  return canWrite || task.writes.length > 0 ? writesText(task.writes) : null;
}

/** One line each: `waits for #2 tester: both may change src/**`, `order with #3 code removed by you`. */
export const orderLines = (plan: SoundPlan, task: PlanTask): readonly string[] => [
  ...(task.after ?? []).map((one) => `waits for ${nameOf(plan, one.task)}: ${one.because}`),
  ...alongsideOf(plan, task).map((other) => `order with ${nameOf(plan, other.id)} removed by you`),
];

/** Those that a person may let run beside it: what it waits for only for the order, who waits for it so, and who runs beside it. */
export function orderedWith(plan: SoundPlan, task: PlanTask): readonly PlanTask[] {
  const beside = alongsideOf(plan, task);
  const isOrdered = (a: PlanTask, b: PlanTask): boolean => (a.after ?? []).some((one) => one.task === b.id);
  return plan.tasks.filter((other) => isOrdered(task, other) || isOrdered(other, task) || beside.includes(other));
}

function nameOf({ tasks }: SoundPlan, id: string): string {
  const at = tasks.findIndex((task) => task.id === id);
  return at === -1 ? id : `#${at + 1} ${tasks[at]?.role ?? ''}`;
}
