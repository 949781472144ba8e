/** What each agent last read of each file, by digest: an edit of anything newer is refused as stale. */
import type { AgentId } from '../domain/ids.ts';

export interface Seen {
  note(agent: AgentId, file: string, digest: string): void;
  /** Null when this agent has not read the file whole. */
  digest(agent: AgentId, file: string): string | null;
}

export function seenFiles(): Seen {
  const byAgent = new Map<AgentId, Map<string, string>>();
  return {
    note(agent, file, digest) {
      const files = byAgent.get(agent) ?? new Map<string, string>();
      byAgent.set(agent, files.set(file, digest));
    },
    digest: (agent, file) => byAgent.get(agent)?.get(file) ?? null,
  };
}
