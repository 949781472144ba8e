/** Holds back each model call and tool call while a run is handed over to another process, and counts the calls in flight. */

export interface DrainLatch {
  /** Null: the call may begin. Otherwise resolves when the call may be judged again, or when `signal` is aborted. */
  wait(signal: AbortSignal): Promise<void> | null;
  /** Counts a call in flight, described by `what`; returns the function that ends it. */
  begin(what: string): () => void;
  running(): readonly string[];
  close(): void;
  open(): void;
  /** Resolves when no call is in flight, or when the latch was opened again. */
  quiet(): Promise<void>;
}

export function openDrainLatch(): DrainLatch {
  const running = new Map<symbol, string>();
  let closed: PromiseWithResolvers<void> | null = null;
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    wait: (signal) => (closed === null || signal.aborted ? null : orAborted(closed.promise, signal)),
    begin(what) {
      const id = Symbol(what);
      running.set(id, what);
      return () => {
        running.delete(id);
        notify();
      };
    },
    running: () => [...running.values()],
    close: () => void (closed ??= Promise.withResolvers()),
    open() {
      closed?.resolve();
      closed = null;
      notify();
    },
    async quiet() {
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

function orAborted(opened: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return Promise.race([opened, aborted]);
}
