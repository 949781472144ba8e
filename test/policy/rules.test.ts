/** How much a limit may be at most, which rule says so, and what a written limit means for a model without a price. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { agentBudget, agentCeiling, builtIn, priceProblem, runCeiling } from '../../src/policy/rules.ts';
import { someRules, written } from './some-rules.ts';

const [everyone, oracle, run] = [
  written('budgets.agent', 1),
  written('budgets.roles.oracle', 2),
  written('budgets.run', 3),
];
const most = (value: Budget, from = everyone) => ({ value, from });

describe('the ceiling of an agent', () => {
  const rules = someRules({
    agentBudget: most({ maxTokens: 1000, maxCost: 1 }),
    roleBudgets: [
      { role: 'finder', budget: most({ maxTokens: 7 }, written('budgets.roles.finder', 9)) },
      { role: 'oracle', budget: most({ maxTokens: 5000 }, oracle) },
    ],
  });

  it('is that of its role, and for each limit that this leaves out the general one', () => {
    expect(agentCeiling('oracle', 'maxTokens', rules)).toEqual({ most: 5000, rule: oracle });
    expect(agentCeiling('oracle', 'maxCost', rules)).toEqual({ most: 1, rule: everyone });
    expect(agentCeiling('explore', 'maxTokens', rules)).toEqual({ most: 1000, rule: everyone });
    expect(agentCeiling('oracle', 'maxDuration', rules)).toEqual({ most: undefined, rule: everyone });
    expect(agentBudget('oracle', rules)).toEqual({ maxTokens: 5000, maxCost: 1 });
    expect(agentBudget('explore', rules)).toEqual({ maxTokens: 1000, maxCost: 1 });
  });

  it('is none where the figure is the program’s own, and names the rule of each limit', () => {
    const own = builtIn('budgets.agent.maxTokens');
    const budget = { ...most({ maxTokens: 1000, maxCost: 1 }), each: { maxTokens: own, maxCost: oracle } };
    const mixed = someRules({ agentBudget: budget });
    expect(agentCeiling('oracle', 'maxTokens', mixed)).toEqual({ most: undefined, rule: own });
    expect(agentCeiling('oracle', 'maxCost', mixed)).toEqual({ most: 1, rule: oracle });
  });
});

describe('the ceiling of the run', () => {
  it('is that of its budget, or the one before a person typed less', () => {
    const rules = someRules({ runBudget: most({ maxCost: 2 }, run) });
    expect(runCeiling('maxCost', rules)).toEqual({ most: 2, rule: run });
    expect(runCeiling('maxCost', { ...rules, runCeiling: most({ maxCost: 5 }) })).toEqual({ most: 5, rule: everyone });
  });
});

describe('a model without a price', () => {
  const costs = (changes: Parameters<typeof someRules>[0]): string | undefined =>
    priceProblem(null, someRules({ costLimitSet: true, ...changes }))?.rule.split(':')[0];

  it('is refused where a cost limit is written, with the first such rule', () => {
    const none = { runBudget: most({}, run), agentBudget: most({}) };
    const role = { role: 'oracle', budget: most({ maxCost: 1 }, oracle) };
    const other = { role: 'finder', budget: most({ maxTokens: 1 }, written('budgets.roles.finder', 9)) };
    expect(costs({ runBudget: most({ maxCost: 2 }, run) })).toBe('budgets.run');
    expect(costs({ ...none, agentBudget: most({ maxCost: 2 }), roleBudgets: [role] })).toBe('budgets.agent');
    expect(costs({ ...none, roleBudgets: [other, role] })).toBe('budgets.roles.oracle');
    expect(costs({ ...none, runBudget: most({ maxCost: 2 }, builtIn('budgets.run')) })).toBe('a cost limit');
  });

  it('is no problem where no limit on cost is written, nor is one with a price', () => {
    expect(priceProblem(null, someRules({ costLimitSet: false }))).toBeNull();
    expect(priceProblem({ input: 1, output: 1 }, someRules({ costLimitSet: true }))).toBeNull();
  });
});
