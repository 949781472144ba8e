import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { RoleName } from '../../src/domain/ids.ts';
import { deciding, meet } from '../../src/policy/intersect-rules.ts';
import { agentCeiling, builtIn, type Rules, runCeiling } from '../../src/policy/rules.ts';
import { someRules, written } from './some-rules.ts';
import { layerSets, loosened, rulesOf } from '../support/layer-sets.ts';

/** One model to pin to: of two pins neither is the stricter, and the standing one stays. */
const layers = layerSets(['o3']);
const rules = layers.map(rulesOf);
/** Every field of the rules: a new one has to be met, and to be named here. */
const FIELDS: Readonly<Record<keyof Rules, true>> = {
  policyHash: true,
  policyHashes: true,
  enabled: true,
  autoDetect: true,
  promptForApproval: true,
  promptForModels: true,
  maxNestingDepth: true,
  maxParallelAgents: true,
  onFailure: true,
  allowedModels: true,
  deniedModels: true,
  modelFallback: true,
  allowedSubAgents: true,
  disabledRoles: true,
  runBudget: true,
  runCeiling: true,
  agentBudget: true,
  roleBudgets: true,
  costLimitSet: true,
  maxTasksPerPlan: true,
  maxAgentsPerRun: true,
  maxChecksPerTask: true,
  maxCheckTime: true,
  mode: true,
  maxMode: true,
  commands: true,
  sandboxRequired: true,
  allowedEndpoints: true,
  forcedAgents: true,
  dayBudget: true,
  modelBudgets: true,
  atLimit: true,
  answerWithin: true,
  permissions: true,
  permissionsHeld: true,
  maxEffort: true,
  notifications: true,
  remoteAnswers: true,
  foreignAgents: true,
  box: true,
  children: true,
};

