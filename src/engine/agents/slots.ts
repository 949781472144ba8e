/** How many agents may run at once: a slot each, first come, first served. */
export interface Slots {
  /** Resolves when a slot is the caller's, or at once when `signal` is aborted; returns what gives it back. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function openSlots(count: number): Slots {
  let free = count;
  const queue = new Set<() => void>();
  // Handed over rather than set free: nobody who comes later can be quicker than the first who waits.
  const give = (): void => {
    const [next] = queue;
    if (next) next();
    else free += 1;
  };
  return {
    take(signal) {
      if (signal.aborted) return Promise.resolve(() => {});
      if (free > 0) {
        free -= 1;
        return Promise.resolve(once(give));
      }
      return new Promise((resolve) => {
        const turn = (): void => {
          queue.delete(turn);
          signal.removeEventListener('abort', leave);
          resolve(once(give));
        };
        const leave = (): void => {
          queue.delete(turn);
          resolve(() => {});
        };
        queue.add(turn);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
  };
}

const once = (act: () => void): (() => void) => {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
};
