/** When to paint: at once for keys, at most 30 times a second (10 after large frames) for what streams in, twice for clocks; never when idle. */

export interface Scheduler {
  /** A key was pressed or the size changed: paint as soon as what has come in is handled. */
  now(): void;
  /** Something changed on its own: paint within 33 ms. */
  soon(): void;
  /** Paint every half second while a clock is in sight: no shown value is older. */
  clock(runs: boolean): void;
  stop(): void;
}

export interface SchedulerParts {
  paint(): void;
  /** True while the terminal doesn't keep up: a painting is put off, and the next one carries the sum. */
  busy(): boolean;
  /** True after a large frame: ten a second are enough then. Absent: never. */
  heavy?(): boolean;
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

  const pace = (): number => (parts.heavy?.() === true ? SLOW_FRAME : FRAME);
  const paintNow = (): void => {
    clearTimeout(timer);
    clearImmediate(atOnce);
    timer = undefined;
    atOnce = undefined;
    if (stopped) return;
    if (parts.busy()) {
      later(FRAME);
      return;
    }
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
      if (runs && ticking === undefined && !stopped) {
        ticking = setInterval(() => {
          later(0);
        }, HALF_SECOND);
      }
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
