/**
 * The models that Mimir knows by name, with windows in tokens, prices in US dollars per million tokens and expected speeds in
 * tokens a second, as their makers publish them. Which of them may be used is policy's to say.
 */
import { ModelId } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan.ts';
import type { Provider } from './provider.ts';

/** Alias -> canonical id, as policy has them. */
export type Aliases = ReadonlyMap<string, ModelId>;

interface Known {
  readonly id: string;
  readonly window: number;
  readonly outputLimit: number;
  /** Input and output; null where it depends on who serves the model. */
  readonly price: readonly [input: number, output: number] | null;
  readonly speed: number;
}

const KNOWN: readonly Known[] = [
  known('anthropic/claude-haiku-4-5-20251001', 200_000, 64_000, [1, 5], 150),
  known('anthropic/claude-sonnet-4-5-20250929', 200_000, 64_000, [3, 15], 70),
  known('anthropic/claude-opus-4-5-20251101', 200_000, 64_000, [5, 25], 60),
  known('anthropic/claude-opus-4-1-20250805', 200_000, 32_000, [15, 75], 40),
  known('openai/o3-2025-04-16', 200_000, 100_000, [2, 8], 80),
  known('openai/o3-mini-2025-01-31', 200_000, 100_000, [1.1, 4.4], 150),
  known('openai/o4-mini-2025-04-16', 200_000, 100_000, [1.1, 4.4], 130),
  known('openai/gpt-5-2025-08-07', 400_000, 128_000, [1.25, 10], 80),
  known('openai/gpt-5-mini-2025-08-07', 400_000, 128_000, [0.25, 2], 120),
  known('openai/gpt-4.1-2025-04-14', 1_047_576, 32_768, [2, 8], 100),
  known('openrouter/qwen/qwen3-coder', 262_144, 65_536, null, 80),
];

/** What a user would have set, by provider: named in the reason, so that nobody looks for the mistake on their side. */
const KEYS: Readonly<Record<string, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
};

/** The known models as a provider that can call none of them: each says why, in words for a person. */
export function knownModels(aliases: Aliases): Provider {
  const options = KNOWN.map((model) => optionOf(model, aliases));
  return {
    name: 'catalogue',
    models: () => options,
    call: async (request) => ({
      ok: false,
      fault: { is: 'refused', message: whyNot(request.model.split('/')[0] ?? request.model) },
    }),
  };
}

/** All aliases of a canonical id, in the table's order. */
export const aliasesOf = (id: ModelId, aliases: Aliases): readonly string[] =>
  [...aliases].filter(([, canonical]) => canonical === id).map(([alias]) => alias);

function optionOf(model: Known, aliases: Aliases): ModelOption {
  const id = ModelId.parse(model.id);
  const names = aliasesOf(id, aliases);
  return {
    id,
    label: names[0] ?? model.id.slice(model.id.indexOf('/') + 1),
    aliases: names,
    window: model.window,
    outputLimit: model.outputLimit,
    price: model.price === null ? null : { input: model.price[0], output: model.price[1] },
    speed: model.speed,
    usable: { yes: false, because: whyNot(model.id.split('/')[0] ?? '') },
  };
}

function whyNot(provider: string): string {
  const key = KEYS[provider];
  const unused = key === undefined ? '' : `; ${key} is not used`;
  return `no provider: this version of Mimir does not call ${provider} yet${unused}`;
}

function known(
  id: string,
  window: number,
  outputLimit: number,
  price: readonly [input: number, output: number] | null,
  speed: number,
): Known {
  return { id, window, outputLimit, price, speed };
}
