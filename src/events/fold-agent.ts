/** What one event does to the agent that it belongs to. Pure. */
import { addUsage, NO_USAGE } from '../domain/budget.ts';
import { withEffort } from '../domain/models/effort.ts';
import { fromMicro, toMicro } from '../domain/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { ByType, EventOf } from './by-type.ts';
import { forType } from './by-type.ts';
import type { MimirEvent } from './event.ts';
import { compactedText, retryText } from './log-line.ts';
import { NO_GROWTH, withNews, withReply } from './child-results.ts';
import type { AgentState, Block, LostTries, ModelShare } from './state.ts';

/** Characters of a tool's output that the state keeps: head and tail. The log has all of it. */
const OUTPUT_KEPT = 6000;

export function newAgent(event: EventOf<'agent.created'>, at: Millis): AgentState {
  return {
    id: event.agent,
    parent: event.parent,
    children: [],
    role: event.role,
    name: event.name,
    task: event.task,
    taskId: event.taskId,
    tools: event.tools,
    budget: event.budget,
    dependsOn: event.dependsOn,
    model: event.model,
    maxIterations: event.iterations,
    ...withEffort(event.effort),
    pin: null,
    call: event.call ?? null,
    spawned: event.spawned ?? null,
    ...(event.protocol === undefined ? {} : { protocol: event.protocol }),
    ...(event.writes === undefined ? {} : { writes: event.writes }),
    owner: event.parent,
    signalled: null,
    toolsUsed: {},
    lastTool: null,
    forced: event.forced ?? null,
    status: 'pending',
    reason: '',
    waitingFor: null,
    endedBy: null,
    outcome: null,
    summary: '',
    error: null,
    todos: [],
    blocks: [],
    usage: NO_USAGE,
    cost: 0,
    byModel: [],
    priced: true,
    open: [],
    pause: null,
    lost: { calls: 0, usage: NO_USAGE, cost: 0 },
    retries: 0,
    fallbacks: [],
    compactions: 0,
    iterations: 0,
    toolCalls: 0,
    firstRunAt: null,
    endedAt: null,
    ranMs: 0,
    runningSince: null,
    lastAt: at,
  };
}

