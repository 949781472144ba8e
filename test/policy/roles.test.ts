import { describe, expect, it } from 'vitest';
import { RoleName } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/agents/role.ts';
import { agentBudget, builtIn, priceProblem, type Rules } from '../../src/policy/rules.ts';
import { wordsOf } from '../../src/policy/models.ts';
import { plannableRoles, roleNamed, roleProblem } from '../../src/policy/roles.ts';
import { someRules, written } from './some-rules.ts';

const role = (name: string, planned = true): Role => ({
  name: RoleName.parse(name),
  description: `${name}s`,
  prompt: 'do it',
  tools: ['file_search'],
  capabilities: ['read'],
  models: ['haiku-4.5'],
  iterations: 20,
  planned,
  source: 'built-in',
});
const ROLES = [role('main', false), role('finder'), role('oracle'), role('explore', false), role('code', false)];

describe('a role', () => {
  const list = { value: ['finder'], from: written('enforcement.allowedSubAgents: [finder]', 3) };

  it('that a layer does not list is refused in the words of the first design (O054, O135)', () => {
    expect(roleProblem('oracle', someRules({ allowedSubAgents: [list] }), ROLES)).toEqual({
      text: "Sub-agent role 'oracle' is not allowed by enterprise policy",
      reason: list.from,
    });
    expect(roleProblem('finder', someRules({ allowedSubAgents: [list] }), ROLES)).toBeNull();
  });

  it('must be in the list of every layer', () => {
    const other = { value: ['oracle'], from: written('enforcement.allowedSubAgents: [oracle]', 8) };
    expect(roleProblem('finder', someRules({ allowedSubAgents: [list, other] }), ROLES)?.reason).toEqual(other.from);
  });

  it('that is disabled, unknown or the root is refused (O131)', () => {
    const from = written('agentOrchestration.roles.finder.enabled: false', 5);
    expect(roleProblem('finder', someRules({ disabledRoles: [{ role: 'finder', from }] }), ROLES)).toEqual({
      text: "Role 'finder' is disabled",
      reason: from,
    });
    expect(roleProblem('constructor', someRules(), ROLES)).toEqual({
      text: "There is no role 'constructor'; known roles: finder, oracle, explore, code",
      reason: builtIn('unknown role "constructor"'),
    });
    expect(roleProblem('main', someRules(), ROLES)?.text).toBe("Role 'main' is the root of a run, never a sub-agent");
  });

  it('of another program is refused where such agents are denied, and no other is', () => {
    const codex = { ...role('codex'), models: ['acp/codex'] };
    const from = written('enforcement.foreignAgents: deny', 4);
    const rules = (value: 'allow' | 'ask' | 'deny'): Rules => someRules({ foreignAgents: { value, from } });
    expect(roleProblem('codex', rules('deny'), [...ROLES, codex])).toEqual({
      text: "'codex' is an agent of another program",
      reason: from,
    });
    expect(roleProblem('finder', rules('deny'), [...ROLES, codex])).toBeNull();
    for (const value of ['allow', 'ask'] as const)
      expect(roleProblem('codex', rules(value), [...ROLES, codex])).toBeNull();
    expect(roleProblem('codex', someRules(), [...ROLES, codex])).toBeNull();
  });

  it('with a shell can use models without tool calls; one of the text protocol uses no others', () => {
    expect(wordsOf({ capabilities: ['read', 'shell'] })).toBe('can');
    expect(wordsOf({ capabilities: ['read', 'write'] })).toBe('never');
    expect(wordsOf({ protocol: 'text', capabilities: ['shell'] })).toBe('only');
  });

  it('is known by the names of the Task tool of other programs as well (D22)', () => {
    expect(
      ['Explore', 'explore', 'general-purpose', 'Finder'].map((name) => roleNamed(name, ROLES)?.name ?? null),
    ).toEqual(['explore', 'explore', 'code', null]);
    const rules = someRules({ allowedSubAgents: [{ value: ['code'], from: list.from }] });
    expect(roleProblem('general-purpose', rules, ROLES)).toBeNull();
  });

  it('is for plans when it is planned and allowed; main always is, where nobody switched it off (D8, D37)', () => {
    const names = (rules: Rules): readonly string[] => plannableRoles(rules, ROLES).map(({ name }) => name);
    expect(names(someRules())).toEqual(['main', 'finder', 'oracle']);
    expect(names(someRules({ allowedSubAgents: [list] }))).toEqual(['main', 'finder']);
    expect(names(someRules({ disabledRoles: [{ role: 'main', from: list.from }] }))).toEqual(['finder', 'oracle']);
  });
});

describe('budgets', () => {
  it('of a role take the place of the general one, limit by limit', () => {
    const rules = someRules({
      agentBudget: { value: { maxCost: 1, maxTokens: 1000 }, from: builtIn('budgets.agent') },
      roleBudgets: [
        { role: 'oracle', budget: { value: { maxCost: 2 }, from: written('budgets.role.oracle.maxCost: 2', 4) } },
      ],
    });
    expect(agentBudget('oracle', rules)).toEqual({ maxCost: 2, maxTokens: 1000 });
    expect(agentBudget('finder', rules)).toEqual({ maxCost: 1, maxTokens: 1000 });
  });

  it('refuse a model without a known price only where somebody set a cost limit (D10)', () => {
    const from = written('budgets.run.maxCost: 3', 2);
    const set = someRules({ costLimitSet: true, runBudget: { value: { maxCost: 3 }, from } });
    expect(priceProblem(null, someRules())).toBeNull();
    expect(priceProblem({ input: 1, output: 5 }, set)).toBeNull();
    expect(priceProblem(null, set)).toEqual({
      ...from,
      rule: 'budgets.run.maxCost: 3: the price of this model is unknown, so the limit cannot be enforced; set it in `prices` of its provider',
    });
  });

  it('refuse a model without a known price by the limit of a role, where no other is set', () => {
    const from = written('budgets.role.oracle.maxCost: 3', 2);
    const roleBudgets = [{ role: 'oracle', budget: { value: { maxCost: 3 }, from } }];
    expect(priceProblem(null, someRules({ costLimitSet: true, roleBudgets }))).toEqual({
      ...from,
      rule: 'budgets.role.oracle.maxCost: 3: the price of this model is unknown, so the limit cannot be enforced; set it in `prices` of its provider',
    });
  });

  it('refuse a model without a known price by the program itself where the limit on cost is one of a day', () => {
    const from = written('budgets.day.maxCost: 3', 2);
    const set = someRules({ costLimitSet: true, dayBudget: { value: { maxCost: 3 }, from } });
    expect(priceProblem(null, set)).toEqual(
      builtIn(
        'a cost limit: the price of this model is unknown, so the limit cannot be enforced; set it in `prices` of its provider',
      ),
    );
  });
});
