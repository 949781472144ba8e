/** The slots of agents that wait for children of their own: lent once, however many they wait for, and taken back once. */
import type { AgentId } from '../../domain/ids.ts';

export interface Loans {
  /** The slot of `agent` is free for others while `work` goes on; it is held again when this resolves and nothing else waits. */
  during<T>(agent: AgentId, work: () => Promise<T>): Promise<T>;
  /** Does it wait for a child? */
  waits(agent: AgentId): boolean;
}

interface Loan {
  waits: number;
  readonly takeBack: () => Promise<void>;
  /** Set while the slot is taken back. */
  back: Promise<void> | null;
}

/** `lend` gives the agent's slot back; what it returns takes one again. */
export function openLoans(lend: (agent: AgentId) => () => Promise<void>): Loans {
  const loans = new Map<AgentId, Loan>();
  const begin = async (agent: AgentId): Promise<Loan> => {
    for (let one = loans.get(agent); ; one = loans.get(agent)) {
      if (one === undefined) {
        const made = { waits: 1, takeBack: lend(agent), back: null };
        loans.set(agent, made);
        return made;
      }
      if (one.back === null) {
        one.waits += 1;
        return one;
      }
      // Lent again while it is on its way back: two slots would be taken for one.
      await one.back;
    }
  };
  const end = async (agent: AgentId, loan: Loan): Promise<void> => {
    loan.waits -= 1;
    if (loan.waits > 0) return;
    loan.back = loan.takeBack();
    await loan.back;
    loans.delete(agent);
  };
  return {
    async during(agent, work) {
      const loan = await begin(agent);
      try {
        return await work();
      } finally {
        await end(agent, loan);
      }
    },
    waits: (agent) => loans.has(agent),
  };
}
