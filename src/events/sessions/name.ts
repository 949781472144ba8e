/** What a child session is called: one rule for rows, notices and addresses. */
import { shortId } from '../../domain/digest.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { AgentState } from '../state.ts';

/** `childAgents.naming`: both with `{friendly_name}`, `{role}`, `{short_id}`, `{id}` filled in. */
export interface Naming {
  readonly pattern: string;
  /** Where no friendly name was asked for. */
  readonly fallback: string;
}

/** Planned agents and those of the Task tool keep their own names, ROOT is `main`. */
export function sessionName(
  { id, name, role, spawned }: Pick<AgentState, 'id' | 'name' | 'role' | 'spawned'>,
  session: SessionId,
  { pattern, fallback }: Naming,
): string {
  if (spawned === null) return name;
  const { friendly } = spawned;
  const words: Readonly<Record<string, string>> = {
    friendly_name: friendly ?? '',
    role,
    short_id: shortId(session, id),
    id,
  };
  const filled = (friendly === null ? fallback : pattern).replaceAll(
    /\{(friendly_name|role|short_id|id)\}/g,
    (_, word: string) => words[word] ?? '',
  );
  return filled.trim() === '' ? `child-${shortId(session, id)}` : filled;
}
