/** What each agent last read of each file, by digest: an edit of anything newer is refused as stale. */
import type { AgentId } from '../../domain/ids.ts';
import type { SeenFile } from '../../ports/tool.ts';

export interface Seen {
  note(agent: AgentId, file: string, digest: string): void;
  /** Null when this agent has not read the file whole. */
  digest(agent: AgentId, file: string): string | null;
  /** Forgets everything (agents of another run may have the same ids), and knows `files` instead, oldest first. */
  restore(files: readonly (SeenFile & { readonly agent: AgentId })[]): void;
}

export function seenFiles(): Seen {
  const byAgent = new Map<AgentId, Map<string, string>>();
  const note: Seen['note'] = (agent, file, digest) => {
    const files = byAgent.get(agent) ?? new Map<string, string>();
    byAgent.set(agent, files.set(file, digest));
  };
  return {
    note,
    restore(files) {
      byAgent.clear();
      for (const { agent, file, digest } of files) note(agent, file, digest);
    },
    digest: (agent, file) => byAgent.get(agent)?.get(file) ?? null,
  };
}
