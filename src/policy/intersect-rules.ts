/**
 * Two sets of rules -> the one that is as strict as both: what a run goes on under when an administrator
 * changes the policy meanwhile. Whatever tightens holds, whatever loosens waits for the next start. Pure.
 */
import { type Budget, tightest } from '../domain/budget.ts';
import { jsonDigest } from '../domain/digest.ts';
import { cappedEffort } from '../domain/models/effort.ts';
import { ON_FAILURE, TRIGGERS } from '../domain/agents/mandatory-review.ts';
import { isLooser } from '../domain/mode.ts';
import { PERMITTED } from '../domain/plan/permissions.ts';
import { agentBudget } from './budgets.ts';
import { childRules } from './children.ts';
import { deciding } from './fingerprint.ts';
import type {
  BudgetRule,
  BoxRules,
  ChildRules,
  CommandRule,
  CommandRules,
  ForcedRule,
  ModelEntry,
  Rule,
  Rules,
} from './rules.ts';

/**
 * As strict as `standing` and as `next`; where both are as strict, the word of `standing`. What only expresses a preference
 * (`autoDetect`, `promptForModels`, `onFailure`) and the model that a forced agent is pinned to stay as they stand. Equal to
 * `standing` itself when `next` tightens nothing, and to `next` itself when `next` says all that holds.
 */
export function meet(standing: Rules, next: Rules): Rules {
  // What grants may be gone from both together: it isn't kept from one. All else that is not named below is.
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
    ...runCeiling(standing, next),
    agentBudget: tightestRule(standing.agentBudget, next.agentBudget),
    roleBudgets: roleBudgets(standing, next),
    costLimitSet: standing.costLimitSet || next.costLimitSet,
    maxTasksPerPlan: least(standing.maxTasksPerPlan, next.maxTasksPerPlan),
    maxAgentsPerRun: least(standing.maxAgentsPerRun, next.maxAgentsPerRun),
    mode: isLooser(standing.mode, next.mode) ? next.mode : standing.mode,
    maxMode: stricter(standing.maxMode, next.maxMode, isLooser),
    ...optional(standing, next),
    ...maxEffort(standing, next),
    ...children(standing, next),
  };
  const policyHashes = [...new Set([...hashesOf(standing), ...hashesOf(next)])];
  const rules = { policyHash: jsonDigest(met), policyHashes, ...met };
  if (same(deciding(rules), deciding(standing))) return standing;
  return same(deciding(rules), deciding(next)) && same(preferences(rules), preferences(next)) ? next : rules;
}

const hashesOf = ({ policyHash, policyHashes }: Rules): readonly string[] => policyHashes ?? [policyHash];

/** What of a set of rules decides nothing and holds all the same, without where it is written. */
const preferences = (rules: Rules): object => ({
  values: [rules.autoDetect, rules.promptForModels, rules.onFailure].map(({ value }) => value),
  permissions: PERMITTED.map((what) => rules.permissions?.[what]?.value ?? null),
  children: JSON.stringify(childRules(rules), (key, value: unknown) => (key === 'from' ? undefined : value)),
});

type Optional =
  | 'commands'
  | 'sandboxRequired'
  | 'allowedEndpoints'
  | 'forcedAgents'
  | 'dayBudget'
  | 'modelBudgets'
  | 'atLimit'
  | 'answerWithin'
  | 'permissionsHeld'
  | 'box';

function maxEffort(a: Rules, b: Rules): Pick<Rules, 'maxEffort'> {
  const met = either(a.maxEffort, b.maxEffort, (x, y) => stricter(x, y, (p, q) => cappedEffort(p, q) !== p));
  return met === undefined ? {} : { maxEffort: met };
}

/** Rules that may be missing: then the other set's holds, but for what it only grants. */
function optional(a: Rules, b: Rules): Pick<Rules, Optional> {
  return { ...restrictions(a, b), ...heldPermissions(a, b) };
}

function heldPermissions({ permissionsHeld: a }: Rules, { permissionsHeld: b }: Rules): Pick<Rules, 'permissionsHeld'> {
  const held = either(a, b, (x, y) => ({ ...y, ...x }));
  return held === undefined ? {} : { permissionsHeld: held };
}

function restrictions(a: Rules, b: Rules): Pick<Rules, Exclude<Optional, 'permissionsHeld'>> {
  const commands = commandsOf(a.commands, b.commands);
  const required = either(a.sandboxRequired, b.sandboxRequired, (x, y) => stricter(x, y, (p, q) => !p && q));
  const endpoints = either(a.allowedEndpoints, b.allowedEndpoints, (x, y) => distinct([...x, ...y], listOf));
  const forced = either(a.forcedAgents, b.forcedAgents, forcedAgents);
  const day = either(a.dayBudget, b.dayBudget, tightestRule);
  const models = either(a.modelBudgets, b.modelBudgets, modelBudgets);
  const atLimit = either(a.atLimit, b.atLimit, (x, y) => stricter(x, y, (p, q) => p === 'finish' && q === 'stop'));
  const within = either(a.answerWithin, b.answerWithin, least);
  const box = boxOf(a.box, b.box);
  return {
    ...(commands === undefined ? {} : { commands }),
    ...(required === undefined ? {} : { sandboxRequired: required }),
    ...(endpoints === undefined ? {} : { allowedEndpoints: endpoints }),
    ...(forced === undefined ? {} : { forcedAgents: forced }),
    ...(day === undefined ? {} : { dayBudget: day }),
    ...(models === undefined ? {} : { modelBudgets: models }),
    ...(atLimit === undefined ? {} : { atLimit }),
    ...(within === undefined ? {} : { answerWithin: within }),
    ...(box === undefined ? {} : { box }),
  };
}