const AGENT_FOLDS: ByType<[agent: AgentState], [at: Millis], AgentState> = {
  'agent.changed': (agent, event) => ({
    ...withoutItsOwn(agent),
    ...withEffort(event.effort),
    role: event.role,
    name: event.name,
    task: event.task,
    tools: event.tools,
    budget: event.budget,
    dependsOn: event.dependsOn,
    model: event.model,
    maxIterations: event.iterations,
    ...(event.writes === undefined ? {} : { writes: event.writes }),
    status: 'pending',
    // Whom it waited for may be another by now; who still stands in its way is said again.
    reason: '',
    waitingFor: null,
    endedBy: null,
    outcome: null,
    error: null,
    endedAt: null,
  }),
  'agent.status': (agent, event, at) => {
    // Initializing is not running: an agent that waits for a free slot uses none of its time.
    // ROOT's clock is the run's: it goes on while a provider is waited for, and while children work beside it.
    const onTheClock = event.status === 'running' || (agent.parent === null && event.waitsFor !== undefined);
    const clocked = clock(agent, onTheClock, at);
    return {
      ...(event.status === 'pending' ? begunAnew(clocked) : clocked),
      status: event.status,
      reason: event.reason,
      waitingFor: event.waitingFor ?? null,
      endedBy: event.endedBy ?? null,
      pause: event.status === 'waiting' ? agent.pause : null,
      // A retried or resumed agent is no longer at its end.
      outcome: null,
      endedAt: null,
      signalled: event.status === 'initializing' || event.status === 'pending' ? null : agent.signalled,
      blocks: withReason(agent, event),
    };
  },
  'agent.signalled': (agent, { status, message }) => ({ ...agent, signalled: { status, message } }),
  'act.unanswered': (agent, { effect, label, why }) => ({
    ...agent,
    unanswered: [...(agent.unanswered ?? []), { effect, label, ...(why === undefined ? {} : { why }) }],
  }),
  'act.done': (agent, { effect }) => ({
    ...agent,
    unanswered: (agent.unanswered ?? []).filter((one) => one.effect !== effect),
  }),
  'agent.adopted': (agent, { owner }) => ({ ...agent, owner }),
  'agent.pinned': (agent, event) => ({ ...agent, pin: event.mode }),
  'budget.changed': (agent, event) => ({ ...agent, budget: event.budget }),
  'agent.told': (agent, event) => ({
    ...agent,
    ...withNews(agent),
    blocks: add(agent, { is: 'told', text: event.text }),
  }),
  'agent.environment': (agent, { text }) => ({ ...agent, environment: text }),
  'agent.model': (agent, event) => ({
    ...agent,
    model: event.model,
    blocks: add(agent, noteBlock(`model is now ${event.model.used}, by you`, 'info')),
  }),
  'agent.todos': (agent, event) => ({ ...agent, todos: event.todos }),
  'agent.message': (agent, event) => ({
    ...agent,
    blocks: add(agent, { is: 'said', text: event.text, call: event.call }),
  }),
  'model.started': (agent, event) => ({
    ...agent,
    open: [...agent.open, { call: event.call, model: event.model, ...event.reserved }],
    pause: null,
    iterations: agent.iterations + 1,
  }),
  'model.finished': (agent, event) => ({
    ...agent,
    ...withReply(agent, event),
    ...withoutItsEffort(agent, event),
    open: agent.open.filter(({ call }) => call !== event.call),
    usage: addUsage(agent.usage, event.usage),
    cost: fromMicro(toMicro(agent.cost) + toMicro(event.cost)),
    byModel: withShare(agent.byModel, event.model, event.usage, event.cost),
    priced: agent.priced && event.priced,
    ...(event.estimated === true ? { estimated: true } : {}),
  }),
  'model.failed': (agent, event) => ({
    ...agent,
    open: agent.open.filter(({ call }) => call !== event.call),
    // Tries of one turn are one iteration.
    iterations: agent.iterations - (agent.open.some(({ call }) => call === event.call) ? 1 : 0),
    // A call that broke off is charged for what it had used.
    usage: addUsage(agent.usage, event.usage ?? NO_USAGE),
    cost: fromMicro(toMicro(agent.cost) + toMicro(event.cost ?? 0)),
    byModel: withShare(agent.byModel, event.model, event.usage ?? NO_USAGE, event.cost ?? 0),
    priced: agent.priced && event.priced !== false,
    lost: withLost(agent.lost, event),
    blocks: event.cause === 'aborted' ? agent.blocks : add(agent, noteBlock(`model: ${event.message}`, 'error')),
  }),
  'model.retry': (agent, event, at) => ({
    ...agent,
    pause: {
      model: event.model,
      cause: event.cause,
      until: at + event.wait,
      attempt: event.attempt ?? null,
      attempts: event.attempts ?? null,
    },
    retries: agent.retries + 1,
    blocks: add(agent, noteBlock(retryText(event), 'warn')),
  }),
  'model.fallback': (agent, event) => ({
    ...agent,
    model: { asked: agent.model.asked, used: event.to, because: event.cause },
    pause: null,
    fallbacks: [...agent.fallbacks, { from: event.from, to: event.to, cause: event.cause, rule: event.rule }],
    blocks: add(agent, noteBlock(`${event.from} -> ${event.to}: ${event.cause}`, 'warn')),
  }),
  'context.compacted': (agent, { tokens, summary }) => ({
    ...agent,
    growth: NO_GROWTH,
    compactions: agent.compactions + 1,
    blocks: add(agent, {
      ...noteBlock(compactedText(tokens), 'info'),
      more: summary,
    }),
  }),
  'tool.started': (agent, event, at) => ({
    ...agent,
    toolCalls: agent.toolCalls + 1,
    toolsUsed: { ...agent.toolsUsed, [event.tool]: (agent.toolsUsed[event.tool] ?? 0) + 1 },
    lastTool: { name: event.tool, label: event.label, at },
    blocks: add(agent, {
      is: 'tool',
      call: event.call,
      tool: event.tool,
      label: event.label,
      started: at,
      ok: null,
      output: '',
      ms: 0,
    }),
  }),
  'tool.finished': (agent, event) => ({
    ...agent,
    ...withNews(agent, event),
    blocks: agent.blocks.map((block) =>
      block.is === 'tool' && block.call === event.call && block.ok === null
        ? { ...block, ok: event.ok, output: keptOutput(event.output), ms: event.ms }
        : block,
    ),
  }),
  'tool.noted': (agent, { text }) => ({
    ...agent,
    blocks: add(agent, noteBlock(text.replace(/^\(Mimir: |\)$/g, ''), 'info')),
  }),
  'policy.decided': (agent, event) =>
    event.decision === 'deny'
      ? { ...agent, blocks: add(agent, noteBlock(`denied: ${event.subject}: ${event.rule}`, 'warn')) }
      : agent,
  'budget.exhausted': (agent, event) => ({
    ...agent,
    blocks: add(agent, noteBlock(`${event.scope} budget exhausted (${event.what})`, 'error')),
    // Limits of a day are not the agent's.
    ...(event.scope === 'agent' || event.scope === 'run'
      ? { exhausted: { what: event.what, spent: event.spent, limit: event.limit } }
      : {}),
  }),
  'agent.finished': (agent, event, at) => ({
    ...clock(agent, false, at),
    status: event.status,
    outcome: event.outcome,
    summary: event.summary,
    error: event.error,
    ...(event.outcome === 'killed' && agent.outcome !== null
      ? { closed: { outcome: agent.outcome, error: agent.error } }
      : {}),
    reason: event.error ?? '',
    waitingFor: null,
    endedBy: event.endedBy ?? null,
    pause: null,
    endedAt: at,
  }),
};

