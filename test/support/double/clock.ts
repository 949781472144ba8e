/** Time as the double has it, so that a test may hold it still; and the one ticker that all of its streams share. */

export interface Clock {
  /** Milliseconds that never go backwards. */
  now(): number;
  /** Runs `then` after `ms`; what it gives back calls that off. */
  after(ms: number, then: () => void): () => void;
}

export const REAL: Clock = {
  now: () => performance.now(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

export interface Ticker {
  /** Calls `step` at every tick until it says that it is done, or until what this gives back is called. */
  add(step: () => 'more' | 'done'): () => void;
}

/** One timer for however many streams: hundreds of them with one each would cost more than what they stream. */
export function tickerOn(clock: Clock): Ticker {
  const steps = new Set<() => 'more' | 'done'>();
  let isRunning = false;
  const tick = (): void => {
    for (const step of steps) if (step() === 'done') steps.delete(step);
    isRunning = steps.size > 0;
    if (isRunning) clock.after(TICK_MS, tick);
  };
  return {
    add: (step) => {
      steps.add(step);
      if (!isRunning) {
        isRunning = true;
        clock.after(TICK_MS, tick);
      }
      return () => void steps.delete(step);
    },
  };
}

const TICK_MS = 16;
