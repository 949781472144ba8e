/** The real `World`: clock, random names and waiting. Also creates session names and handles signals of commands without a screen. */
import { randomBytes } from 'node:crypto';
import type { SessionId } from '../../domain/ids.ts';
import { isSessionId } from '../../domain/text/text.ts';
import type { World } from '../../ports/world.ts';
import { type EndSignal, signalCode } from './exit.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** Larger bytes are discarded: they would make the first letters of the alphabet likelier than the last ones. */
const BYTE_LIMIT = 256 - (256 % LETTERS.length);

/** Milliseconds between two readings of the monotonic clock. A longer gap means that the process was suspended (Ctrl-Z, a debugger). */
const TICK_MS = 1000;
const SUSPENDED_AFTER_MS = 5 * TICK_MS;
let ticker: NodeJS.Timeout | null = null;
let [last, suspendedMs] = [performance.now(), 0];

/** Milliseconds that this process has run, without the time it was suspended. */
function processTime(): number {
  const now = performance.now();
  if (ticker !== null && now - last > SUSPENDED_AFTER_MS) suspendedMs += now - last;
  last = now;
  return now - suspendedMs;
}

export const world: World = {
  now: () => Date.now(),
  elapsed: () => {
    ticker ??= setInterval(processTime, TICK_MS).unref();
    return processTime();
  },
  name: (length) => {
    let name = '';
    while (name.length < length) {
      for (const byte of randomBytes(length)) {
        if (byte < BYTE_LIMIT && name.length < length) name += LETTERS[byte % LETTERS.length];
      }
    }
    return name;
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      // The timer keeps the process alive: a run that waits for a provider has to continue afterwards.
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** A new random session name, short enough to type. */
export function newSession(): SessionId {
  const name = world.name(6);
  if (isSessionId(name)) return name;
  throw new Error(`${name} is no name for a session`);
}

const SAME_PRESS_MS = 100;

/** Handles Ctrl-C, SIGTERM and SIGHUP of a command without a screen. The first one calls `stop`, so that the run can be resumed; a
 * second one ends the program at once. npm delivers a terminal's Ctrl-C twice: within 100 ms it counts once. */
export function watchSignals(stop: (signal: EndSignal) => void): { received(): EndSignal | null; end(): void } {
  let got: EndSignal | null = null;
  let at = 0;
  const onSignal = (signal: EndSignal): void => {
    const now = world.elapsed();
    if (got === null) {
      got = signal;
      at = now;
      stop(signal);
    } else if (now - at > SAME_PRESS_MS) exitNow(signal);
  };
  const signals: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    received: () => got,
    end: () => {
      for (const signal of signals) process.off(signal, onSignal);
      // The program is about to end: a further signal must not kill it as if the first one had been ignored.
      if (got !== null) for (const signal of signals) process.on(signal, exitNow);
    },
  };
}

function exitNow(signal: EndSignal): void {
  process.exit(signalCode(signal));
}
