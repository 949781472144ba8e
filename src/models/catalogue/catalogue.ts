/**
 * The models that Mimir knows by name: context window and output limit in tokens, grade, price. Policy decides which of them
 * may be used, and the provider whether they can be called.
 *
 * Sources: ids from the providers' client libraries (see policy/aliases.ts); windows from the price library if it has them
 * (test/models/catalogue/prices.test.ts compares), that of qwen3-coder from OpenRouter; output limits from the providers' model pages
 * (platform.claude.com/docs/en/models, developers.openai.com/api/docs/models). Grades and speeds (tokens per second) are
 * estimates for ranking only; nothing is refused or charged by them.
 */
import { type Millis, ModelId, providerOf } from '../../domain/ids.ts';
import { isLoopback, type Price, type ProviderSetup } from '../../domain/models/provider.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import type { Provider } from '../provider.ts';
import { PRICES } from './price-table.ts';
import type { Published } from './prices.ts';

/** Alias -> canonical id, from policy. */
export type Aliases = ReadonlyMap<string, ModelId>;

/** A model as its provider describes it, apart from whether it can be called here. */
export type Known = Omit<ModelOption, 'label' | 'aliases' | 'usable'>;

/** The order decides which usable model of a grade replaces a model of another provider. */
export const KNOWN: readonly Known[] = [
  known('anthropic/claude-sonnet-5-5', 'usual', 1_000_000, 128_000, 80),
  known('anthropic/claude-sonnet-5', 'usual', 1_000_000, 128_000, 80),
  known('anthropic/claude-sonnet-4-6', 'usual', 1_000_000, 128_000, 70),
  withoutEffort(known('anthropic/claude-sonnet-4-5-20250929', 'usual', 200_000, 64_000, 70)),
  known('anthropic/claude-haiku-5-5', 'fast', 1_000_000, 128_000, 170),
  withoutEffort(known('anthropic/claude-haiku-4-5-20251001', 'fast', 200_000, 64_000, 150)),
  known('anthropic/claude-opus-5-5', 'deep', 1_000_000, 128_000, 60),
  known('anthropic/claude-opus-5', 'deep', 1_000_000, 128_000, 60),
  known('anthropic/claude-opus-4-8', 'deep', 1_000_000, 128_000, 60),
  known('anthropic/claude-opus-4-5-20251101', 'deep', 200_000, 64_000, 60),
  known('anthropic/claude-fable-5-2', 'deep', 1_000_000, 128_000, 40),
  known('anthropic/claude-fable-5-1', 'deep', 1_000_000, 128_000, 40),
  // Retired on Anthropic's own API, but still available on compatible servers.
  withoutEffort(known('anthropic/claude-opus-4-1-20250805', 'deep', 200_000, 32_000, 40)),
  known('openai/gpt-6.1-sol', 'usual', 1_050_000, 128_000, 90),
  known('openai/gpt-6.1-terra', 'usual', 1_050_000, 128_000, 110),
  known('openai/gpt-6-sol', 'usual', 1_050_000, 128_000, 90),
  known('openai/gpt-5.6-terra', 'usual', 1_050_000, 128_000, 100),
  known('openai/gpt-5.5-2026-04-23', 'usual', 1_000_000, 128_000, 80),
  known('openai/gpt-5.4', 'usual', 1_050_000, 128_000, 80),
  known('openai/gpt-5-2025-08-07', 'usual', 400_000, 128_000, 80),
  withoutEffort(known('openai/gpt-4.1-2025-04-14', 'usual', 1_000_000, 32_768, 100)),
  known('openai/o4-mini-2025-04-16', 'usual', 200_000, 100_000, 130),
  known('openai/o3-mini-2025-01-31', 'usual', 200_000, 100_000, 150),
  known('openai/gpt-6-luna', 'fast', 1_050_000, 128_000, 150),
  known('openai/gpt-5.6-luna', 'fast', 1_050_000, 128_000, 150),
  known('openai/gpt-5.4-mini-2026-03-17', 'fast', 400_000, 128_000, 140),
  known('openai/gpt-5.4-nano-2026-03-17', 'fast', 400_000, 128_000, 180),
  known('openai/gpt-5-mini-2025-08-07', 'fast', 400_000, 128_000, 120),
  known('openai/gpt-5.6-sol', 'deep', 1_050_000, 128_000, 80),
  known('openai/o3-2025-04-16', 'deep', 200_000, 100_000, 80),
  known('openai/gpt-6-astra', 'deep', 1_050_000, 128_000, 50),
  known('openrouter/qwen/qwen3-coder', 'fast', 262_144, 65_536, 80),
];

