/** What tokens cost, by class and tier, and the bound that a call is promised before it is made. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE, type Usage } from '../../../src/domain/budget.ts';
import { costOf, FREE, type Price, worstRates } from '../../../src/domain/models/provider.ts';

const SONNET: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TIERED: Price = {
  input: 2,
  output: 10,
  cacheRead: 0.2,
  cacheWrite: 2.5,
  tiers: [{ above: 272_000, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 }],
};
const usage = (changes: Partial<Usage>): Usage => ({ ...NO_USAGE, ...changes });

describe('what a call costs', () => {
  it('is the sum of its classes, in whole micro-dollars (D10)', () => {
    const all = usage({ input: 1000, output: 500, cacheRead: 40_000, cacheWrite: 2000 });
    expect(costOf(SONNET, all)).toBe(0.03);
    expect(costOf(SONNET, usage({ cacheRead: 1 }))).toBe(0);
    expect(costOf(SONNET, usage({ cacheRead: 2 }))).toBe(0.000001);
    expect(costOf(FREE, all)).toBe(0);
  });

  it('counts cached tokens as plain input where they have no price of their own', () => {
    expect(costOf({ input: 2, output: 8 }, usage({ cacheRead: 500_000, cacheWrite: 500_000 }))).toBe(2);
  });

  it('is dearer for the whole request above a tier’s tokens of input, all classes together, output left out', () => {
    const at = usage({ input: 1000, cacheRead: 271_000, output: 1000 });
    expect(costOf(TIERED, at)).toBe(0.0662);
    expect(costOf(TIERED, { ...at, cacheWrite: 1 })).toBe(0.127405);
    expect(costOf(TIERED, usage({ input: 1000, output: 900_000 }))).toBe(9.002);
  });
});

describe('the bound', () => {
  const rates = fc.record({
    input: fc.integer({ min: 0, max: 200 }),
    output: fc.integer({ min: 0, max: 600 }),
    cacheRead: fc.integer({ min: 0, max: 200 }),
    cacheWrite: fc.integer({ min: 0, max: 300 }),
  });
  const tiers = fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 400_000 }), rates), { selector: ([above]) => above, maxLength: 3 })
    .map((all) => all.sort(([a], [b]) => a - b).map(([above, each]) => ({ above, ...each })));
  const prices: fc.Arbitrary<Price> = fc.tuple(rates, tiers).map(([base, all]) => ({ ...base, tiers: all }));
  const tokens = fc.integer({ min: 0, max: 150_000 });

  it('is at least what any call costs that keeps within it', () => {
    fc.assert(
      fc.property(
        prices,
        fc.record({ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens }),
        tokens,
        (price, used, more) => {
          const bound = used.input + used.cacheRead + used.cacheWrite + more;
          const worst = worstRates(price, bound);
          expect(costOf(price, used) * 1e6).toBeLessThanOrEqual(worst.input * bound + worst.output * used.output + 1);
        },
      ),
    );
  });

  it('leaves tiers out that the call can not reach', () => {
    expect(worstRates(TIERED, 272_000)).toEqual({ input: 2.5, output: 10 });
    expect(worstRates(TIERED, 272_001)).toEqual({ input: 5, output: 15 });
  });
});
