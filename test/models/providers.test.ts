/** A provider from how it was set up: its models, their prices and windows, and when its client is loaded. */
import { offlineAnalyst } from '../../src/analyst/offline-analyst.ts';
import { describe, expect, it } from 'vitest';
import { ModelId } from '../../src/domain/ids.ts';
import type { ProviderSetup } from '../../src/domain/models/provider.ts';
import { type OpenModels, openModels } from '../../src/models/open.ts';
import { ALIASES } from '../../src/policy/models.ts';
import { fakeWorld } from '../support/world.ts';
import { workRequest } from './request.ts';

const LOCAL: ProviderSetup = {
  name: 'local',
  kind: 'openai-compatible',
  baseUrl: 'http://127.0.0.1:11434/v1',
  key: null,
  keyEnv: null,
  models: [],
  firstEventMs: 300_000,
  idleMs: 120_000,
  unusable: null,
};
const ANTHROPIC: ProviderSetup = {
  ...LOCAL,
  name: 'anthropic',
  kind: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  key: 'k',
  keyEnv: 'ANTHROPIC_API_KEY',
};

const opened = (providers: readonly ProviderSetup[], own: Readonly<Record<string, string>> = {}): OpenModels =>
  openModels({
    aliases: new Map([...ALIASES, ...Object.entries(own).map(([alias, id]) => [alias, ModelId.parse(id)] as const)]),
    analyst: offlineAnalyst(ALIASES, { is: 'none' }),
    world: fakeWorld(),
    providers,
    published: new Map([
      [ModelId.parse('groq/known'), { price: { input: 1, output: 2 }, window: 131_072 }],
      [ModelId.parse('local/known'), { price: { input: 1, output: 2 }, window: 131_072 }],
    ]),
  });
const option = (models: OpenModels, id: string) => models.models().find((one) => one.id === id);

describe('the models of a provider', () => {
  it('are those of the catalogue, usable as the provider is (O088)', () => {
    const usable = opened([ANTHROPIC])
      .models()
      .filter((one) => one.usable.yes);
    expect(usable.map(({ id }) => id.split('/')[0])).toEqual(['offline', ...Array<string>(13).fill('anthropic')]);
    expect(option(opened([{ ...ANTHROPIC, unusable: 'no ANTHROPIC_API_KEY' }]), usable[1]?.id ?? '')?.usable).toEqual({
      yes: false,
      because: 'no ANTHROPIC_API_KEY',
    });
  });

  it('are those of one’s own, careful where nothing was said of them', () => {
    expect(
      option(
        opened([{ ...LOCAL, models: [{ name: 'qwen3:8b' }] }], { 'qwen3:8b': 'local/qwen3:8b' }),
        'local/qwen3:8b',
      ),
    ).toEqual({
      id: 'local/qwen3:8b',
      label: 'qwen3:8b',
      aliases: ['qwen3:8b'],
      window: 32_768,
      outputLimit: 8192,
      price: { input: 0, output: 0 },
      speed: 50,
      usable: { yes: true },
    });
  });

  it('have the window and price that was set, and leave a quarter of a small window for the answer', () => {
    const price = { input: 3, output: 4, cacheRead: 0.3 };
    const models = opened([{ ...LOCAL, models: [{ name: 'small', window: 8000, price }] }]);
    expect(option(models, 'local/small')).toMatchObject({ window: 8000, outputLimit: 2000, price });
  });

  it('are told with their provider where the name is not theirs alone', () => {
    const models = opened([{ ...LOCAL, models: [{ name: 'gpt-5-2025-08-07' }] }]);
    expect(option(models, 'local/gpt-5-2025-08-07')).toMatchObject({ label: 'local/gpt-5-2025-08-07', aliases: [] });
    expect(option(models, 'openai/gpt-5-2025-08-07')).toMatchObject({ label: 'gpt-5' });
  });

  it('may be known ones of which something else is set: a price agreed on, a smaller window', () => {
    const price = { input: 2.5, output: 12 };
    const own = [{ name: 'claude-sonnet-4-5-20250929', price, window: 100_000 }];
    const models = opened([{ ...ANTHROPIC, models: own }]);
    expect(option(models, 'anthropic/claude-sonnet-4-5-20250929')).toMatchObject({
      label: 'sonnet-4.5',
      price,
      window: 100_000,
      outputLimit: 64_000,
    });
  });
});

describe('the price of a call', () => {
  const known = [{ name: 'known' }, { name: 'nobody-knows' }];

  it('is 0 on this machine, also for models of the catalogue, unless one is set (D10)', () => {
    const models = opened([
      { ...LOCAL, models: known },
      { ...ANTHROPIC, baseUrl: 'http://localhost:8080' },
    ]);
    const ids = ['local/known', 'local/nobody-knows', 'anthropic/claude-haiku-4-5-20251001'];
    expect(ids.map((id) => option(models, id)?.price)).toEqual(ids.map(() => ({ input: 0, output: 0 })));
  });

  it('is what is published elsewhere, with the window, or unknown', () => {
    const models = opened([{ ...LOCAL, name: 'groq', baseUrl: 'https://api.groq.com/openai/v1', models: known }]);
    expect([option(models, 'groq/known'), option(models, 'groq/nobody-knows')]).toEqual([
      expect.objectContaining({ price: { input: 1, output: 2 }, window: 131_072 }),
      expect.objectContaining({ price: null, window: 32_768 }),
    ]);
  });
});

describe('a provider that can not be used', () => {
  it('is not called: its models say why, with no key', async () => {
    const models = opened([{ ...ANTHROPIC, key: 'sk-canary', unusable: 'api.anthropic.com is not allowed: rule' }]);
    const request = { ...workRequest(), model: ModelId.parse('anthropic/claude-haiku-4-5-20251001') };
    const reply = await models.call(request, new AbortController().signal, () => undefined);
    expect(reply).toEqual({
      ok: false,
      fault: { is: 'refused', message: 'haiku-4.5: api.anthropic.com is not allowed: rule' },
    });
  });

  it('D4, D23: count as models that take tool calls where agents work with them by words', () => {
    const models = opened([{ ...LOCAL, protocol: 'text', models: [{ name: 'small' }] }]);
    expect(option(models, 'local/small')).toMatchObject({ protocol: 'text', usable: { yes: true } });
    expect(option(models, 'local/small')).not.toHaveProperty('tools');
    expect(option(opened([{ ...LOCAL, models: [{ name: 'small' }] }]), 'local/small')).not.toHaveProperty('protocol');
  });
});