/** Loose to strict. What only says how children are kept (names, notices, orphans) stays as it stands. */
const CHILD_MODES: readonly ChildRules['mode']['value'][] = ['auto', 'supervised', 'manual'];
const loosensMode = (a: ChildRules['mode']['value'], b: ChildRules['mode']['value']): boolean =>
  CHILD_MODES.indexOf(a) < CHILD_MODES.indexOf(b);

/** A default of either set counts as said; only what is tighter than that is added. */
function children(a: Rules, b: Rules): Pick<Rules, 'children'> {
  const [standing, next] = [childRules(a), childRules(b)];
  const mode = stricter(standing.mode, next.mode, loosensMode);
  const messages = stricter(standing.messages, next.messages, (x, y) => x === 'run' && y === 'family');
  const maxPerParent = least(standing.maxPerParent, next.maxPerParent);
  const met: Partial<ChildRules> = {
    ...a.children,
    ...(mode === standing.mode ? {} : { mode }),
    ...(messages === standing.messages ? {} : { messages }),
    ...(maxPerParent === standing.maxPerParent ? {} : { maxPerParent }),
  };
  return Object.keys(met).length === 0 ? {} : { children: met };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** `loosens(a, b)`: is `a` the looser of the two? */
const stricter = <T>(a: Rule<T>, b: Rule<T>, loosens: (a: T, b: T) => boolean): Rule<T> =>
  loosens(a.value, b.value) ? b : a;

const least = (a: Rule<number>, b: Rule<number>): Rule<number> => (b.value < a.value ? b : a);

function either<T>(a: T | undefined, b: T | undefined, both: (a: T, b: T) => T): T | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : both(a, b);
}

/** The first of each kind. */
function distinct<T>(all: readonly T[], kindOf: (each: T) => string): readonly T[] {
  const kinds = new Map<string, T>();
  for (const each of all) if (!kinds.has(kindOf(each))) kinds.set(kindOf(each), each);
  return [...kinds.values()];
}

const patternsOf = (list: readonly ModelEntry[]): string =>
  JSON.stringify([...new Set(list.map(({ pattern }) => pattern))].sort());
const listOf = ({ value }: Rule<readonly string[]>): string => JSON.stringify([...new Set(value)].sort());

/** The place is that of the set that tightens. */
function tightestRule(a: BudgetRule, b: BudgetRule): BudgetRule {
  const value = tightest(a.value, b.value);
  return same(value, tightest(a.value, {})) ? bindingOf(a, b) : { value, from: b.from };
}

/** Where neither was typed, what was met is the ceiling itself. */
const runCeiling = (a: Rules, b: Rules): Pick<Rules, 'runCeiling'> =>
  a.runCeiling === undefined && b.runCeiling === undefined
    ? {}
    : { runCeiling: tightestRule(a.runCeiling ?? a.runBudget, b.runCeiling ?? b.runBudget) };

/** `a`, but where it only has the program's own limit and somebody has written the same one by now, that is the rule. */
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

/** A role's entry takes the place of the general one in its own set: what is compared is what each set gives the role. */
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

const forcedAgents = (a: readonly ForcedRule[], b: readonly ForcedRule[]): readonly ForcedRule[] =>
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
  [...new Set([...a, ...b].map(({ model }) => model.pattern))]
    .sort()
    .flatMap((pattern) =>
      [...a, ...b]
        .filter(({ model }) => model.pattern === pattern)
        .reduce<ModelBudgets>(
          ([before], next) => [
            before === undefined ? next : { ...before, budget: tightestRule(before.budget, next.budget) },
          ],
          [],
        ),
    );

/** What one of them grants and the other does not is not granted. */
const inBoth = (a: readonly Rule<string>[] = [], b: readonly Rule<string>[] = []): readonly Rule<string>[] =>
  a.filter(({ value }) => b.some((other) => other.value === value));

const NO_BOX: BoxRules = { denyRead: [], denyWrite: [], allowWrite: [], passthrough: [] };

function boxOf(a: BoxRules = NO_BOX, b: BoxRules = NO_BOX): BoxRules | undefined {
  const of = (key: 'denyRead' | 'denyWrite'): readonly Rule<string>[] =>
    distinct([...a[key], ...b[key]], ({ value }) => value);
  const open = inBoth(a.allowRead, b.allowRead);
  const box: BoxRules = {
    denyRead: of('denyRead'),
    denyWrite: of('denyWrite'),
    allowWrite: distinct([...a.allowWrite, ...b.allowWrite], listOf),
    ...(open.length === 0 ? {} : { allowRead: open }),
    passthrough: inBoth(a.passthrough, b.passthrough),
  };
  return Object.values(box).some((list: readonly unknown[]) => list.length > 0) ? box : undefined;
}
