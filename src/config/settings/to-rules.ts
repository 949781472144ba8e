/** Turns merged settings into the rules in force, each with its origin. Policy applies them to actions. */
import path from 'node:path';
import { LIMITS, withoutAbsent } from '../../domain/budget.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { isLooser, type Mode, MODES, placeText } from '../../domain/reason.ts';
import { defined } from '../../domain/result.ts';
import { EFFORTS } from '../../domain/models/provider.ts';
import { Permission, PERMITTED, type Permitted } from '../../domain/plan/plan.ts';
import { CREDENTIALS } from '../../domain/text/redact.ts';
import type { SandboxRules, BudgetRule, CommandRule, CommandRules, Rule, Rules } from '../../policy/index.ts';
import { builtIn } from '../../policy/index.ts';
import { type Layer, valueAt } from '../files/layer.ts';
import { amount, binding, type Effective, type Holding, type LayerValue, settle, textsOf } from '../files/merge.ts';
import type { ConfigFault } from '../files/read-text.ts';
import { childRulesFrom, forcedRules } from './mandatory-reviews.ts';
import type { ModelLists } from './model-lists.ts';

type Values = ReadonlyMap<string, Effective>;

/** `layers` are in merge order. The package's defaults have every required key; a missing one is a bug and throws. */
export function toRules(layers: readonly Layer[], values: Values, models: Omit<ModelLists, 'faults'>): Rules {
  // Unset keys are left out, so that equal policies have equal digests.
  const said = <T>(key: string, read: (all: Values, key: string) => T): T | undefined =>
    values.has(key) ? read(values, key) : undefined;
  const day = budgetAt(values, 'budgets.day');
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
    agentBudget: budgetAt(values, 'budgets.agent'),
    roleBudgets: roleBudgets(layers, values),
    costLimitSet: costLimitSet(layers),
    maxTasksPerPlan: number(values, 'limits.maxTasksPerPlan'),
    maxAgentsPerRun: number(values, 'limits.maxAgentsPerRun'),
    mode: modeInForce(values),
    maxMode: word(values, 'mode.max', MODES),
    ...defined({
      runCeiling: runCeiling(values),
      commands: commandRules(layers),
      sandboxRequired: said('sandbox.required', truth),
      maxEffort: said('enforcement.maxEffort', (all, key) => word(all, key, EFFORTS)),
      notifications: said('enforcement.notifications', (all, key) => word(all, key, ['allow', 'deny'] as const)),
      remoteAnswers: said('enforcement.remoteAnswers', (all, key) => word(all, key, ['allow', 'deny'] as const)),
      foreignAgents: said('enforcement.foreignAgents', (all, key) => word(all, key, ['allow', 'ask', 'deny'] as const)),
      allowedEndpoints: said('enforcement.allowedEndpoints', lists),
      answerWithin: said('approvals.answerWithin', number),
      maxChecksPerTask: said('limits.maxChecksPerTask', number),
      maxCheckTime: said('limits.maxCheckTime', number),
      forcedAgents: unlessEmpty(forcedRules(layers)),
      dayBudget: Object.keys(day.value).length === 0 ? undefined : day,
      modelBudgets: unlessEmpty(models.budgets),
      atLimit: said('budgets.atLimit', (all, key) => word(all, key, ['finish', 'stop'] as const)),
      permissions: permissionRules((what) => {
        const chosen = values.get(`permissions.${what}`);
        return chosen && { value: Permission.parse(chosen.value), from: chosen.from };
      }),
      permissionsHeld: permissionRules((what) => values.get(`enforcement.permissions.${what}`)?.from),
      box: sandboxRules(layers),
      children: childRulesFrom(values),
    }),
  };
  return { ...rules, policyHash: jsonDigest(rules) };
}

function at(values: Values, name: string): Effective {
  const found = values.get(name);
  if (found === undefined) throw new Error(`the defaults of the package do not set ${name}`);
  return found;
}

const truth = (values: Values, name: string): Rule<boolean> => word(values, name, [true, false]);

function number(values: Values, name: string): Rule<number> {
  const { value, from } = at(values, name);
  return { value: amount(value), from };
}

function word<const T extends string | boolean>(values: Values, name: string, choices: readonly T[]): Rule<T> {
  const { value, from } = at(values, name);
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw new Error(`${name} is not one of ${choices.join(', ')}`);
  return { value: chosen, from };
}

const lists = (values: Values, name: string): readonly Rule<readonly string[]>[] =>
  (values.get(name)?.said ?? []).map(({ value, from }) => ({ value: textsOf(value), from }));

/** Undefined for an empty list, so that its key is left out. */
const unlessEmpty = <T>(all: readonly T[]): readonly T[] | undefined => (all.length === 0 ? undefined : all);

