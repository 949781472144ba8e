/** Prices and windows from the price library. The library takes a tenth of a second to load, so no run imports this module: the
 * catalogue's prices are in prices.json, and only a person's own models are looked up here. Missing facts are unknown, never guessed. */
import { findProvider, type MatchLogic, type ModelInfo, type ModelPrice, type Provider } from '@pydantic/genai-prices';
import type { Millis } from '../../domain/ids.ts';
import { defined } from '../../domain/result.ts';
import type { Price, Rates } from '../../domain/models/provider.ts';

/** The published facts about a model; null is unknown. */
export interface Published {
  readonly price: Price | null;
  readonly window: number | null;
}

const UNPUBLISHED: Published = { price: null, window: null };

/** The facts about the model `name` of the API at `baseUrl`, priced at `now`. */
export function publishedAt(baseUrl: string, name: string, now: Millis): Published {
  const provider = URL.canParse(baseUrl) ? findProvider({ providerApiUrl: baseUrl }) : undefined;
  // The library's patterns are not anchored at the end: `https://api.openai.com.evil.example` would match OpenAI.
  const model = provider !== undefined && meansWholeHost(provider, baseUrl) ? modelNamed(provider, name) : undefined;
  return model === undefined
    ? UNPUBLISHED
    : { price: priceOf(pricesOf(model, now)), window: model.context_window ?? null };
}

function meansWholeHost({ api_pattern: pattern }: Provider, baseUrl: string): boolean {
  const [matched = ''] = new RegExp(`^(?:${pattern})`).exec(baseUrl) ?? [];
  return matched.length >= new URL(baseUrl).origin.length;
}

const DATED = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The model with exactly this id, or with this id without its date. The library also matches prefixes, and would give the price of
 * `claude-sonnet-5` to an unknown `claude-sonnet-5-5`. */
const modelNamed = ({ models }: Provider, name: string): ModelInfo | undefined =>
  models.find(({ id, match }) => id === name || isNamed(match, name)) ??
  models.find(({ id }) => DATED.test(name) && id === name.replace(DATED, ''));

function isNamed(match: MatchLogic, name: string): boolean {
  if ('equals' in match) return match.equals === name;
  return 'or' in match && match.or.some((each) => isNamed(each, name));
}

/** The prices in force; of prices by time of day the highest, because a limit must hold at any hour. */
function pricesOf({ prices }: ModelInfo, now: Millis): ModelPrice {
  if (!Array.isArray(prices)) return prices;
  const begun = prices
    .filter(({ constraint }) => constraint?.type !== 'time_of_date')
    .findLast(({ constraint }) => constraint === undefined || Date.parse(startOf(constraint)) <= now);
  const hourly = prices.filter(({ constraint }) => constraint?.type === 'time_of_date');
  const all = [...(begun === undefined ? [] : [begun]), ...hourly].map((each) => each.prices);
  return all.sort((a, b) => dearness(b) - dearness(a))[0] ?? {};
}

const startOf = (constraint: object): string =>
  'start_date' in constraint && typeof constraint.start_date === 'string' ? constraint.start_date : '';

const dearness = (prices: ModelPrice): number => amountAt(prices, 'output_mtok', 0) ?? 0;

/** Null without a price for input or output. A tier applies to requests with more input than its `start`, all classes together. */
function priceOf(prices: ModelPrice): Price | null {
  const base = ratesAt(prices, 0);
  if (base === null) return null;
  const tiers = startsOf(prices).flatMap((above) => {
    const rates = ratesAt(prices, above + 1);
    return rates === null ? [] : [{ above, ...rates }];
  });
  return tiers.length === 0 ? base : { ...base, tiers };
}

const CLASSES = ['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok'] as const;

const startsOf = (prices: ModelPrice): readonly number[] => {
  const starts = CLASSES.flatMap((name) => {
    const price = prices[name];
    return typeof price === 'object' ? price.tiers.map(({ start }) => start) : [];
  });
  return [...new Set(starts)].sort((a, b) => a - b);
};

function ratesAt(prices: ModelPrice, tokens: number): Rates | null {
  const [input, output, cacheRead, cacheWrite] = CLASSES.map((name) => amountAt(prices, name, tokens));
  if (input === undefined || output === undefined) return null;
  return { input, output, ...defined({ cacheRead, cacheWrite }) };
}

/** US dollars per million tokens of a class, in a request with `tokens` of input. */
function amountAt(prices: ModelPrice, name: (typeof CLASSES)[number], tokens: number): number | undefined {
  const price = prices[name];
  if (typeof price !== 'object') return price;
  return price.tiers.findLast(({ start }) => tokens > start)?.price ?? price.base;
}
