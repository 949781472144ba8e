/** At a limit a choice: what is asked, what an answer does, who waits for it, and what holds when nobody answers. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { toMicro } from '../../src/domain/ids.ts';
import { committed } from '../../src/events/queries.ts';
import type { ApprovalRequest, MimirEvent } from '../../src/events/event.ts';
import { scriptedModel } from '../support/scripted.ts';
import { builtIn, type Rule, type Rules } from '../../src/policy/rules.ts';
import { fault } from '../support/faulty.ts';
import {
  AGENT,
  calling,
  filed,
  planOf,
  RULES,
  type Script,
  type Setting,
  type TestRun,
  testRun,
} from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const ROOT = AGENT('ROOT');
const from = { rule: 'budgets.agent.maxTokens: 40000', layer: 'user', file: '~/config.yml', line: 3 } as const;
const most = (value: Budget): Rule<Budget> => ({ value, from });
const byDefault = (value: Budget): Rules['agentBudget'] => {
  const rule = builtIn('budgets.agent');
  return { value, from: rule, each: { maxTokens: rule, maxCost: rule } };
};
const planWith = (budget: Budget): unknown => ({ tasks: [{ id: 't', description: 'do t', role: 'finder', budget }] });

/** An agent that reads until it was answered `calls` times, 2000 tokens each. */
const reading =
  (calls: number): Script =>
  ({ purpose }, n) =>
    purpose.is === 'work' && n < calls
      ? { ...calling(`read ${n}`), text: `part ${n}`, usage: { input: 2000 } }
      : undefined;

const limited = (setting: Setting = {}): TestRun =>
  testRun({
    ...filed(planWith({ maxTokens: 12_000 })),
    rules: { ...RULES, agentBudget: most({ maxTokens: 40_000 }) },
    script: reading(4),
    ...setting,
  });

async function asked(run: TestRun): Promise<{ readonly id: string; readonly request: ApprovalRequest }> {
  const { approvals } = await run.until((state) => state.approvals.length > 0);
  const [first] = approvals;
  if (first === undefined) throw new Error('nothing is asked');
  return first;
}

async function answers(run: TestRun, text: string): Promise<void> {
  const { id } = await asked(run);
  await run.tell({ do: 'answer', approval: id, allow: true, scope: 'once', text });
}

const ofType = <T extends MimirEvent['type']>(run: TestRun, type: T): readonly Extract<MimirEvent, { type: T }>[] =>
  run.events().filter((event): event is Extract<MimirEvent, { type: T }> => event.type === type);