describe('two sets of rules', () => {
  it('meet the same from both sides, in what decides', () => {
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        expect(deciding(meet(a, b))).toEqual(deciding(meet(b, a)));
      }),
      { numRuns: 300 },
    );
  });

  it('decide the same where one says nothing and the other the loosest', () => {
    const rule = <T>(value: T): { readonly value: T; readonly from: ReturnType<typeof builtIn> } => ({
      value,
      from: builtIn('rule'),
    });
    const said = deciding(someRules());
    expect(deciding(someRules({ foreignAgents: rule('allow'), sandboxRequired: rule(false) }))).toEqual(said);
    expect(deciding(someRules({ foreignAgents: rule('ask') }))).not.toEqual(said);
    expect(deciding(someRules({ sandboxRequired: rule(true) }))).not.toEqual(said);
  });

  it('have a cost limit where one of them has', () => {
    const [set, none] = [someRules({ costLimitSet: true }), someRules({ costLimitSet: false })];
    expect([meet(set, none), meet(none, set), meet(none, none)].map(({ costLimitSet }) => costLimitSet)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('meet with a third in any order', () => {
    fc.assert(
      fc.property(rules, rules, rules, (a, b, c) => {
        expect(deciding(meet(meet(a, b), c))).toEqual(deciding(meet(a, meet(b, c))));
      }),
      { numRuns: 300 },
    );
  });

  it('meet in nothing looser than either: to meet either again changes nothing', () => {
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        const met = meet(a, b);
        expect(meet(met, a)).toBe(met);
        expect(meet(met, b)).toBe(met);
      }),
      { numRuns: 300 },
    );
  });

  it('that are the same are left as they are, with their hash', () => {
    fc.assert(
      fc.property(rules, (each) => {
        expect(meet(each, each)).toBe(each);
      }),
    );
  });

  it('name the file that now sets a limit which was the program’s own, where it is the same', () => {
    const [own, file] = [builtIn('budgets.agent'), written('budgets.agent.maxTokens: 1000', 4)];
    const value = { maxTokens: 1000, maxCost: 1 };
    const standing = someRules({ agentBudget: { value, from: own, each: { maxTokens: own, maxCost: own } } });
    const fewer = { maxTasksPerPlan: { value: 3, from: file } };
    const set = someRules({ agentBudget: { value: { maxTokens: 1000 }, from: file }, ...fewer });
    expect(meet(standing, set).agentBudget).toEqual({ value, from: own, each: { maxTokens: file, maxCost: own } });
    const other = someRules({ agentBudget: { value: {}, from: file }, ...fewer });
    expect(meet(standing, other).agentBudget).toBe(standing.agentBudget);
  });

  it('leave what the program itself sets no rule where the other set limits something else, or prefers it', () => {
    const [own, file] = [builtIn('budgets'), written('budgets.run.maxTokens: 1000', 4)];
    const limit = { value: { maxCost: 10 }, from: own, each: { maxCost: own } };
    const standing = someRules({ runBudget: limit, agentBudget: limit });
    const tokens = { value: { maxTokens: 1000, maxCost: 10 }, from: own, each: { maxTokens: file, maxCost: own } };
    const ofRole = { role: RoleName.parse('oracle'), budget: { value: { maxTokens: 1000 }, from: file } };
    const next = { runBudget: tokens, agentBudget: limit, roleBudgets: [ofRole] };
    const met = meet(standing, someRules({ ...next, onFailure: { value: 'skip', from: file } }));
    const ceilings = (key: keyof Budget): readonly unknown[] => [
      runCeiling(key, met),
      agentCeiling('oracle', key, met),
    ];
    expect(ceilings('maxCost')).toEqual([{ rule: own }, { rule: own }]);
    expect(ceilings('maxTokens')).toEqual([
      { most: 1000, rule: file },
      { most: 1000, rule: file },
    ]);
  });

  it('name for each limit of a budget the file that has the smaller one, and no rule of the program beside a file', () => {
    const [one, other, own] = [written('one', 1), written('other', 2), builtIn('own')];
    const standing = { value: { maxCost: 2, maxTokens: 10 }, from: one, each: { maxCost: one, maxTokens: own } };
    const next = { value: { maxCost: 3, maxTokens: 20, maxDuration: 5 }, from: other };
    const met = meet(someRules({ runBudget: standing }), someRules({ runBudget: next }));
    expect(met.runBudget).toEqual({
      value: { maxCost: 2, maxTokens: 10, maxDuration: 5 },
      from: one,
      each: { maxCost: one, maxTokens: other, maxDuration: other },
    });
  });

  it('name the place of the limit of a role where that is the stricter one', () => {
    const budget = (role: string, maxCost: number, line: number): Rules['roleBudgets'][number] => ({
      role: RoleName.parse(role),
      budget: { value: { maxCost }, from: written(`budgets.role.${role}`, line) },
    });
    const standing = someRules({ roleBudgets: [budget('finder', 0.5, 1), budget('oracle', 0.2, 2)] });
    const next = someRules({ roleBudgets: [budget('finder', 0.3, 3), budget('oracle', 0.4, 4)] });
    const met = meet(standing, next).roleBudgets.map(({ role, budget: { value, from } }) => [
      role,
      value.maxCost,
      from.line,
    ]);
    expect(met).toEqual([
      ['finder', 0.3, 3],
      ['oracle', 0.2, 2],
    ]);
  });

  it('keep the standing limit of tasks, with the place where it is written, where the other is the same', () => {
    const [standing, other] = [
      written('agentOrchestration.maxTasks: 3', 1),
      written('agentOrchestration.maxTasks: 3', 9),
    ];
    const rule = (from: typeof standing) => someRules({ maxTasksPerPlan: { value: 3, from } });
    expect(meet(rule(standing), rule(other)).maxTasksPerPlan).toEqual({ value: 3, from: standing });
    const mode = (from: typeof standing) => someRules({ maxMode: { value: 'confirm', from } });
    expect(meet(mode(standing), mode(other)).maxMode).toEqual({ value: 'confirm', from: standing });
  });

  it('meet in what every layer of both demands', () => {
    fc.assert(
      fc.property(layers, layers, (a, b) => {
        const met = meet(rulesOf(a), rulesOf(b));
        for (const each of [...a, ...b]) expect(loosened(met, each)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('are met in every field', () => {
    const known = fc.sample(rules, 200).flatMap((each) => Object.keys(each));
    expect([...new Set(known)].filter((field) => !(field in FIELDS))).toEqual([]);
  });
});
