/** A `World` that stands still until a test moves it: `advance` wakes the sleepers whose time has come, in order. */
import type { World } from '../../src/ports/world.ts';

export interface FakeWorld extends World {
  /** Moves both clocks; resolves when those that were woken, and what they do at once, have had their turn. */
  advance(ms: number): Promise<void>;
  /** How many sleep now. */
  sleepers(): number;
  /** Milliseconds until the next one wakes; null when nobody sleeps. */
  nextWake(): number | null;
}

export interface FakeWorldOptions {
  /** Milliseconds since the epoch: 2026-01-01T00:00:00Z when it isn't said. */
  readonly start?: number;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

export function fakeWorld({ start = Date.UTC(2026, 0, 1) }: FakeWorldOptions = {}): FakeWorld {
  let passed = 0;
  let names = 0;
  const asleep = new Set<Sleeper>();
  const earliest = (): Sleeper | undefined =>
    [...asleep].reduce<Sleeper | undefined>(
      (first, one) => (first && first.until <= one.until ? first : one),
      undefined,
    );
  return {
    now: () => start + passed,
    elapsed: () => passed,
    // Always the same names: those of a test read alike in every run.
    name: () => `id-${(names += 1)}`,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) {
          resolve();
          return;
        }
        const wake = (): void => {
          asleep.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper: Sleeper = { until: passed + ms, wake };
        asleep.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    advance: async (ms) => {
      const end = passed + ms;
      for (let next = earliest(); next !== undefined && next.until <= end; next = earliest()) {
        passed = Math.max(passed, next.until);
        next.wake();
        await turn();
      }
      passed = end;
      await turn();
    },
    sleepers: () => asleep.size,
    nextWake: () => {
      const next = earliest();
      return next === undefined ? null : next.until - passed;
    },
  };
}

/** One turn of the event loop: promises that are ready have been followed. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