describe('at a limit a person', () => {
  it('is told whose limit it is, what is used, what the rules allow at most, and what may be answered', async () => {
    const run = limited();
    const { request } = await asked(run);
    expect(request).toMatchObject({
      action: 'budget',
      title: "finder's budget of 12000 tokens is used up",
      unsandboxed: false,
      adds: 1,
    });
    expect(request.options.map((option) => option.split(':')[0])).toEqual(['finish', 'add', 'stop']);
    expect(request.exact).toContain('At most 40000 tokens: budgets.agent.maxTokens: 40000 (user, ~/config.yml:3).');
    expect(run.state().agents.get(S1)?.status).toBe('waiting');
    run.stop('enough');
    await run.result;
  });

  it('is offered what two more calls cost at most, their answers included', async () => {
    const catalogue = [scriptedModel('scripted/fast', { aliases: ['fast'], price: { input: 1, output: 100 } })];
    const run = limited({ ...filed(planWith({ maxCost: 0.01 })), catalogue, rules: RULES });
    const { request } = await asked(run);
    const [, total] = /\$(\d+\.\d+) in total/.exec(request.options[1] ?? '') ?? [];
    expect(Number(total)).toBeGreaterThan((2 * 4096 * 100) / 1_000_000);
    run.stop('enough');
    await run.result;
  });

  it('is offered as many tokens as two more calls may need, their answers included', async () => {
    const run = limited({ ...filed(planWith({ maxTokens: 3000 })), rules: RULES });
    const { request } = await asked(run);
    const [, total] = /(\d+) tokens in total/.exec(request.options[1] ?? '') ?? [];
    expect(Number(total)).toBeGreaterThan(2 * 4096);
    run.stop('enough');
    await run.result;
  });

  it('adds as much as is offered, and the agent goes on', async () => {
    const run = limited();
    const { request } = await asked(run);
    await answers(run, request.options[1] ?? '');
    expect((await run.result).success).toBe(true);
    const [changed] = ofType(run, 'budget.changed');
    expect(changed).toMatchObject({ agent: S1, by: 'person' });
    expect(request.options[1]).toContain(`${changed?.budget.maxTokens} tokens in total`);
    expect(ofType(run, 'budget.exhausted')).toEqual([]);
  });

  it('adds what was typed, never above what the rules allow: then it is asked again, with the rule', async () => {
    const run = limited();
    await answers(run, '1M');
    const { request } = await asked(run);
    expect(request.exact.split('\n')[0]).toMatch(/^1000000 tokens more would be above 40000 tokens: budgets\.agent/);
    await answers(run, 'add 20k');
    expect((await run.result).success).toBe(true);
    expect(ofType(run, 'budget.changed').map(({ budget }) => budget.maxTokens)).toHaveLength(1);
    expect(run.state().agents.get(S1)?.budget.maxTokens).toBeLessThanOrEqual(40_000);
  });

  it('denies, and nothing is added whatever the denial says', async () => {
    const run = limited();
    const { id } = await asked(run);
    await run.tell({ do: 'answer', approval: id, allow: false, scope: 'once', text: 'add 20k' });
    await run.result;
    expect(ofType(run, 'budget.changed')).toEqual([]);
    expect(run.state().agents.get(S1)?.outcome).toBe('partial');
  });

  it('is not offered more where the rules allow no more, and is told the rule', async () => {
    const run = limited({ rules: { ...RULES, agentBudget: most({ maxTokens: 12_000 }) } });
    const { request } = await asked(run);
    expect(request.options.map((option) => option.split(':')[0])).toEqual(['finish', 'stop']);
    expect(request.exact).toContain('No more may be added: budgets.agent.maxTokens');
    await answers(run, 'add 5k');
    expect((await asked(run)).request.exact).toMatch(/^No more may be added/);
    await answers(run, '');
    await run.result;
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'partial', summary: 'part 1' });
  });

  it('may add more where only the program has a limit of its own: nobody set it', async () => {
    const run = limited({ rules: { ...RULES, agentBudget: byDefault({ maxTokens: 12_000 }) } });
    expect((await asked(run)).request.exact).toContain('No upper limit is set.');
    await answers(run, 'add 100k');
    expect((await run.result).success).toBe(true);
  });

  it.each(['finish', 'no'])('ends the agent with what it has by the answer "%s"', async (word) => {
    const run = limited();
    const { id } = await asked(run);
    await run.tell({
      do: 'answer',
      approval: id,
      allow: word !== 'no',
      scope: 'once',
      text: word === 'no' ? '' : word,
    });
    await run.result;
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'partial', summary: 'part 1' });
    expect(ofType(run, 'budget.exhausted')).toMatchObject([{ agent: S1, scope: 'agent', what: 'tokens' }]);
  });

  it('stops the run so that it can be resumed', async () => {
    const run = limited();
    await answers(run, 'stop');
    const result = await run.result;
    expect([result.status, result.errorIs]).toEqual(['stopped', 'budget']);
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: null, status: 'interrupted' });
  });

  it('goes on with the cheapest model that may be used and fits', async () => {
    const catalogue = [
      scriptedModel('scripted/dear', { aliases: ['fast'], price: { input: 50, output: 250 } }),
      scriptedModel('scripted/cheap', { aliases: ['cheap'], price: { input: 1, output: 5 } }),
      scriptedModel('scripted/cheapest', { price: { input: 0.1, output: 0.5 }, tools: false }),
      scriptedModel('scripted/unknown', { price: null }),
    ];
    const script: Script = ({ purpose }, n) =>
      purpose.is === 'work' && n < 3
        ? { ...calling(`read ${n}`), usage: { input: 1000, output: n < 2 ? 1000 : 10 } }
        : undefined;
    const run = limited({ catalogue, ...filed(planWith({ maxCost: 0.7 })), script });
    const { request } = await asked(run);
    expect(request.options.find((option) => option.startsWith('cheaper'))).toMatch(
      /^cheaper: continue with cheap \(\$1 in, \$5 out per million tokens\), at most \$0\.\d{4} for the next call$/,
    );
    await answers(run, 'cheaper');
    expect((await run.result).success).toBe(true);
    expect(ofType(run, 'model.fallback')).toMatchObject([
      { agent: S1, from: 'scripted/dear', to: 'scripted/cheap', cause: 'budget' },
    ]);
    expect(toMicro(committed(run.state(), S1).cost)).toBeLessThanOrEqual(700_000);
  });

  it('changes the limit from outside, which answers the question', async () => {
    const run = limited();
    await asked(run);
    expect(await run.tell({ do: 'set budget', agent: S1, budget: { maxTokens: 100_000 } })).toBe(
      'finder may use 40000 tokens; at most 40000 tokens: budgets.agent.maxTokens: 40000 (user, ~/config.yml:3)',
    );
    expect((await run.result).success).toBe(true);
    expect(ofType(run, 'approval.answered').map(({ answer }) => answer)).toEqual(['withdrawn']);
    expect(await run.refused({ do: 'set budget', agent: S1, budget: {} })).toBe('refused: the run has ended');
  });

  it('keeps the question of another agent as it is where the limit of one is changed', async () => {
    const task = { description: 'read', role: 'finder', budget: { maxTokens: 12_000 } };
    const tasks = ['a', 'b'].map((id) => ({ id, ...task }));
    const run = limited(filed({ tasks }));
    const { approvals } = await run.until((state) => state.approvals.length === 2);
    await run.tell({ do: 'set budget', agent: S1, budget: { maxTokens: 40_000 } });
    await run.until(({ agents }) => agents.get(S1)?.outcome === 'completed');
    expect(run.state().approvals).toEqual(approvals.filter(({ agent }) => agent === S2));
    await answers(run, 'finish');
    await run.result;
  });

  it('is offered no model of a provider that takes no request of this run', async () => {
    const catalogue = [
      scriptedModel('scripted/dear', { aliases: ['fast'], price: { input: 50, output: 250 } }),
      scriptedModel('elsewhere/cheap', { aliases: ['cheap'], price: { input: 1, output: 5 } }),
    ];
    const task = { description: 'read', role: 'finder' };
    const tasks = [
      { ...task, id: 'a', model: 'cheap' },
      { ...task, id: 'b', model: 'fast', dependsOn: ['a'], budget: { maxCost: 0.7 } },
    ];
    const script: Script = ({ agent, model, purpose }, n) => {
      if (model === 'elsewhere/cheap') return fault('unauthorised');
      if (agent !== S2 || purpose.is !== 'work' || n > 2) return undefined;
      return { ...calling(`read ${n}`), usage: { input: 1000, output: 1000 } };
    };
    const run = limited({ catalogue, ...filed({ tasks }), script });
    const { request } = await asked(run);
    expect(request.options.map((option) => option.split(':')[0])).toEqual(['finish', 'add', 'stop']);
    await answers(run, 'finish');
    await run.result;
  });

  it('takes the question back when the agent is killed', async () => {
    const run = limited();
    await asked(run);
    await run.tell({ do: 'kill', agent: S1 });
    await run.result;
    expect(ofType(run, 'approval.answered').map(({ answer }) => answer)).toEqual(['withdrawn']);
    expect(run.state().agents.get(S1)?.outcome).toBe('killed');
  });
});

