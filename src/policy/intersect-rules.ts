/** Intersects two sets of rules into one that is as strict as both, for a run whose policy an administrator changes: tighter rules apply
 * now, looser ones at the next start. Pure. */
import { ON_FAILURE, TRIGGERS } from '../domain/agents/agent.ts';
import { type Budget, LIMITS, tightest } from '../domain/budget.ts';
import { jsonDigest } from '../domain/digest.ts';
import { byName, distinct } from '../domain/lists.ts';
import { EFFORTS } from '../domain/models/provider.ts';
import { PERMITTED } from '../domain/plan/plan.ts';
import { isLooser, MODES, type Reason } from '../domain/reason.ts';
import type { BudgetRule, ChildRules, CommandRule, CommandRules, ReviewRule, Rule, Rules } from './rules.ts';
import type { SandboxRules } from './rules.ts';
import { agentBudget, agentCeiling, childRules } from './rules.ts';

/** How the values of one rule in two sets become one. */
interface Row<T> {
  /** As strict as both; `a` where both are equally strict. */
  meet(a: T, b: T, ofA: Rules, ofB: Rules): T;
  /** What of it decides: plain JSON without locations, in a fixed order, so that equally deciding values are equal. */
  says(value: T, rules: Rules): unknown;
}

type Table<T> = { readonly [K in keyof T]-?: Row<T[K]> };

const keysOf = <T extends object>(table: T): readonly (keyof T)[] =>
  Object.keys(table).filter((key): key is keyof T & string => Object.hasOwn(table, key));

const metBy = <T extends object>(table: Table<T>, a: T, b: T, ofA: Rules, ofB: Rules): T => ({
  ...a,
  ...Object.fromEntries(keysOf(table).map((key) => [key, table[key].meet(a[key], b[key], ofA, ofB)])),
});

const saidBy = <T extends object>(table: Table<T>, value: T, rules: Rules): object =>
  Object.fromEntries(keysOf(table).map((key) => [key, table[key].says(value[key], rules)]));

/** `loosens(a, b)`: whether `a` is the looser of the two. */
const stricter = <T>(loosens: (a: T, b: T) => boolean): Row<Rule<T>> => ({
  meet: (a, b) => (loosens(a.value, b.value) ? b : a),
  says: ({ value }) => value,
});

const least = stricter<number>((a, b) => b < a);

/** The values from loose to strict. The loosest says as much as no rule. */
const ordered = <T>(values: readonly T[]): Row<Rule<T>> => ({
  ...stricter<T>((a, b) => values.indexOf(a) < values.indexOf(b)),
  says: ({ value }) => (value === values[0] ? null : value),
});

const union = <T>(key: (one: T) => string): Row<readonly T[]> => ({
  meet: (a, b) => distinct([...a, ...b], key),
  says: (all) => sorted(all.map(key)),
});

/** A grant: the entries that both have. */
const common = <T>(key: (one: T) => string): Row<readonly T[]> => ({
  ...union(key),
  meet: (a, b) => distinct(a, key).filter((one) => b.some((other) => key(other) === key(one))),
});

/** Each list of both, because a value must be in every one of them. */
const lists = union<Rule<readonly string[]>>(({ value }) => JSON.stringify(sorted(value)));

const budget: Row<BudgetRule> = { meet: tightestRule, says: ({ value }) => limits(value) };

/** Where one set has no rule, the other's applies. */
const optional = <T>(row: Row<T>): Row<T | undefined> => ({
  meet: (a, b, ofA, ofB) => (a === undefined ? b : b === undefined ? a : row.meet(a, b, ofA, ofB)),
  says: (value, rules) => (value === undefined ? null : row.says(value, rules)),
});

/** Rules in an object of their own; what is missing is as in `none`. */
const nested = <T extends object>(table: Table<T>, none: T): Row<T | undefined> => ({
  meet: (a, b, ofA, ofB) => (a ?? b) && metBy(table, { ...none, ...a }, { ...none, ...b }, ofA, ofB),
  says: (value, rules) => saidBy(table, { ...none, ...value }, rules),
});

const wordsOf = ({ words }: CommandRule): string => JSON.stringify(words);
const COMMANDS: Table<CommandRules> = { allow: common(wordsOf), ask: union(wordsOf), deny: union(wordsOf) };
const valueOf = ({ value }: Rule<string>): string => value;
const SANDBOX: Table<Required<SandboxRules>> = {
  denyRead: union(valueOf),
  denyWrite: union(valueOf),
  allowWrite: lists,
  allowRead: common(valueOf),
  passthrough: common(valueOf),
};
const NO_SANDBOX = { denyRead: [], denyWrite: [], allowWrite: [], allowRead: [], passthrough: [] };

