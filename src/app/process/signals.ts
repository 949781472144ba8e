/**
 * Ctrl-C, SIGTERM and SIGHUP in line mode and headless: the first ends the run so that it can be resumed, a second one
 * ends the program at once. npm passes a terminal's Ctrl-C on a second time: within 100 ms it is the same press.
 */
import type { EndSignal } from './exit-codes.ts';
import { world } from './world.ts';

const SAME_PRESS_MS = 100;

export interface Watch {
  /** What came, or null. */
  got(): EndSignal | null;
  end(): void;
}

export function watchSignals(stop: (signal: EndSignal) => void): Watch {
  let got: EndSignal | null = null;
  let at = 0;
  const heard = (signal: EndSignal): void => {
    const now = world.elapsed();
    if (got === null) {
      got = signal;
      at = now;
      stop(signal);
    } else if (now - at > SAME_PRESS_MS) leave(signal);
  };
  const signals: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, heard);
  return {
    got: () => got,
    end: () => {
      for (const signal of signals) process.off(signal, heard);
      // A program that a signal ended is on its way out: one more must not end it as if nobody had heard the first.
      if (got !== null) for (const signal of signals) process.on(signal, leave);
    },
  };
}

function leave(signal: EndSignal): void {
  process.exit(signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 129);
}
