/**
 * (state, event) -> state, pure. Given the same log, the same state: live, after a crash, in another process.
 * What one event does to one agent is in fold-agent.ts; this file has the run as a whole.
 */
import { tokensOf } from '../domain/budget.ts';
import { fromMicro, ROOT, toMicro } from '../domain/ids.ts';
import type { AgentId, Millis, Usd } from '../domain/ids.ts';
import { MAIN } from '../domain/agents/role.ts';
import type { ByType, EventOf } from './by-type.ts';
import { forType } from './by-type.ts';
import type { EventType, MimirEvent } from './event.ts';
import { clock, foldAgent, newAgent } from './fold-agent.ts';
import { logLine } from './log-line.ts';
import { estimateKey } from './queries.ts';
import { Roster, withAgent } from './roster.ts';
import type { AgentState, RunState, SpendPoint } from './state.ts';
import { EMPTY } from './state.ts';

const LOG_LINES = 1000;

/**
 * Every event type that changes more than an agent. Types missing here change agents and the log lines only. `lastAt` is
 * still the time of the event before.
 */
const RUN_FOLDS: ByType<[state: RunState], [at: Millis], RunState> = {
  'session.started': (state, event, at) => ({
    ...state,
    phase: event.idle === true ? 'running' : 'planning',
    task: event.task,
    cwd: event.cwd,
    mode: event.mode,
    policyHash: event.policyHash,
    version: event.version,
    provider: event.provider,
    sandbox: event.sandbox,
    notes: event.notes,
    idle: event.idle ?? false,
    choices: event.choices ?? null,
    budget: event.budget,
    maxParallel: event.maxParallel,
    startedAt: at,
  }),
  'session.resumed': (state, event, at) => ({
    // Whatever ran when the last process ended has run until its last word, not through the time in between.
    ...begunAgain(withLostCalls(withStoppedClocks(state, state.lastAt))),
    stops: [...state.stops, { from: state.lastAt, to: at }],
    budget: event.budget ?? state.budget,
    answering: event.answers === true,
    finished: null,
    phase: state.idle
      ? 'running'
      : state.approvedDigest === null
        ? state.plan === null
          ? 'planning'
          : 'approving'
        : 'running',
    approvals: [],
  }),
  'clock.moved': withMovedClocks,
  'session.mode': (state, event) => ({ ...state, mode: event.mode }),
  'plan.proposed': (state, event) => ({
    ...state,
    unattended: event.unattended ?? null,
    phase: 'approving',
    plan: event.plan,
    planDigest: event.digest,
    planBy: event.by,
    planMs: event.ms,
    planFault: event.fault ?? '',
    choices: event.choices,
  }),
  'plan.edited': (state, event) => ({ ...state, plan: event.plan, planDigest: event.digest }),
  'plan.approved': (state, event) => ({ ...state, phase: 'running', approvedDigest: event.digest }),
  'plan.amended': (state, event) => ({
    ...state,
    plan: event.plan,
    planDigest: event.digest,
    approvedDigest: event.digest,
  }),
  'agent.created': (state, event, at) => {
    let agents = withAgent(state.agents, newAgent(event, at));
    const parent = event.parent === null ? undefined : agents.get(event.parent);
    if (parent) {
      const isSingle = parent.id === ROOT && event.role === MAIN && event.taskId !== null;
      const { name } = isSingle ? PLANNER : parent;
      agents = agents.with({ ...parent, name, children: [...parent.children, event.agent] });
    }
    return { ...state, agents };
  },
  'agent.told': (state, event) => ({
    ...state,
    messages: state.messages.map((message) =>
      event.messages.includes(message.seq) ? { ...message, delivered: true } : message,
    ),
  }),
  'model.started': (state, event) => {
    if (event.purpose === 'merge') return { ...state, phase: 'merging' };
    return event.purpose === 'plan' ? { ...state, phase: 'planning' } : state;
  },
  'model.finished': (state, { cost, usage }, at) => ({
    ...state,
    spend: withSpend(state.spend, at, cost, tokensOf(usage)),
  }),
  'model.failed': (state, { cost, usage }, at) => ({
    ...state,
    spend: withSpend(state.spend, at, cost ?? 0, usage === undefined ? 0 : tokensOf(usage)),
  }),
  'approval.requested': (state, event, at) => ({
    ...state,
    approvals: [...state.approvals, { id: event.approval, agent: event.agent, request: event.request, askedAt: at }],
  }),
  'approval.answered': (state, { approval: id, agent, grant }, at) => ({
    ...state,
    approvals: state.approvals.filter((approval) => approval.id !== id),
    grants: grant === undefined ? state.grants : [...state.grants, { id, agent, at, ...grant }],
  }),
  'grant.withdrawn': (state, { grant }) => ({ ...state, grants: state.grants.filter(({ id }) => id !== grant) }),
  'budget.changed': (state, event) => ({
    ...(event.agent === ROOT ? { ...state, budget: event.budget } : state),
    // A raised limit is warned of anew.
    warned: state.warned.filter((known) => !known.startsWith(`${event.agent === ROOT ? 'run' : event.agent}:`)),
  }),
  'forced.began': (state, { tree }, at) =>
    state.firstTree === null ? { ...state, firstTree: tree, firstTreeAt: at } : state,
  'tool.started': withWritten,
  'forced.verdict': (state, { agent, role, tree, pass, summary, findings }) => ({
    ...state,
    verdicts: [...state.verdicts, { agent, role, tree, pass, summary, findings }],
  }),
  'forced.gate': (state, { agent, role, trigger, tree, open, onFailure, why, upTo, saidUpTo, due }) => ({
    ...state,
    gates: [
      ...state.gates.filter((gate) => gate.agent !== agent || gate.role !== role || gate.trigger !== trigger),
      {
        agent,
        role,
        trigger,
        tree,
        open,
        onFailure,
        why,
        ...(upTo === undefined ? {} : { upTo }),
        ...(saidUpTo === undefined ? {} : { saidUpTo }),
        ...(due === undefined ? {} : { due }),
      },
    ],
  }),
  'budget.warned': (state, event) => ({
    ...state,
    warned: [...state.warned, warnedKey(event)],
  }),
  'message.sent': (state, event) => ({
    ...state,
    messages: [
      ...state.messages,
      {
        seq: event.seq,
        from: event.from,
        to: event.to,
        delivery: event.delivery,
        content: event.content,
        delivered: false,
        notice: event.notice ?? null,
        ...(event.letter === undefined ? {} : { letter: event.letter }),
      },
    ],
  }),
  'session.finished': (state, event, at) => ({
    ...withLostCalls(withStoppedClocks(state, at)),
    phase: 'finished',
    // A stop leaves messages without an answer: a resume answers them.
    answering: event.status === 'stopped' && state.answering,
    finished: {
      status: event.status,
      summary: event.summary,
      totals: event.totals,
      ...(event.endedBy === undefined ? {} : { endedBy: event.endedBy }),
    },
    approvals: [],
  }),
};

