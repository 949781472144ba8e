/** A plan as lines of text, with what it will probably use, and its outlook as JSON. */
import { Chalk } from 'chalk';
import type { MandatoryReview } from '../../domain/agents/agent.ts';
import { allowedWords, permissionsOf, type PlanTask, type SoundPlan, tasksThatAsk } from '../../domain/plan/plan.ts';
import { type Expected, fitOf, type Range, totalRange, type Variant, variantsOf } from '../../domain/plan/estimate.ts';
import { totalsOf } from '../../domain/plan/plan-view.ts';
import { checksText } from '../../domain/plan/task-checks.ts';
import { ownTreeText } from '../../domain/plan/writes.ts';
import { firstLines, firstSummary, type RunState } from '../../events/index.ts';
import { commitText } from '../actions/index.ts';
import { sanitise, type Io } from '../process/index.ts';
import { capitalise, effortText, expectedPlan, expectedTask, figuresText, formatCost } from '../views/index.ts';
import { formatDuration, formatTokens, writableText, orderLines, priceText, triggerWords } from '../views/index.ts';
import { unattendedWords } from '../views/index.ts';

export function planLines(state: RunState, paint: Io['paint']): readonly string[] {
  const { plan, planBy, maxParallel } = state;
  if (plan === null) return [];
  const first = firstSummary(state);
  const numbers = new Map(plan.tasks.map((task, index) => [task.id, `#${index + 1} ${task.role}`]));
  return [
    '',
    paint.bold('Multi-Agent Execution Plan'),
    `${plan.tasks.length === 1 ? 'One agent' : `${plan.tasks.length} agents`}, planned by ${sanitise(planBy)}. ${sanitise(plan.reason)}`,
    ...(state.planFault === '' ? [] : [paint.yellow(`Planning failed: ${sanitise(state.planFault)}`)]),
    '',
    ...plan.tasks.flatMap((task) => taskLines(state, task, { plan, numbers, paint })),
    ...reviewsLines(plan.forced ?? [], paint),
    ...(first === null ? [] : [first.fails ? paint.yellow(sanitise(first.text)) : sanitise(first.text)]),
    ...(plan.commit === true ? [`At the end: ${commitText(plan)}`] : []),
    `Total: ${planFigures(plan, state)} with ${maxParallel} at once`,
    ...(state.unattended === null ? [] : [paint.yellow(unattendedWords(state.unattended))]),
    // After approval the actual use matters instead.
    ...(state.approvedDigest === null ? outlookLines(state) : []),
    '',
  ];
}

/** What a plan will probably use: `12k tokens, $0.05, about 38s`. */
export const planFigures = (plan: SoundPlan, { maxParallel, choices }: RunState): string =>
  figuresText(totalsOf(expectedPlan(plan, choices), maxParallel));

const canWrite = ({ choices }: RunState, { role }: PlanTask): boolean =>
  choices?.roles.find(({ name }) => name === role)?.capabilities.includes('write') ?? false;

/** The lines of a plan without styles and empty lines, for screen readers. */
export const plainPlanLines = (state: RunState): readonly string[] =>
  planLines(state, PLAIN).filter((line) => line !== '');

const PLAIN = new Chalk({ level: 0 });

interface Printed extends Pick<Io, 'paint'> {
  readonly plan: SoundPlan;
  readonly numbers: ReadonlyMap<string, string>;
}

