/** The mandatory reviews of a plan, derived from the rules alone: which reviewers run, on which model, after which tasks, and the budget
 * reserved for them. */
import type { MandatoryReview, ModelChoice, Trigger } from '../../domain/agents/agent.ts';
import type { Capability, Role } from '../../domain/agents/role.ts';
import { type Budget, formatCost, formatLimit, tightest, withoutAbsent } from '../../domain/budget.ts';
import { fromMicro, toMicro, type Usd } from '../../domain/ids.ts';
import { estimatedCost, estimatedSeconds } from '../../domain/plan/estimate.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { type Reason, reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type ReviewRule, roleNamed } from '../../policy/index.ts';
import { capabilitiesOf } from '../agents/index.ts';
import { type AgentSetup, budgetOf, modelFor } from '../gate/index.ts';

/** Tokens of one review, which reads a diff and its surroundings. */
const REVIEW = 40_000;
/** The most tokens for one review where the run has enough. Of 400 recorded runs of whole tasks, 29 needed more than 200,000 and 5 more than
 * this; a review is smaller. Limits on cost apply too. */
const AT_MOST = 400_000;
/** The part of the run's limits that reviews get beyond their estimates. */
const SHARE = 0.5;

/** Capabilities that may change files and therefore require a review. */
const CHANGING: readonly Capability[] = ['write', 'shell', 'git-write'];
export const mayChange = (capabilities: readonly Capability[]): boolean =>
  capabilities.some((one) => CHANGING.includes(one));

export interface ReviewRole {
  readonly rule: ReviewRule;
  readonly role: Role;
  readonly model: ModelChoice;
}

/** The reviews that the rules name now. Fails, with a text for the person, where one could never run. */
export function forcedRoles(options: AgentSetup): Result<readonly ReviewRole[], string> {
  const found: ReviewRole[] = [];
  for (const rule of options.rules.forcedAgents ?? []) {
    const role = roleNamed(rule.name, options.roles);
    const where = reasonText(rule.from);
    if (role === null) return fail(`a rule requires the agent "${rule.name}", which does not exist: ${where}`);
    const model = modelOf(options, role, rule.model);
    if (!model.ok) return fail(`${rule.name} must run, but cannot: ${model.fault} — ${where}`);
    found.push({ rule, role, model: model.value });
  }
  return ok(found);
}

function modelOf(options: AgentSetup, role: Role, pinned: string | null): Result<ModelChoice, string> {
  const found = modelFor(options, role, pinned);
  if (!found.ok) return found;
  const { choice } = found.value;
  if (pinned === null || choice.because === null) return ok(choice);
  return fail(`its model ${pinned} cannot be used (${choice.because}), and no other model is allowed`);
}

/** The mandatory reviews for a plan of `tasks`; fails where they need more than the run may use. */
export function forcedNodes(
  options: AgentSetup,
  tasks: readonly PlanTask[],
): Result<readonly MandatoryReview[], string> {
  const roles = forcedRoles(options);
  if (!roles.ok) return roles;
  const bare = roles.value.map((one) => nodeOf(options, tasks, one));
  const problem = tooLittle(bare, options.runBudget, roles.value[0]?.rule.from);
  if (problem !== null) return fail(problem);
  const share = shareOf(bare, options.runBudget);
  return ok(bare.map((node) => ({ ...node, budget: scaled(node, share) })));
}