const KNOWN: ReadonlySet<string> = new Set<EventType>([
  'session.started',
  'session.resumed',
  'session.mode',
  'clock.moved',
  'agent.pinned',
  'budget.changed',
  'forced.began',
  'forced.verdict',
  'forced.gate',
  'plan.proposed',
  'plan.edited',
  'plan.approved',
  'plan.amended',
  'plan.rejected',
  'agent.created',
  'agent.changed',
  'agent.model',
  'agent.status',
  'agent.told',
  'agent.environment',
  'agent.todos',
  'agent.message',
  'model.started',
  'model.finished',
  'model.failed',
  'model.retry',
  'model.fallback',
  'context.compacted',
  'tool.noted',
  'tool.started',
  'tool.finished',
  'approval.requested',
  'approval.answered',
  'policy.decided',
  'grant.withdrawn',
  'act.unanswered',
  'act.done',
  'budget.warned',
  'budget.exhausted',
  'message.sent',
  'agent.signalled',
  'agent.adopted',
  'agent.finished',
  'session.finished',
]);

/** How it is remembered that somebody was warned: once for each limit, until it is changed. */
const warnedKey = ({ agent, of, scope, what, estimate }: EventOf<'budget.warned'>): string =>
  estimate === true ? estimateKey(agent) : `${of ?? (scope === 'agent' ? agent : scope)}:${what}`;

const FILE_TOOLS: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** From the beginning of a call on: whether it still wrote is not known where Mimir was stopped meanwhile. */
function withWritten(state: RunState, { tool, input }: EventOf<'tool.started'>): RunState {
  const path: unknown =
    FILE_TOOLS.has(tool) && typeof input === 'object' && input !== null ? Reflect.get(input, 'path') : null;
  if (typeof path !== 'string' || state.written?.includes(path) === true) return state;
  return { ...state, written: [...(state.written ?? []), path] };
}