/** The rules on children that allow or forbid; the others only describe them, and stay. */
const CHILDREN: Table<Pick<ChildRules, 'mode' | 'messages' | 'maxPerParent'>> = {
  mode: ordered(['auto', 'supervised', 'manual']),
  messages: ordered(['run', 'family']),
  maxPerParent: least,
};

/** They decide nothing, and stay. */
type Preference = 'autoDetect' | 'promptForModels' | 'onFailure' | 'permissions';

const ROWS: Table<Omit<Rules, 'policyHash' | 'policyHashes' | Preference>> = {
  enabled: ordered([true, false]),
  promptForApproval: ordered([false, true]),
  maxNestingDepth: least,
  maxParallelAgents: least,
  allowedModels: union((list) => JSON.stringify(sorted(list.map(({ pattern }) => pattern)))),
  deniedModels: union(({ pattern }) => pattern),
  modelFallback: ordered(['list', 'deny']),
  allowedSubAgents: lists,
  disabledRoles: union(({ role }) => role),
  runBudget: budget,
  // Where no limit was typed, the budget is itself the ceiling.
  runCeiling: {
    ...optional(budget),
    meet: (a, b, ofA, ofB) => (a ?? b) && tightestRule(a ?? ofA.runBudget, b ?? ofB.runBudget),
  },
  agentBudget: budget,
  // A role's entry replaces the general one within its own set, so the effective limits for each role are compared.
  roleBudgets: {
    meet: (a, b, ofA, ofB) =>
      [...new Set([...a, ...b].map(({ role }) => role))].map((role) => ({
        role,
        budget: tightestRule(effective(role, ofA), effective(role, ofB)),
      })),
    says: (all, rules) => sorted(all.map(({ role }) => [role, limits(agentBudget(role, rules))])),
  },
  costLimitSet: { meet: (a, b) => a || b, says: (isSet) => isSet },
  maxTasksPerPlan: least,
  maxAgentsPerRun: least,
  maxChecksPerTask: optional(least),
  maxCheckTime: optional(least),
  mode: { meet: (a, b) => (isLooser(a, b) ? b : a), says: (mode) => mode },
  maxMode: ordered(MODES.toReversed()),
  commands: nested(COMMANDS, { allow: [], ask: [], deny: [] }),
  sandboxRequired: optional(ordered([false, true])),
  maxEffort: optional(ordered(EFFORTS.toReversed())),
  notifications: optional(ordered(['allow', 'deny'])),
  remoteAnswers: optional(ordered(['allow', 'deny'])),
  foreignAgents: optional(ordered(['allow', 'ask', 'deny'])),
  allowedEndpoints: optional(lists),
  forcedAgents: optional({
    meet: (a, b) => unitedReviews([...a, ...b]),
    says: (all) => sorted(all.map(({ name, model, triggers, onFailure: how }) => [name, model, sorted(triggers), how])),
  }),
  dayBudget: optional(budget),
  modelBudgets: optional({
    meet: (a, b) => tightestBudgets([...a, ...b]),
    says: (all) => sorted(all.map(({ model, budget: { value } }) => [model.pattern, limits(value)])),
  }),
  atLimit: optional(ordered(['finish', 'stop'])),
  permissionsHeld: optional({
    meet: (a, b) => ({ ...b, ...a }),
    says: (held) => PERMITTED.filter((what) => held[what] !== undefined),
  }),
  answerWithin: optional(least),
  children: {
    meet: (_a, _b, ofA, ofB) => ({
      ...childRules(ofA),
      ...metBy(CHILDREN, childRules(ofA), childRules(ofB), ofA, ofB),
    }),
    says: (_, rules) => saidBy(CHILDREN, childRules(rules), rules),
  },
  box: nested(SANDBOX, NO_SANDBOX),
};

/** As strict as `standing` and `next`; of equally strict rules, `standing`'s is kept. Preferences (`autoDetect`, `promptForModels`, `onFailure`) and a
 * reviewer's pinned model stay as in `standing`. Returns `standing` itself when `next` tightens nothing, and `next` itself when it equals the result. */
export function meet(standing: Rules, next: Rules): Rules {
  const { policyHash: _, policyHashes: __, ...kept } = standing;
  const met = { ...kept, ...metBy(ROWS, kept, next, standing, next) };
  const policyHashes = [...new Set([...hashesOf(standing), ...hashesOf(next)])];
  const rules = { policyHash: jsonDigest(met), policyHashes, ...met };
  if (same(deciding(rules), deciding(standing))) return standing;
  return same(deciding(rules), deciding(next)) && same(preferences(rules), preferences(next)) ? next : rules;
}

