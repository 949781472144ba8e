/** Budgets of agents and runs. A missing limit is no limit; 0 allows nothing. */
import { z } from 'zod';
import type { Usd } from './ids.ts';
import { fail, ok, type Result } from './result.ts';
import { typedNumber } from './text/text.ts';

export const Budget = z.strictObject({
  /** Over all calls, counted by `limitTokens`. */
  maxTokens: z.int().min(0).max(1e12).optional(),
  /** US dollars. */
  maxCost: z.number().min(0).max(1e6).optional(),
  /** Milliseconds of running, without waiting for a person. */
  maxDuration: z.int().min(0).max(1e10).optional(),
});
export type Budget = z.infer<typeof Budget>;

/** A lower-case m is a minute and a capital M a million, so that `10m` has the same meaning everywhere. */
const LIMIT_UNITS: Readonly<Record<keyof Budget, ReadonlyMap<string, number>>> = {
  maxTokens: new Map(Object.entries({ '': 1, k: 1000, K: 1000, M: 1_000_000 })),
  maxCost: new Map([['', 1]]),
  maxDuration: new Map(Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 })),
};

/** Parses a limit as typed: `64k` or `1.5M` tokens, `$0.50`, `10m`. In tokens, US dollars or milliseconds; null for any other text. */
export function typedLimit(limit: keyof Budget, typed: string): number | null {
  const [, sign, digits = '', unit = ''] = /^(\$?)([\d.,]{1,16})\s*([a-z]*)$/i.exec(typed.trim()) ?? [];
  const number = sign === '' || limit === 'maxCost' ? typedNumber(digits) : null;
  const factor = LIMIT_UNITS[limit].get(unit);
  if (number === null || factor === undefined) return null;
  return limit === 'maxCost' ? number : Math.round(number * factor);
}

/** Parses `20k $2.50 10m`: tokens, dollars and time, one or several in any order; a fault in words. */
export function typedBudget(typed: string): Result<Budget, string> {
  // The comma in 5,000 separates no limits.
  const words = typed.split(/\s+|(?<!\d),|,(?!\d{3}(?!\d))/).filter((word) => word !== '');
  if (words.length === 0) return fail('how much? Such as 20k (tokens), $2.50 or 10m, one or several');
  let budget: Budget = {};
  for (const word of words) {
    const kinds = /^\$|^\d+\.\d+$/.test(word) ? (['maxCost'] as const) : (['maxTokens', 'maxDuration'] as const);
    const limit = kinds.find((kind) => typedLimit(kind, word) !== null);
    if (limit === undefined)
      return fail(
        `"${word}" is not a limit: expected tokens such as 20k, dollars such as $2.50, or a time such as 10m`,
      );
    if (limit in budget) return fail(`"${word}" sets the same limit again`);
    budget = { ...budget, [limit]: typedLimit(limit, word) };
  }
  return ok(budget);
}

/** Two decimals, and four below a cent: `$0.09`, `$0.0031`; `$?` if the price is unknown (null). */
export function formatCost(cost: Usd | null): string {
  if (cost === null) return '$?';
  if (cost > 0 && cost < 0.000_05) return '<$0.0001';
  return `$${cost.toFixed(cost === 0 || cost >= 0.009_95 ? 2 : 4)}`;
}

/** A cost that is compared with a limit, exact to four decimals: `$2.00`, `$0.1484`. */
export const formatLimit = (cost: Usd): string =>
  `$${cost.toFixed(Math.abs(cost * 100 - Math.round(cost * 100)) < 1e-6 ? 2 : 4)}`;

/** Tokens by class, as providers bill them. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
export const tokensOf = (usage: Usage): number => usage.input + usage.output + usage.cacheRead + usage.cacheWrite;

/** Tokens as limits count them: input, output and cache writes in full, cache reads at a tenth, rounded up. A long conversation is read from
 * the cache at every turn for about a tenth of the price; counted in full, it would end ordinary work. Displays and totals use `tokensOf`. */
export const limitTokens = ({ input, output, cacheRead, cacheWrite }: Usage): number =>
  input + output + cacheWrite + Math.ceil(cacheRead / 10);

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
});

export const LIMITS = ['maxTokens', 'maxCost', 'maxDuration'] as const satisfies readonly (keyof Budget)[];

/** A budget with what `of` gives for each limit. */
export const budgetBy = (of: (limit: keyof Budget) => number | undefined): Budget =>
  withoutAbsent(Object.fromEntries(LIMITS.map((limit) => [limit, of(limit)])));

/** The tighter of two budgets, limit by limit. */
export const tightest = (a: Budget, b: Budget): Budget =>
  budgetBy((limit) => {
    const [one = b[limit], other = one] = [a[limit], b[limit]];
    return one === undefined || other === undefined ? undefined : Math.min(one, other);
  });

const LIMIT_WORDS: Readonly<Record<keyof Budget, (amount: number) => string>> = {
  maxTokens: (tokens) => `${tokens} tokens`,
  maxCost: formatLimit,
  maxDuration: (ms) => `${Math.round(ms / 1000)} s`,
};

/** `20000 tokens`, `$2.50`, `600 s`; a limit that is not set is the default. */
export const limitWords = (limit: keyof Budget, amount: number | undefined): string =>
  amount === undefined ? 'the default' : LIMIT_WORDS[limit](amount);

/** Drops undefined limits and normalises -0, so that equal budgets are equal objects after a round trip through JSON. */
export const withoutAbsent = (limits: { readonly [K in keyof Budget]?: number | undefined }): Budget =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value + 0]])),
  );

/** How much of a limit is used. */
export interface Exhausted {
  readonly what: 'tokens' | 'cost' | 'time';
  /** Tokens, US dollars or milliseconds. */
  readonly spent: number;
  readonly limit: number;
}
