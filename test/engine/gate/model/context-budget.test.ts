/** How much of its window a conversation fills, when it is too much, and how long the results of tools may be. */
import { describe, expect, it } from 'vitest';
import type { Price } from '../../../../src/domain/models/provider.ts';
import type { ModelOption } from '../../../../src/domain/plan/plan.ts';
import type { Turn } from '../../../../src/domain/turn.ts';
import { openBudgets } from '../../../../src/engine/gate/budget/budgets.ts';
import { contextBudgetOf, resultBytes } from '../../../../src/engine/gate/model/context-budget.ts';
import { openRecorder } from '../../../../src/engine/gate/recorder.ts';
import { memoryLog } from '../../../support/log.ts';
import { AGENT, FAST, RULES } from '../../../support/run.ts';
import { scriptedModel } from '../../../support/scripted.ts';
import { SESSION } from '../../../support/story.ts';
import { fakeWorld } from '../../../support/world.ts';

const order = {
  agent: AGENT('ROOT::S1'),
  model: { asked: 'fast', used: FAST, because: null },
  system: 'x'.repeat(100),
  tools: [],
};

function partsWith(model: ModelOption) {
  const world = fakeWorld();
  return {
    ...openBudgets(),
    recorder: openRecorder(memoryLog(), SESSION, world),
    world,
    rules: () => RULES,
    signal: new AbortController().signal,
    fail: () => undefined,
    day: undefined,
    models: { models: () => [model] },
    tools: { tools: [] },
  };
}

const fast = (window: number, outputLimit: number, price: Price | null = { input: 1, output: 5 }): ModelOption =>
  scriptedModel(FAST, { window, outputLimit, price });

describe('a conversation may fill', () => {
  it.each([
    ['three quarters of what the longest answer leaves', 100_000, 10_000, 67_500],
    ['what an answer of 16384 tokens leaves, however long answers may be', 100_000, 90_000, 62_712],
    ['half the window where answers would take more', 20_000, 15_000, 7500],
  ])('%s', (_, window, outputLimit, limit) => {
    expect(contextBudgetOf(partsWith(fast(window, outputLimit)), order, []).limit).toBe(limit);
  });

  it('nothing is known of where the model is not known', () => {
    const other = scriptedModel('scripted/other', {});
    expect(contextBudgetOf(partsWith(other), order, [])).toEqual({ tokens: 0, limit: 1 });
  });
});

describe('a conversation fills', () => {
  const turns: readonly Turn[] = [
    { by: 'user', text: 'look' },
    { by: 'model', text: 'found', calls: [] },
    { by: 'user', text: 'again' },
  ];

  it('a token for three bytes of its instructions and turns where nothing was counted', () => {
    const bytes = 100 + 2 + JSON.stringify(turns).length;
    expect(contextBudgetOf(partsWith(fast(100_000, 1000)), order, turns).tokens).toBe(Math.ceil(bytes / 3));
  });

  it('what the provider counted, and a token for three bytes since', () => {
    const parts = partsWith(fast(100_000, 1000));
    parts.prefixes.learn(order.agent, FAST, 1, { input: 5000, output: 70, cacheRead: 300, cacheWrite: 2 });
    const since = JSON.stringify(turns.slice(2)).length;
    expect(contextBudgetOf(parts, order, turns).tokens).toBe(5372 + Math.ceil(since / 3));
  });
});

describe('the result of a tool may have', () => {
  const bytes = (model: ModelOption, calls: number): number => resultBytes(partsWith(model), order, calls);
  const free: Price = { input: 0, output: 0 };

  it.each([
    ['16000 bytes where each turn is paid for', fast(1_000_000, 1000), 1, 16_000],
    ['65536 bytes where the model costs nothing', fast(1_000_000, 1000, free), 1, 65_536],
    ['8 % of the window', fast(100_000, 1000), 1, 8000],
    ['4000 bytes of a small window', fast(20_000, 1000), 1, 4000],
    ['no more where only the answer is free', fast(1_000_000, 1000, { input: 1, output: 0 }), 1, 16_000],
    ['no more where only the prompt is free', fast(1_000_000, 1000, { input: 0, output: 1 }), 1, 16_000],
    ['as much for no call as for one', fast(1_000_000, 1000), 0, 16_000],
    ['as much where six share 96000 bytes', fast(1_000_000, 1000), 6, 16_000],
    ['its share of 96000 bytes', fast(1_000_000, 1000), 10, 9600],
    ['its share of a window that is smaller', fast(50_000, 1000), 20, 2500],
    ['its share of the window of a model that costs nothing', fast(1_000_000, 1000, free), 40, 25_000],
    ['2000 bytes at least', fast(1_000_000, 1000), 1000, 2000],
    ['16000 bytes where the model is not known', scriptedModel('scripted/other', {}), 1, 16_000],
  ])('%s', (_, model, calls, most) => {
    expect(bytes(model, calls)).toBe(most);
  });
});
