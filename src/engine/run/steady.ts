/**
 * A clock for what is measured while a run goes on: it shows the wall's time and goes on as the monotonic clock does. When somebody
 * sets the wall clock, or the machine or the process was stopped, it stays behind until the recorder has written that down; the
 * fold then moves what is counted from, so that no limit on time counts the jump.
 */
import type { Millis } from '../../domain/ids.ts';
import type { World } from '../../ports/world.ts';

export interface SteadyWorld extends World {
  /** By how much the wall clock has jumped since the last call; 0 where it went on as it should. `now` shows the wall's time again. */
  moved(): Millis;
}

/** Smaller differences are the usual corrections of a clock. */
const JUMP: Millis = 1000;

export function steadyWorld(world: World): SteadyWorld {
  let [wall, passed] = [world.now(), world.elapsed()];
  const now = (): Millis => wall + (world.elapsed() - passed);
  return {
    ...world,
    now,
    moved: () => {
      const by = world.now() - now();
      [wall, passed] = [world.now(), world.elapsed()];
      return Math.abs(by) < JUMP ? 0 : Math.round(by);
    },
  };
}