function permissionRules<T>(said: (what: Permitted) => T | undefined): { readonly [W in Permitted]?: T } | undefined {
  const all: { [W in Permitted]?: T } = {};
  for (const what of PERMITTED) {
    const one = said(what);
    if (one !== undefined) all[what] = one;
  }
  return Object.keys(all).length === 0 ? undefined : all;
}

const disabledRoles = (values: Values): Rules['disabledRoles'] =>
  [...values].flatMap(([name, { value, from }]) => {
    const [, role] = /^agentOrchestration\.roles\.([^.]+)\.enabled$/.exec(name) ?? [];
    return role !== undefined && value === false ? [{ role, from }] : [];
  });

/** The chosen mode, never looser than the maximum. */
function modeInForce(values: Values): Mode {
  const { value } = word(values, 'mode.default', MODES);
  const { value: max } = word(values, 'mode.max', MODES);
  return isLooser(value, max) ? max : value;
}

type Limit = (typeof LIMITS)[number];

const budgetAt = (values: Values, scope: string): BudgetRule =>
  asBudget((limit) => values.get(`${scope}.${limit}`), values);

/** The limits from files beside one from the command line; undefined without a limit on the command line. */
function runCeiling(values: Values): Rules['runCeiling'] {
  const nameOf = (limit: Limit): string => `budgets.run.${limit}`;
  const saidOf = (limit: Limit): readonly LayerValue[] => values.get(nameOf(limit))?.said ?? [];
  if (!LIMITS.some((limit) => saidOf(limit).some(isTyped))) return undefined;
  const written = asBudget((limit) => {
    const said = saidOf(limit).filter((one) => !isTyped(one));
    return said.length === 0 ? undefined : settle(said, 'min');
  }, values);
  const nobodys = LIMITS.filter((limit) => written.value[limit] === undefined);
  const each = Object.fromEntries(nobodys.map((limit) => [limit, builtIn(nameOf(limit))]));
  return { ...written, each: { ...each, ...written.each } };
}

const isTyped = ({ layer }: LayerValue): boolean => layer === 'command line';

/** The reason of a budget is that of its cost limit, else of any limit that a layer other than the defaults set. */
function asBudget(limitAt: (limit: Limit) => Holding | undefined, values: Values): BudgetRule {
  const found = LIMITS.flatMap((limit) => {
    const one = limitAt(limit);
    return one === undefined ? [] : [{ limit, value: amount(one.value), from: one.from }];
  });
  const deciding =
    found.find(({ limit }) => limit === 'maxCost') ??
    found.find(({ from }) => from.layer !== 'default') ??
    found[0] ??
    at(values, 'mode.max');
  return {
    value: withoutAbsent(Object.fromEntries(found.map(({ limit, value }) => [limit, value]))),
    from: deciding.from,
    each: Object.fromEntries(found.map(({ limit, from }) => [limit, from])),
  };
}

/** Within one layer a role's limit replaces the general limit on agents; over several layers the tightest counts. So a file may give its oracle
 * more than other roles, but never more than another file allows. */
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

