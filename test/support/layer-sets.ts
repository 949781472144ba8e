/**
 * Random sets of layers for properties of merged rules, and what each layer by itself demands of the result. Layers are made
 * of settings without files, so that thousands are quick; reading files is shown elsewhere.
 */
import { cappedEffort } from '../../src/domain/models/provider.ts';
import * as fc from 'fast-check';
import { type Layer, words } from '../../src/config/files/layer.ts';
import { amount, inOrder, merge } from '../../src/config/files/merge.ts';
import { modelLists } from '../../src/config/settings/model-lists.ts';
import type { Settings } from '../../src/config/schema/schema.ts';
import { toRules } from '../../src/config/settings/to-rules.ts';
import { ModelId } from '../../src/domain/ids.ts';
import { isLooser, type Layer as LayerName, MODES } from '../../src/domain/reason.ts';
import { ALIASES } from '../../src/policy/models.ts';
import { agentBudget, childRules, type Rules } from '../../src/policy/rules.ts';
import { modelProblem, resolveModel } from '../../src/policy/models.ts';

/** A layer as if it had been read from `file`. */
export function someLayer(name: LayerName, settings: Settings, file = `${name}.yml`): Layer {
  const rule = (path: readonly (string | number)[]): string =>
    `${path.join('.')}: ${words(path.reduce<unknown>((here, part) => partOf(here, part), settings))}`;
  return {
    name,
    file,
    settings,
    reason: (path) => ({ rule: rule(path), layer: name, file, line: 1 }),
    fault: (_, problem, remedy) => ({ file, line: 1, column: 1, problem, remedy }),
  };
}

const partOf = (value: unknown, part: string | number): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined;

const DEFAULTS = someLayer('default', {
  agentOrchestration: {
    enabled: true,
    autoDetect: true,
    promptForApproval: true,
    promptForModels: true,
    maxNestingDepth: 2,
    maxParallelAgents: 4,
    onFailure: 'ask',
  },
  enforcement: { modelFallback: 'list' },
  budgets: { run: { maxCost: 5, maxDuration: '1h' }, agent: { maxCost: 1 } },
  limits: { maxTasksPerPlan: 50, maxAgentsPerRun: 100 },
  mode: { default: 'confirm', max: 'yolo' },
  approvals: { answerWithin: '12h' },
});

/** The rules of these layers, given in any order, above the defaults. */
export function rulesOf(layers: readonly Layer[]): Rules {
  const ordered = inOrder([...layers, DEFAULTS]);
  return toRules(ordered, merge([...layers, DEFAULTS]), modelLists(ordered, []));
}

const key = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const amounts = { maxCost: fc.integer({ min: 0, max: 9 }), maxTokens: fc.integer({ min: 0, max: 9 }) };
const dayLimits = fc.record(amounts, { requiredKeys: [] });
const limits = fc.record(
  { ...amounts, maxDuration: fc.constantFrom(0, 5000, '4s', '1m', '70s') },
  { requiredKeys: [] },
);
const names = [...ALIASES.keys()];
const paths = fc.subarray(['src', 'test', '/etc', '~/x']);
const listed = (from: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...from], { minLength: 1 });

const forced = (pins: readonly string[]): fc.Arbitrary<NonNullable<ForcedSettings>> =>
  fc.dictionary(
    fc.constantFrom('security', 'reviewer'),
    fc.record(
      {
        enabled: fc.boolean(),
        model: fc.constantFrom(...pins),
        trigger: fc.constantFrom('always', 'on-write', 'on-commit', 'manual'),
        onFailure: fc.constantFrom('block', 'warn'),
      },
      { requiredKeys: ['enabled'] },
    ),
    { maxKeys: 2, noNullPrototype: true },
  );
type ForcedSettings = NonNullable<Settings['enforcement']>['forcedSubAgents'];

