/**
 * The locked nodes of a plan: which agents rules make run, on which model, after which tasks, and what is kept back for
 * them. Made from the rules alone: a plan can neither name nor omit them. When they run is forced.ts's.
 */
import type { ModelChoice } from '../../domain/agents/agent.ts';
import type { Budget } from '../../domain/budget.ts';
import { tightest, withoutAbsent } from '../../domain/budget.ts';
import { estimatedCost, estimatedSeconds } from '../../domain/plan/estimate.ts';
import type { ForcedNode, Trigger } from '../../domain/agents/mandatory-review.ts';
import type { Usd } from '../../domain/ids.ts';
import { fromMicro, toMicro } from '../../domain/ids.ts';
import type { PlanTask } from '../../domain/plan/plan.ts';
import type { Reason } from '../../domain/reason.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Capability, Role } from '../../domain/agents/role.ts';
import { roleNamed } from '../../policy/roles.ts';
import type { ForcedRule } from '../../policy/rules.ts';
import { budgetOf, modelFor } from '../planning/model-selection.ts';
import { capabilitiesOf } from '../agents/agent-spec.ts';
import type { RunOptions } from '../run/run-options.ts';

/** Tokens of one review: it reads a diff and what stands around it, not the project as its role would. */
const REVIEW = 40_000;
/**
 * What one may use where the run has enough, in tokens as limits count them. Of 400 recorded runs that did a whole task 29 needed more
 * than 200,000 and 5 more than this; a review is smaller. Limits on money hold beside it.
 */
const AT_MOST = 400_000;
/** Of the run's limits, what reviews get beyond their estimates. */
const SHARE = 0.5;

/** What may change files, and so has to be judged. */
const CHANGING: readonly Capability[] = ['write', 'shell', 'git-write'];
export const mayChange = (capabilities: readonly Capability[]): boolean =>
  capabilities.some((one) => CHANGING.includes(one));

export interface ForcedRole {
  readonly rule: ForcedRule;
  readonly role: Role;
  readonly model: ModelChoice;
}

/** Those that the rules name now. Fails, with words for the person, where one could never run. */
export function forcedRoles(options: RunOptions): Result<readonly ForcedRole[], string> {
  const found: ForcedRole[] = [];
  for (const rule of options.rules.forcedAgents ?? []) {
    const role = roleNamed(rule.name, options.roles);
    const where = reasonText(rule.from);
    if (role === null) return fail(`there is no agent "${rule.name}", which a rule makes run: ${where}`);
    const model = modelOf(options, role, rule.model);
    if (!model.ok) return fail(`${rule.name} must run, but can't: ${model.fault} — ${where}`);
    found.push({ rule, role, model: model.value });
  }
  return ok(found);
}

/** A pinned model has no stand-in. */
function modelOf(options: RunOptions, role: Role, pinned: string | null): Result<ModelChoice, string> {
  const found = modelFor(options, role, pinned);
  if (!found.ok) return found;
  const { choice } = found.value;
  if (pinned === null || choice.because === null) return ok(choice);
  return fail(`its model ${pinned} can't be used (${choice.because}), and no other may take its place`);
}

/** The locked nodes of a plan of `tasks`; fails where what they need is more than the run may use. */
export function forcedNodes(options: RunOptions, tasks: readonly PlanTask[]): Result<readonly ForcedNode[], string> {
  const roles = forcedRoles(options);
  if (!roles.ok) return roles;
  const bare = roles.value.map((one) => nodeOf(options, tasks, one));
  const problem = tooLittle(bare, options.runBudget, roles.value[0]?.rule.from);
  if (problem !== null) return fail(problem);
  const share = shareOf(bare, options.runBudget);
  return ok(bare.map((node) => ({ ...node, budget: scaled(node, share) })));
}