/** The known models of providers that are not configured, as a provider that can call none of them. */
export function knownModels(aliases: Aliases, described: readonly string[]): Provider {
  const rest = KNOWN.filter(({ id }) => !described.includes(providerOf(id)));
  const options = rest.map((model) => optionOf(model, aliases, noProvider(providerOf(model.id))));
  return {
    name: 'catalogue',
    models: () => options,
    call: async ({ model }) => ({ ok: false, fault: { is: 'refused', message: noProvider(providerOf(model)) } }),
  };
}

const noProvider = (name: string): string => `no provider ${name}`;

/** The id on the wire. */
export const wireName = (id: ModelId): string => id.slice(id.indexOf('/') + 1);

/** All aliases of a canonical id, in the table's order. */
const aliasesOf = (id: ModelId, aliases: Aliases): readonly string[] =>
  [...aliases].filter(([, canonical]) => canonical === id).map(([alias]) => alias);

/** A known model as an option; `unusable` is why it cannot be called, or null. */
export function optionOf(model: Known, aliases: Aliases, unusable: string | null): ModelOption {
  const names = aliasesOf(model.id, aliases);
  return {
    ...model,
    label: names[0] ?? wireName(model.id),
    aliases: names,
    usable: unusable === null ? { yes: true } : { yes: false, because: unusable },
  };
}

function known(
  id: string,
  grade: 'fast' | 'usual' | 'deep',
  window: number,
  outputLimit: number,
  speed: number,
): Known {
  return { id: ModelId.parse(id), window, outputLimit, price: within(window, PRICES[id]), grade, speed };
}

/** The model refuses a reasoning effort, as documented. */
function withoutEffort(model: Known): Known {
  return { ...model, effort: false };
}

/** Drops price tiers that no request can reach. */
function within(window: number, price: Price | undefined): Price | null {
  if (price?.tiers === undefined) return price ?? null;
  const { tiers: all, ...base } = price;
  const tiers = all.filter(({ above }) => above < window);
  return tiers.length === 0 ? base : { ...base, tiers };
}

// Published prices of the person's own models. The price library is loaded only if needed: for a model that is not in the catalogue,
// has no configured price, and is not on this machine, where calls are free.

/** By canonical id; only models that the library knows. */
export type PublishedModels = ReadonlyMap<ModelId, Published>;

/** Prices and windows of the models in `setups` at `now`, from the library's bundled data, without network access. */
export async function publishedOf(setups: readonly ProviderSetup[], now: Millis): Promise<PublishedModels> {
  const wanted = setups.flatMap((setup) =>
    setup.unusable !== null || isLoopback(setup.baseUrl)
      ? []
      : setup.models
          .filter(({ price }) => price === undefined)
          .map(({ name }) => ({ id: ModelId.parse(`${setup.name}/${name}`), name, baseUrl: setup.baseUrl }))
          .filter(({ id }) => !KNOWN.some((known) => known.id === id)),
  );
  if (wanted.length === 0) return new Map();
  const { publishedAt } = await import('./prices.ts');
  return new Map(wanted.map(({ id, name, baseUrl }) => [id, publishedAt(baseUrl, name, now)]));
}
