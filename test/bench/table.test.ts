import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BARS } from './bars.ts';
import { percentile, spreadOf } from './statistics.ts';
import type { Figure } from './table.ts';
import { tableOf, verdictOf } from './table.ts';

const paint = (ms: number): Figure => ({ what: 'start: first paint', unit: 'ms', mimir: spreadOf([ms]), floor: null });
const span = (mimir: number, floor: number): Figure => ({
  what: '64 agents: ideal/span',
  unit: '',
  mimir: spreadOf([mimir]),
  floor: spreadOf([floor]),
});

describe('a verdict', () => {
  it('is the farthest bar that the median reaches', () => {
    const [must, stretch] = [200, 80];
    expect(BARS['start: first paint']).toEqual({
      must: { is: 'at most', value: must },
      stretch: { is: 'at most', value: stretch },
    });
    expect([stretch, stretch + 1, must, must + 1].map((ms) => verdictOf(paint(ms)))).toEqual([
      'stretch',
      'must',
      'must',
      'missed',
    ]);
  });

  it('takes the floor of the same run where the bar is one', () => {
    expect([span(0.8, 0.82), span(0.78, 0.82), span(0.74, 0.74)].map(verdictOf)).toEqual(['stretch', 'must', 'missed']);
  });

  it('is none for what has no bar', () => {
    expect(verdictOf({ ...paint(1), what: 'something else' })).toBe('none');
  });
});

describe('the table', () => {
  it('has the medians, how far they lie apart, the floor, the ratio and the bars in one row', () => {
    const figure: Figure = { ...paint(0), mimir: spreadOf([240, 250.4, 300]), floor: spreadOf([100]) };
    expect(tableOf([figure]).split('\n').slice(2)).toEqual([
      '| start: first paint, ms | 250 (240-300) | 100 | 2.50x | ≤ 200 | ≤ 80 | **missed by 25 %** |',
    ]);
  });
});

describe('a percentile', () => {
  it('lies between the least and the largest value, and never falls as the share grows', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });
    const share = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(values, share, share, (all, one, other) => {
        const [low, high] = [percentile(all, Math.min(one, other)), percentile(all, Math.max(one, other))];
        const slack = 1e-6;
        expect(low).toBeLessThanOrEqual(high + slack);
        expect(low).toBeGreaterThanOrEqual(Math.min(...all) - slack);
        expect(high).toBeLessThanOrEqual(Math.max(...all) + slack);
      }),
    );
  });
});
