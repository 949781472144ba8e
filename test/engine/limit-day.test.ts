/** Limits of a day and of a model by the day, kept by a real ledger that two runs share. */
import { describe, expect, it } from 'vitest';
import type { Budget } from '../../src/domain/budget.ts';
import { AGENT, calling, FAST, planOf, RULES, type Setting, SLOW, type TestRun, testRun } from '../support/run.ts';
import { fault } from '../support/faulty.ts';
import { freshFolder } from '../support/folder.ts';
import { scriptedModel } from '../support/scripted.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { LogFault } from '../../src/ports/log.ts';
import type { DayLedger } from '../../src/ports/daily-budget.ts';
import { SessionId } from '../../src/domain/ids.ts';
import { openDayLedger } from '../../src/store/daily-budget.ts';
import { written } from '../policy/some-rules.ts';

const S1 = AGENT('ROOT::S1');
const NOON = new Date(2026, 0, 15, 12).getTime();
const from = written('budgets.day.maxTokens: 40000', 4);
const dayRule = (value: Budget): Partial<Rules> => ({ dayBudget: { value, from } });

function withDay(rules: Partial<Rules>, setting: Setting = {}): { readonly run: TestRun; readonly day: DayLedger } {
  const day = setting.day ?? openDayLedger(freshFolder(), () => NOON);
  const run = testRun({
    plan: planOf(['a']),
    person: false,
    rules: { ...RULES, ...rules },
    script: ({ purpose }, n) =>
      purpose.is === 'work' && n < 3 ? { ...calling(`read ${n}`), usage: { input: 6000 } } : undefined,
    ...setting,
    day,
  });
  return { run, day };
}

const exhausted = (run: TestRun): readonly unknown[] =>
  run.events().flatMap((event) => (event.type === 'budget.exhausted' ? [[event.scope, event.what, event.limit]] : []));