/** The state after `event`. Events of an unknown type are counted and otherwise ignored. */
export function fold(state: RunState, event: MimirEvent): RunState {
  const at = Date.parse(event.time);
  if (!KNOWN.has(event.type)) return { ...stamped(state, event, at), unknown: state.unknown + 1 };
  const change = forType(RUN_FOLDS, event.type);
  return stamped(withLog(withChange(change ? change(state, event, at) : state, event, at), event, at), event, at);
}

const stamped = (state: RunState, event: MimirEvent, at: Millis): RunState => ({
  ...state,
  session: event.session,
  seq: event.seq,
  lastAt: at,
});

/** The state after all of `events`, from nothing. */
export const foldAll = (events: Iterable<MimirEvent>, from: RunState = EMPTY): RunState => {
  let state = from;
  for (const event of events) state = fold(state, event);
  return state;
};

function withStoppedClocks(state: RunState, at: Millis): RunState {
  if (![...state.agents.values()].some(({ runningSince }) => runningSince !== null)) return state;
  return { ...state, agents: Roster.of([...state.agents.values()].map((agent) => clock(agent, false, at))) };
}

/** What agents count from moves with the clock: the jump is no time that they ran, and none that they were silent. */
function withMovedClocks(state: RunState, { by }: EventOf<'clock.moved'>): RunState {
  const agents = [...state.agents.values()].map(
    (agent): AgentState => ({
      ...agent,
      lastAt: agent.lastAt + by,
      runningSince: agent.runningSince === null ? null : agent.runningSince + by,
    }),
  );
  return { ...state, agents: Roster.of(agents) };
}

/** The state when its process has ended: calls that are still open never get an end, and what they cost is not known. */
export function withLostCalls(state: RunState): RunState {
  const agents = [...state.agents.values()];
  if (!agents.some(({ open }) => open.some(({ uncertain }) => uncertain !== true))) return state;
  const lost = agents.map(
    (agent): AgentState =>
      agent.open.length === 0 ? agent : { ...agent, open: agent.open.map((call) => ({ ...call, uncertain: true })) },
  );
  return { ...state, agents: Roster.of(lost) };
}

/** Who worked in a process that has ended without a word works no more: it takes a slot when it goes on. */
function begunAgain(state: RunState): RunState {
  const agents = [...state.agents.values()];
  if (!agents.some(wasAtWork)) return state;
  const next = agents.map(
    (one): AgentState =>
      wasAtWork(one) ? { ...one, status: 'initializing', reason: '', waitingFor: null, endedBy: null } : one,
  );
  return { ...state, agents: Roster.of(next) };
}

const wasAtWork = ({ status }: AgentState): boolean => status === 'running' || status === 'waiting';

function withChange(state: RunState, event: MimirEvent, at: Millis): RunState {
  const id = agentOf(event);
  const agent = id === null || event.type === 'agent.created' ? undefined : state.agents.get(id);
  if (!agent) return state;
  const changed: AgentState = foldAgent(agent, event, at);
  return changed === agent ? state : { ...state, agents: withAgent(state.agents, changed) };
}

/** What ROOT is called in a run whose only task `main` does: it plans, and two agents of one name would be shown. */
const PLANNER = { name: 'planner' } as const;

const agentOf = (event: MimirEvent): AgentId | null => ('agent' in event ? event.agent : null);

function withLog(state: RunState, event: MimirEvent, at: Millis): RunState {
  const line = logLine(event, at, (id) => state.agents.get(id)?.name ?? id);
  return line === null ? state : { ...state, log: [...state.log.slice(-(LOG_LINES - 1)), line] };
}

/** Most points that are kept: more than any screen has columns for. */
export const MOST_POINTS = 400;

/** The series after one more call; the last point is always the true sum. What cost nothing at all adds none. */
export function withSpend(points: readonly SpendPoint[], at: Millis, cost: Usd, tokens: number): readonly SpendPoint[] {
  if (cost === 0 && tokens === 0) return points;
  const last = points.at(-1);
  const point = { at, cost: fromMicro(toMicro(last?.cost ?? 0) + toMicro(cost)), tokens: (last?.tokens ?? 0) + tokens };
  const next = [...points, point];
  // Every other one goes, not the last: the curve keeps its shape.
  return next.length <= MOST_POINTS ? next : next.filter((_, index) => (next.length - 1 - index) % 2 === 0);
}