function taskLines(state: RunState, task: PlanTask, { plan, numbers, paint }: Printed): readonly string[] {
  const { asked, used, because } = task.model;
  const model = because === null ? `${asked} (recommended)` : `${asked} -> ${used} (${because})`;
  const { estimatedTokens: tokens, estimatedCost } = expectedTask(task, state);
  const cost = priceText(estimatedCost);
  const allowed = allowedWords(permissionsOf(plan, task));
  const effort = effortText(task, state.choices);
  const needs = task.dependsOn.map((id) => numbers.get(id) ?? id).join(', ');
  const changes = writableText(task, canWrite(state, task));
  const ownTree = ownTreeText(task, state.choices);
  const first = firstLines(state, task);
  return [
    `${plan.tasks.indexOf(task) + 1}. ${paint.bold(task.role)}  ${sanitise(model)}`,
    ...sanitise(task.description)
      .split('\n')
      .map((line) => `   ${line}`),
    paint.dim(`   Estimate: ${formatTokens(tokens)} tokens, ${cost}`),
    ...(effort === null ? [] : [paint.dim(`   Effort: ${sanitise(effort)}`)]),
    ...(needs === '' ? [] : [paint.dim(`   Depends on: Task ${needs}`)]),
    ...(changes === null ? [] : [`   May change: ${sanitise(changes)}`]),
    ...(ownTree === null ? [] : [`   Works ${sanitise(ownTree)}`]),
    ...orderLines(plan, task).map((line) => `   ${capitalise(sanitise(line))}`),
    ...(task.checks === undefined ? [] : [`   Checks: ${sanitise(checksText(task))}`]),
    ...(first.length === 0 ? [] : ['   Before anything begins:', ...first.map((line) => `     ${sanitise(line)}`)]),
    ...(allowed === '' ? [] : [`   Without asking: ${allowed}`]),
  ];
}

function reviewsLines(forced: readonly MandatoryReview[], paint: Io['paint']): readonly string[] {
  if (forced.length === 0) return [];
  return ['Required by policy:', ...forced.flatMap((node) => reviewLines(node, paint))];
}

function reviewLines(node: MandatoryReview, paint: Io['paint']): readonly string[] {
  const { asked, used, because } = node.model;
  const model = because === null ? asked : `${asked} -> ${used} (${because})`;
  const cost = priceText(node.estimatedCost === null ? null : node.estimatedCost * node.runs);
  const runs = node.runs === 1 ? '' : `, ${node.runs} runs`;
  const without = node.onFailure === 'block' ? 'blocks the work unless it passes' : 'warns unless it passes';
  return [
    `+ ${paint.bold(node.role)}  ${sanitise(model)}`,
    `   ${triggerWords(node.triggers)}${runs}; ${without}`,
    paint.dim(`   Estimate: ${formatTokens(node.estimatedTokens * node.runs)} tokens, ${cost}`),
    paint.dim(`   Rule: ${sanitise(node.because)}`),
  ];
}

/** `Range: …` and `What if: …`; empty if the available models are unknown. */
export function outlookLines(state: RunState): readonly string[] {
  const { plan, choices, maxParallel } = state;
  if (plan === null || choices === null) return [];
  const variants = variantsOf(plan, choices, maxParallel);
  const whatIf = variants.every(({ same }) => same) ? [] : [`What if: ${variants.map(variantWords).join('; ')}`];
  return [rangeLine(totalRange(plan, choices, maxParallel), state), ...whatIf];
}

function rangeLine(expected: Expected, { choices, budget }: RunState): string {
  const { tokens, cost, seconds, because } = expected;
  const between = (range: Range, words: (amount: number) => string): string =>
    words(range.low) === words(range.high) ? words(range.low) : `${words(range.low)} to ${words(range.high)}`;
  const parts = [
    ...(cost === null ? [] : [between(cost, formatCost)]),
    `${between(tokens, formatTokens)} tokens`,
    between(seconds, (amount) => formatDuration(amount * 1000)),
  ];
  const fit = fitOf(expected, { ...choices?.limits.run, ...budget });
  const over = { fits: '', 'may not fit': '; may exceed the budget', 'does not fit': '; over the budget' }[fit];
  return `Range: ${parts.join(', ')} (${because})${over}`;
}

/** `cheap $0.01, 1m 50s (2 tasks change)`, `balanced: no change`. */
function variantWords({ name, same, totals, changes }: Variant): string {
  if (same) return `${name}: no change`;
  const cost = priceText(totals.cost);
  const count = changes.length === 1 ? '1 task changes' : `${changes.length} tasks change`;
  return `${name} ${cost}, ${formatDuration(totals.seconds * 1000)} (${count})`;
}

/** The outlook of a plan as JSON: each amount as low, likely and high, and the models of each variant. */
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
