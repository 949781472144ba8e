import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Layer, readLayer } from '../../src/config/layer.ts';
import { amount, inOrder, merge } from '../../src/config/merge.ts';
import { modelLists } from '../../src/config/model-lists.ts';
import { Settings } from '../../src/config/schema.ts';
import { toRules } from '../../src/config/to-rules.ts';
import { ModelId } from '../../src/domain/ids.ts';
import { MODES, isLooser } from '../../src/domain/mode.ts';
import type { Layer as LayerName } from '../../src/domain/reason.ts';
import { ALIASES } from '../../src/policy/aliases.ts';
import { agentBudget } from '../../src/policy/budgets.ts';
import { modelProblem } from '../../src/policy/models.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { loaded } from './some-place.ts';

/** A layer as if it had been read from a file. */
function layer(name: LayerName, settings: Settings): Layer {
  const read = readLayer(name, name === 'default' ? 'defaults' : `${name}.yml`, JSON.stringify(settings));
  if (!read.ok) throw new Error(JSON.stringify(read.fault));
  return read.value.layer;
}

const DEFAULTS = layer('default', {
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
});

function rulesOf(layers: readonly Layer[]): Rules {
  const ordered = inOrder([DEFAULTS, ...layers]);
  return toRules(ordered, merge([DEFAULTS, ...layers]), modelLists(ordered, []));
}

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const limits = fc.record({
  maxCost: maybe(fc.integer({ min: 0, max: 9 })),
  maxTokens: maybe(fc.integer({ min: 0, max: 9 })),
  maxDuration: maybe(fc.constantFrom(0, 5000, '4s', '1m', '70s')),
});
const restrictions = fc.record({
  agentOrchestration: fc.record({
    enabled: maybe(fc.boolean()),
    promptForApproval: maybe(fc.boolean()),
    maxNestingDepth: maybe(fc.integer({ min: 0, max: 8 })),
    maxParallelAgents: maybe(fc.integer({ min: 1, max: 256 })),
    roles: fc.record({ finder: fc.record({ enabled: maybe(fc.boolean()) }) }),
  }),
  enforcement: fc.record({
    allowedModels: maybe(fc.subarray([...ALIASES.keys()], { minLength: 1 })),
    deniedModels: maybe(fc.subarray([...ALIASES.keys()])),
    modelFallback: maybe(fc.constantFrom('list' as const, 'deny' as const)),
    allowedSubAgents: maybe(fc.subarray(['finder', 'oracle', 'rush'], { minLength: 1 })),
  }),
  budgets: fc.record({ run: limits, agent: limits, role: fc.record({ oracle: limits }) }),
  mode: fc.record({ max: maybe(fc.constantFrom(...MODES)) }),
});
const settings = restrictions.map((each) => Settings.parse(JSON.parse(JSON.stringify(each))));
const layerSets = fc
  .record({ managed: maybe(settings), user: maybe(settings), project: maybe(settings), typed: maybe(settings) })
  .map(({ managed, user, project, typed }) =>
    [
      managed && layer('managed', managed),
      user && layer('user', user),
      project && layer('project', project),
      typed && layer('command line', typed),
    ].filter((each) => each !== undefined),
  );

const IDS = [...new Set(ALIASES.values())].map((id) => ModelId.parse(id));
const atMost = (value: number | undefined, limit: number | undefined): boolean =>
  limit === undefined || (value ?? Infinity) <= limit;

const allowedBy = (rules: Rules): readonly ModelId[] => IDS.filter((id) => modelProblem(id, rules) === null);
const idsOf = (names: readonly string[]): readonly (string | undefined)[] => names.map((name) => ALIASES.get(name));

type Keeps = (rules: Rules, settings: Settings) => boolean;
/** Is what holds at least as strict as this layer by itself? One line a restriction. */
const KEEPS: Readonly<Record<string, Keeps>> = {
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
  subAgents: (rules, { enforcement }) =>
    enforcement?.allowedSubAgents === undefined ||
    rules.allowedSubAgents.some(({ value }) => value.join() === enforcement.allowedSubAgents?.join()),
  runCost: (rules, { budgets }) => atMost(rules.runBudget.value.maxCost, budgets?.run?.maxCost),
  runTime: (rules, { budgets }) => atMost(rules.runBudget.value.maxDuration, amountOf(budgets?.run?.maxDuration)),
  agentTokens: (rules, { budgets }) => atMost(rules.agentBudget.value.maxTokens, budgets?.agent?.maxTokens),
  roleCost: (rules, { budgets }) =>
    atMost(agentBudget('oracle', rules).maxCost, budgets?.role?.['oracle']?.maxCost ?? budgets?.agent?.maxCost),
  mode: (rules, { mode }) => mode?.max === undefined || !isLooser(rules.maxMode.value, mode.max),
};
const loosened = (rules: Rules, { settings }: Layer): readonly string[] =>
  Object.entries(KEEPS).flatMap(([name, keeps]) => (keeps(rules, settings) ? [] : [name]));