/** One layer's restrictions. `pins`: models that a forced agent may be pinned to. */
export const someSettings = (pins: readonly string[]): fc.Arbitrary<Settings> =>
  fc
    .record(
      {
        agentOrchestration: fc.record(
          {
            enabled: fc.boolean(),
            promptForApproval: fc.boolean(),
            maxNestingDepth: fc.integer({ min: 0, max: 8 }),
            maxParallelAgents: fc.integer({ min: 1, max: 256 }),
            roles: fc.record({ finder: fc.record({ enabled: fc.boolean() }) }),
          },
          { requiredKeys: [] },
        ),
        enforcement: fc.record(
          {
            allowedModels: listed(names),
            deniedModels: fc.subarray(names),
            modelFallback: fc.constantFrom('list', 'deny'),
            maxEffort: fc.constantFrom('low', 'medium', 'high'),
            allowedSubAgents: listed(['finder', 'oracle', 'rush']),
            allowedEndpoints: listed(['a.example', 'b.example']),
            forcedSubAgents: forced(pins),
          },
          { requiredKeys: [] },
        ),
        budgets: fc.record(
          {
            run: limits,
            agent: limits,
            role: fc.record({ oracle: limits }),
            day: dayLimits,
            model: fc.dictionary(fc.constantFrom('haiku-4.5', 'claude-haiku-4-5', 'o3'), dayLimits, {
              maxKeys: 3,
              noNullPrototype: true,
            }),
            atLimit: fc.constantFrom('finish', 'stop'),
          },
          { requiredKeys: [] },
        ),
        limits: fc.record({ maxTasksPerPlan: fc.integer({ min: 1, max: 500 }) }),
        mode: fc.record({ max: fc.constantFrom(...MODES) }),
        commands: fc.record(
          { allow: listed(['npm test', 'ls']), ask: listed(['git *']), deny: listed(['curl **', 'wget **']) },
          { requiredKeys: [] },
        ),
        sandbox: fc.record(
          { required: fc.boolean(), fs: fc.record({ denyRead: paths, denyWrite: paths, allowWrite: paths }) },
          { requiredKeys: [] },
        ),
        env: fc.record({ passthrough: fc.subarray(['A', 'B', 'C']) }),
        approvals: fc.record({ answerWithin: fc.constantFrom('1h', '2h', 60_000) }),
        childAgents: fc.record(
          {
            mode: fc.constantFrom('auto', 'supervised', 'manual'),
            messages: fc.constantFrom('run', 'family'),
            maxPerParent: fc.integer({ min: 1, max: 20 }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    )
    .map((settings): Settings => settings);

const PINS = ['sonnet-4.5', 'o3', 'haiku-4.5'];

/** Up to six layers: three managed files, the person's, a project's, the command line's. A project can grant nothing. */
export const layerSets = (pins: readonly string[] = PINS): fc.Arbitrary<readonly Layer[]> => {
  const settings = someSettings(pins);
  return fc
    .record({
      managed: fc.array(settings, { maxLength: 3 }),
      user: key(settings),
      project: key(settings),
      typed: key(settings),
    })
    .map(({ managed, user, project, typed }) => [
      ...managed.map((each, index) => someLayer('managed', each, `/etc/mimir/policy.d/${index}.yml`)),
      ...(user === undefined ? [] : [someLayer('user', user)]),
      ...(project === undefined ? [] : [someLayer('project', withoutGrants(project))]),
      ...(typed === undefined ? [] : [someLayer('command line', withoutGrants(typed))]),
    ]);
};

function withoutGrants(settings: Settings): Settings {
  const { env: _, commands, ...rest } = settings;
  return {
    ...rest,
    ...(commands === undefined ? {} : { commands: { ask: commands.ask ?? [], deny: commands.deny ?? [] } }),
  };
}

/** The same layers, and once more in another order. */
export const shuffledSets: fc.Arbitrary<readonly [readonly Layer[], readonly Layer[]]> = layerSets().chain((layers) =>
  fc.tuple(fc.constant(layers), fc.shuffledSubarray([...layers], { minLength: layers.length })),
);

const IDS = [...new Set(ALIASES.values())].map((id) => ModelId.parse(id));
const atMost = (value: number | undefined, limit: string | number | undefined): boolean =>
  limit === undefined || (value ?? Infinity) <= amount(limit);
const allowedBy = (rules: Rules): readonly ModelId[] => IDS.filter((id) => modelProblem(id, rules) === null);
const idsOf = (written: readonly string[]): readonly (string | undefined)[] => written.map((name) => ALIASES.get(name));
const has = (rules: readonly { readonly value: string }[] | undefined, all: readonly string[] | undefined): boolean =>
  (all ?? []).every((one) => rules?.some(({ value }) => value === one) === true);

type Keeps = (rules: Rules, settings: Settings) => boolean;
/** Is what holds at least as strict as this layer by itself? One line a restriction. */
const KEEPS: Readonly<Record<string, Keeps>> = {
  childMode: (rules, { childAgents: own }) => {
    const order = ['auto', 'supervised', 'manual'];
    return order.indexOf(childRules(rules).mode.value) >= order.indexOf(own?.mode ?? 'auto');
  },
  childMessages: (rules, { childAgents: own }) =>
    own?.messages !== 'family' || childRules(rules).messages.value === 'family',
  childCount: (rules, { childAgents: own }) => atMost(childRules(rules).maxPerParent.value, own?.maxPerParent),
  enabled: (rules, { agentOrchestration: own }) => own?.enabled !== false || !rules.enabled.value,
  approval: (rules, { agentOrchestration: own }) => own?.promptForApproval !== true || rules.promptForApproval.value,
  depth: (rules, { agentOrchestration: own }) => atMost(rules.maxNestingDepth.value, own?.maxNestingDepth),
  parallel: (rules, { agentOrchestration: own }) => atMost(rules.maxParallelAgents.value, own?.maxParallelAgents),
  roles: (rules, { agentOrchestration: own }) =>
    own?.roles?.['finder']?.enabled !== false || rules.disabledRoles.some(({ role }) => role === 'finder'),
  allowed: (rules, { enforcement }) => {
    const only = enforcement?.allowedModels;
    return only === undefined || allowedBy(rules).every((id) => [...idsOf(only), ALIASES.get('offline')].includes(id));
  },
  denied: (rules, { enforcement }) =>
    !allowedBy(rules).some((id) => idsOf(enforcement?.deniedModels ?? []).includes(id)),
  fallback: (rules, { enforcement }) => enforcement?.modelFallback !== 'deny' || rules.modelFallback.value === 'deny',
  effort: (rules, { enforcement }) =>
    enforcement?.maxEffort === undefined ||
    cappedEffort(rules.maxEffort?.value ?? 'high', enforcement.maxEffort) === rules.maxEffort?.value,
  subAgents: (rules, { enforcement }) =>
    enforcement?.allowedSubAgents === undefined ||
    rules.allowedSubAgents.some(({ value }) => value.join() === enforcement.allowedSubAgents?.join()),
  endpoints: (rules, { enforcement }) =>
    enforcement?.allowedEndpoints === undefined ||
    rules.allowedEndpoints?.some(({ value }) => value.join() === enforcement.allowedEndpoints?.join()) === true,
  forced: (rules, { enforcement }) =>
    Object.entries(enforcement?.forcedSubAgents ?? {}).every(([name, said]) => {
      const found = rules.forcedAgents?.find((rule) => rule.name === name);
      if (!said.enabled) return true;
      return (
        found?.triggers.includes(said.trigger ?? 'on-write') === true &&
        (said.onFailure === 'warn' || found.onFailure === 'block') &&
        (said.model === undefined || found.model !== null)
      );
    }),
  runCost: (rules, { budgets }) => atMost(rules.runBudget.value.maxCost, budgets?.run?.maxCost),
  runTime: (rules, { budgets }) => atMost(rules.runBudget.value.maxDuration, budgets?.run?.maxDuration),
  agentTokens: (rules, { budgets }) => atMost(rules.agentBudget.value.maxTokens, budgets?.agent?.maxTokens),
  roleCost: (rules, { budgets }) =>
    atMost(agentBudget('oracle', rules).maxCost, budgets?.role?.['oracle']?.maxCost ?? budgets?.agent?.maxCost),
  day: (rules, { budgets }) => atMost(rules.dayBudget?.value.maxCost, budgets?.day?.maxCost),
  model: (rules, { budgets }) =>
    Object.entries(budgets?.model ?? {}).every(([name, { maxTokens }]) => {
      const own = rules.modelBudgets?.find(({ model }) => model.pattern === resolveModel(name, []));
      return maxTokens === undefined || atMost(own?.budget.value.maxTokens, maxTokens);
    }),
  atLimit: (rules, { budgets }) => budgets?.atLimit !== 'stop' || rules.atLimit?.value === 'stop',
  tasks: (rules, { limits: own }) => atMost(rules.maxTasksPerPlan.value, own?.maxTasksPerPlan),
  mode: (rules, { mode }) => mode?.max === undefined || !isLooser(rules.maxMode.value, mode.max),
  commands: (rules, { commands }) =>
    (commands?.deny ?? []).every((text) => rules.commands?.deny.some((rule) => rule.words.join(' ') === text) === true),
  sandbox: (rules, { sandbox }) => sandbox?.required !== true || rules.sandboxRequired?.value === true,
  hidden: (rules, { sandbox }) =>
    has(rules.box?.denyRead, sandbox?.fs?.denyRead) && has(rules.box?.denyWrite, sandbox?.fs?.denyWrite),
  writable: (rules, { sandbox }) =>
    sandbox?.fs?.allowWrite === undefined ||
    rules.box?.allowWrite.some(({ value }) => value.join() === sandbox.fs?.allowWrite?.join()) === true,
  environment: (rules, { env }) =>
    env?.passthrough === undefined ||
    (rules.box?.passthrough ?? []).every(({ value }) => env.passthrough?.includes(value) === true),
  answers: (rules, { approvals }) => atMost(rules.answerWithin?.value, approvals?.answerWithin),
};

/** The restrictions of a layer that the rules don't keep, by name; none where all is well. */
export const loosened = (rules: Rules, { settings }: Layer): readonly string[] =>
  Object.entries(KEEPS).flatMap(([name, keeps]) => (keeps(rules, settings) ? [] : [name]));