describe('rules that are tightened', () => {
  it('hold from then on, for the run and for agents that were given more', async () => {
    const rules = { ...RULES, agentBudget: most({ maxTokens: 40_000 }), runBudget: most({ maxTokens: 500_000 }) };
    const tighter = { ...rules, agentBudget: most({ maxTokens: 6000 }), runBudget: most({ maxTokens: 400_000 }) };
    let now: Rules = rules;
    const run = limited({
      rules,
      policyWatcher: { now: () => ({ ok: true, value: now }) },
      runBudget: { maxTokens: 500_000 },
      person: false,
      script: (request, n) => {
        if (request.purpose.is === 'work') now = tighter;
        return reading(4)(request, n);
      },
    });
    await run.result;
    expect(ofType(run, 'budget.changed').map(({ agent, budget, by }) => [agent, budget, by])).toEqual([
      [ROOT, { maxTokens: 400_000 }, 'rules'],
      [S1, { maxTokens: 6000 }, 'rules'],
    ]);
    expect(run.state().agents.get(S1)?.outcome).toBe('partial');
  });
});

describe('a limit that many meet', () => {
  const ids = Array.from({ length: 20 }, (_, n): [string] => [`t${n}`]);
  const many = (setting: Setting = {}): TestRun =>
    testRun({
      plan: planOf(...ids),
      runBudget: { maxTokens: 60_000 },
      rules: {
        ...RULES,
        runBudget: most({ maxTokens: 2_000_000 }),
        maxParallelAgents: { ...RULES.maxParallelAgents, value: 20 },
      },
      script: ({ purpose }, n) =>
        purpose.is === 'work' && n < 2 ? { ...calling(`read ${n}`), usage: { input: 3000 } } : undefined,
      ...setting,
    });
  const waitingAll = (run: TestRun): Promise<unknown> =>
    run.until(({ approvals, agents }) => {
      const working = [...agents.values()].filter(({ id, outcome }) => id !== ROOT && outcome === null);
      return approvals.length > 0 && working.every(({ status, open }) => status === 'waiting' && open.length === 0);
    });

  it('is asked of once, and all wait for the one answer', async () => {
    const run = many();
    await waitingAll(run);
    expect(run.state().approvals.length).toBe(1);
    await answers(run, 'add 1M');
    expect((await run.result).success).toBe(true);
    expect(ofType(run, 'approval.requested').length).toBe(1);
    expect(run.state().budget.maxTokens).toBeGreaterThan(1_000_000);
  });

  it('is asked of by the next one when who asked is killed', async () => {
    const run = many();
    await waitingAll(run);
    const [first] = run.state().approvals;
    await run.tell({ do: 'kill', agent: first?.agent ?? S2 });
    const { approvals } = await run.until((state) => state.approvals.some(({ id }) => id !== first?.id));
    expect(approvals.length).toBe(1);
    expect(approvals[0]?.agent).not.toBe(first?.agent);
    await answers(run, 'finish');
    await run.result;
    const outcomes = [...run.state().agents.values()].map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'killed').length).toBe(1);
    expect(outcomes).not.toContain(null);
    // Given up once, it is asked of no more: not by who comes later, not by the report.
    expect(ofType(run, 'approval.requested').length).toBe(2);
  });
});

