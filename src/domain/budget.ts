/** What an agent or a run may use. A missing limit means none was set; 0 means nothing may be used. */
import { z } from 'zod';

export const Budget = z.strictObject({
  /** Over all calls, counted by `limitTokens`. */
  maxTokens: z.int().min(0).max(1e12).optional(),
  /** US dollars. */
  maxCost: z.number().min(0).max(1e6).optional(),
  /** Milliseconds of running; waiting for a person is left out. */
  maxDuration: z.int().min(0).max(1e10).optional(),
});
export type Budget = z.infer<typeof Budget>;

/** Tokens by class, as providers bill them. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
export const tokensOf = (usage: Usage): number => usage.input + usage.output + usage.cacheRead + usage.cacheWrite;

/**
 * Tokens as limits on tokens count them: new input, output and cache writes in full, cache reads at a tenth, rounded up. A
 * long conversation is read from the cache at each turn for about a tenth of the price, so that counted in full it would
 * end ordinary work. Only limits are weighted: cards, events and totals show tokens as they are (`tokensOf`).
 */
export const limitTokens = ({ input, output, cacheRead, cacheWrite }: Usage): number =>
  input + output + cacheWrite + Math.ceil(cacheRead / 10);

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
});

/** The tighter of two budgets, limit by limit. */
export function tightest(a: Budget, b: Budget): Budget {
  const pick = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined ? y : y === undefined ? x : Math.min(x, y);
  return withoutAbsent({
    maxTokens: pick(a.maxTokens, b.maxTokens),
    maxCost: pick(a.maxCost, b.maxCost),
    maxDuration: pick(a.maxDuration, b.maxDuration),
  });
}

/** Drops limits that are undefined and the sign of nothing, so that equal budgets are equal objects, written down and read again. */
export function withoutAbsent(limits: { readonly [K in keyof Budget]?: number | undefined }): Budget {
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value + 0]])),
  );
}
