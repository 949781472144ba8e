import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentBudget, runCeiling } from '../../../src/policy/rules.ts';
import { loosened, rulesOf, shuffledSets, someLayer, someSettings } from '../../support/layer-sets.ts';
import { loaded } from '../some-place.ts';

describe('several layers', () => {
  it('A16: restrict the same in every order, and never less than any of them alone', () => {
    fc.assert(
      fc.property(shuffledSets, ([layers, shuffled]) => {
        const rules = rulesOf(layers);
        expect(rulesOf(shuffled)).toEqual(rules);
        for (const each of layers) expect(loosened(rules, each)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('of which one is a project alone never exceed the defaults', () => {
    fc.assert(
      fc.property(someSettings(['o3']), (each) => {
        const rules = rulesOf([someLayer('project', each)]);
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

  it('know whether anybody set a cost limit (D10)', () => {
    expect(loaded().rules.costLimitSet).toBe(false);
    expect(loaded({ project: 'budgets: { role: { oracle: { maxCost: 1 } } }' }).rules.costLimitSet).toBe(true);
    expect(loaded({}, { maxCost: 3 }).rules.costLimitSet).toBe(true);
    expect(loaded({}, { maxTokens: 3 }).rules.costLimitSet).toBe(false);
  });

  it('of the run that were typed may be raised to what the files say, and no further; nothing else is', () => {
    const most = (user: string, flags: Parameters<typeof loaded>[1]): unknown =>
      (['maxCost', 'maxTokens'] as const).map((limit) => runCeiling(limit, loaded({ user }, flags).rules).most);
    const files = 'budgets: { run: { maxCost: 8 } }';
    expect(most(files, { maxCost: 2 })).toEqual([8, undefined]);
    expect(most(files, {})).toEqual([8, undefined]);
    expect(most('limits: { maxTasksPerPlan: 50 }', { maxCost: 2, maxTokens: 9 })).toEqual([undefined, undefined]);
    expect(loaded({ user: files }, { maxCost: 2 }).rules.runBudget.value.maxCost).toBe(2);
    expect(loaded({ user: files }).rules).not.toHaveProperty('runCeiling');
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