describe('where nobody answers', () => {
  const rule = <T>(value: T): Rule<T> => ({ value, from: builtIn('the test') });

  it('in time, the rules say: finish, or stop', async () => {
    for (const [atLimit, status] of [
      ['finish', 'failed'],
      ['stop', 'stopped'],
    ] as const) {
      const world = fakeWorld();
      const rules = { ...RULES, answerWithin: rule(5000), atLimit: rule(atLimit) };
      const run = limited({ world, rules });
      await asked(run);
      await world.advance(5000);
      expect((await run.result).status).toBe(status);
      expect(ofType(run, 'budget.exhausted').length).toBe(1);
      expect(run.state().approvals).toEqual([]);
    }
  });

  it('once, nobody is waited for again at the same limit', async () => {
    const world = fakeWorld();
    const run = testRun({
      world,
      plan: planOf(['a'], ['b', 'a'], ['c', 'b']),
      runBudget: { maxTokens: 9000 },
      rules: { ...RULES, answerWithin: rule(5000), onFailure: rule('skip' as const) },
      script: reading(9),
    });
    await asked(run);
    await world.advance(5000);
    expect((await run.result).status).toBe('failed');
    expect(ofType(run, 'approval.requested').length).toBe(1);
  });

  it('because nobody can be asked, the rules say it at once', async () => {
    const run = limited({ person: false, rules: { ...RULES, atLimit: rule('stop') } });
    expect((await run.result).status).toBe('stopped');
    expect(ofType(run, 'approval.requested')).toEqual([]);
  });
});
