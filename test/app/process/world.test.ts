import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { world } from '../../../src/app/process/index.ts';

describe('the real world', () => {
  it('names with lower-case letters and digits, as many as asked for', () => {
    fc.assert(
      fc.property(fc.nat({ max: 64 }), (length) => {
        expect(world.name(length)).toMatch(new RegExp(`^[a-z0-9]{${length}}$`));
      }),
    );
  });

  it('never gives the same name twice', () => {
    const names = Array.from({ length: 1000 }, () => world.name(12));
    expect(new Set(names).size).toBe(1000);
  });

  it('tells the time of day, and a duration that never goes back', () => {
    expect(Math.abs(world.now() - Date.now())).toBeLessThan(1000);
    const first = world.elapsed();
    expect(world.elapsed()).toBeGreaterThanOrEqual(first);
  });

  it('sleeps no less than it was told', async () => {
    const before = world.elapsed();
    await world.sleep(20);
    expect(world.elapsed() - before).toBeGreaterThanOrEqual(19);
  });

  it('wakes at once when aborted, before or while it sleeps', async () => {
    const before = world.elapsed();
    const asleep = new AbortController();
    const sleeping = world.sleep(60_000, asleep.signal);
    asleep.abort();
    await sleeping;
    await world.sleep(60_000, AbortSignal.abort());
    expect(world.elapsed() - before).toBeLessThan(30_000);
  });
});
