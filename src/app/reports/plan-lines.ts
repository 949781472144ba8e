/** A plan in lines. */
import { Chalk } from 'chalk';
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import { tasksThatAsk } from '../../domain/plan/permissions.ts';
import type { Expected, Range } from '../../domain/plan/estimate-range.ts';
import { fitOf, totalRange } from '../../domain/plan/estimate-range.ts';
import { totalsOf } from '../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import type { Variant } from '../../domain/plan/what-if.ts';
import { variantsOf } from '../../domain/plan/what-if.ts';
import type { RunState } from '../../events/state.ts';
import { commitWords } from '../actions/index.ts';
import type { Io } from '../process/io.ts';
import { harmless } from '../process/io.ts';
import { effortText } from '../views/effort.ts';
import { withoutAsking } from '../views/permissions.ts';
import { mayChange, orderLines } from '../views/plan-order.ts';
import { triggerWords } from '../views/plan/plan-words.ts';
import { expectedPlan, expectedTask } from '../views/spending/expected-plan.ts';
import { formatCost, formatDuration, formatTokens } from '../views/text/format.ts';
import { unattendedWords } from '../views/unattended.ts';

export function planLines(state: RunState, paint: Io['paint']): readonly string[] {
  const { plan, planBy, maxParallel } = state;
  if (plan === null) return [];
  const numbers = new Map(plan.tasks.map((task, index) => [task.id, `#${index + 1} ${task.role}`]));
  const expected = expectedPlan(plan, state.choices);
  const totals = totalsOf(expected, maxParallel);
  const cost = totals.cost === null ? 'price not known' : formatCost(totals.cost);
  return [
    '',
    paint.bold('Multi-Agent Execution Plan'),
    `${plan.tasks.length === 1 ? 'One agent' : `${plan.tasks.length} agents`}, planned by ${harmless(planBy)}. ${harmless(plan.reason)}`,
    ...(state.planFault === '' ? [] : [paint.yellow(`Planning failed: ${harmless(state.planFault)}`)]),
    '',
    ...plan.tasks.flatMap((task) => taskLines(state, task, { plan, numbers, paint })),
    ...forcedLines(plan.forced ?? [], paint),
    ...(plan.commit === true ? [`At the end: ${commitWords(plan)}`] : []),
    `Total: ${formatTokens(totals.tokens)} tokens, ${cost}, about ${formatDuration(totals.seconds * 1000)} with ${maxParallel} at once`,
    ...(state.unattended === null ? [] : [paint.yellow(unattendedWords(state.unattended))]),
    // Once it is approved, what was used is what counts.
    ...(state.approvedDigest === null ? outlookLines(state) : []),
    '',
  ];
}

const canWrite = ({ choices }: RunState, { role }: PlanTask): boolean =>
  choices?.roles.find(({ name }) => name === role)?.capabilities.includes('write') ?? false;

const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The same for a reader who hears it: no styles. */
export const plainPlanLines = (state: RunState): readonly string[] =>
  planLines(state, PLAIN).filter((line) => line !== '');

const PLAIN = new Chalk({ level: 0 });

function taskLines(
  state: RunState,
  task: PlanTask,
  {
    plan,
    numbers,
    paint,
  }: { readonly plan: SoundPlan; readonly numbers: ReadonlyMap<string, string>; readonly paint: Io['paint'] },
): readonly string[] {
  const { asked, used, because } = task.model;
  const model = because === null ? `${asked} (recommended)` : `${asked} -> ${used} (${because})`;
  const { estimatedTokens: tokens, estimatedCost } = expectedTask(task, state);
  const cost = estimatedCost === null ? 'price not known' : formatCost(estimatedCost);
  const allowed = withoutAsking(plan, task);
  const effort = effortText(task, state.choices);
  const needs = task.dependsOn.map((id) => numbers.get(id) ?? id).join(', ');
  const changes = mayChange(task, canWrite(state, task));
  return [
    `${plan.tasks.indexOf(task) + 1}. ${paint.bold(task.role)}  ${harmless(model)}`,
    ...harmless(task.description)
      .split('\n')
      .map((line) => `   ${line}`),
    paint.dim(`   Estimate: ${formatTokens(tokens)} tokens, ${cost}`),
    ...(effort === null ? [] : [paint.dim(`   Effort: ${harmless(effort)}`)]),
    ...(needs === '' ? [] : [paint.dim(`   Depends on: Task ${needs}`)]),
    ...(changes === null ? [] : [`   May change: ${harmless(changes)}`]),
    ...orderLines(plan, task).map((line) => `   ${sentence(harmless(line))}`),
    ...(allowed === 'nothing' ? [] : [`   Without asking: ${allowed}`]),
  ];
}

