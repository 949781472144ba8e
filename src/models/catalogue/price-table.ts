/**
 * Written by `npm run prices` from the price library: US dollars per million tokens. A model that isn't here has no known price.
 * In a file of its own since the library takes a tenth of a second to load; test/models/catalogue/prices.test.ts compares the two.
 */
import type { Price } from '../../domain/models/price.ts';

export const PRICES: Readonly<Record<string, Price>> = {
  'anthropic/claude-sonnet-5': { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  'anthropic/claude-sonnet-4-6': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  'anthropic/claude-sonnet-4-5-20250929': {
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
    tiers: [{ above: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 }],
  },
  'anthropic/claude-haiku-4-5-20251001': { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
  'anthropic/claude-opus-5-5': { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
  'anthropic/claude-opus-5': { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  'anthropic/claude-opus-4-8': { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  'anthropic/claude-opus-4-5-20251101': { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  'anthropic/claude-fable-5-1': { input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5 },
  'anthropic/claude-opus-4-1-20250805': { input: 15, output: 75, cacheRead: 1.5, cacheWrite: 18.75 },
  'openai/gpt-6-sol': {
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    tiers: [{ above: 272_000, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 }],
  },
  'openai/gpt-5.6-terra': {
    input: 2,
    output: 12,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    tiers: [{ above: 271_999, input: 4, output: 18, cacheRead: 0.4, cacheWrite: 5 }],
  },
  'openai/gpt-5.5-2026-04-23': {
    input: 5,
    output: 30,
    cacheRead: 0.5,
    tiers: [{ above: 271_999, input: 10, output: 45, cacheRead: 1 }],
  },
  'openai/gpt-5.4': {
    input: 2.5,
    output: 15,
    cacheRead: 0.25,
    tiers: [{ above: 271_999, input: 5, output: 22.5, cacheRead: 0.5 }],
  },
  'openai/gpt-5-2025-08-07': { input: 1.25, output: 10, cacheRead: 0.125 },
  'openai/gpt-4.1-2025-04-14': { input: 2, output: 8, cacheRead: 0.5 },
  'openai/o4-mini-2025-04-16': { input: 1.1, output: 4.4, cacheRead: 0.275 },
  'openai/o3-mini-2025-01-31': { input: 1.1, output: 4.4, cacheRead: 0.55 },
  'openai/gpt-6-luna': {
    input: 0.1,
    output: 0.5,
    cacheRead: 0.01,
    cacheWrite: 0.125,
    tiers: [{ above: 272_000, input: 0.2, output: 0.75, cacheRead: 0.02, cacheWrite: 0.25 }],
  },
  'openai/gpt-5.6-luna': {
    input: 0.2,
    output: 1.2,
    cacheRead: 0.02,
    cacheWrite: 0.25,
    tiers: [{ above: 271_999, input: 0.4, output: 1.8, cacheRead: 0.04, cacheWrite: 0.5 }],
  },
  'openai/gpt-5.4-mini-2026-03-17': { input: 0.75, output: 4.5, cacheRead: 0.075 },
  'openai/gpt-5.4-nano-2026-03-17': { input: 0.2, output: 1.25, cacheRead: 0.02 },
  'openai/gpt-5-mini-2025-08-07': { input: 0.25, output: 2, cacheRead: 0.025 },
  'openai/gpt-5.6-sol': {
    input: 4,
    output: 20,
    cacheRead: 0.4,
    cacheWrite: 5,
    tiers: [{ above: 271_999, input: 8, output: 30, cacheRead: 0.8, cacheWrite: 10 }],
  },
  'openai/o3-2025-04-16': { input: 2, output: 8, cacheRead: 0.5 },
  'openai/gpt-6-astra': {
    input: 10,
    output: 50,
    cacheRead: 1,
    cacheWrite: 12.5,
    tiers: [{ above: 271_999, input: 20, output: 75, cacheRead: 2, cacheWrite: 25 }],
  },
  'openrouter/qwen/qwen3-coder': { input: 0.22, output: 1.8 },
};
