/**
 * Intersects two sets of rules into one that is as strict as both, for a run whose policy an administrator changes: tighter rules apply
 * now, looser ones at the next start. Pure.
 */
import { distinct } from '../domain/lists.ts';
import { defined } from '../domain/result.ts';
import { ON_FAILURE, TRIGGERS } from '../domain/agents/agent.ts';
import { type Budget, tightest } from '../domain/budget.ts';
import { jsonDigest } from '../domain/digest.ts';
import { isLooser } from '../domain/reason.ts';
import { cappedEffort } from '../domain/models/provider.ts';
import { PERMITTED } from '../domain/plan/plan.ts';
import {
  agentBudget,
  type SandboxRules,
  type BudgetRule,
  type ChildRules,
  childRules,
  type CommandRule,
  type CommandRules,
  type ReviewRule,
  type ModelEntry,
  type Rule,
  type Rules,
} from './rules.ts';

/**
 * As strict as `standing` and `next`; of equally strict rules, `standing`'s is kept. Preferences (`autoDetect`, `promptForModels`,
 * `onFailure`) and a reviewer's pinned model stay as in `standing`. Returns `standing` itself when `next` tightens nothing, and `next`
 * itself when it equals the result.
 */
export function meet(standing: Rules, next: Rules): Rules {
  // Optional grants need both sets, so they are not copied from one. All other unlisted fields are.
  const { policyHash: _, policyHashes: __, commands: ___, box: ____, ...kept } = standing;
  const met: Omit<Rules, 'policyHash' | 'policyHashes'> = {
    ...kept,
    enabled: stricter(standing.enabled, next.enabled, (a, b) => a && !b),
    promptForApproval: stricter(standing.promptForApproval, next.promptForApproval, (a, b) => !a && b),
    maxNestingDepth: least(standing.maxNestingDepth, next.maxNestingDepth),
    maxParallelAgents: least(standing.maxParallelAgents, next.maxParallelAgents),
    allowedModels: distinct([...standing.allowedModels, ...next.allowedModels], patternsOf),
    deniedModels: distinct([...standing.deniedModels, ...next.deniedModels], ({ pattern }) => pattern),
    modelFallback: stricter(standing.modelFallback, next.modelFallback, (a, b) => a === 'list' && b === 'deny'),
    allowedSubAgents: distinct([...standing.allowedSubAgents, ...next.allowedSubAgents], listOf),
    disabledRoles: distinct([...standing.disabledRoles, ...next.disabledRoles], ({ role }) => role),
    runBudget: tightestRule(standing.runBudget, next.runBudget),
    agentBudget: tightestRule(standing.agentBudget, next.agentBudget),
    roleBudgets: roleBudgets(standing, next),
    costLimitSet: standing.costLimitSet || next.costLimitSet,
    maxTasksPerPlan: least(standing.maxTasksPerPlan, next.maxTasksPerPlan),
    maxAgentsPerRun: least(standing.maxAgentsPerRun, next.maxAgentsPerRun),
    mode: isLooser(standing.mode, next.mode) ? next.mode : standing.mode,
    maxMode: stricter(standing.maxMode, next.maxMode, isLooser),
    ...optional(standing, next),
  };
  const policyHashes = [...new Set([...hashesOf(standing), ...hashesOf(next)])];
  const rules = { policyHash: jsonDigest(met), policyHashes, ...met };
  if (same(deciding(rules), deciding(standing))) return standing;
  return same(deciding(rules), deciding(next)) && same(preferences(rules), preferences(next)) ? next : rules;
}

const hashesOf = ({ policyHash, policyHashes }: Rules): readonly string[] => policyHashes ?? [policyHash];

/** The settings of a set of rules that decide nothing, without their locations. */
const preferences = (rules: Rules): object => ({
  values: [rules.autoDetect, rules.promptForModels, rules.onFailure].map(({ value }) => value),
  permissions: PERMITTED.map((what) => rules.permissions?.[what]?.value ?? null),
  children: JSON.stringify(childRules(rules), (key, value: unknown) => (key === 'from' ? undefined : value)),
});

/**
 * Optional rules: the other set's applies where one is missing, except for grants. Where no limit was typed, the intersection is itself the ceiling.
 */
