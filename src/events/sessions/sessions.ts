/** Records of child sessions, made from the log alone: what every verb, alive or looking back, tells of them. Pure. */
import { shortId } from '../../domain/digest.ts';
import type { AgentId, Millis, SessionId, Usd } from '../../domain/ids.ts';
import { fromMicro, toMicro } from '../../domain/ids.ts';
import type { Lifecycle } from '../../domain/agents/agent.ts';
import { isTerminal } from '../../domain/agents/agent.ts';
import type { MimirEvent } from '../event.ts';
import { plainLine } from '../plain-line.ts';
import { activityOf, askedFor, elapsedOf, tokensOfAgent } from '../queries.ts';
import type { Moment } from './lifecycle.ts';
import { activeAt, lifecycleOf, OF_OUTCOME } from './lifecycle.ts';
import type { Naming } from './name.ts';
import { sessionName } from './name.ts';
import type { SessionDetail, SessionRecord } from './record.ts';
import type { AgentState, RunState } from '../state.ts';

export interface Looking extends Moment {
  readonly naming: Naming;
}

/** All sessions of a run, parents before children, in order of creation; none before it has begun. */
export function sessionRecords(
  state: RunState,
  events: Iterable<MimirEvent>,
  looking: Looking,
): readonly SessionRecord[] {
  return recordsWith(state, createdTimes(events), looking);
}

/** When each agent was created, ISO: the state doesn't keep it. */
export function createdTimes(events: Iterable<MimirEvent>): ReadonlyMap<AgentId, string> {
  const times = new Map<AgentId, string>();
  for (const event of events) if (event.type === 'agent.created') times.set(event.agent, event.time);
  return times;
}

/** The same where the times are known. */
export function recordsWith(
  state: RunState,
  created: ReadonlyMap<AgentId, string>,
  looking: Looking,
): readonly SessionRecord[] {
  const { session } = state;
  if (session === null) return [];
  const below = sumsBelow(state);
  return [...state.agents.values()].map((agent) => ({
    ...identityOf(agent, session, state, looking),
    ...standingOf(agent, state, created, looking),
    ...progressOf(agent),
    ...(below.get(agent.id) ?? { subtree_cost: agent.cost, subtree_tokens: tokensOfAgent(agent) }),
    children: agent.children.length,
  }));
}

type Identity = Pick<
  SessionRecord,
  | 'session_id'
  | 'name'
  | 'friendly_name'
  | 'agent'
  | 'run'
  | 'parent_session_id'
  | 'role'
  | 'model'
  | 'spawn_prompt'
  | 'working_dir'
  | 'tmux_session'
>;

function identityOf(agent: AgentState, run: SessionId, state: RunState, { naming }: Looking): Identity {
  return {
    session_id: shortId(run, agent.id),
    name: sessionName(agent, run, naming),
    friendly_name: agent.spawned?.friendly ?? null,
    agent: agent.id,
    run,
    parent_session_id: agent.parent === null ? null : shortId(run, agent.parent),
    role: agent.role,
    model: agent.model.used,
    spawn_prompt: agent.task,
    working_dir: folderOf(agent, state),
    tmux_session: null,
  };
}

/** Of whoever was spawned with one: itself, or the nearest above it. */
function folderOf(agent: AgentState, { agents, cwd }: RunState): string {
  const seen = new Set<AgentId>();
  for (let at: AgentState | undefined = agent; at !== undefined && !seen.has(at.id); ) {
    seen.add(at.id);
    if (at.spawned !== null) return at.spawned.workingDir === '' ? cwd : `${cwd}/${at.spawned.workingDir}`;
    at = at.parent === null ? undefined : agents.get(at.parent);
  }
  return cwd;
}

type Standing = Pick<
  SessionRecord,
  | 'status'
  | 'completion_status'
  | 'completion_message'
  | 'partial'
  | 'created_at'
  | 'spawned_at'
  | 'completed_at'
  | 'current_activity'
  | 'is_complete'
  | 'is_idle'
  | 'idle_seconds'
  | 'is_waiting_input'
>;

function standingOf(
  agent: AgentState,
  state: RunState,
  created: ReadonlyMap<AgentId, string>,
  looking: Looking,
): Standing {
  const status = lifecycleOf(agent, state, looking);
  const over = isTerminal(status);
  const since = created.get(agent.id) ?? isoOf(state.startedAt);
  const activity = nowOf(agent, state);
  return {
    status,
    completion_status: over ? status : null,
    completion_message: over ? endWords(agent, status) : null,
    partial: workOf(agent) === 'partial',
    created_at: since,
    spawned_at: since,
    completed_at: over ? isoOf(agent.endedAt ?? state.lastAt) : null,
    current_activity: over || activity === '' ? null : activity,
    is_complete: over,
    is_idle: status === 'idle',
    idle_seconds: Math.max(0, Math.floor((looking.now - activeAt(agent, state)) / 1000)),
    is_waiting_input: status === 'waiting_input',
  };
}