function nodeOf(options: RunOptions, tasks: readonly PlanTask[], { rule, role, model }: ForcedRole): ForcedNode {
  const option = options.models.models().find(({ id }) => id === model.used);
  const { triggers, onFailure } = rule;
  const cost = estimatedCost(AT_MOST, option);
  const own = withoutAbsent({ maxTokens: AT_MOST, maxCost: cost === null || cost === 0 ? undefined : cost });
  return {
    role: role.name,
    model,
    triggers,
    onFailure,
    ...expectedRuns(options, tasks, triggers),
    estimatedTokens: REVIEW,
    estimatedCost: estimatedCost(REVIEW, option),
    estimatedSeconds: estimatedSeconds(REVIEW, option),
    budget: tightest(own, budgetOf(options, role.name)),
    because: reasonText(rule.from),
  };
}

/** After which of these tasks, and how often in all, these triggers will probably start an agent. */
export function expectedRuns(
  options: RunOptions,
  tasks: readonly PlanTask[],
  triggers: readonly Trigger[],
): Pick<ForcedNode, 'after' | 'runs'> {
  const able = (has: (capabilities: readonly Capability[]) => boolean): readonly PlanTask[] =>
    tasks.filter((task) => {
      const of = roleNamed(task.role, options.roles);
      return of !== null && has(capabilitiesOf(task, of));
    });
  const after = triggers.includes('on-write') ? able(mayChange).map(({ id }) => id) : [];
  const commits = triggers.includes('on-commit') ? able((all) => all.includes('git-write')).length : 0;
  return { after, runs: after.length + commits + (triggers.includes('always') ? 1 : 0) };
}

/** Not even the estimates fit: such a plan would end before closed gates. */
function tooLittle(nodes: readonly ForcedNode[], run: Budget, from: Reason | undefined): string | null {
  const runs = nodes.reduce((sum, node) => sum + node.runs, 0);
  const tokens = nodes.reduce((sum, node) => sum + node.runs * node.estimatedTokens, 0);
  const cost = costOf(nodes, ({ estimatedCost: one }) => one ?? 0);
  const need = (words: string, limit: string): string => {
    const rule = from === undefined ? '' : ` — ${reasonText(from)}`;
    const reviews = runs === 1 ? 'the review' : `the ${runs} reviews`;
    const needs = runs === 1 ? 'needs' : 'need';
    return `${reviews} that rules prescribe for this plan ${needs} about ${words}, and the run may use ${limit}${rule}`;
  };
  if (run.maxTokens !== undefined && tokens > run.maxTokens) return need(`${tokens} tokens`, `${run.maxTokens}`);
  if (run.maxCost !== undefined && cost > run.maxCost) return need(`$${cost.toFixed(2)}`, `$${run.maxCost.toFixed(2)}`);
  return null;
}

/** How much of their full budgets reviews get, so that they leave the run its share. */
function shareOf(nodes: readonly ForcedNode[], run: Budget): number {
  const tokens = nodes.reduce((sum, { runs, budget }) => sum + runs * (budget.maxTokens ?? 0), 0);
  const cost = costOf(nodes, ({ budget }) => budget.maxCost ?? 0);
  const fits = (limit: number | undefined, all: number): number =>
    limit === undefined || all <= limit * SHARE ? 1 : (limit * SHARE) / all;
  return Math.min(fits(run.maxTokens, tokens), fits(run.maxCost, cost));
}

/** Never below the estimate. */
function scaled({ budget, estimatedTokens, estimatedCost: cost }: ForcedNode, share: number): Budget {
  const { maxTokens, maxCost } = budget;
  const least = (full: number, estimate: number): number => Math.min(full, Math.max(estimate, full * share));
  return withoutAbsent({
    ...budget,
    maxTokens: maxTokens === undefined ? undefined : Math.floor(least(maxTokens, estimatedTokens)),
    maxCost: maxCost === undefined ? undefined : fromMicro(toMicro(least(maxCost, cost ?? 0))),
  });
}

const costOf = (nodes: readonly ForcedNode[], one: (node: ForcedNode) => Usd): Usd =>
  fromMicro(nodes.reduce((sum, node) => sum + node.runs * toMicro(one(node)), 0));
