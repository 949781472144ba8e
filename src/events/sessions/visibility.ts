/**
 * Who sees what of a run: a person everything; an agent where all sessions of its run stand, and words, tools and
 * events of itself and those below it only. What forced agents say reaches no agent: nobody learns what they look for.
 */
import { type AgentId, isBelow } from '../../domain/ids.ts';
import type { MimirEvent } from '../event.ts';
import type { SessionRecord } from './record.ts';
import type { RunState } from '../state.ts';

/** May `asker` (null: a person) read what `agent` says and does? */
export function maySee({ agents }: Pick<RunState, 'agents'>, asker: AgentId | null, agent: AgentId): boolean {
  if (asker === null) return true;
  if (agent === asker) return true;
  return isBelow(agent, asker) && agents.get(agent)?.forced === null;
}

/** The record without what it says and does. */
export const withoutWords = (record: SessionRecord): SessionRecord => ({
  ...record,
  spawn_prompt: '',
  completion_message: null,
  tools_used: {},
  total_tools: 0,
  last_tool: null,
  last_tool_call: null,
  current_activity: null,
});

/** Is `event` one of `agent`: by it, a message to it, or a notice of it? */
export const isOf = (event: MimirEvent, agent: AgentId): boolean =>
  ('agent' in event && event.agent === agent) ||
  (event.type === 'message.sent' && (event.to === agent || event.notice?.of === agent));

/** May `asker` read this event? What is nobody's (the run's own) is the person's; what an agent writes to others is for its readers too. */
export function maySeeEvent(state: Pick<RunState, 'agents'>, asker: AgentId | null, event: MimirEvent): boolean {
  if (asker === null) return true;
  if (event.type === 'message.sent') {
    const about = event.notice?.of ?? null;
    // A notice is what its reader was told anyway.
    if (event.to === asker) return true;
    if (about !== null && !maySee(state, asker, about)) return false;
    return maySee(state, asker, event.to);
  }
  return 'agent' in event && event.agent !== null && maySee(state, asker, event.agent);
}
