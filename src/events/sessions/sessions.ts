/** Makes the records of child sessions from the log alone, for all commands, whether the run is active or not. Pure. */
import { type AgentOutcome, type AgentStatus, isTerminal, type Lifecycle } from '../../domain/agents/agent.ts';
import { shortId, terminalOf } from '../../domain/digest.ts';
import { type AgentId, isInTerminal, type Millis, ROOT, type SessionId } from '../../domain/ids.ts';
import type { MimirEvent } from '../event.ts';
import { plainLine } from '../log-line.ts';
import { activityOf, askedFor, elapsedOf, spentOf, tokensOfAgent, workOf, workingDirOf } from '../queries.ts';
import type { AgentState, RunState } from '../state.ts';
import type { SessionDetail, SessionRecord } from './record.ts';

export interface Looking extends Moment {
  readonly naming: Naming;
}

/** When each agent was created, ISO; the state does not contain it. */
export function createdTimes(events: Iterable<MimirEvent>): ReadonlyMap<AgentId, string> {
  const times = new Map<AgentId, string>();
  for (const event of events) if (event.type === 'agent.created') times.set(event.agent, event.time);
  return times;
}

/** All sessions of a run, parents before children, in order of creation; none before it has begun. `created`: their times of creation. */
export function recordsWith(
  state: RunState,
  created: ReadonlyMap<AgentId, string>,
  looking: Looking,
): readonly SessionRecord[] {
  const { session } = state;
  if (session === null) return [];
  return [...state.agents.values()].map((agent) => recordOf(agent, session, state, created.get(agent.id), looking));
}

function recordOf(
  agent: AgentState,
  run: SessionId,
  state: RunState,
  created: string | undefined,
  looking: Looking,
): SessionRecord {
  const status = lifecycleOf(agent, state, looking);
  const since = created ?? isoOf(state.startedAt);
  const used = tokensOfAgent(agent);
  const { maxTokens } = agent.budget;
  const folder = workingDirOf(state, agent.id);
  const subtree = spentOf(state, agent.id);
  return {
    session_id: shortId(run, agent.id),
    name: sessionName(agent, run, looking.naming),
    friendly_name: agent.spawned?.friendly ?? null,
    agent: agent.id,
    run,
    parent_session_id: agent.parent === null ? null : shortId(run, agent.parent),
    role: agent.role,
    model: agent.model.used,
    spawn_prompt: agent.task,
    working_dir: folder === '' ? state.cwd : `${state.cwd}/${folder}`,
    tmux_session: isInTerminal(agent.model.used) ? terminalOf(run, agent.id) : null,
    status,
    ...endOf(agent, state, status),
    partial: workOf(agent) === 'partial',
    created_at: since,
    spawned_at: since,
    is_complete: isTerminal(status),
    is_idle: status === 'idle',
    idle_seconds: Math.max(0, Math.floor((looking.now - activeAt(agent, state)) / 1000)),
    is_waiting_input: status === 'waiting_input',
    tokens_used: used,
    tokens_remaining_estimate: maxTokens === undefined ? null : Math.max(0, maxTokens - used),
    completion_percentage: percentageOf(agent, used),
    tools_used: agent.toolsUsed,
    total_tools: agent.toolCalls,
    ...lastToolOf(agent),
    cost: agent.cost,
    subtree_cost: subtree.cost,
    subtree_tokens: subtree.tokens,
    children: agent.children.length,
  };
}

type End = 'completion_status' | 'completion_message' | 'completed_at' | 'current_activity';

function endOf(agent: AgentState, state: RunState, status: Lifecycle): Pick<SessionRecord, End> {
  const now = isTerminal(status) ? null : nowOf(agent, state) || null;
  const none = { completion_status: null, completion_message: null, completed_at: null, current_activity: now };
  if (!isTerminal(status)) return none;
  const completed_at = isoOf(agent.endedAt ?? state.lastAt);
  return { ...none, completion_status: status, completion_message: endWords(agent, status), completed_at };
}

function lastToolOf({ lastTool }: AgentState): Pick<SessionRecord, 'last_tool' | 'last_tool_call'> {
  const last = lastTool === null ? null : { name: lastTool.name, timestamp: isoOf(lastTool.at) };
  return { last_tool: last, last_tool_call: last?.timestamp ?? null };
}

/** Its question or the reason of its wait, otherwise its activity. */
function nowOf(agent: AgentState, state: RunState): string {
  const asked = state.approvals.find((one) => one.agent === agent.id);
  if (asked !== undefined) return `asks: ${askedFor(asked.request)}`;
  if (agent.status === 'waiting') return agent.reason;
  // Its last message is the plan, as JSON.
  if (agent.parent === null && state.phase === 'running' && state.plan !== null) return whileOthersWork(state);
  const last = agent.blocks.findLast(({ is }) => is !== 'told');
  return last?.is === 'said' ? plainLine(last.text) : activityOf(agent);
}