const optional = (a: Rules, b: Rules): Partial<Rules> =>
  defined({
    runCeiling:
      (a.runCeiling ?? b.runCeiling)
        ? tightestRule(a.runCeiling ?? a.runBudget, b.runCeiling ?? b.runBudget)
        : undefined,
    commands: commandsOf(a.commands, b.commands),
    sandboxRequired: either(a.sandboxRequired, b.sandboxRequired, (x, y) => stricter(x, y, (p, q) => !p && q)),
    allowedEndpoints: either(a.allowedEndpoints, b.allowedEndpoints, (x, y) => distinct([...x, ...y], listOf)),
    forcedAgents: either(a.forcedAgents, b.forcedAgents, forcedAgents),
    dayBudget: either(a.dayBudget, b.dayBudget, tightestRule),
    modelBudgets: either(a.modelBudgets, b.modelBudgets, modelBudgets),
    atLimit: either(a.atLimit, b.atLimit, (x, y) => stricter(x, y, (p, q) => p === 'finish' && q === 'stop')),
    answerWithin: either(a.answerWithin, b.answerWithin, least),
    box: boxOf(a.box, b.box),
    maxEffort: either(a.maxEffort, b.maxEffort, (x, y) => stricter(x, y, (p, q) => cappedEffort(p, q) !== p)),
    permissionsHeld: either(a.permissionsHeld, b.permissionsHeld, (x, y) => ({ ...y, ...x })),
    children: childrenOf(a, b),
  });

/** Loose to strict. Settings of children that only describe them (names, notices, orphans) stay. */
const CHILD_MODES: readonly ChildRules['mode']['value'][] = ['auto', 'supervised', 'manual'];
const loosensMode = (a: ChildRules['mode']['value'], b: ChildRules['mode']['value']): boolean =>
  CHILD_MODES.indexOf(a) < CHILD_MODES.indexOf(b);

/** Defaults of either set count as written; only tighter values are added. */
function childrenOf(a: Rules, b: Rules): Rules['children'] {
  const [standing, next] = [childRules(a), childRules(b)];
  const mode = stricter(standing.mode, next.mode, loosensMode);
  const messages = stricter(standing.messages, next.messages, (x, y) => x === 'run' && y === 'family');
  const maxPerParent = least(standing.maxPerParent, next.maxPerParent);
  const unless = <T>(now: T, before: T): T | undefined => (now === before ? undefined : now);
  const met: Partial<ChildRules> = {
    ...a.children,
    ...defined({
      mode: unless(mode, standing.mode),
      messages: unless(messages, standing.messages),
      maxPerParent: unless(maxPerParent, standing.maxPerParent),
    }),
  };
  return Object.keys(met).length === 0 ? undefined : met;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** `loosens(a, b)`: whether `a` is the looser of the two. */
const stricter = <T>(a: Rule<T>, b: Rule<T>, loosens: (a: T, b: T) => boolean): Rule<T> =>
  loosens(a.value, b.value) ? b : a;

const least = (a: Rule<number>, b: Rule<number>): Rule<number> => (b.value < a.value ? b : a);

function either<T>(a: T | undefined, b: T | undefined, both: (a: T, b: T) => T): T | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : both(a, b);
}

const patternsOf = (list: readonly ModelEntry[]): string =>
  JSON.stringify([...new Set(list.map(({ pattern }) => pattern))].sort());
const listOf = ({ value }: Rule<readonly string[]>): string => JSON.stringify([...new Set(value)].sort());

/** The location is that of the tightening set. */
function tightestRule(a: BudgetRule, b: BudgetRule): BudgetRule {
  const value = tightest(a.value, b.value);
  return same(value, tightest(a.value, {})) ? bindingOf(a, b) : { value, from: b.from };
}

/** `a`; but where `a` is only the built-in limit and a file now sets the same one, that rule. */
function bindingOf(a: BudgetRule, b: BudgetRule): BudgetRule {
  const limits = ['maxTokens', 'maxCost', 'maxDuration'] as const;
  const written = limits.filter(
    (limit) => a.each?.[limit]?.layer === 'default' && b.value[limit] !== undefined && !isDefault(b, limit),
  );
  if (written.length === 0) return a;
  return {
    ...a,
    each: { ...a.each, ...Object.fromEntries(written.map((limit) => [limit, b.each?.[limit] ?? b.from])) },
  };
}

const isDefault = ({ each }: BudgetRule, limit: keyof Budget): boolean => each?.[limit]?.layer === 'default';

