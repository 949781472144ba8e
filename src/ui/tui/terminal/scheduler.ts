/** Decides when to paint: at once for keys, up to 30 times a second for streams, twice for clocks, never when idle. */
import type { Load } from './terminal.ts';

export interface Scheduler {
  /** Paints as soon as pending input is handled, for keys and resizes. */
  now(): void;
  /** Paints within 33 ms, for other changes. */
  soon(): void;
  /** Paints every half second while a clock is visible. */
  clock(runs: boolean): void;
  stop(): void;
}

export interface SchedulerParts {
  paint(): void;
  /** The output load: `full` postpones painting, `heavy` reduces the rate to ten per second. */
  load(): Load;
}

const FRAME = 33;
const SLOW_FRAME = 100;
const HALF_SECOND = 500;

export function openScheduler(parts: SchedulerParts): Scheduler {
  let last = -FRAME;
  let timer: NodeJS.Timeout | undefined;
  let atOnce: NodeJS.Immediate | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let stopped = false;

  const pace = (): number => (parts.load() === 'heavy' ? SLOW_FRAME : FRAME);
  const paintNow = (): void => {
    clearTimeout(timer);
    clearImmediate(atOnce);
    timer = undefined;
    atOnce = undefined;
    if (stopped) return;
    if (parts.load() === 'full') return later(FRAME);
    last = performance.now();
    parts.paint();
  };
  const later = (delay: number): void => {
    timer ??= setTimeout(paintNow, delay);
  };

  return {
    now() {
      if (!stopped) atOnce ??= setImmediate(paintNow);
    },
    soon() {
      if (!stopped && atOnce === undefined) later(Math.max(0, pace() - (performance.now() - last)));
    },
    clock(runs) {
      if (runs && ticking === undefined && !stopped) ticking = setInterval(() => later(0), HALF_SECOND);
      if (runs) return;
      clearInterval(ticking);
      ticking = undefined;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      clearImmediate(atOnce);
      clearInterval(ticking);
    },
  };
}
