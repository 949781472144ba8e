/** I3, whatever happens in whatever order. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brokenIn, storm } from '../support/budget-storm.ts';

describe('what is used and promised, below every limit of a tree of agents', () => {
  it('I3: never exceeds one when a call is promised, and adds up to the micro-dollar, in any storm', () => {
    fc.assert(
      fc.property(storm, (one) => {
        expect(brokenIn(one)).toEqual([]);
      }),
      { numRuns: 10_000 },
    );
  });

  it('would exceed it if promises were not counted: the storm can tell', () => {
    const { failed } = fc.check(
      fc.property(storm, (one) => brokenIn(one, { careful: false }).length === 0),
      { numRuns: 500, endOnFailure: true },
    );
    expect(failed).toBe(true);
  });
});
