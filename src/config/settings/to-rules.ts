/** Merged settings -> the rules in force, with the place of each. What they mean for an action is policy's to say. */
import { type Budget, withoutAbsent } from '../../domain/budget.ts';
import { isLooser, type Mode, MODES } from '../../domain/mode.ts';
import { EFFORTS } from '../../domain/models/effort.ts';
import { PERMITTED } from '../../domain/plan/permissions.ts';
import { Permission } from '../../domain/plan/plan.ts';
import type { Permitted } from '../../domain/plan/permissions.ts';
import type { Reason } from '../../domain/reason.ts';
import { jsonDigest } from '../../domain/digest.ts';
import {
  type BudgetRule,
  builtIn,
  type CommandRule,
  type CommandRules,
  type ModelEntry,
  type Rule,
  type Rules,
} from '../../policy/rules.ts';
import type { Layer } from '../files/layer.ts';
import { childRulesFrom } from './children.ts';
import { forcedRules } from './mandatory-reviews.ts';
import { amount, binding, type Effective, type Holding, type Said, settle } from '../files/merge.ts';
import { boxRules } from './sandbox.ts';

type Values = ReadonlyMap<string, Effective>;

export interface RuleLists {
  readonly allowed: readonly (readonly ModelEntry[])[];
  readonly denied: readonly ModelEntry[];
  /** One a model, the tightest of all layers. */
  readonly budgets: readonly { readonly model: ModelEntry; readonly budget: Rule<Budget> }[];
}

/** `layers` in order. Every key that a rule needs is in the package's own defaults; a missing one is a bug and thrown. */
export function toRules(layers: readonly Layer[], values: Values, models: RuleLists): Rules {
  const rules: Omit<Rules, 'policyHash'> = {
    enabled: truth(values, 'agentOrchestration.enabled'),
    autoDetect: truth(values, 'agentOrchestration.autoDetect'),
    promptForApproval: truth(values, 'agentOrchestration.promptForApproval'),
    promptForModels: truth(values, 'agentOrchestration.promptForModels'),
    maxNestingDepth: number(values, 'agentOrchestration.maxNestingDepth'),
    maxParallelAgents: number(values, 'agentOrchestration.maxParallelAgents'),
    onFailure: word(values, 'agentOrchestration.onFailure', ['ask', 'retry', 'skip', 'stop'] as const),
    allowedModels: models.allowed,
    deniedModels: models.denied,
    modelFallback: word(values, 'enforcement.modelFallback', ['list', 'deny'] as const),
    allowedSubAgents: lists(values, 'enforcement.allowedSubAgents'),
    disabledRoles: disabledRoles(values),
    runBudget: budgetAt(values, 'budgets.run'),
    ...runCeiling(values),
    agentBudget: budgetAt(values, 'budgets.agent'),
    roleBudgets: roleBudgets(layers, values),
    costLimitSet: costLimitSet(layers),
    maxTasksPerPlan: number(values, 'limits.maxTasksPerPlan'),
    maxAgentsPerRun: number(values, 'limits.maxAgentsPerRun'),
    mode: modeInForce(values),
    maxMode: word(values, 'mode.max', MODES),
    ...commandRules(layers),
    ...(values.has('sandbox.required') ? { sandboxRequired: truth(values, 'sandbox.required') } : {}),
    ...(values.has('enforcement.maxEffort') ? { maxEffort: word(values, 'enforcement.maxEffort', EFFORTS) } : {}),
    ...(values.has('enforcement.allowedEndpoints')
      ? { allowedEndpoints: lists(values, 'enforcement.allowedEndpoints') }
      : {}),
    ...forced(layers),
    ...limitsOfDays(values, models),
    ...(values.has('approvals.answerWithin') ? { answerWithin: number(values, 'approvals.answerWithin') } : {}),
    ...permissionRules(values),
    ...boxRules(layers, passedOn(layers)),
    ...childRulesFrom(values),
  };
  return { ...rules, policyHash: jsonDigest(rules) };
}

function at(values: Values, name: string): Effective {
  const found = values.get(name);
  if (found === undefined) throw new Error(`the defaults of the package don't say ${name}`);
  return found;
}

function truth(values: Values, name: string): Rule<boolean> {
  const { value, from } = at(values, name);
  return { value: value === true, from };
}

function number(values: Values, name: string): Rule<number> {
  const { value, from } = at(values, name);
  return { value: amount(value), from };
}

