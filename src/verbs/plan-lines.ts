/** A plan in lines (CONTRACT O099 to O101, D21). */
import type { PlanTask } from '../domain/plan.ts';
import { totalsOf } from '../domain/plan-view.ts';
import type { RunState } from '../events/state.ts';
import { formatCost, formatTokens } from '../tui/format.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';

export function planLines({ plan, planBy, maxParallel }: RunState, paint: Io['paint']): readonly string[] {
  if (plan === null) return [];
  const numbers = new Map(plan.tasks.map((task, index) => [task.id, `#${index + 1} ${task.role}`]));
  const totals = totalsOf(plan, maxParallel);
  const cost = totals.cost === null ? 'price not known' : formatCost(totals.cost);
  return [
    '',
    paint.bold('Multi-Agent Execution Plan'),
    `${plan.tasks.length === 1 ? 'One agent' : `${plan.tasks.length} agents`}, planned by ${harmless(planBy)}. ${harmless(plan.reason)}`,
    '',
    ...plan.tasks.flatMap((task, index) => taskLines(task, index + 1, numbers, paint)),
    `Total: ${formatTokens(totals.tokens)} tokens, ${cost}, about ${totals.seconds} s with ${maxParallel} at once`,
    '',
  ];
}

function taskLines(
  task: PlanTask,
  number: number,
  numbers: ReadonlyMap<string, string>,
  paint: Io['paint'],
): readonly string[] {
  const { asked, used, because } = task.model;
  const model = because === null ? `${asked} (recommended)` : `${asked} -> ${used} (${because})`;
  const cost = task.estimatedCost === null ? 'price not known' : formatCost(task.estimatedCost);
  const needs = task.dependsOn.map((id) => numbers.get(id) ?? id).join(', ');
  return [
    `${number}. ${paint.bold(task.role)}  ${harmless(model)}`,
    ...harmless(task.description)
      .split('\n')
      .map((line) => `   ${line}`),
    paint.dim(`   Estimate: ${formatTokens(task.estimatedTokens)} tokens, ${cost}`),
    ...(needs === '' ? [] : [paint.dim(`   Depends on: Task ${needs}`)]),
  ];
}
