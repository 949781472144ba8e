/** When to paint: at once for keys, together for data, and again when a clock or a toast on the screen asks for it. */
import type { Millis } from '../domain/ids.ts';
import type { World } from '../ports/world.ts';

/** Shortest time between two paintings for data: 30 a second. */
const STEP: Millis = 33;

export interface Pace {
  /** Paints now. */
  now(): void;
  /** Paints soon; several calls are one painting. */
  soon(): void;
  stop(): void;
}

export interface PaceOf {
  readonly world: World;
  /** Paints, and says after how many milliseconds the same state will look different; null: never. */
  paint(): Millis | null;
  /** True while painting would only add to a queue. */
  busy(): boolean;
}

export function pace(of: PaceOf): Pace {
  let last = Number.NEGATIVE_INFINITY;
  let waiting = false;
  let stopped = false;
  let later = new AbortController();
  const paint = (): void => {
    last = of.world.elapsed();
    const again = of.paint();
    later.abort();
    later = new AbortController();
    if (again !== null) void after(Math.max(STEP, again), later.signal);
  };
  const after = async (wait: Millis, signal: AbortSignal): Promise<void> => {
    await of.world.sleep(wait, signal);
    if (!stopped && !signal.aborted) paint();
  };
  const catchUp = async (): Promise<void> => {
    do {
      await of.world.sleep(Math.max(0, STEP - (of.world.elapsed() - last)));
      if (stopped) return;
    } while (of.busy());
    waiting = false;
    paint();
  };
  return {
    now: () => {
      if (!stopped) paint();
    },
    soon: () => {
      if (waiting || stopped) return;
      waiting = true;
      void catchUp();
    },
    stop: () => {
      stopped = true;
      later.abort();
    },
  };
}
