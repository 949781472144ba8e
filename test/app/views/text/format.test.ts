/** Numbers as people read them. */
import { describe, expect, it } from 'vitest';
import {
  formatClock,
  formatCost,
  formatDuration,
  formatLimit,
  formatRoughly,
  formatShare,
  formatShares,
  formatTokens,
} from '../../../../src/app/views/text/format.ts';

describe('numbers on the screen', () => {
  it('writes durations as `Xm Ys` or `Xs` (O123)', () => {
    expect([0, 999, 48_000, 60_000, 192_000, 3_723_000, -5, Number.NaN].map(formatDuration)).toEqual([
      '0s',
      '0s',
      '48s',
      '1m 0s',
      '3m 12s',
      '62m 3s',
      '0s',
      '0s',
    ]);
  });

  it('writes costs in cents, below a cent with four decimals, and says when the price is unknown', () => {
    expect([0, 0.0912, 12.5, null].map(formatCost)).toEqual(['$0.00', '$0.09', '$12.50', '$?']);
    expect([0.00003, 0.0031, 0.00994, 0.00996].map(formatCost)).toEqual(['<$0.0001', '$0.0031', '$0.0099', '$0.01']);
    expect([2, 0.5, 0.1234].map(formatLimit)).toEqual(['$2.00', '$0.50', '$0.1234']);
  });

  it('writes tokens in at most four characters', () => {
    expect(
      [0, 800, 999, 1000, 6200, 9949, 9950, 22_400, 999_499, 999_500, 1_240_000, 34_000_000].map(formatTokens),
    ).toEqual(['0', '800', '999', '1.0k', '6.2k', '9.9k', '10k', '22k', '999k', '1.0M', '1.2M', '34M']);
  });

  it('rounds shares down, so that 100 % is never said too early', () => {
    expect([0, 0.795, 0.9999, 1, 1.2].map(formatShare)).toEqual(['0%', '79%', '99%', '100%', '120%']);
  });

  it('writes the time of day with two digits each', () => {
    expect(formatClock(Date.UTC(2026, 0, 1, 3, 4, 5))).toMatch(/^\d\d:04:05$/);
  });
});

describe('percentages of the parts of a whole', () => {
  it('add up to it, and 100 % is written of all alone', () => {
    expect([[0.953, 0.047], [1 / 3, 1 / 3, 1 / 3], [0.996, 0.004], [1], [0.5, 0.25], []].map(formatShares)).toEqual([
      ['95%', '5%'],
      ['34%', '33%', '33%'],
      ['99%', '1%'],
      ['100%'],
      ['50%', '25%'],
      [],
    ]);
  });
});

describe('what nobody knows to the second', () => {
  it('is told in minutes from ten on, and in hours from two on', () => {
    expect([48_000, 192_000, 1_709_000, 10_800_000].map(formatRoughly)).toEqual(['48s', '3m 12s', '28m', '3h']);
  });
});
