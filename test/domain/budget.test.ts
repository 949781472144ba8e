/** Budgets that are equal are equal objects, written down and read again. */
import { expect, it } from 'vitest';
import { limitTokens, NO_USAGE, tightest, tokensOf, typedLimit, withoutAbsent } from '../../src/domain/budget.ts';

it('a budget has no limit that is absent, and nothing has no sign', () => {
  expect(withoutAbsent({ maxTokens: undefined, maxCost: -0, maxDuration: 5 })).toEqual({ maxCost: 0, maxDuration: 5 });
  expect(tightest({ maxCost: -0 }, { maxTokens: 10 })).toEqual({ maxCost: 0, maxTokens: 10 });
});

it('counts for limits on tokens what is read from the cache at a tenth, rounded up, and all else in full', () => {
  const usage = { input: 100, output: 20, cacheRead: 1001, cacheWrite: 300 };
  expect([limitTokens(usage), tokensOf(usage), limitTokens(NO_USAGE)]).toEqual([521, 1421, 0]);
});

it.each([
  [
    'maxTokens',
    { '64000': 64_000, '5,000': 5000, '64k': 64_000, '64K': 64_000, '1.5M': 1_500_000, '10m': null, $5: null },
  ],
  ['maxCost', { '0.50': 0.5, '$0,50': 0.5, '2': 2, '2k': null }],
  ['maxDuration', { '90s': 90_000, '10m': 600_000, '1.5h': 5_400_000, '10': null, '10M': null, soon: null }],
] as const)(
  'a limit is typed with its unit, of which a small m is a minute and a capital M a million: %s',
  (limit, typed) => {
    expect(Object.fromEntries(Object.keys(typed).map((text) => [text, typedLimit(limit, text)]))).toEqual(typed);
  },
);
