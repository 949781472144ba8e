/** The plan in force after edits, as a run would judge them: for screens that change a plan while it runs. */
import { applyEdit } from '../../../../../src/domain/plan/apply-edit.ts';
import { planDigest } from '../../../../../src/domain/digest.ts';
import type { PlanEdit } from '../../../../../src/domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../../../../src/domain/plan/plan.ts';
import type { Result } from '../../../../../src/domain/result.ts';
import { ok } from '../../../../../src/domain/result.ts';
import type { PlanChange, PlanPreview } from '../../../../../src/ports/controls.ts';
import { contextFor } from '../../../../support/plans.ts';

/** Applies one after the other; says each task that differs by its text alone. */
export const amendedOf =
  (inForce: SoundPlan) =>
  (edits: readonly PlanEdit[]): Result<PlanPreview, string> => {
    let plan = inForce;
    for (const edit of edits) {
      const next = applyEdit(plan, edit, contextFor());
      if (!next.ok) return next;
      plan = next.value;
    }
    return ok({ plan, digest: planDigest(plan), base: planDigest(inForce), changes: changesOf(inForce, plan) });
  };

function changesOf(before: SoundPlan, after: SoundPlan): readonly PlanChange[] {
  const named = (plan: SoundPlan, task: PlanTask): string => `#${plan.tasks.indexOf(task) + 1} ${task.role}`;
  const old = new Map(before.tasks.map((task) => [task.id, task]));
  const now = after.tasks.flatMap((task): readonly PlanChange[] => {
    const was = old.get(task.id);
    if (was === undefined) return [{ is: 'added', task: task.id, text: `${named(after, task)}: ${task.description}` }];
    if (JSON.stringify(was) === JSON.stringify(task)) return [];
    return [
      { is: 'changed', task: task.id, text: `${named(after, task)}: model ${was.model.asked} -> ${task.model.asked}` },
    ];
  });
  const gone = before.tasks.filter(({ id }) => !after.tasks.some((task) => task.id === id));
  return [...now, ...gone.map((task): PlanChange => ({ is: 'dropped', task: task.id, text: named(before, task) }))];
}
