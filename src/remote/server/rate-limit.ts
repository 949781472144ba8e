/** How much of the time of this process one agent may take by asking: a run goes on, and answers its person, whatever a command does. */
import type { Millis } from '../../domain/ids.ts';
import type { World } from '../../ports/world.ts';

/** Part of the time that goes to the questions of one agent when they never end. */
const SHARE = 0.2;
/** What may be used at once after a while of silence: two hundred spawns are below it. */
const BURST: Millis = 1500;
/** What a question costs at least: reading its line, and writing the answer. */
const LEAST: Millis = 0.1;

export interface Pace {
  /** Resolves when the next question may be looked at, one after the other; others of this process come in between. */
  turn(): Promise<void>;
  /** One after the other, each to its end: for answers that are kept in memory until they have been read. */
  alone<T>(answer: () => Promise<T>): Promise<T>;
  /** A question has taken this long, nobody else having been served meanwhile. */
  spent(time: Millis): void;
}

/** Nobody waits. */
export const unpaced: Pace = {
  turn: () => Promise.resolve(),
  alone: (answer) => answer(),
  spent: () => undefined,
};

export function openPace(world: Pick<World, 'elapsed' | 'sleep'>): Pace {
  let last: Promise<void> = Promise.resolve();
  let kept: Promise<unknown> = Promise.resolve();
  let [left, at] = [BURST, world.elapsed()];
  const refill = (): void => {
    const now = world.elapsed();
    left = Math.min(BURST, left + (now - at) * SHARE);
    at = now;
  };
  const next = async (before: Promise<void>): Promise<void> => {
    await before;
    // What the one before has cost is known then, and everybody else has had a turn.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    refill();
    if (left < 0) await world.sleep(-left / SHARE);
  };
  const turn = (): Promise<void> => {
    last = next(last);
    return last;
  };
  const behind = async <T>(before: Promise<unknown>, answer: () => Promise<T>): Promise<T> => {
    await before;
    await turn();
    return await answer();
  };
  return {
    turn,
    alone(answer) {
      const own = behind(kept, answer);
      kept = own.catch(() => undefined);
      return own;
    },
    spent(time) {
      left -= Math.max(time, LEAST);
    },
  };
}
