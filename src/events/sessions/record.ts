/**
 * What verbs tell of child sessions: plain JSON with the field names that scripts rely on. Made from the log alone (sessions.ts), so it is the same whether the run is alive or not.
 */
import type { AgentId, RoleName, SessionId, Usd } from '../../domain/ids.ts';
import type { Lifecycle } from '../../domain/agents/agent.ts';
import type { Mode } from '../../domain/mode.ts';

export interface SessionRecord {
  /** The short id. */
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
export interface Family {
  readonly run: SessionId;
  /** `hosted`: a living process carries it. */
  readonly state: 'running' | 'finished' | 'stopped';
  readonly task: string;
  readonly mode: Mode;
  readonly started_at: string;
  readonly cost: Usd;
  readonly tokens: number;
  /** Questions that wait for a person. */
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