function withoutItsOwn(agent: AgentState): AgentState {
  const { effort, ...others } = agent;
  return effort === undefined ? agent : others;
}

/** Told once for each model. */
function withoutItsEffort(
  agent: AgentState,
  { model, withoutEffort }: EventOf<'model.finished'>,
): Partial<Pick<AgentState, 'withoutEffort' | 'blocks'>> {
  const known = agent.withoutEffort ?? [];
  if (withoutEffort === undefined || known.includes(model)) return {};
  const text = `${model} takes no setting of effort: it is called without (${agent.effort ?? 'some'} was asked for)`;
  return { withoutEffort: [...known, model], blocks: add(agent, noteBlock(text, 'warn')) };
}

/** Why it does not go on is told in its transcript. */
function withReason(agent: AgentState, { status, reason }: EventOf<'agent.status'>): readonly Block[] {
  const isTold = (status === 'interrupted' || status === 'failed') && reason !== '';
  return isTold ? add(agent, noteBlock(reason, 'warn')) : agent.blocks;
}

/** A retry begins a new conversation, in the environment of its own start. */
function begunAnew(agent: AgentState): AgentState {
  const { environment: _environment, unanswered: _unanswered, ...others } = agent;
  return others;
}

/** The agent after `event`; the same object when nothing changed. */
export function foldAgent(agent: AgentState, event: MimirEvent, at: Millis): AgentState {
  const change = forType(AGENT_FOLDS, event.type);
  return change ? { ...change(agent, event, at), lastAt: at } : agent;
}

/** Starts or stops the agent's own clock: waiting for a person and being interrupted are left out. */
export function clock(agent: AgentState, running: boolean, at: Millis): AgentState {
  const ran = agent.runningSince === null ? 0 : Math.max(0, at - agent.runningSince);
  return {
    ...agent,
    ranMs: agent.ranMs + ran,
    runningSince: running ? at : null,
    firstRunAt: agent.firstRunAt ?? (running ? at : null),
  };
}

const add = (agent: AgentState, block: Block): readonly Block[] => [...agent.blocks, block];
const noteBlock = (text: string, level: NoteBlock['level']): NoteBlock => ({ is: 'note', text, level });
type NoteBlock = Extract<Block, { readonly is: 'note' }>;

/** A try that was ended on purpose is not lost, but what it used up is. */
function withLost(lost: LostTries, event: EventOf<'model.failed'>): LostTries {
  return {
    calls: lost.calls + (event.cause === 'aborted' ? 0 : 1),
    usage: addUsage(lost.usage, event.usage ?? NO_USAGE),
    cost: fromMicro(toMicro(lost.cost) + toMicro(event.cost ?? 0)),
  };
}

/** Head and tail of a long output, the whole of any other. */
export function keptOutput(output: string): string {
  if (output.length <= OUTPUT_KEPT) return output;
  const half = OUTPUT_KEPT / 2;
  return `${output.slice(0, half)}\n… ${output.length - OUTPUT_KEPT} characters left out here …\n${output.slice(-half)}`;
}

/** The shares by model after one more call of `model`. */
function withShare(
  shares: readonly ModelShare[],
  model: ModelShare['model'],
  usage: ModelShare['usage'],
  cost: number,
): readonly ModelShare[] {
  const known = shares.find((share) => share.model === model);
  if (known === undefined) return [...shares, { model, calls: 1, usage, cost }];
  const next: ModelShare = {
    model,
    calls: known.calls + 1,
    usage: addUsage(known.usage, usage),
    cost: fromMicro(toMicro(known.cost) + toMicro(cost)),
  };
  return shares.map((share) => (share === known ? next : share));
}
