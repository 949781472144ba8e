/**
 * The models that Mimir knows by name: windows and output limits in tokens, what each is good for, what it costs. Which of
 * them may be used is policy's to say, and whether anything answers is its provider's.
 *
 * Where the facts come from: ids from the makers' client libraries (see policy/aliases.ts); windows from the price library
 * where it has them (test/models/catalogue/prices.test.ts compares), of qwen3-coder from OpenRouter's page of the model; output limits
 * from the makers' pages of each model (platform.claude.com/docs/en/models, developers.openai.com/api/docs/models). Grades and
 * speeds (tokens a second) are our own expectation: they rank and estimate, nothing is refused or charged by them.
 */
import { ModelId, providerOf } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import type { Price } from '../../domain/models/price.ts';
import { PRICES } from './price-table.ts';
import type { Provider } from '../provider.ts';

/** Alias -> canonical id, as policy has them. */
export type Aliases = ReadonlyMap<string, ModelId>;

/** A model as its maker describes it; whether it can be called here isn't said. */
export type Known = Omit<ModelOption, 'label' | 'aliases' | 'usable'>;

/** In the order in which they stand in for a model of another provider: of a grade the first that can be used. */
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
  // Retired on Anthropic's own API; other servers of their language still have it.
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

/** The known models of providers that nobody described, as a provider that can call none of them. */
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

/** The id as it goes on the wire. */
export const wireName = (id: ModelId): string => id.slice(id.indexOf('/') + 1);

/** All aliases of a canonical id, in the table's order. */
const aliasesOf = (id: ModelId, aliases: Aliases): readonly string[] =>
  [...aliases].filter(([, canonical]) => canonical === id).map(([alias]) => alias);

/** A known model as an option; `unusable`: why it can't be called, or null. */
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

/** It refuses a setting of how much it is to think, as its maker documents. */
function withoutEffort(model: Known): Known {
  return { ...model, effort: false };
}

/** Without tiers that no request can reach. */
function within(window: number, price: Price | undefined): Price | null {
  if (price?.tiers === undefined) return price ?? null;
  const { tiers: all, ...base } = price;
  const tiers = all.filter(({ above }) => above < window);
  return tiers.length === 0 ? base : { ...base, tiers };
}
