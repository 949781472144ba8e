/** When is painted: keys at once, streams at most 30 times a second, nothing at all when idle. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openScheduler, type Scheduler } from '../../../../src/ui/tui/terminal/scheduler.ts';

let painted = 0;
let isBusy = false;
let scheduler: Scheduler;

beforeEach(() => {
  vi.useFakeTimers();
  painted = 0;
  isBusy = false;
  scheduler = openScheduler({
    paint: () => {
      painted += 1;
    },
    load: () => (isBusy ? 'full' : 'light'),
  });
});
afterEach(() => {
  scheduler.stop();
  vi.useRealTimers();
});

describe('painting', () => {
  it('happens once for all the keys of one read, without waiting', () => {
    scheduler.now();
    scheduler.now();
    scheduler.soon();
    vi.advanceTimersByTime(0);
    expect(painted).toBe(1);
    vi.advanceTimersByTime(1000);
    expect(painted).toBe(1);
  });

  it('happens at most 30 times a second for what streams', () => {
    for (let at = 0; at < 1000; at += 5) {
      scheduler.soon();
      vi.advanceTimersByTime(5);
    }
    expect(painted).toBeGreaterThan(20);
    expect(painted).toBeLessThanOrEqual(31);
  });

  it('waits while the terminal does not keep up, and then shows the sum', () => {
    isBusy = true;
    scheduler.soon();
    vi.advanceTimersByTime(500);
    expect(painted).toBe(0);
    isBusy = false;
    vi.advanceTimersByTime(50);
    expect(painted).toBe(1);
  });

  it('ticks every 500 ms while a clock is in sight, and leaves no timer when idle (O115, D25)', () => {
    scheduler.clock(true);
    scheduler.clock(true);
    vi.advanceTimersByTime(1750);
    expect(painted).toBe(3);
    scheduler.clock(false);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(5000);
    expect(painted).toBe(3);
  });

  it('is over when it is stopped', () => {
    scheduler.soon();
    scheduler.stop();
    scheduler.now();
    scheduler.clock(true);
    vi.advanceTimersByTime(5000);
    expect(painted).toBe(0);
  });
});
