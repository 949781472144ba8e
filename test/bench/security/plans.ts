/** Plans that come from a model: how long one of 50 tasks takes to check, and one of 10,000 to be refused (H03). */
import { checkPlan, readDraft } from '../../../src/domain/plan/check-plan.ts';
import { contextFor } from '../../support/plans.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted, middleAnd, timed, times, worst } from './part.ts';

const tasks = (count: number, needs: (index: number) => readonly string[]): unknown => ({
  reason: 'the bench',
  tasks: Array.from({ length: count }, (_, index) => ({
    id: `task-${index}`,
    description: `Look at part ${index}`,
    role: 'finder',
    dependsOn: needs(index),
  })),
});

/** How a draft is judged from its JSON on. */
function judge(json: unknown): boolean {
  const draft = readDraft(json);
  return draft.ok && checkPlan(draft.value, contextFor()).ok;
}

export async function plans(size: Size): Promise<readonly Figure[]> {
  const fifty = tasks(50, (index) => (index === 0 ? [] : [`task-${index - 1}`]));
  const many = tasks(10_000, (index) => (index === 0 ? [] : [`task-${index - 1}`]));
  const wide = tasks(10_000, (index) => (index === 0 ? Array.from({ length: 999 }, (_, at) => `task-${at + 1}`) : []));
  const wrong = [judge(fifty) ? 0 : 1, judge(many) ? 1 : 0, judge(wide) ? 1 : 0].reduce((sum, one) => sum + one, 0);
  return [
    counted('plans judged wrongly', wrong),
    ...middleAnd('a plan of 50 tasks', 95, await timed(times(size, 500), () => judge(fifty))),
    worst('a plan of 10,000 tasks, refused', [
      ...(await timed(times(size, 50), () => judge(many))),
      ...(await timed(times(size, 50), () => judge(wide))),
    ]),
  ];
}
