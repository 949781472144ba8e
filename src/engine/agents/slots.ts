import type { AgentId } from '../../domain/ids.ts';

export type Slots = ReturnType<typeof openSlots>;

/** Limits how many agents run at once: one slot each, first come, first served. */
export function openSlots(count: number) {
  let free = count;
  const queue = new Set<() => void>();
  // A slot is passed on directly, so that no newcomer can overtake the first in the queue.
  const release = (): void => {
    const [next] = queue;
    if (next) next();
    else free += 1;
  };
  return {
    /** Resolves when the caller has a slot, or when `signal` is aborted; returns the function that gives it back. */
    take(signal: AbortSignal): Promise<() => void> {
      if (signal.aborted) return Promise.resolve(() => {});
      if (free > 0) {
        free -= 1;
        return Promise.resolve(once(release));
      }
      return new Promise((resolve) => {
        const grant = (): void => {
          queue.delete(grant);
          signal.removeEventListener('abort', abandon);
          resolve(once(release));
        };
        const abandon = (): void => {
          queue.delete(grant);
          resolve(() => {});
        };
        queue.add(grant);
        signal.addEventListener('abort', abandon);
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

// Slots of agents that wait for children: yielded once, however many children they wait for, and taken back once.

export type YieldedSlots = ReturnType<typeof openYieldedSlots>;

interface YieldedSlot {
  waits: number;
  readonly takeBack: () => Promise<void>;
  /** Set while the slot is being taken back. */
  back: Promise<void> | null;
}

/** `yieldSlot` gives the agent's slot back; the function it returns takes one again. */
export function openYieldedSlots(yieldSlot: (agent: AgentId) => () => Promise<void>) {
  const yieldedSlots = new Map<AgentId, YieldedSlot>();
  const begin = async (agent: AgentId): Promise<YieldedSlot> => {
    for (let one = yieldedSlots.get(agent); ; one = yieldedSlots.get(agent)) {
      if (one === undefined) {
        const made = { waits: 1, takeBack: yieldSlot(agent), back: null };
        yieldedSlots.set(agent, made);
        return made;
      }
      if (one.back === null) {
        one.waits += 1;
        return one;
      }
      // Yielding it while it is being taken back would take two slots.
      await one.back;
    }
  };
  const end = async (agent: AgentId, yielded: YieldedSlot): Promise<void> => {
    yielded.waits -= 1;
    if (yielded.waits > 0) return;
    yielded.back = yielded.takeBack();
    await yielded.back;
    yieldedSlots.delete(agent);
  };
  return {
    /** Yields the agent's slot while `work` runs; resolves when the slot is taken again and nothing else waits. */
    async during<T>(agent: AgentId, work: () => Promise<T>): Promise<T> {
      const yielded = await begin(agent);
      try {
        return await work();
      } finally {
        await end(agent, yielded);
      }
    },
    waits: (agent: AgentId) => yieldedSlots.has(agent),
  };
}
