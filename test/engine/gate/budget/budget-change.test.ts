/** Budgets that are changed while a run goes on: within the rules, of agents that can still use one, and told in words. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../../../src/domain/budget.ts';
import type { AgentId } from '../../../../src/domain/ids.ts';
import { setBudget, tighten } from '../../../../src/engine/gate/budget/budget-change.ts';
import { openBudgets } from '../../../../src/engine/gate/budget/budgets.ts';
import { openRecorder } from '../../../../src/engine/gate/recorder.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import type { Rules } from '../../../../src/policy/rules.ts';
import { written } from '../../../policy/some-rules.ts';
import { memoryLog } from '../../../support/log.ts';
import { AGENT, RULES } from '../../../support/run.ts';
import { created, finished, SESSION, status } from '../../../support/story.ts';
import { fakeWorld } from '../../../support/world.ts';

const [ROOT, S1, S2, S3] = [AGENT('ROOT'), AGENT('ROOT::S1'), AGENT('ROOT::S2'), AGENT('ROOT::S3')];
const from = written('budgets.agent', 3);
const rules = (agentBudget: Budget, runBudget: Budget = {}): Rules => ({
  ...RULES,
  agentBudget: { value: agentBudget, from },
  runBudget: { value: runBudget, from: written('budgets.run', 4) },
});

/** A run with main and an agent of 1000 tokens and a dollar. */
function running(inForce: Rules = rules({}), ...more: readonly EventBody[]) {
  const recorder = openRecorder(memoryLog(), SESSION, fakeWorld());
  const own = { maxTokens: 1000, maxCost: 1 };
  recorder.record(created(ROOT), created(S1, { budget: own }), status(S1, 'running'), ...more);
  const { limits } = openBudgets();
  const withdrawn: AgentId[] = [];
  for (const agent of [ROOT, S1])
    limits.open.set(agent, { agent, ended: new Promise(() => undefined), onChange: () => withdrawn.push(agent) });
  return {
    recorder,
    withdrawn,
    set: (agent: AgentId, budget: Budget, whyNotRevivable: string | null = 'it is over') =>
      setBudget({ recorder, rules: () => inForce, limits, whyNotRevivable: () => whyNotRevivable }, agent, budget),
    budgetOf: (agent: AgentId): Budget | undefined => recorder.state().agents.get(agent)?.budget,
    changes: () =>
      [...recorder.each()].flatMap((event) =>
        event.type === 'budget.changed' ? [[event.agent, event.budget, event.by]] : [],
      ),
  };
}

describe('a budget that a person sets', () => {
  it('changes the limits that are named, says which, and takes back the questions about that agent alone', () => {
    const { set, budgetOf, withdrawn } = running();
    expect(set(S1, { maxTokens: 2000 })).toEqual({ ok: true, value: 'finder may use 2000 tokens' });
    expect([budgetOf(S1), withdrawn]).toEqual([{ maxTokens: 2000, maxCost: 1 }, [S1]]);
    expect(set(S1, { maxCost: 2.5, maxDuration: 3_600_000 })).toEqual({
      ok: true,
      value: 'finder may use $2.50, 3600 s',
    });
    expect(set(S1, { maxCost: 0.5 })).toEqual({ ok: true, value: 'finder may use $0.50' });
    expect(set(S1, { maxTokens: 3000 })).toEqual({ ok: true, value: 'finder may use 3000 tokens' });
  });

  it('may be that of the run', () => {
    const { set, recorder, withdrawn } = running();
    expect(set(ROOT, { maxCost: 3 })).toEqual({ ok: true, value: 'the run may use $3.00' });
    expect([recorder.state().budget, withdrawn]).toEqual([{ maxCost: 3 }, [ROOT]]);
  });

  it('is no more than the rules allow, and the rule is named', () => {
    const { set, budgetOf } = running(rules({ maxTokens: 1500, maxCost: 5 }));
    const bound = 'at most 1500 tokens: budgets.agent (user, ~/config.yml:3)';
    expect(set(S1, { maxTokens: 1500 })).toEqual({ ok: true, value: 'finder may use 1500 tokens' });
    expect(set(S1, { maxTokens: 1501 })).toEqual({ ok: false, fault: `no change; ${bound}` });
    expect(set(S1, { maxTokens: 9000, maxCost: 2 })).toEqual({ ok: true, value: `finder may use $2.00; ${bound}` });
    expect(budgetOf(S1)).toEqual({ maxTokens: 1500, maxCost: 2 });
  });

  it('that changes nothing is recorded by nobody', () => {
    const { set, changes, withdrawn } = running();
    expect(set(S1, { maxTokens: 1000 })).toEqual({ ok: false, fault: 'no change' });
    expect(set(S1, {})).toEqual({ ok: false, fault: 'no change' });
    expect([changes(), withdrawn]).toEqual([[], []]);
  });

  it('is of use to an agent that has ended only where a message could let it go on', () => {
    const { set } = running(rules({}), finished(S1));
    expect(set(S1, { maxTokens: 2000 })).toEqual({
      ok: false,
      fault: 'finder has ended and cannot use a budget',
    });
    expect(set(S1, { maxTokens: 2000 }, null)).toEqual({ ok: true, value: 'finder may use 2000 tokens' });
    expect(set(S2, { maxTokens: 2000 })).toEqual({ ok: false, fault: 'there is no agent ROOT::S2' });
  });

  it('may be given to the run whatever became of main', () => {
    const { set } = running(rules({}), finished(ROOT));
    expect(set(ROOT, { maxTokens: 2000 })).toEqual({ ok: true, value: 'the run may use 2000 tokens' });
  });
});

describe('rules that are tightened', () => {
  it('lower what is above them: of the run and of agents that are not over, but not of mandatory reviews', () => {
    const forced = { trigger: 'on-commit', tree: 't' } as const;
    const review = Object.assign(created(S3, { budget: { maxTokens: 9000 } }), { forced });
    const over = [created(S2, { budget: { maxTokens: 9000 } }), finished(S2)];
    const { recorder, changes } = running(rules({}), ...over, review);
    tighten(recorder, rules({ maxTokens: 1000 }, { maxCost: 4 }));
    expect(changes()).toEqual([[ROOT, { maxCost: 4 }, 'rules']]);
    tighten(recorder, rules({ maxTokens: 999 }, { maxCost: 4 }));
    expect(changes().slice(1)).toEqual([[S1, { maxTokens: 999, maxCost: 1 }, 'rules']]);
    tighten(recorder, rules({ maxTokens: 999 }, { maxCost: 4 }));
    expect(changes()).toHaveLength(2);
  });

  it('lower the budget that the run began with, and keep its limits that are tighter', () => {
    const budget = { maxCost: 9, maxTokens: 500 };
    const resumed = { type: 'session.resumed', policyHash: 'rules', version: '0', budget } as const;
    const { recorder, changes } = running(rules({}), resumed);
    tighten(recorder, rules({}, { maxCost: 4, maxTokens: 900 }));
    expect(changes()).toEqual([[ROOT, { maxCost: 4, maxTokens: 500 }, 'rules']]);
  });
});