/** The deciding part of a set of rules, as plain JSON for comparison only. */
export const deciding = (rules: Rules): object => saidBy(ROWS, rules, rules);

/** The settings with which tools and providers are opened, so that a run cannot adopt others later; equal texts mean equal rules. */
export const fixedAtStart = (rules: Rules): string =>
  JSON.stringify([ROWS.allowedEndpoints.says(rules.allowedEndpoints, rules), ROWS.box.says(rules.box, rules)]);

const hashesOf = ({ policyHash, policyHashes }: Rules): readonly string[] => policyHashes ?? [policyHash];

/** The settings of a set of rules that decide nothing, without their locations. */
const preferences = (rules: Rules): string =>
  JSON.stringify(
    [rules.autoDetect, rules.promptForModels, rules.onFailure, rules.permissions ?? {}, childRules(rules)],
    (key, value: unknown) => (key === 'from' ? undefined : value),
  );

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** `a` itself where `b` tightens nothing. The reason of the whole is that of its cost limit, else of the first. */
function tightestRule(a: BudgetRule, b: BudgetRule): BudgetRule {
  const value = tightest(a.value, b.value);
  const set = LIMITS.filter((limit) => value[limit] !== undefined);
  if (same(limits(value), limits(a.value)) && set.every((limit) => bindingOf(a, b, limit) === a)) return a;
  const each = Object.fromEntries(set.map((limit) => [limit, reasonOf(bindingOf(a, b, limit), limit)]));
  const from = each['maxCost'] ?? Object.values(each).find(({ layer }) => layer !== 'default') ?? b.from;
  return { value, from, each: { ...b.each, ...a.each, ...each } };
}

const reasonOf = ({ from, each }: BudgetRule, limit: keyof Budget): Reason => each?.[limit] ?? from;

/** The one that sets a limit: the tighter, `a` of equal ones; but a built-in limit is no rule beside that of a file. */
function bindingOf(a: BudgetRule, b: BudgetRule, limit: keyof Budget): BudgetRule {
  const [ofA, ofB] = [a.value[limit], b.value[limit]];
  if (ofA === undefined || ofB === undefined) return ofB === undefined ? a : b;
  const [isOwn, isOwnToo] = [a, b].map((one) => reasonOf(one, limit).layer === 'default');
  if (isOwn !== isOwnToo) return isOwn === true ? b : a;
  return ofB < ofA ? b : a;
}

const effective = (role: string, rules: Rules): BudgetRule => ({
  value: agentBudget(role, rules),
  from: (rules.roleBudgets.find((entry) => entry.role === role)?.budget ?? rules.agentBudget).from,
  each: Object.fromEntries(LIMITS.map((limit) => [limit, agentCeiling(role, limit, rules).rule])),
});

type Some<T> = readonly [T, ...T[]];

/** Those with one key together, by name of the key. */
const byKey = <T>(all: readonly T[], key: (one: T) => string): readonly Some<T>[] =>
  [...Map.groupBy(all, key)]
    .sort(([a], [b]) => byName(a, b))
    .flatMap(([, [first, ...others]]) => (first === undefined ? [] : [[first, ...others] as const]));

/** One budget for each model, by its name. */
export const tightestBudgets = (all: NonNullable<Rules['modelBudgets']>): NonNullable<Rules['modelBudgets']> =>
  byKey(all, ({ model }) => model.pattern).map(([first, ...others]) =>
    others.reduce((soFar, next) => ({ ...soFar, budget: tightestRule(soFar.budget, next.budget) }), first),
  );

/** The strictest rule for each review, by its name. Of two pins neither is stricter, and the first stays. */
export const unitedReviews = (all: readonly ReviewRule[]): readonly ReviewRule[] =>
  byKey(all, ({ name }) => name).map(united);

const united = (words: Some<ReviewRule>): ReviewRule => ({
  ...words[0],
  model: words.find(({ model }) => model !== null)?.model ?? null,
  triggers: TRIGGERS.filter((trigger) => words.some(({ triggers }) => triggers.includes(trigger))),
  onFailure: ON_FAILURE.findLast((one) => words.some(({ onFailure }) => onFailure === one)) ?? words[0].onFailure,
});

const limits = (budget: Budget): readonly (number | null)[] => LIMITS.map((limit) => budget[limit] ?? null);

function sorted(values: readonly unknown[]): readonly unknown[] {
  const texts = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...texts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
