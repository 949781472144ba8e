/** Holds back each model call and tool call while a run is handed over to another process, and counts the calls in flight. */

import { orAborted } from './context.ts';

export type DrainLatch = ReturnType<typeof openDrainLatch>;

export function openDrainLatch() {
  const running = new Map<symbol, string>();
  let closed: PromiseWithResolvers<void> | null = null;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    /** Null: the call may begin. Otherwise resolves when the call may be judged again, or when `signal` is aborted. */
    wait: (signal: AbortSignal): Promise<void> | null =>
      closed === null || signal.aborted ? null : orAborted(closed.promise, signal, undefined),
    /** Counts a call in flight, described by `what`; returns the function that ends it. */
    begin(what: string): () => void {
      const id = Symbol(what);
      running.set(id, what);
      return () => {
        running.delete(id);
        notify();
      };
    },
    running: (): readonly string[] => [...running.values()],
    close: (): void => void (closed ??= Promise.withResolvers()),
    open(): void {
      closed?.resolve();
      closed = null;
      notify();
    },
    /** Resolves when no call is in flight, or when the latch was opened again. */
    async quiet(): Promise<void> {
      await settleMicrotasks();
      while (running.size > 0 && closed !== null) {
        const ended = Promise.withResolvers<void>();
        listeners.add(ended.resolve);
        await ended.promise;
        listeners.delete(ended.resolve);
        await settleMicrotasks();
      }
    },
  };
}

/** A plan, report or summary that directly follows a reply is recorded before the run counts as quiet. */
const MICROTASKS = 64;
async function settleMicrotasks(): Promise<void> {
  for (let turn = 0; turn < MICROTASKS; turn += 1) await Promise.resolve();
}
