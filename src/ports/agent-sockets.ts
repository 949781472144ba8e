/** A door for each agent: a socket of its own by which its commands ask the run. Whoever knocks there is that agent, whatever it says. */
import type { AgentId } from '../domain/ids.ts';

export interface Doors {
  /** The path of the agent's socket, listening when it resolves; the same at each call. Null: none can be had here, commands go without. */
  open(agent: AgentId): Promise<string | null>;
  /** Nobody is let in there any more. */
  close(agent: AgentId): void;
}
