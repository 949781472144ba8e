/**
 * Calls under way hold promises out of shared limits. Whoever doesn't fit beside them, but will when they have ended, stands
 * in one queue, first come, first served; only the first in it is looked at. What fits is decided in reserve.ts.
 */
import type { CallId } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/state.ts';
import type { Reservation } from './reserve.ts';

export interface UnderWay {
  /** A call has its promise; to be told of its end. */
  begin(call: CallId): () => void;
  /** Resolves when `ready` says so and everybody before has begun; at once when `signal` is aborted. */
  turn(ready: () => boolean, signal: AbortSignal): Promise<void>;
  /** The one whose turn it was has begun, or never will. */
  done(): void;
  /** The state as if the calls under way had been promised nothing. Promises that a crash left open stay. */
  without(state: RunState): RunState;
}

interface Waiter {
  readonly ready: () => boolean;
  readonly go: () => void;
}

export function openUnderWay(): UnderWay {
  const calls = new Set<CallId>();
  const queue = new Set<Waiter>();
  let turnOf: Waiter | null = null;
  const look = (): void => {
    const [first] = queue;
    if (first === undefined || turnOf !== null || !first.ready()) return;
    turnOf = first;
    first.go();
  };
  const done = (): void => {
    turnOf = null;
    look();
  };
  return {
    done,
    begin(call) {
      calls.add(call);
      return () => {
        calls.delete(call);
        look();
      };
    },
    turn: (ready, signal) =>
      new Promise((resolve) => {
        const go = (): void => {
          queue.delete(waiter);
          signal.removeEventListener('abort', go);
          resolve();
          if (turnOf !== waiter) look();
        };
        const waiter: Waiter = { ready, go };
        queue.add(waiter);
        signal.addEventListener('abort', go, { once: true });
        if (signal.aborted) go();
        else look();
      }),
    without: (state) => ({
      ...state,
      agents: new Map(
        [...state.agents].map(([id, one]) => [
          id,
          one.open.some(({ call }) => calls.has(call))
            ? { ...one, open: one.open.filter(({ call }) => !calls.has(call)) }
            : one,
        ]),
      ),
    }),
  };
}

/** An answer of fewer tokens would be cut off too often to begin with. */
export const ENOUGH_OUTPUT = 4096;

/** Is it worth waiting until others have ended? `later`: what it would be then. */
export const isWorthWaiting = (now: Reservation, later: () => Reservation): boolean => {
  if (now.ok ? now.maxOutput >= ENOUGH_OUTPUT : now.exhausted.what === 'time') return false;
  const then = later();
  return then.ok && (!now.ok || then.maxOutput > now.maxOutput);
};
