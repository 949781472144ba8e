/** The real `World`: the clock, chance and waiting of the machine. Tests have their own (test/support/world.ts). */
import { randomBytes } from 'node:crypto';
import type { World } from '../../ports/world.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** Bytes from here on would make the first letters likelier than the last. */
const FAIR = 256 - (256 % LETTERS.length);

/** Between two looks at the monotonic clock: a longer silence means that the process was stopped (Ctrl-Z, a debugger). */
const BEAT = 1000;
const STOPPED = 5 * BEAT;
let beat: NodeJS.Timeout | null = null;
let [last, stood] = [performance.now(), 0];

/** Milliseconds that this process has lived, without those that it was stopped. */
function lived(): number {
  const now = performance.now();
  if (beat !== null && now - last > STOPPED) stood += now - last;
  last = now;
  return now - stood;
}

export const world: World = {
  now: () => Date.now(),
  elapsed: () => {
    beat ??= setInterval(lived, BEAT).unref();
    return lived();
  },
  name: (length) => {
    let name = '';
    while (name.length < length) {
      for (const byte of randomBytes(length)) {
        if (byte < FAIR && name.length < length) name += LETTERS[byte % LETTERS.length];
      }
    }
    return name;
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      // It keeps the process alive: a run that waits for a provider has something to come back to.
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener('abort', done, { once: true });
    }),
};
