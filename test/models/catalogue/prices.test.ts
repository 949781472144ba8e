/** Prices: the table beside the library of today, and what counts as the price of a model. */
import { describe, expect, it } from 'vitest';
import { isLoopback, type ProviderSetup } from '../../../src/domain/models/provider.ts';
import { providerOf } from '../../../src/domain/ids.ts';
import { KNOWN, publishedOf } from '../../../src/models/catalogue/catalogue.ts';
import { wireName } from '../../../src/models/provider.ts';
import PRICES from '../../../src/models/catalogue/prices.json' with { type: 'json' };
import { publishedAt } from '../../../src/models/catalogue/prices.ts';

const API: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
};
const NOW = Date.UTC(2026, 10, 22, 12);
const publishedHere = (id: (typeof KNOWN)[number]['id']): ReturnType<typeof publishedAt> =>
  publishedAt(API[providerOf(id)] ?? '', wireName(id), Date.now());

describe('the table of prices', () => {
  it('is what the library says today; where it differs, `node .setup/prices.mjs` writes it again (D10)', () => {
    const today = KNOWN.flatMap(({ id }) => {
      const { price } = publishedHere(id);
      return price === null ? [] : [[id, price] as const];
    });
    expect(PRICES).toEqual(Object.fromEntries(today));
  });

  it('leaves the newest models out until the library knows them: their price is unknown, not a guess', () => {
    const unknown = KNOWN.filter(({ price }) => price === null).map(({ id }) => id);
    expect(unknown).toEqual([
      'anthropic/claude-sonnet-5-5',
      'anthropic/claude-haiku-5-5',
      'anthropic/claude-fable-5-2',
      'openai/gpt-6.1-sol',
      'openai/gpt-6.1-terra',
    ]);
  });

  it('stands beside windows that the library has, too, where it has any', () => {
    const differing = KNOWN.flatMap(({ id, window }) => {
      const { window: published } = publishedHere(id);
      return published === null || published === window ? [] : [{ id, window, published }];
    });
    expect(differing).toEqual([]);
  });
});

describe('the price of a model', () => {
  it('has all classes and tiers: above 271,999 tokens of input the whole request is dearer', () => {
    expect(publishedAt(API['openai'] ?? '', 'gpt-5.4', NOW)).toEqual({
      price: {
        input: 2.5,
        output: 15,
        cacheRead: 0.25,
        tiers: [{ above: 271_999, input: 5, output: 22.5, cacheRead: 0.5 }],
      },
      window: 1_050_000,
    });
  });

  it('is that of its exact name, of another name that the library lists, or of its name without the date', () => {
    const names = ['o3', 'o3-2025-04-16', 'gpt-5-nano-2025-08-07', 'o3-', 'o3-2025', 'o33', 'O3', ''];
    const inputs = names.map((name) => publishedAt(API['openai'] ?? '', name, NOW).price?.input ?? null);
    expect(inputs).toEqual([2, 2, 0.05, null, null, null, null, null]);
  });

  it('is not that of a name it begins with, which the library itself would give it', () => {
    const at = API['anthropic'] ?? '';
    expect(publishedAt(at, 'claude-sonnet-5', NOW).price?.input).toBe(2);
    expect(publishedAt(at, 'claude-sonnet-5-5', NOW)).toEqual({ price: null, window: null });
    expect(publishedAt(at, 'claude-haiku-4-5-large', NOW)).toEqual({ price: null, window: null });
  });

  it('follows the day it changed', () => {
    const at = API['openai'] ?? '';
    expect(publishedAt(at, 'o3', Date.UTC(2025, 5, 9)).price?.input).toBe(10);
    expect(publishedAt(at, 'o3', Date.UTC(2025, 5, 10)).price?.input).toBe(2);
  });

  it('is the dearest of the day where it changes with the hour, at any hour', () => {
    const hours = [0, 2, 9, 17].map((hour) =>
      publishedAt('https://api.deepseek.com', 'deepseek-reasoner', Date.UTC(2026, 10, 22, hour)),
    );
    expect(new Set(hours.map(({ price }) => price?.output))).toEqual(new Set([2.19]));
  });

  it('is unknown at hosts that only begin like a known one, and at no address at all', () => {
    const addresses = ['https://api.openai.com.evil.example/v1', 'http://api.openai.com/v1', 'nonsense', ''];
    expect(addresses.map((address) => publishedAt(address, 'o3', NOW).price)).toEqual([null, null, null, null]);
  });

  it('is unknown where the library has the model and no numbers', () => {
    expect(publishedAt(API['openrouter'] ?? '', 'qwen/qwen3-coder:free', NOW).price).toBeNull();
  });
});

const setup = (changes: Partial<ProviderSetup>): ProviderSetup => ({
  name: 'groq',
  kind: 'openai-compatible',
  baseUrl: 'https://api.groq.com/openai/v1',
  key: 'k',
  keyEnv: 'GROQ_API_KEY',
  models: [{ name: 'openai/gpt-oss-120b' }],
  firstEventMs: 1,
  idleMs: 1,
  unusable: null,
  ...changes,
});

describe('models of one’s own', () => {
  it('are looked up by where they are called', async () => {
    const found = await publishedOf([setup({})], NOW);
    expect([...found]).toEqual([
      ['groq/openai/gpt-oss-120b', { price: { input: 0.15, output: 0.6, cacheRead: 0.075 }, window: 131_072 }],
    ]);
  });

  it('are not looked up on this machine, with a price set, where nothing can be called, or when the catalogue has them', async () => {
    const local = 'http://127.0.0.1:11434/v1';
    expect(isLoopback(local)).toBe(true);
    const setups = [
      setup({ baseUrl: local }),
      setup({ models: [{ name: 'openai/gpt-oss-120b', price: { input: 1, output: 2 } }] }),
      setup({ unusable: 'no GROQ_API_KEY' }),
      setup({ name: 'openai', baseUrl: API['openai'] ?? '', models: [{ name: 'o3-2025-04-16' }] }),
    ];
    expect(await publishedOf(setups, NOW)).toEqual(new Map());
  });
});
