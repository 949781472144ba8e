/** Budgets that are equal are equal objects, written down and read again. */
import { expect, it } from 'vitest';
import { tightest, withoutAbsent } from '../../src/domain/budget.ts';

it('a budget has no limit that is absent, and nothing has no sign', () => {
  expect(withoutAbsent({ maxTokens: undefined, maxCost: -0, maxDuration: 5 })).toEqual({ maxCost: 0, maxDuration: 5 });
  expect(tightest({ maxCost: -0 }, { maxTokens: 10 })).toEqual({ maxCost: 0, maxTokens: 10 });
});
