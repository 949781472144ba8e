/** The models that Mimir knows by name: context window and output limit in tokens, grade, price. Policy decides which of them
 * may be used, and the provider whether they can be called. `prices.json` is written by `.setup/prices.mjs`.
 *
 * Sources: ids from the providers' client libraries (see policy/aliases.ts); windows from the price library if it has them
 * (test/models/catalogue/prices.test.ts compares), that of qwen3-coder from OpenRouter; output limits from the providers' model pages
 * (platform.claude.com/docs/en/models, developers.openai.com/api/docs/models). Grades and speeds (tokens per second) are
 * estimates for ranking only; nothing is refused or charged by them. Opus 4.1 is retired on Anthropic's own API, but still
 * available on compatible servers. */
import { type Millis, ModelId, providerOf } from '../../domain/ids.ts';
import { isLoopback, type Price, type ProviderSetup } from '../../domain/models/provider.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { defined } from '../../domain/result.ts';
import { type Provider, wireName } from '../provider.ts';
import ROWS from './models.json' with { type: 'json' };
import type { Published } from './prices.ts';
import PRICES from './prices.json' with { type: 'json' };

/** Alias -> canonical id, from policy. */
export type Aliases = ReadonlyMap<string, ModelId>;

/** A model as its provider describes it, apart from whether it can be called here. */
export type Known = Omit<ModelOption, 'label' | 'aliases' | 'usable'>;

const GRADES = ['fast', 'usual', 'deep'] as const;
const PUBLISHED: Readonly<Record<string, Price>> = PRICES;

/** The rows of `models.json`. Their order decides which usable model of a grade replaces a model of another provider. `effort: false`: the
 * model refuses a reasoning effort, as documented. */
export const KNOWN: readonly Known[] = ROWS.map(({ id, grade, effort, ...figures }) => ({
  ...figures,
  id: ModelId.parse(id),
  price: within(figures.window, PUBLISHED[id]),
  ...defined({ grade: GRADES.find((one) => one === grade), effort: effort === false ? effort : undefined }),
}));

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
