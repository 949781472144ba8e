/** Budgets that are equal are equal objects, written down and read again. */
import { expect, it } from 'vitest';
import { limitTokens, NO_USAGE, tightest, tokensOf, withoutAbsent } from '../../src/domain/budget.ts';

it('a budget has no limit that is absent, and nothing has no sign', () => {
  expect(withoutAbsent({ maxTokens: undefined, maxCost: -0, maxDuration: 5 })).toEqual({ maxCost: 0, maxDuration: 5 });
  expect(tightest({ maxCost: -0 }, { maxTokens: 10 })).toEqual({ maxCost: 0, maxTokens: 10 });
});

it('counts for limits on tokens what is read from the cache at a tenth, rounded up, and all else in full', () => {
  const usage = { input: 100, output: 20, cacheRead: 1001, cacheWrite: 300 };
  expect([limitTokens(usage), tokensOf(usage), limitTokens(NO_USAGE)]).toEqual([521, 1421, 0]);
});