/** What it asks or waits for, else what it does. */
function nowOf(agent: AgentState, state: RunState): string {
  const asked = state.approvals.find((one) => one.agent === agent.id);
  if (asked !== undefined) return `asks: ${askedFor(asked.request)}`;
  if (agent.status === 'waiting') return agent.reason;
  // What it said last is the plan, as JSON.
  if (agent.parent === null && state.phase === 'running' && state.plan !== null) return whileOthersWork(state);
  const last = agent.blocks.findLast(({ is }) => is !== 'told');
  return last?.is === 'said' ? plainLine(last.text) : activityOf(agent);
}

/** `waits for 2 agents`: main between the plan and the report. */
function whileOthersWork({ agents }: RunState): string {
  const working = [...agents.values()].filter(({ parent, outcome }) => parent !== null && outcome === null).length;
  return working === 0 ? '' : `waits for ${working} ${working === 1 ? 'agent' : 'agents'}`;
}

/** How its work has ended; a kill after that changes nothing about it. */
const workOf = ({ closed, outcome }: AgentState): AgentState['outcome'] => closed?.outcome ?? outcome;

/** What its answer says first, or why it ended; of one that was killed after its end both. */
function endWords(agent: AgentState, status: Lifecycle): string {
  if (agent.outcome === null && status === 'abandoned') return 'the process that carried it is gone';
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

type Progress = Pick<
  SessionRecord,
  | 'tokens_used'
  | 'tokens_remaining_estimate'
  | 'completion_percentage'
  | 'tools_used'
  | 'total_tools'
  | 'last_tool'
  | 'last_tool_call'
  | 'cost'
>;

function progressOf(agent: AgentState): Progress {
  const used = tokensOfAgent(agent);
  const { maxTokens } = agent.budget;
  const last = agent.lastTool === null ? null : { name: agent.lastTool.name, timestamp: isoOf(agent.lastTool.at) };
  return {
    tokens_used: used,
    tokens_remaining_estimate: maxTokens === undefined ? null : Math.max(0, maxTokens - used),
    completion_percentage: percentageOf(agent, used),
    tools_used: agent.toolsUsed,
    total_tools: agent.toolCalls,
    last_tool: last,
    last_tool_call: last?.timestamp ?? null,
    cost: agent.cost,
  };
}

function percentageOf(agent: AgentState, used: number): number | null {
  if (workOf(agent) === 'completed') return 100;
  const { todos, budget } = agent;
  const done = todos.filter(({ status }) => status === 'completed').length;
  if (todos.length > 0) return Math.round((done / todos.length) * 100);
  const { maxTokens = 0 } = budget;
  return maxTokens > 0 ? Math.min(100, Math.floor((used / maxTokens) * 100)) : null;
}

interface Sums {
  readonly subtree_cost: Usd;
  readonly subtree_tokens: number;
}

/** What each used with everything below it. Children come after their parents, so the last are summed first. */
function sumsBelow({ agents }: RunState): ReadonlyMap<AgentId, Sums> {
  const sums = new Map<AgentId, { micro: number; tokens: number }>();
  for (const agent of [...agents.values()].toReversed()) {
    const own = sums.get(agent.id) ?? { micro: 0, tokens: 0 };
    own.micro += toMicro(agent.cost);
    own.tokens += tokensOfAgent(agent);
    sums.set(agent.id, own);
    if (agent.parent === null) continue;
    const above = sums.get(agent.parent) ?? { micro: 0, tokens: 0 };
    sums.set(agent.parent, { micro: above.micro + own.micro, tokens: above.tokens + own.tokens });
  }
  return new Map(
    [...sums].map(([id, { micro, tokens }]) => [id, { subtree_cost: fromMicro(micro), subtree_tokens: tokens }]),
  );
}

const isoOf = (at: Millis): string => new Date(at).toISOString();

/** Most tools that a detail lists, the newest ones. */
const RECENT = 10;

/** More of one session than its record says: its last words, tools and time. */
export function sessionDetail(agent: AgentState, now: Millis): SessionDetail {
  const said = agent.blocks.findLast((block) => block.is === 'said');
  return {
    last_words: said?.is === 'said' ? said.text : agent.summary,
    recent_tools: agent.blocks
      .flatMap((block) =>
        block.is === 'tool'
          ? [{ label: block.label, ok: block.ok, timestamp: new Date(block.started).toISOString() }]
          : [],
      )
      .slice(-RECENT),
    elapsed: elapsedOf(agent, now),
  };
}
