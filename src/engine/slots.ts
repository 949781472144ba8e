/** How many agents may run at once: a slot each, first come, first served. */
export interface Slots {
  /** Resolves when a slot is the caller's, or at once when `signal` is aborted; returns what gives it back. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function openSlots(count: number): Slots {
  let free = count;
  let queue: (() => void)[] = [];
  // All who wait look again, in their order: one that was stopped meanwhile must not swallow the turn of the next.
  const give = (): void => {
    free += 1;
    const waiting = queue;
    queue = [];
    for (const wake of waiting) wake();
  };
  const once = (act: () => void): (() => void) => {
    let done = false;
    return () => {
      if (!done) act();
      done = true;
    };
  };
  const take = async (signal: AbortSignal): Promise<() => void> => {
    while (free <= 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        queue.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    if (signal.aborted) return () => {};
    free -= 1;
    return once(give);
  };
  return { take };
}