/** `waits for 2 agents`, for main between the plan and the report. */
function whileOthersWork({ agents }: RunState): string {
  const working = [...agents.values()].filter(({ parent, outcome }) => parent !== null && outcome === null).length;
  return working === 0 ? '' : `waits for ${working} ${working === 1 ? 'agent' : 'agents'}`;
}

/** The first line of its answer, or why it ended; both for an agent that was killed after its end. */
function endWords(agent: AgentState, status: Lifecycle): string {
  if (agent.outcome === null && status === 'abandoned') return 'its process has ended';
  const { closed } = agent;
  if (closed === undefined) return wordsOfEnd(agent, status);
  const { outcome, error } = closed;
  const words = wordsOfEnd({ ...agent, outcome, error, reason: error ?? '' }, OF_OUTCOME[outcome]);
  return `${words} (${agent.error ?? 'killed'} after its end)`;
}

function wordsOfEnd(agent: AgentState, status: Lifecycle): string {
  const answer = status === 'completed' ? agent.summary : (agent.error ?? agent.reason);
  const said = answer.trim() === '' ? (agent.signalled?.message ?? agent.summary) : answer;
  return plainLine(said) || (agent.outcome ?? status);
}

function percentageOf(agent: AgentState, used: number): number | null {
  if (workOf(agent) === 'completed') return 100;
  const { todos, budget } = agent;
  const done = todos.filter(({ status }) => status === 'completed').length;
  if (todos.length > 0) return Math.round((done / todos.length) * 100);
  const { maxTokens = 0 } = budget;
  return maxTokens > 0 ? Math.min(100, Math.floor((used / maxTokens) * 100)) : null;
}

const isoOf = (at: Millis): string => new Date(at).toISOString();

/** Most tools that a detail lists, the newest ones. */
const RECENT = 10;

/** Details of one session that its record lacks: its last message, tools and time. */
export function sessionDetail(agent: AgentState, now: Millis): SessionDetail {
  const said = agent.blocks.findLast((block) => block.is === 'said');
  return {
    last_words: said?.is === 'said' ? said.text : agent.summary,
    recent_tools: agent.blocks
      .flatMap((block) =>
        block.is === 'tool' ? [{ label: block.label, ok: block.ok, timestamp: isoOf(block.started) }] : [],
      )
      .slice(-RECENT),
    elapsed: elapsedOf(agent, now),
  };
}

interface Moment {
  readonly now: Millis;
  /** A process runs the run. */
  readonly alive: boolean;
  /** `childAgents.autoComplete.idleTimeout`; 0: no agent becomes idle by time. */
  readonly idleTimeout: Millis;
}

const OF_OUTCOME: Readonly<Record<AgentOutcome, Lifecycle>> = {
  completed: 'completed',
  partial: 'completed',
  failed: 'error',
  killed: 'killed',
  abandoned: 'abandoned',
  // A person or a failed dependency prevented it.
  skipped: 'killed',
};

const OF_STATUS: Readonly<Record<Exclude<AgentStatus, 'running' | 'waiting'>, Lifecycle>> = {
  pending: 'spawned',
  initializing: 'starting',
  completed: 'completed',
  failed: 'error',
  // A person interrupted it, and a person resumes it.
  interrupted: 'waiting_input',
};

function lifecycleOf(agent: AgentState, state: RunState, moment: Moment): Lifecycle {
  if (agent.outcome !== null) return OF_OUTCOME[agent.outcome];
  if (state.finished?.status === 'stopped') return 'waiting_input';
  if (state.finished !== null || !moment.alive) return 'abandoned';
  if (agent.status === 'waiting') return waitingFor(agent, state);
  if (agent.status !== 'running') return OF_STATUS[agent.status];
  const quiet = moment.now - activeAt(agent, state);
  return moment.idleTimeout > 0 && quiet >= moment.idleTimeout ? 'idle' : 'running';
}

function waitingFor(agent: AgentState, { approvals, phase }: RunState): Lifecycle {
  const asked = approvals.some((one) => one.agent === agent.id) || (agent.id === ROOT && phase === 'approving');
  if (asked) return 'waiting_input';
  // It waits for its provider; no person has to act.
  return agent.pause === null ? 'idle' : 'running';
}

/** The time of its last activity; an agent that waits for a child in a call has the child's. */
export function activeAt(agent: AgentState, { agents }: Pick<RunState, 'agents'>): Millis {
  const called = agent.children.flatMap((id) => {
    const child = agents.get(id);
    return child === undefined || child.call === null ? [] : [activeAt(child, { agents })];
  });
  return Math.max(agent.lastAt, ...called);
}

// The name of a child session: one rule for rows, notices and addresses.

/** `childAgents.naming`: both with `{friendly_name}`, `{role}`, `{short_id}`, `{id}` filled in. */
export interface Naming {
  readonly pattern: string;
  /** Without a requested friendly name. */
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