const amountOf = (value: string | number | undefined): number | undefined =>
  value === undefined ? undefined : amount(value);

describe('several layers', () => {
  it('restrict the same in every order, and never less than any of them alone (A16)', () => {
    fc.assert(
      fc.property(
        layerSets.chain((layers) =>
          fc.tuple(fc.constant(layers), fc.shuffledSubarray(layers, { minLength: layers.length })),
        ),
        ([layers, shuffled]) => {
          const rules = rulesOf(layers);
          expect(rulesOf(shuffled)).toEqual(rules);
          for (const each of layers) expect(loosened(rules, each)).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of which one is a project alone never exceed the defaults', () => {
    fc.assert(
      fc.property(settings, (each) => {
        const rules = rulesOf([layer('project', each)]);
        expect(rules.maxParallelAgents.value).toBeLessThanOrEqual(4);
        expect(rules.runBudget.value.maxCost ?? Infinity).toBeLessThanOrEqual(5);
        expect(agentBudget('oracle', rules).maxCost ?? Infinity).toBeLessThanOrEqual(1);
        expect(rules.promptForApproval.value).toBe(true);
      }),
    );
  });

  it('let the person go beyond the defaults, which are nobody’s restriction', () => {
    const { rules } = loaded(
      { user: 'agentOrchestration: { maxParallelAgents: 16, promptForApproval: false }' },
      { maxCost: 20 },
    );
    expect([rules.maxParallelAgents.value, rules.promptForApproval.value, rules.runBudget.value.maxCost]).toEqual([
      16,
      false,
      20,
    ]);
  });

  it('prefer the nearest to the person', () => {
    const user = 'mode: { default: human }\nagentOrchestration: { roles: { oracle: { defaultModel: gpt-5 } } }';
    expect(loaded({ user }).rules.mode).toBe('human');
    const typed = loaded({ user }, { mode: 'yolo', roleModels: { oracle: 'opus-4.5' } });
    expect(typed.rules.mode).toBe('yolo');
    expect(typed.roles.find(({ name }) => name === 'oracle')?.models).toEqual([
      'opus-4.5',
      'o3',
      'gpt-5',
      'sonnet-4.5',
    ]);
  });
});

describe('budgets of layers', () => {
  it('let a file give one role more than the rest, within what others allow', () => {
    const user = 'budgets: { agent: { maxCost: 2 }, role: { oracle: { maxCost: 6, maxDuration: 10m } } }';
    expect(agentBudget('oracle', loaded({ user }).rules)).toEqual({ maxCost: 6, maxDuration: 600_000 });
    expect(agentBudget('finder', loaded({ user }).rules)).toEqual({ maxCost: 2 });
    const project = 'budgets: { agent: { maxCost: 3 } }';
    expect(agentBudget('oracle', loaded({ user, project }).rules).maxCost).toBe(3);
  });

  it('know whether anybody set a limit on cost (D10)', () => {
    expect(loaded().rules.costLimitSet).toBe(false);
    expect(loaded({ project: 'budgets: { role: { oracle: { maxCost: 1 } } }' }).rules.costLimitSet).toBe(true);
    expect(loaded({}, { maxCost: 3 }).rules.costLimitSet).toBe(true);
    expect(loaded({}, { maxTokens: 3 }).rules.costLimitSet).toBe(false);
  });

  it('keep a zero: none may be used (D17)', () => {
    expect(loaded({ project: 'budgets: { run: { maxCost: 0 } }' }).rules.runBudget.value.maxCost).toBe(0);
  });
});

describe('the hash of a policy', () => {
  it('is the same for the same rules, and another for others', () => {
    const { policyHash } = loaded().rules;
    expect(policyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(loaded().rules.policyHash).toBe(policyHash);
    expect(loaded({ project: 'mode: { max: human }' }).rules.policyHash).not.toBe(policyHash);
  });
});
