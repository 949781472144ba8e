/**
 * What of a set of rules decides, without where it is written and in one order: two sets that decide the same are equal
 * here. For comparing; nobody is judged by it.
 */
import type { Budget } from '../domain/budget.ts';
import { PERMITTED } from '../domain/plan/permissions.ts';
import { agentBudget } from './budgets.ts';
import { childRules } from './children.ts';
import type { Rule, Rules } from './rules.ts';

/** Plain JSON. Lists of what is allowed are kept whole: something must be in every one of them. */
export const deciding = (rules: Rules): object => ({
  values: [
    rules.enabled,
    rules.promptForApproval,
    rules.maxNestingDepth,
    rules.maxParallelAgents,
    rules.modelFallback,
    rules.maxTasksPerPlan,
    rules.maxAgentsPerRun,
    rules.maxMode,
    rules.sandboxRequired ?? { value: false },
    rules.atLimit ?? { value: 'finish' },
    rules.answerWithin ?? null,
    rules.maxEffort ?? null,
  ].map((rule: Rule<unknown> | Pick<Rule<unknown>, 'value'> | null) => rule?.value ?? null),
  mode: rules.mode,
  costLimitSet: rules.costLimitSet,
  allowedModels: sorted(rules.allowedModels.map((list) => sorted(list.map(({ pattern }) => pattern)))),
  deniedModels: sorted(rules.deniedModels.map(({ pattern }) => pattern)),
  allowedSubAgents: lists(rules.allowedSubAgents),
  allowedEndpoints: lists(rules.allowedEndpoints ?? []),
  disabledRoles: sorted(rules.disabledRoles.map(({ role }) => role)),
  budgets: [rules.runBudget, rules.agentBudget, rules.dayBudget, rules.runCeiling].map((rule) =>
    limits(rule?.value ?? {}),
  ),
  roles: sorted(rules.roleBudgets.map(({ role }) => [role, limits(agentBudget(role, rules))])),
  models: sorted((rules.modelBudgets ?? []).map(({ model, budget }) => [model.pattern, limits(budget.value)])),
  commands: (['allow', 'ask', 'deny'] as const).map((verdict) =>
    sorted((rules.commands?.[verdict] ?? []).map(({ words }) => words)),
  ),
  forced: sorted(
    (rules.forcedAgents ?? []).map(({ name, model, triggers, onFailure }) => [
      name,
      model,
      sorted(triggers),
      onFailure,
    ]),
  ),
  held: PERMITTED.filter((what) => rules.permissionsHeld?.[what] !== undefined),
  box: boxOf(rules),
  children: childrenOf(rules),
});

/** What tools and providers are opened with, so that a run can't take on another in the middle: equal texts, equal rules. */
export const fixedAtStart = (rules: Rules): string =>
  JSON.stringify([lists(rules.allowedEndpoints ?? []), boxOf(rules)]);

/** What of the rules on children allows or forbids; the rest only says how they are kept. */
function childrenOf(rules: Rules): readonly unknown[] {
  const { mode, messages, maxPerParent } = childRules(rules);
  return [mode.value, messages.value, maxPerParent.value];
}

const boxOf = ({ box }: Rules): readonly unknown[] => [
  ...(['denyRead', 'denyWrite', 'passthrough'] as const).map((key) =>
    sorted((box?.[key] ?? []).map(({ value }) => value)),
  ),
  lists(box?.allowWrite ?? []),
  ...(box?.allowRead === undefined ? [] : [sorted(box.allowRead.map(({ value }) => value))]),
];

const lists = (rules: readonly Rule<readonly string[]>[]): readonly unknown[] =>
  sorted(rules.map(({ value }) => sorted(value)));

const limits = ({ maxTokens, maxCost, maxDuration }: Budget): readonly (number | null)[] =>
  [maxTokens, maxCost, maxDuration].map((limit) => limit ?? null);

/** Without repetitions. */
function sorted(values: readonly unknown[]): readonly unknown[] {
  const texts = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