/** A role's entry replaces the general one within its own set, so the effective limits for each role are compared. */
function roleBudgets(a: Rules, b: Rules): Rules['roleBudgets'] {
  const roles = [...new Set([...a.roleBudgets, ...b.roleBudgets].map(({ role }) => role))];
  const given = (role: string, rules: Rules): Rule<Budget> => ({
    value: agentBudget(role, rules),
    from: (rules.roleBudgets.find((entry) => entry.role === role)?.budget ?? rules.agentBudget).from,
  });
  return roles.map((role) => ({ role, budget: tightestRule(given(role, a), given(role, b)) }));
}

function commandsOf(a: CommandRules | undefined, b: CommandRules | undefined): CommandRules | undefined {
  if (a === undefined && b === undefined) return undefined;
  const of = (verdict: keyof CommandRules): readonly CommandRule[] =>
    distinct([...(a?.[verdict] ?? []), ...(b?.[verdict] ?? [])], wordsOf);
  const inBoth = (a?.allow ?? []).filter((rule) => (b?.allow ?? []).some((other) => wordsOf(other) === wordsOf(rule)));
  const commands = { allow: distinct(inBoth, wordsOf), ask: of('ask'), deny: of('deny') };
  return Object.values(commands).some((list) => list.length > 0) ? commands : undefined;
}
const wordsOf = ({ words }: CommandRule): string => JSON.stringify(words);

const forcedAgents = (a: readonly ReviewRule[], b: readonly ReviewRule[]): readonly ReviewRule[] =>
  [...new Set([...a, ...b].map(({ name }) => name))].sort().flatMap((name) => {
    const words = [...a, ...b].filter((rule) => rule.name === name);
    return words.slice(0, 1).map((first) => ({
      ...first,
      model: words.find(({ model }) => model !== null)?.model ?? null,
      triggers: TRIGGERS.filter((trigger) => words.some(({ triggers }) => triggers.includes(trigger))),
      onFailure: ON_FAILURE.findLast((one) => words.some(({ onFailure }) => onFailure === one)) ?? first.onFailure,
    }));
  });

type ModelBudgets = NonNullable<Rules['modelBudgets']>;

const modelBudgets = (a: ModelBudgets, b: ModelBudgets): ModelBudgets =>
  [...Map.groupBy([...a, ...b], ({ model }) => model.pattern)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, same]) =>
      same.reduce((before, next) => ({ ...before, budget: tightestRule(before.budget, next.budget) })),
    );

/** Grants that both sets contain. */
const inBoth = (a: readonly Rule<string>[] = [], b: readonly Rule<string>[] = []): readonly Rule<string>[] =>
  a.filter(({ value }) => b.some((other) => other.value === value));

const NO_BOX: SandboxRules = { denyRead: [], denyWrite: [], allowWrite: [], passthrough: [] };

function boxOf(a: SandboxRules = NO_BOX, b: SandboxRules = NO_BOX): SandboxRules | undefined {
  const of = (key: 'denyRead' | 'denyWrite'): readonly Rule<string>[] =>
    distinct([...a[key], ...b[key]], ({ value }) => value);
  const open = inBoth(a.allowRead, b.allowRead);
  const box: SandboxRules = {
    denyRead: of('denyRead'),
    denyWrite: of('denyWrite'),
    allowWrite: distinct([...a.allowWrite, ...b.allowWrite], listOf),
    ...(open.length === 0 ? {} : { allowRead: open }),
    passthrough: inBoth(a.passthrough, b.passthrough),
  };
  return Object.values(box).some((list: readonly unknown[]) => list.length > 0) ? box : undefined;
}

// The deciding part of a set of rules, without locations and in a fixed order, so that equally deciding sets are equal. For comparison only.

/** Plain JSON. Allow lists are kept separate, because a value must be in every one of them. */
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
    (rules.forcedAgents ?? []).map(({ name, model, triggers, onFailure: how }) => [name, model, sorted(triggers), how]),
  ),
  held: PERMITTED.filter((what) => rules.permissionsHeld?.[what] !== undefined),
  box: sandboxOf(rules),
  // The rules on children that allow or forbid; the rest only describes them.
  children: [childRules(rules).mode, childRules(rules).messages, childRules(rules).maxPerParent].map(
    ({ value }) => value,
  ),
});

/** The settings with which tools and providers are opened, so that a run cannot adopt others later; equal texts mean equal rules. */
export const fixedAtStart = (rules: Rules): string =>
  JSON.stringify([lists(rules.allowedEndpoints ?? []), sandboxOf(rules)]);

const sandboxOf = ({ box }: Rules): readonly unknown[] => [
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
