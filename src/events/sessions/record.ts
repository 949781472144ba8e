/**
 * What verbs tell of child sessions: plain JSON with the field names that scripts rely on. Made from the log alone (sessions.ts), so it is the same whether the run is alive or not.
 */
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
  /** It was cut off by a limit, and what it has is told all the same. */
  readonly partial: boolean;
  readonly spawn_prompt: string;
  readonly working_dir: string;
  /** Null for our own agents: they need none. */
  readonly tmux_session: null;
  /** ISO, UTC. */
  readonly created_at: string;
  readonly spawned_at: string;
  readonly completed_at: string | null;
  readonly tokens_used: number;
  /** Of its budget or its model's window; null where neither is known. */
  readonly tokens_remaining_estimate: number | null;
  /** By its todos, else by its budget; null where nothing tells. 0 to 100. */
  readonly completion_percentage: number | null;
  readonly tools_used: Readonly<Record<string, number>>;
  readonly total_tools: number;
  readonly last_tool: { readonly name: string; readonly timestamp: string } | null;
  /** ISO, UTC; null: it used none. */
  readonly last_tool_call: string | null;
  /** What it does now in a few words: its tool, else the first line of its last words. */
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

/** More of one session, for `what --deep`: only its parent, those above it and the person see that. */
export interface SessionDetail {
  readonly last_words: string;
  /** Newest last; `read src/a.ts`. */
  readonly recent_tools: readonly { readonly label: string; readonly ok: boolean | null; readonly timestamp: string }[];
  /** Milliseconds that it has run. */
  readonly elapsed: number;
}

/** A run with all its sessions, as somebody may see it. */
export interface RunSessions {
  readonly run: SessionId;
  /** `hosted`: a living process carries it. */
  readonly state: 'running' | 'finished' | 'stopped';
  readonly task: string;
  readonly mode: Mode;
  readonly started_at: string;
  readonly cost: Usd;
  readonly tokens: number;
  readonly questions: number;
  /** Letters that wait for the run to go on. */
  readonly kept_messages: number;
  /** Roles that rules make judge all work of a run without a plan, and have not judged the last of it. */
  readonly reviews_due: readonly RoleName[];
  /** Who asks, where that is an agent. */
  readonly you: AgentId | null;
  /** Parents before children, in order of creation. */
  readonly sessions: readonly SessionRecord[];
}

// Which session a word names: its place, its short id, or its name. Pure; what is told of a miss is for a person.

/** Why nothing is named: nobody, or several. */
export interface Miss {
  readonly is: 'nobody' | 'several';
  readonly candidates: readonly SessionRecord[];
}

/**
 * By place (`ROOT::S1`), then by short id, then by name, then by name in any case; at last by what was given as its name beside a
 * role: `scout` is `finder-scout`.
 */
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

/** A plan of one task has a second `main`, which does the work: that one is meant. */
const withoutRoot = (word: string, candidates: readonly SessionRecord[]): readonly SessionRecord[] =>
  word === MAIN ? candidates.filter(({ agent }) => agent !== ROOT) : candidates;

/** Of several with the same name the only one that is not at its end. */
function several(candidates: readonly SessionRecord[]): Result<SessionRecord, Miss> {
  const going = candidates.filter(({ is_complete }) => !is_complete);
  const left = candidates.length === 1 ? candidates : going;
  const [one] = left;
  return one !== undefined && left.length === 1 ? ok(one) : fail({ is: 'several', candidates });
}

/** All that is below `top`, parents before children. */
export function below(family: Pick<RunSessions, 'sessions'>, top: SessionRecord): readonly SessionRecord[] {
  return family.sessions.filter(({ agent }) => isBelow(agent, top.agent));
}

/** Its direct children. */
export const childrenOf = (
  family: Pick<RunSessions, 'sessions'>,
  { session_id }: SessionRecord,
): readonly SessionRecord[] => family.sessions.filter(({ parent_session_id }) => parent_session_id === session_id);

// Who sees what of a run: a person everything, an agent words and events of itself and those below it. No agent sees what reviewers say.

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