function wordOn(layer: Layer, role: string, limit: Limit): readonly LayerValue[] {
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

function commandRules(layers: readonly Layer[]): CommandRules | undefined {
  const of = (verdict: keyof CommandRules): readonly CommandRule[] =>
    layers.flatMap((layer) =>
      (layer.settings.commands?.[verdict] ?? []).map((text, index) => ({
        words: text.split(' ').filter((word) => word !== ''),
        from: { ...layer.reason(['commands', verdict, index]), rule: `commands.${verdict}: "${text}"` },
      })),
    );
  const commands = { allow: of('allow'), ask: of('ask'), deny: of('deny') };
  return Object.values(commands).some((rules) => rules.length > 0) ? commands : undefined;
}

// Additional environment variables of commands by layer: `env.passthrough` and `childAgents.inheritEnvironment`. Of the latter, variables that
// give access elsewhere are passed only if an organisation lists them.

const OPENS_DOORS =
  /^(?:SSH_|GPG_|GNUPG|DBUS_|AWS_|AZURE_|GOOGLE_|XAUTHORITY$|DOCKER_|KUBECONFIG$|NETRC$)|(?:SOCK|SOCKET|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_KEY|_PAT|APIKEY)$/i;

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

/** One line for each listed name that is not passed on. */
export const keptBackNotes = (layers: readonly Layer[]): readonly string[] =>
  layers.flatMap((layer) =>
    (layer.settings.childAgents?.inheritEnvironment ?? []).flatMap((name, index) => {
      if (!isKeptBack(name, layers)) return [];
      const place = placeText(layer.reason(['childAgents', 'inheritEnvironment', index]));
      return [
        `${place}: childAgents.inheritEnvironment: ${name} is not passed on: it gives access to other systems, so only a managed policy may list it`,
      ];
    }),
  );

function sandboxRules(layers: readonly Layer[]): SandboxRules | undefined {
  const open = openedBy(layers);
  const box: SandboxRules = {
    denyRead: pathsOf(layers, 'denyRead'),
    denyWrite: pathsOf(layers, 'denyWrite'),
    allowWrite: layers.flatMap((layer) => {
      const value = layer.settings.sandbox?.fs?.allowWrite;
      return value === undefined ? [] : [{ value, from: layer.reason(['sandbox', 'fs', 'allowWrite']) }];
    }),
    ...(open.length === 0 ? {} : { allowRead: open }),
    passthrough: inAll(passedOn(layers)),
  };
  return Object.values(box).some((list: readonly unknown[]) => list.length > 0) ? box : undefined;
}

const pathsOf = (layers: readonly Layer[], key: PathKey): readonly Rule<string>[] =>
  layers.flatMap((layer) =>
    (layer.settings.sandbox?.fs?.[key] ?? []).map((value, index) => ({
      value,
      from: { ...layer.reason(['sandbox', 'fs', key, index]), rule: `sandbox.fs.${key}: ${value}` },
    })),
  );

/** The intersection of the layers' lists, by their paths as written: an organisation's list bounds the person's. */
function openedBy(layers: readonly Layer[]): readonly Rule<string>[] {
  const lists = layers
    .filter(({ settings }) => settings.sandbox?.fs?.allowRead !== undefined)
    .map((layer) => pathsOf([layer], 'allowRead').map(({ value, from }) => ({ value: plain(value), from })));
  const [first = [], ...others] = lists;
  const met = others.reduce(
    (before, list) =>
      before.flatMap((one) =>
        list.flatMap((other) => (lies(one.value, other.value) ? [other] : lies(other.value, one.value) ? [one] : [])),
      ),
    first,
  );
  return met.filter(({ value }, index) => met.findIndex((other) => other.value === value) === index);
}

const plain = (written: string): string => path.normalize(written).replace(/(.)\/$/, '$1');
const lies = (folder: string, place: string): boolean => place === folder || place.startsWith(`${folder}/`);

/** The names in all lists: an organisation's list bounds the person's. */
function inAll([first, ...others]: readonly Rule<readonly string[]>[]): readonly Rule<string>[] {
  if (first === undefined) return [];
  return first.value
    .filter((name) => others.every(({ value }) => value.includes(name)))
    .map((value) => ({ value, from: first.from }));
}

/** Faults of paths without effect, of writable paths outside the project, which the sandbox does not have. */
export const boxFaults = (layer: Layer): readonly ConfigFault[] =>
  (['denyRead', 'denyWrite', 'allowWrite', 'allowRead'] as const).flatMap((key) => pathFaults(layer, key));

type PathKey = 'denyRead' | 'denyWrite' | 'allowWrite' | 'allowRead';

const pathFaults = (layer: Layer, key: PathKey): readonly ConfigFault[] =>
  (layer.settings.sandbox?.fs?.[key] ?? []).flatMap((written, index) => {
    const fault = (problem: string, remedy: string): readonly ConfigFault[] => [
      layer.fault(['sandbox', 'fs', key, index], `${key} names "${written}", ${problem}`, remedy),
    ];
    if (/[*?]/.test(written)) return fault('but patterns are not supported', 'name each file or folder');
    if (key === 'allowRead') return openFault(written, fault);
    return isOutside(written, layer.name === 'project', key)
      ? fault('which is outside the project', 'name a path inside it')
      : [];
  });

/** Files in the project are readable anyway; folders with credentials must not become readable. */
function openFault(
  written: string,
  fault: (problem: string, remedy: string) => readonly ConfigFault[],
): readonly ConfigFault[] {
  const place = plain(written);
  if (!/^(?:~\/|\/)/.test(written)) return fault('which is not outside the project', 'start it with / or ~/');
  if (['/', '~', '~/'].includes(place)) return fault('which is too broad', 'name the folders that commands need');
  return CREDENTIALS.some((name) => lies(`~/${name}`, place))
    ? fault('which contains credentials', 'name a folder without credentials')
    : [];
}

/** A project may only have rules about itself: if it could hide system folders, no sandbox would work. */
function isOutside(written: string, ofProject: boolean, key: PathKey): boolean {
  if (path.isAbsolute(written) || written.startsWith('~')) return ofProject;
  return (ofProject || key === 'allowWrite') && path.normalize(written).startsWith('..');
}

/** Keys that have no effect in this version, each with the reason. */
const WITHOUT_EFFECT = [
  { path: ['sandbox', 'network', 'allowedDomains'], why: 'commands have no network in this version' },
  { path: ['retention', 'sessions'], why: 'no session is deleted in this version' },
] as const;

/** One line for each layer that sets one of them. */
export const withoutEffectNotes = (layers: readonly Layer[]): readonly string[] =>
  layers.flatMap((layer) =>
    WITHOUT_EFFECT.filter(({ path: key }) => valueAt(layer.settings, key) !== undefined).map(
      ({ path: key, why }) => `${placeText(layer.reason(key))}: ${key.join('.')}: ${why}`,
    ),
  );
