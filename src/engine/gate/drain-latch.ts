/** What stands before each model call and each tool while a run is handed over: nothing new begins, what runs is counted. */

export interface Hold {
  /** Null: it may begin. Else resolves when it may be judged again, or when `signal` is aborted. */
  wait(signal: AbortSignal): Promise<void> | null;
  /** Something runs from now on, `what` in a few words; returns what says that it has ended. */
  begin(what: string): () => void;
  /** What runs now. */
  running(): readonly string[];
  close(): void;
  open(): void;
  /** Resolves when nothing runs, or when it was opened again. */
  quiet(): Promise<void>;
}

export function openHold(): Hold {
  const running = new Map<symbol, string>();
  let closed: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    wait: (signal) => (closed === null || signal.aborted ? null : orAborted(closed.opened, signal)),
    begin(what) {
      const id = Symbol(what);
      running.set(id, what);
      return () => {
        running.delete(id);
        tell();
      };
    },
    running: () => [...running.values()],
    close() {
      if (closed !== null) return;
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => (open = resolve));
      closed = { opened, open };
    },
    open() {
      closed?.open();
      closed = null;
      tell();
    },
    async quiet() {
      await whatFollowsAtOnce();
      while (running.size > 0 && closed !== null) {
        await new Promise<void>((resolve) => {
          const heard = (): void => {
            listeners.delete(heard);
            resolve();
          };
          listeners.add(heard);
        });
        await whatFollowsAtOnce();
      }
    },
  };
}

/** What comes of a reply at once, a plan, a report, a summary, is written down before the run is seen as quiet. */
const AT_ONCE = 64;
async function whatFollowsAtOnce(): Promise<void> {
  for (let turn = 0; turn < AT_ONCE; turn += 1) await Promise.resolve();
}

function orAborted(opened: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return Promise.race([opened, aborted]);
}