function nodeOf(options: AgentSetup, tasks: readonly PlanTask[], { rule, role, model }: ReviewRole): MandatoryReview {
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

/** After which of these tasks, and how often in total, these triggers will probably start a reviewer. */
function expectedRuns(
  options: AgentSetup,
  tasks: readonly PlanTask[],
  triggers: readonly Trigger[],
): Pick<MandatoryReview, 'after' | 'runs'> {
  const able = (has: (capabilities: readonly Capability[]) => boolean): readonly PlanTask[] =>
    tasks.filter((task) => {
      const of = roleNamed(task.role, options.roles);
      return of !== null && has(capabilitiesOf(task, of));
    });
  const after = triggers.includes('on-write') ? able(mayChange).map(({ id }) => id) : [];
  const commits = triggers.includes('on-commit') ? able((all) => all.includes('git-write')).length : 0;
  return { after, runs: after.length + commits + (triggers.includes('always') ? 1 : 0) };
}

/** A fault where not even the estimates fit; such a plan would end before closed gates. */
function tooLittle(nodes: readonly MandatoryReview[], run: Budget, from: Reason | undefined): string | null {
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
  if (run.maxCost !== undefined && cost > run.maxCost) return need(formatCost(cost), formatLimit(run.maxCost));
  return null;
}

/** The part of their full budgets that reviews get, so that the run keeps its share. */
function shareOf(nodes: readonly MandatoryReview[], run: Budget): number {
  const tokens = nodes.reduce((sum, { runs, budget }) => sum + runs * (budget.maxTokens ?? 0), 0);
  const cost = costOf(nodes, ({ budget }) => budget.maxCost ?? 0);
  const fits = (limit: number | undefined, all: number): number =>
    limit === undefined || all <= limit * SHARE ? 1 : (limit * SHARE) / all;
  return Math.min(fits(run.maxTokens, tokens), fits(run.maxCost, cost));
}

function scaled({ budget, estimatedTokens, estimatedCost: cost }: MandatoryReview, share: number): Budget {
  const { maxTokens, maxCost } = budget;
  const least = (full: number, estimate: number): number => Math.min(full, Math.max(estimate, full * share));
  return withoutAbsent({
    ...budget,
    maxTokens: maxTokens === undefined ? undefined : Math.floor(least(maxTokens, estimatedTokens)),
    maxCost: maxCost === undefined ? undefined : fromMicro(toMicro(least(maxCost, cost ?? 0))),
  });
}

const costOf = (nodes: readonly MandatoryReview[], one: (node: MandatoryReview) => Usd): Usd =>
  fromMicro(nodes.reduce((sum, node) => sum + node.runs * toMicro(one(node)), 0));

/** Reviews at least as strict as those of the approved plan. `fault`: why the rules' reviews cannot run; null where they can. */
export function nodesInForce(
  options: AgentSetup,
  plan: SoundPlan | null,
): { readonly nodes: readonly MandatoryReview[]; readonly fault: string | null } {
  const planned = plan?.forced ?? [];
  if ((options.rules.forcedAgents ?? []).length === 0) return { nodes: planned, fault: null };
  const now = forcedNodes(options, plan?.tasks ?? []);
  if (!now.ok) return { nodes: planned, fault: now.fault };
  const both = planned.map((node) => {
    const same = now.value.find(({ role }) => role === node.role);
    return same === undefined ? node : asStrictAs(node, same);
  });
  const fresh = now.value.filter(({ role }) => !planned.some((node) => node.role === role));
  return { nodes: [...both, ...fresh], fault: null };
}

/** The reviews of an amended plan: those of the present rules, at least as strict as before. */
export function nodesAfter(options: AgentSetup, before: SoundPlan, after: SoundPlan): readonly MandatoryReview[] {
  const ruled = after.forced ?? [];
  const kept = (before.forced ?? []).map((node) => {
    const same = ruled.find(({ role }) => role === node.role);
    const strict = same === undefined ? node : asStrictAs(node, same);
    if (same !== undefined && same.onFailure === strict.onFailure && same.triggers.length === strict.triggers.length)
      return same;
    return { ...strict, ...expectedRuns(options, after.tasks, strict.triggers) };
  });
  return [...kept, ...ruled.filter(({ role }) => !kept.some((node) => node.role === role))];
}

const asStrictAs = (node: MandatoryReview, ruled: MandatoryReview): MandatoryReview => ({
  ...node,
  triggers: [...new Set([...node.triggers, ...ruled.triggers])],
  onFailure: node.onFailure === 'block' ? node.onFailure : ruled.onFailure,
  // A plan that was made without a trigger doesn't say whose work it concerns.
  after: [...new Set([...node.after, ...ruled.after])],
  model: ruled.model,
});
