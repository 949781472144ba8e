/** Records of child sessions as commands print them: plain JSON with the field names that scripts rely on. Made from the log alone
 * (sessions.ts), so they are the same whether the run is active or not. */
import type { Lifecycle } from '../../domain/agents/agent.ts';
import { MAIN } from '../../domain/agents/role.ts';
import { type AgentId, isBelow, type RoleName, ROOT, type SessionId, type Usd } from '../../domain/ids.ts';
import type { Mode } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { MimirEvent } from '../event.ts';
import type { RunState } from '../state.ts';

export interface SessionRecord {
  readonly session_id: string;
  /** By `childAgents.naming`: the friendly name, `child-<short id>` without one; `main` for ROOT, a plan's agents by their own names. */
  readonly name: string;
  readonly friendly_name: string | null;
  /** The whole place: `ROOT::S1`. */
  readonly agent: AgentId;
  readonly run: SessionId;
  /** The parent's short id; null for ROOT. */
  readonly parent_session_id: string | null;
  readonly role: RoleName;
  readonly model: string;
  readonly status: Lifecycle;
  readonly completion_status: 'completed' | 'error' | 'abandoned' | 'killed' | null;
  /** The first line of its answer, or why it ended; null before. */
  readonly completion_message: string | null;
  /** A limit ended it with a partial answer. */
  readonly partial: boolean;
  readonly spawn_prompt: string;
  readonly working_dir: string;
  /** Of an agent of another program in a terminal; null for Mimir's own agents, which need none. */
  readonly tmux_session: string | null;
  /** ISO, UTC. */
  readonly created_at: string;
  readonly spawned_at: string;
  readonly completed_at: string | null;
  readonly tokens_used: number;
  /** Of its budget or its model's context window; null if neither is known. */
  readonly tokens_remaining_estimate: number | null;
  /** 0 to 100, from its todos, otherwise from its budget; null if unknown. */
  readonly completion_percentage: number | null;
  readonly tools_used: Readonly<Record<string, number>>;
  readonly total_tools: number;
  readonly last_tool: { readonly name: string; readonly timestamp: string } | null;
  /** ISO, UTC; null: it used none. */
  readonly last_tool_call: string | null;
  /** Its current activity in a few words: its tool, otherwise the first line of its last message. */
  readonly current_activity: string | null;
  readonly is_complete: boolean;
  readonly is_idle: boolean;
  readonly idle_seconds: number;
  readonly is_waiting_input: boolean;
  readonly cost: Usd;
  /** With everything below it. */
  readonly subtree_cost: Usd;
  readonly subtree_tokens: number;
  readonly children: number;
}

/** Details of one session for `what --deep`, visible to its ancestors and the person only. */
export interface SessionDetail {
  readonly last_words: string;
  /** Newest last; `read src/a.ts`. */
  readonly recent_tools: readonly { readonly label: string; readonly ok: boolean | null; readonly timestamp: string }[];
  /** Milliseconds that it has run. */
  readonly elapsed: number;
}

/** A run with all its sessions, as visible to the caller. */
export interface RunSessions {
  readonly run: SessionId;
  /** `hosted`: a process runs it. */
  readonly state: 'running' | 'finished' | 'stopped';
  readonly task: string;
  readonly mode: Mode;
  readonly started_at: string;
  readonly cost: Usd;
  readonly tokens: number;
  readonly questions: number;
  /** Stored messages that are delivered when the run continues. */
  readonly kept_messages: number;
  /** In a run without a plan: roles of mandatory reviews that have not reviewed the latest work. */
  readonly reviews_due: readonly RoleName[];
  /** The calling agent, if the caller is one. */
  readonly you: AgentId | null;
  /** Parents before children, in order of creation. */
  readonly sessions: readonly SessionRecord[];
}

// Finds the session that a word names: by place, short id or name. Pure; the texts about a miss are for a person.

/** Why no session is named: no match, or several. */
export interface Miss {
  readonly is: 'nobody' | 'several';
  readonly candidates: readonly SessionRecord[];
}

/** By place (`ROOT::S1`), then by short id, by name, by name in any case, and finally by the part of the name after the role: `scout`
 * is `finder-scout`. */
export function foundIn(family: Pick<RunSessions, 'sessions'>, word: string): Result<SessionRecord, Miss> {
  const low = word.toLowerCase();
  const ways: readonly ((record: SessionRecord) => boolean)[] = [
    ({ agent }) => agent === word,
    ({ session_id }) => session_id === low,
    ({ name, friendly_name }) => name === word || friendly_name === word,
    ({ name, friendly_name }) => name.toLowerCase() === low || friendly_name?.toLowerCase() === low,
    ({ agent }) => agent.toLowerCase() === low,
    ({ friendly_name }) => low !== '' && friendly_name?.toLowerCase().endsWith(`-${low}`) === true,
  ];
  for (const way of ways) {
    const candidates = family.sessions.filter(way);
    const [one] = candidates;
    if (one !== undefined) return candidates.length === 1 ? ok(one) : several(withoutRoot(low, candidates));
  }
  return fail({ is: 'nobody', candidates: [] });
}

/** A plan of one task has a second `main` that does the work; it is preferred. */
const withoutRoot = (word: string, candidates: readonly SessionRecord[]): readonly SessionRecord[] =>
  word === MAIN ? candidates.filter(({ agent }) => agent !== ROOT) : candidates;

/** Of several with the same name, the only unfinished one. */
function several(candidates: readonly SessionRecord[]): Result<SessionRecord, Miss> {
  const going = candidates.filter(({ is_complete }) => !is_complete);
  const left = candidates.length === 1 ? candidates : going;
  const [one] = left;
  return one !== undefined && left.length === 1 ? ok(one) : fail({ is: 'several', candidates });
}

/** All descendants of `top`, parents before children. */
export const below = (family: Pick<RunSessions, 'sessions'>, top: SessionRecord): readonly SessionRecord[] =>
  family.sessions.filter(({ agent }) => isBelow(agent, top.agent));

/** Its direct children. */
export const childrenOf = (
  family: Pick<RunSessions, 'sessions'>,
  { session_id }: SessionRecord,
): readonly SessionRecord[] => family.sessions.filter(({ parent_session_id }) => parent_session_id === session_id);

// Visibility in a run: a person sees everything, an agent the messages and events of itself and its descendants. No agent sees those of reviewers.

/** Whether `asker` (null: a person) may read the messages and events of `agent`. */
export function maySee({ agents }: Pick<RunState, 'agents'>, asker: AgentId | null, agent: AgentId): boolean {
  if (asker === null || agent === asker) return true;
  return isBelow(agent, asker) && agents.get(agent)?.forced === null;
}

/** The record without messages and activity. */
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

/** Whether `event` belongs to `agent`: an event of it, a message to it, or a notice about it. */
export const isOf = (event: MimirEvent, agent: AgentId): boolean =>
  ('agent' in event && event.agent === agent) ||
  (event.type === 'message.sent' && (event.to === agent || event.notice?.of === agent));

/** Whether `asker` may read this event. Events of the run itself are for the person only; messages are also for their recipients. */
export function maySeeEvent(state: Pick<RunState, 'agents'>, asker: AgentId | null, event: MimirEvent): boolean {
  if (asker === null) return true;
  if (event.type === 'message.sent') {
    const about = event.notice?.of ?? null;
    // The recipient of a notice has read it anyway.
    if (event.to === asker) return true;
    if (about !== null && !maySee(state, asker, about)) return false;
    return maySee(state, asker, event.to);
  }
  return 'agent' in event && event.agent !== null && maySee(state, asker, event.agent);
}
