/**
 * What a plan is expected to use, as it is shown: its estimates, corrected by the runs that were recorded here. One source for totals,
 * schedule, list, cards and comparisons, so that each figure lies in the range that is shown beside it. Pure.
 */
import { likelyPlan, likelyTask } from '../../../domain/plan/estimate-range.ts';
import type { PlanChoices, PlanTask, SoundPlan } from '../../../domain/plan/plan.ts';

/** The same tasks in the same order; the very plan where nothing is known of earlier runs. The plan itself is never changed. */
export function expectedPlan(plan: SoundPlan, choices: PlanChoices | null): SoundPlan {
  if (choices === null) return plan;
  const known = KNOWN.get(plan);
  if (known?.choices === choices) return known.expected;
  const expected = likelyPlan(plan, choices);
  KNOWN.set(plan, { choices, expected });
  return expected;
}

/** A plan never changes in place, and every frame asks several times. */
const KNOWN = new WeakMap<SoundPlan, { readonly choices: PlanChoices; readonly expected: SoundPlan }>();

/** The same task with what it is expected to use. */
export const expectedTask = (task: PlanTask, { choices }: { readonly choices: PlanChoices | null }): PlanTask =>
  choices === null ? task : likelyTask(task, choices);
