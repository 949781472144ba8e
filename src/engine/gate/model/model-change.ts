/** Agents that wait for a provider while a person gives them another model: they need not wait any longer. */
import type { AgentId } from '../../../domain/ids.ts';

export interface Switches {
  /** `leave` is called when `agent` gets another model. Returns what ends the watch. */
  watch(agent: AgentId, leave: () => void): () => void;
  /** To be said when it was written down. */
  switched(agent: AgentId): void;
}

export function openSwitches(): Switches {
  const waiting = new Map<AgentId, () => void>();
  return {
    watch(agent, leave) {
      waiting.set(agent, leave);
      return () => void (waiting.get(agent) === leave && waiting.delete(agent));
    },
    switched: (agent) => waiting.get(agent)?.(),
  };
}
