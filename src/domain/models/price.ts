/** What tokens cost: US dollars per million by class, with dearer tiers for long requests. Money is whole micro-dollars. */
import { tokensOf, type Usage } from '../budget.ts';
import { fromMicro, type Usd } from '../ids.ts';

/** US dollars per million tokens. A cache class that is missing costs what plain input costs. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface Price extends Rates {
  /** For requests with more input than `above` tokens (all classes together) these rates hold for the whole request. Ascending. */
  readonly tiers?: readonly (Rates & { readonly above: number })[];
}

export const FREE: Price = { input: 0, output: 0 };

/** The rates of a request with `input` tokens of input in all classes together. */
const ratesFor = ({ tiers = [], ...base }: Price, input: number): Rates =>
  tiers.findLast(({ above }) => input > above) ?? base;

/** What `usage` costs, in whole micro-dollars, rounded. */
export function costOf(price: Price, usage: Usage): Usd {
  const rates = ratesFor(price, tokensOf(usage) - usage.output);
  const micro =
    usage.input * rates.input +
    usage.output * rates.output +
    usage.cacheRead * (rates.cacheRead ?? rates.input) +
    usage.cacheWrite * (rates.cacheWrite ?? rates.input);
  return fromMicro(Math.round(micro));
}

/** US dollars per million tokens that a request with at most `input` tokens can cost at worst: the dearest class of the dearest tier it may reach. */
export function worstRates(price: Price, input: number): { readonly input: number; readonly output: number } {
  const { tiers = [], ...base } = price;
  const reached = [base, ...tiers.filter(({ above }) => input > above)];
  return {
    input: Math.max(...reached.flatMap((rates) => [rates.input, rates.cacheRead ?? 0, rates.cacheWrite ?? 0])),
    output: Math.max(...reached.map((rates) => rates.output)),
  };
}