/** What the rules add, with the rule: it can't be edited. */
function forcedLines(forced: readonly ForcedNode[], paint: Io['paint']): readonly string[] {
  if (forced.length === 0) return [];
  return ['Added by the rules, locked:', ...forced.flatMap((node) => forcedNode(node, paint))];
}

function forcedNode(node: ForcedNode, paint: Io['paint']): readonly string[] {
  const { asked, used, because } = node.model;
  const model = because === null ? asked : `${asked} -> ${used} (${because})`;
  const cost = node.estimatedCost === null ? 'price not known' : formatCost(node.estimatedCost * node.runs);
  const runs = node.runs === 1 ? '' : `, ${node.runs} runs`;
  const without =
    node.onFailure === 'block' ? 'without a pass the work stays where it is' : 'without a pass it is said';
  return [
    `+ ${paint.bold(node.role)}  ${harmless(model)}`,
    `   ${triggerWords(node.triggers)}${runs}; ${without}`,
    paint.dim(`   Estimate: ${formatTokens(node.estimatedTokens * node.runs)} tokens, ${cost}`),
    paint.dim(`   Rule: ${harmless(node.because)}`),
  ];
}

// What a plan will probably use, and what it would cost with other models: a line each for people, and as JSON for programs.

/** `Likely: …` and `What if: …`; none where nothing is known of what may be chosen. */
export function outlookLines(state: RunState): readonly string[] {
  const { plan, choices, maxParallel } = state;
  if (plan === null || choices === null) return [];
  const variants = variantsOf(plan, choices, maxParallel);
  const whatIf = variants.every(({ same }) => same) ? [] : [`What if: ${variants.map(variantWords).join('; ')}`];
  return [likelyLine(totalRange(plan, choices, maxParallel), state), ...whatIf];
}

function likelyLine(expected: Expected, { choices, budget }: RunState): string {
  const { tokens, cost, seconds, because } = expected;
  const between = (range: Range, words: (amount: number) => string): string =>
    words(range.low) === words(range.high) ? words(range.low) : `${words(range.low)} to ${words(range.high)}`;
  const parts = [
    ...(cost === null ? [] : [between(cost, formatCost)]),
    `${between(tokens, formatTokens)} tokens`,
    between(seconds, (amount) => formatDuration(amount * 1000)),
  ];
  const fit = fitOf(expected, { ...choices?.limits.run, ...budget });
  const over = { fits: '', 'may not fit': '; the budget may not do', 'does not fit': '; over the budget' }[fit];
  return `Likely: ${parts.join(', ')} (${because})${over}`;
}

/** `cheap $0.0126, 1m 50s (2 tasks change)`, `balanced: as it is`. */
function variantWords({ name, same, totals, changes }: Variant): string {
  if (same) return `${name}: as it is`;
  const cost = totals.cost === null ? 'price not known' : formatCost(totals.cost);
  const count = changes.length === 1 ? '1 task changes' : `${changes.length} tasks change`;
  return `${name} ${cost}, ${formatDuration(totals.seconds * 1000)} (${count})`;
}

/** Beside a plan that is printed for programs: each amount from low over likely to high, and the models of each variant. */
export function outlookOf({ plan, choices, maxParallel }: RunState): object {
  if (plan === null || choices === null) return {};
  const whatIf = variantsOf(plan, choices, maxParallel).map(({ name, same, totals, edit }) => ({
    name,
    same,
    cost: totals.cost,
    tokens: totals.tokens,
    seconds: totals.seconds,
    models: Object.fromEntries(edit.models.map(({ task, model }) => [task, model])),
  }));
  return { estimate: totalRange(plan, choices, maxParallel), whatIf, asks: tasksThatAsk(plan, choices) };
}
