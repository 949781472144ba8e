/** What resuming a run may cost, said before it is resumed. */
import { ROOT } from '../../../domain/ids.ts';
import { committed } from '../../../events/queries.ts';
import type { RunState } from '../../../events/state.ts';
import { runSpending } from './spending.ts';

const money = (cost: number): string => `$${cost.toFixed(2)}`;

/** `2 of 6 tasks are left, about $0.12 by the plan, at most $4.76 by the limit`. */
export function resumeCost(state: RunState): string {
  const limit = state.budget.maxCost;
  const used = runSpending(state).cost + committed(state, ROOT).reservedCost;
  const most = limit === undefined ? 'no cost limit' : `at most ${money(Math.max(0, limit - used))} by the limit`;
  return [...planWords(state), most].join(', ');
}

function planWords({ plan, agents }: RunState): readonly string[] {
  if (plan === null) return ['it is planned first'];
  const done = new Set([...agents.values()].flatMap((one) => (DONE.has(one.outcome ?? '') ? [one.taskId] : [])));
  const open = plan.tasks.filter(({ id }) => !done.has(id));
  const count = plan.tasks.length;
  const left = `${open.length} of ${count} ${count === 1 ? 'task' : 'tasks'} ${open.length === 1 ? 'is' : 'are'} left`;
  if (open.length === 0) return [left];
  const known = open.every(({ estimatedCost }) => estimatedCost !== null);
  const sum = open.reduce((total, { estimatedCost }) => total + (estimatedCost ?? 0), 0);
  return [left, known ? `about ${money(sum)} by the plan` : 'no price known'];
}

const DONE: ReadonlySet<string> = new Set(['completed', 'partial']);