function word<const T extends string>(values: Values, name: string, choices: readonly T[]): Rule<T> {
  const { value, from } = at(values, name);
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw new Error(`${name} is none of ${choices.join(', ')}`);
  return { value: chosen, from };
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

/** A list a layer. */
const lists = (values: Values, name: string): readonly Rule<readonly string[]>[] =>
  (values.get(name)?.said ?? []).map(({ value, from }) => ({ value: textsOf(value), from }));

/** No key at all where nobody says anything: equal policies, equal digests. */
function forced(layers: readonly Layer[]): Pick<Rules, 'forcedAgents'> {
  const forcedAgents = forcedRules(layers);
  return forcedAgents.length === 0 ? {} : { forcedAgents };
}

function limitsOfDays(values: Values, { budgets }: RuleLists): Pick<Rules, 'dayBudget' | 'modelBudgets' | 'atLimit'> {
  const day = budgetAt(values, 'budgets.day');
  return {
    ...(Object.keys(day.value).length === 0 ? {} : { dayBudget: day }),
    ...(budgets.length === 0 ? {} : { modelBudgets: budgets }),
    ...(values.has('budgets.atLimit') ? { atLimit: word(values, 'budgets.atLimit', ['finish', 'stop'] as const) } : {}),
  };
}

/** No keys where nobody says anything: equal policies, equal digests. */
function permissionRules(values: Values): Pick<Rules, 'permissions' | 'permissionsHeld'> {
  const permissions: Partial<Record<Permitted, Rule<Permission>>> = {};
  const permissionsHeld: Partial<Record<Permitted, Reason>> = {};
  for (const what of PERMITTED) {
    const chosen = values.get(`permissions.${what}`);
    if (chosen !== undefined) permissions[what] = { value: Permission.parse(chosen.value), from: chosen.from };
    const held = values.get(`enforcement.permissions.${what}`);
    if (held !== undefined) permissionsHeld[what] = held.from;
  }
  return {
    ...(Object.keys(permissions).length === 0 ? {} : { permissions }),
    ...(Object.keys(permissionsHeld).length === 0 ? {} : { permissionsHeld }),
  };
}

function disabledRoles(values: Values): Rules['disabledRoles'] {
  return [...values].flatMap(([name, { value, from }]) => {
    const [, role] = /^agentOrchestration\.roles\.([^.]+)\.enabled$/.exec(name) ?? [];
    return role !== undefined && value === false ? [{ role, from }] : [];
  });
}

/** A person's choice, never looser than what is allowed. */
function modeInForce(values: Values): Mode {
  const { value } = word(values, 'mode.default', MODES);
  const { value: max } = word(values, 'mode.max', MODES);
  return isLooser(value, max) ? max : value;
}

const LIMITS = ['maxTokens', 'maxCost', 'maxDuration'] as const;
type Limit = (typeof LIMITS)[number];

function budgetAt(values: Values, scope: string): BudgetRule {
  return asBudget((limit) => values.get(`${scope}.${limit}`), values);
}

/** Of a limit that was typed, what the files say beside it; no key where none was: equal policies, equal digests. */
function runCeiling(values: Values): Pick<Rules, 'runCeiling'> {
  const nameOf = (limit: Limit): string => `budgets.run.${limit}`;
  const saidOf = (limit: Limit): readonly Said[] => values.get(nameOf(limit))?.said ?? [];
  if (!LIMITS.some((limit) => saidOf(limit).some(isTyped))) return {};
  const written = asBudget((limit) => {
    const said = saidOf(limit).filter((one) => !isTyped(one));
    return said.length === 0 ? undefined : settle(said, 'min');
  }, values);
  const nobodys = LIMITS.filter((limit) => written.value[limit] === undefined);
  const each = Object.fromEntries(nobodys.map((limit) => [limit, builtIn(nameOf(limit))]));
  return { runCeiling: { ...written, each: { ...each, ...written.each } } };
}

const isTyped = ({ layer }: Said): boolean => layer === 'command line';

/** The reason of a budget is that of its limit on cost, else of any that somebody set. */
function asBudget(limitAt: (limit: Limit) => Holding | undefined, values: Values): BudgetRule {
  const found = LIMITS.map((limit) => [limit, limitAt(limit)] as const);
  const of = (limit: Limit): number | undefined => {
    const effective = limitAt(limit);
    return effective === undefined ? undefined : amount(effective.value);
  };
  const reasons = found.flatMap(([, effective]) => (effective === undefined ? [] : [effective.from]));
  const from =
    limitAt('maxCost')?.from ??
    reasons.find(({ layer }) => layer !== 'default') ??
    reasons[0] ??
    at(values, 'mode.max').from;
  return {
    value: withoutAbsent({ maxTokens: of('maxTokens'), maxCost: of('maxCost'), maxDuration: of('maxDuration') }),
    from,
    each: Object.fromEntries(found.flatMap(([limit, one]) => (one === undefined ? [] : [[limit, one.from]]))),
  };
}

/**
 * In one layer, a role's own limit takes the place of that on agents in general; of several layers the tightest holds. So
 * a file may give its oracle more than the rest, and never more than another file allows.
 */
function roleBudgets(layers: readonly Layer[], values: Values): Rules['roleBudgets'] {
  const roles = new Set(layers.flatMap(({ settings }) => Object.keys(settings.budgets?.role ?? {})));
  return [...roles].map((role) => ({
    role,
    budget: asBudget((limit) => {
      const said = layers.flatMap((layer) => wordOn(layer, role, limit));
      return said.length === 0 ? undefined : settle(binding(said), 'min');
    }, values),
  }));
}

function wordOn(layer: Layer, role: string, limit: Limit): readonly Said[] {
  const { budgets } = layer.settings;
  const own = budgets?.role?.[role]?.[limit];
  const value = own ?? budgets?.agent?.[limit];
  const path = own === undefined ? ['budgets', 'agent', limit] : ['budgets', 'role', role, limit];
  return value === undefined ? [] : [{ layer: layer.name, value, from: layer.reason(path) }];
}

const costLimitSet = (layers: readonly Layer[]): boolean =>
  layers
    .filter(({ name }) => name !== 'default')
    .some(({ settings: { budgets } }) =>
      [
        budgets?.run,
        budgets?.agent,
        budgets?.day,
        ...Object.values(budgets?.role ?? {}),
        ...Object.values(budgets?.model ?? {}),
      ].some((limits) => limits?.maxCost !== undefined),
    );

/** No key at all when no layer has a rule: equal policies, equal digests. */
function commandRules(layers: readonly Layer[]): { readonly commands?: CommandRules } {
  const of = (verdict: keyof CommandRules): readonly CommandRule[] =>
    layers.flatMap((layer) =>
      (layer.settings.commands?.[verdict] ?? []).map((text, index) => ({
        words: text.split(' ').filter((word) => word !== ''),
        from: { ...layer.reason(['commands', verdict, index]), rule: `commands.${verdict}: "${text}"` },
      })),
    );
  const commands = { allow: of('allow'), ask: of('ask'), deny: of('deny') };
  const any = [...commands.allow, ...commands.ask, ...commands.deny].length > 0;
  return any ? { commands } : {};
}

// Variables that commands may see beside the usual few, by layer: `env.passthrough`, and what `childAgents.inheritEnvironment`
// (S114) lists, but for what opens a door elsewhere: that only an organisation can pass on in this way.

/** Sockets of agents, and what holds a key, a token or the way to one. */
const OPENS_DOORS =
  /^(?:SSH_|GPG_|GNUPG|DBUS_|AWS_|AZURE_|GOOGLE_|XAUTHORITY$|DOCKER_|KUBECONFIG$|NETRC$)|(?:SOCK|SOCKET|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_KEY|_PAT|APIKEY)$/i;

/** A list for each layer that says anything of it. */
const passedOn = (layers: readonly Layer[]): readonly Rule<readonly string[]>[] =>
  layers.flatMap((layer) => {
    const passed = layer.settings.env?.passthrough;
    const inherited = layer.settings.childAgents?.inheritEnvironment;
    if (passed === undefined && inherited === undefined) return [];
    const kept = (inherited ?? []).filter((name) => !isKeptBack(name, layers));
    const from = layer.reason(passed === undefined ? ['childAgents', 'inheritEnvironment'] : ['env', 'passthrough']);
    return [{ value: [...new Set([...(passed ?? []), ...kept])], from }];
  });

const isKeptBack = (name: string, layers: readonly Layer[]): boolean =>
  OPENS_DOORS.test(name) &&
  !layers.some(
    ({ name: layer, settings }) =>
      layer === 'managed' &&
      [...(settings.env?.passthrough ?? []), ...(settings.childAgents?.inheritEnvironment ?? [])].includes(name),
  );

/** A line for each name that was listed and is not passed on. */
export const keptBackNotes = (layers: readonly Layer[]): readonly string[] =>
  layers.flatMap((layer) =>
    (layer.settings.childAgents?.inheritEnvironment ?? []).flatMap((name, index) => {
      if (!isKeptBack(name, layers)) return [];
      const { file, line } = layer.reason(['childAgents', 'inheritEnvironment', index]);
      return [
        `${file ?? layer.name}${line === null ? '' : `:${line}`}: childAgents.inheritEnvironment: ${name} is not passed on: it opens doors elsewhere, and only a managed policy may list it`,
      ];
    }),
  );