describe('a limit of the day', () => {
  it('is charged with what every call really used, and only with that', async () => {
    const { run, day } = withDay(dayRule({ maxTokens: 1_000_000 }));
    const { metadata } = await run.result;
    expect(day.today()).toEqual({ tokens: metadata.totalTokens, cost: metadata.totalCost });
    day.close();
  });

  it('is charged with what failed calls used, and freed of what was only reserved for them', async () => {
    const spent = { input: 700, output: 30, cacheRead: 0, cacheWrite: 0 };
    const { run, day } = withDay(dayRule({ maxTokens: 1_000_000 }), {
      script: ({ agent, purpose }) => (agent === S1 && purpose.is === 'work' ? fault('refused', { spent }) : undefined),
    });
    const { metadata } = await run.result;
    expect(run.events().filter(({ type }) => type === 'model.failed')).toHaveLength(1);
    expect(day.today()).toEqual({ tokens: metadata.totalTokens, cost: metadata.totalCost });
    day.close();
  });

  it('is warned of by a call that failed as well', async () => {
    const { run, day } = withDay(dayRule({ maxTokens: 1_000_000 }), {
      plan: { tasks: [{ id: 'a', description: 'd', role: 'finder', budget: { maxTokens: 3000 } }] },
      script: ({ agent, purpose, maxOutputTokens: output }) =>
        agent === S1 && purpose.is === 'work'
          ? fault('refused', { spent: { input: 9000, output, cacheRead: 0, cacheWrite: 0 } })
          : undefined,
    });
    await run.result;
    const warned = run.events().flatMap((event) => (event.type === 'budget.warned' ? [[event.agent, event.what]] : []));
    expect(warned).toContainEqual([S1, 'tokens']);
    day.close();
  });

  it('ends the agent, names the rule with its place, and holds for the next run of the day', async () => {
    const { run, day } = withDay(dayRule({ maxTokens: 20_000 }));
    await run.result;
    expect(exhausted(run)[0]).toEqual(['day', 'tokens', 20_000]);
    expect(run.state().agents.get(S1)?.error).toMatch(
      /^Budget exceeded: the day's tokens \(\d+ tokens of 20000 tokens used.*free again tomorrow, set by budgets\.day.*\(user, ~\/config\.yml:4\)$/,
    );
    expect(day.today().tokens).toBeLessThanOrEqual(20_000);
    const next = withDay(dayRule({ maxTokens: day.today().tokens }), { day });
    await next.run.result;
    expect(next.run.events().filter(({ type }) => type === 'model.started')).toEqual([]);
    day.close();
  });

  it('is warned of at 80 %, once', async () => {
    const { run, day } = withDay(dayRule({ maxTokens: 20_000 }));
    await run.result;
    const warned = run
      .events()
      .flatMap((event) =>
        event.type === 'budget.warned' && event.estimate !== true ? [[event.scope, event.what]] : [],
      );
    expect(warned).toEqual([['day', 'tokens']]);
    day.close();
  });

  it('on each of two models is warned of by itself', async () => {
    const limit = (pattern: string): NonNullable<Rules['modelBudgets']>[number] => ({
      model: { written: pattern, pattern, from },
      budget: { value: { maxTokens: 20_000 }, from },
    });
    const { run, day } = withDay(
      { modelBudgets: [limit(FAST), limit(SLOW)] },
      {
        plan: { tasks: [FAST, SLOW].map((model) => ({ id: model.slice(9), description: 'd', role: 'finder', model })) },
      },
    );
    await run.result;
    const warned = run
      .events()
      .flatMap((event) => (event.type === 'budget.warned' && event.estimate !== true ? [event.of] : []));
    expect(new Set(warned)).toEqual(new Set([FAST, SLOW]));
    expect(warned).toHaveLength(2);
    day.close();
  });

  it('ends nobody for what calls under way were only promised: they are waited for', async () => {
    const { run, day } = withDay(dayRule({ maxTokens: 60_000 }), {
      plan: planOf(...Array.from({ length: 12 }, (_, n): [string] => [`t${n}`])),
      rules: {
        ...RULES,
        ...dayRule({ maxTokens: 60_000 }),
        maxParallelAgents: { ...RULES.maxParallelAgents, value: 12 },
      },
      script: () => undefined,
    });
    expect((await run.result).success).toBe(true);
    expect(exhausted(run)).toEqual([]);
    day.close();
  });

  it('is asked about without an offer of more; a cheaper model gets round the limit of one model', async () => {
    const pattern = FAST;
    const modelBudgets = [
      { model: { written: 'fast', pattern, from }, budget: { value: { maxTokens: 16_000 }, from } },
    ];
    const catalogue = [
      scriptedModel('scripted/fast', { aliases: ['fast'], price: { input: 1, output: 5 } }),
      scriptedModel('scripted/mini', { price: { input: 0.1, output: 0.5 } }),
    ];
    const { run, day } = withDay({ modelBudgets }, { person: true, catalogue });
    const { approvals } = await run.until((state) => state.approvals.length > 0);
    const options = approvals[0]?.request.options.map((option) => option.split(':')[0]);
    expect(options).toEqual(['finish', 'cheaper', 'stop']);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'cheaper' });
    await run.until(({ approvals: open, finished }) => finished !== null || open.length > 0);
    // The report is written by main, which is still on the model whose limit is met.
    const [last] = run.state().approvals;
    if (last !== undefined)
      await run.tell({ do: 'answer', approval: last.id, allow: true, scope: 'once', text: 'cheaper' });
    await run.result;
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    expect(day.today((id) => id === FAST).tokens).toBeLessThanOrEqual(16_000);
    day.close();
  });

  it('lets no call be made when its ledger can not be written: the run stops and can be resumed', async () => {
    const broken: DayLedger = {
      reserve: () => {
        throw new LogFault('the disk is full');
      },
      settle: () => undefined,
      today: () => ({ tokens: 0, cost: 0 }),
      close: () => undefined,
    };
    const { run } = withDay(dayRule({ maxTokens: 20_000 }), { day: broken, session: SessionId.parse('test-session') });
    const result = await run.result;
    expect([result.status, result.error]).toEqual(['stopped', 'the disk is full']);
    expect(run.events().filter(({ type }) => type === 'model.started')).toEqual([]);
    expect(run.state().finished?.status ?? 'open').not.toBe('completed');
  });
});
