/** Folds events into the run's state: (state, event) -> state, pure. The same log gives the same state, live, after a crash and in another
 * process. Effects on a single agent are in fold-agent.ts. */
import { factsOf } from '../domain/agents/tool-facts.ts';
import { tokensOf } from '../domain/budget.ts';
import { fromMicro, type Millis, ROOT, toMicro, type Usd } from '../domain/ids.ts';
import { MAIN } from '../domain/agents/role.ts';
import { ownField } from '../domain/text/text.ts';
import { type ByType, type EventOf, type EventType, forType, type MimirEvent } from './event.ts';
import { comparedChecks, staleChecks, withCheck, withCheckEnd } from './checks.ts';
import { AGENT_FOLDS, bodyOf, clock, foldAgent, newAgent } from './fold-agent.ts';
import { LINES, logLine } from './log-line.ts';
import { estimateKey } from './queries.ts';
import { Roster, withAgent } from './roster.ts';
import { type AgentState, type CheckRun, EMPTY, type RunState, type SpendPoint } from './state.ts';

const LOG_LINES = 1000;

/** Event types that change more than one agent. Types missing here change only agents and log lines. `lastAt` is still the time of the previous event.
 */
const RUN_FOLDS = {
  'session.started': (state, event, at) => {
    const { idle = false, choices = null, draft: _draft, policyHashes: _hashes, ...facts } = bodyOf(event);
    return { ...state, ...facts, idle, choices, phase: idle ? 'running' : 'planning', startedAt: at };
  },
  'session.resumed': (state, event, at) => ({
    // Whatever ran when the last process ended has run until its last event, not until now.
    ...begunAgain(withLostCalls(withStoppedClocks(state, state.lastAt))),
    stops: [...state.stops, { from: state.lastAt, to: at }],
    // What was cut off has said nothing, and nobody runs it again by itself.
    ...(state.firstChecks && { firstChecks: state.firstChecks.filter(({ end }) => end !== null) }),
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
    // A changed limit may be warned about again.
    warned: state.warned.filter((known) => ownerOf(known) !== (event.agent === ROOT ? 'run' : event.agent)),
  }),
  'forced.began': (state, { tree }, at) =>
    state.firstTree === null ? { ...state, firstTree: tree, firstTreeAt: at } : state,
  'tool.started': withWritten,
  'tool.finished': (state, event) => (changesProject(event) ? withChecks(state, staleChecks) : state),
  // During a run, a look at the project follows.
  'merge.finished': (state, { changed }) =>
    changed !== undefined && state.finished !== null ? withChecks(state, staleChecks) : state,
  'check.started': (state, event, at) =>
    event.first === true ? { ...state, firstChecks: withCheck(state.firstChecks, event, at) } : state,
  'check.finished': (state, event) =>
    event.first === true ? { ...state, firstChecks: withCheckEnd(state.firstChecks, event) } : state,
  'check.compared': (state, { tree, first }) =>
    first === true ? { ...state, firstChecks: staleChecks(state.firstChecks ?? []) } : comparedWith(state, tree),
  'forced.verdict': (state, event) => ({ ...state, verdicts: [...state.verdicts, bodyOf(event)] }),
  'forced.gate': (state, event) => {
    const { agent, role, trigger } = event;
    const others = state.gates.filter((gate) => gate.agent !== agent || gate.role !== role || gate.trigger !== trigger);
    return { ...state, gates: [...others, bodyOf(event)] };
  },
  'budget.warned': (state, event) => ({
    ...state,
    warned: [...state.warned, warnedKey(event)],
  }),
  'message.sent': (state, { seq, from, to, delivery, content, notice, letter }) => {
    const sent = { seq, from, to, delivery, content, delivered: false, notice: notice ?? null };
    return { ...state, messages: [...state.messages, { ...sent, ...(letter !== undefined && { letter }) }] };
  },
  'session.finished': (state, event, at) => ({
    ...withLostCalls(withStoppedClocks(state, at)),
    phase: 'finished',
    // A stop leaves messages unanswered; a resume answers them.
    answering: event.status === 'stopped' && state.answering,
    finished: bodyOf(event),
    approvals: [],
  }),
  'pr.started': (state, { branch, remote, address, base, program }) => {
    const { commits = [], url = null } = state.pullRequest ?? {};
    return { ...state, pullRequest: { branch, remote, address, base, program, done: [], commits, url, why: '' } };
  },
  'pr.step': (state, { step, is, commit, url }) => {
    const known = state.pullRequest;
    if (known === undefined) return state;
    const commits = commit === undefined ? known.commits : [...known.commits.filter((one) => one !== commit), commit];
    const done = is === 'done' ? [...known.done, step] : known.done;
    return { ...state, pullRequest: { ...known, commits, url: url ?? known.url, done } };
  },
  'pr.finished': (state, { why }) =>
    state.pullRequest === undefined ? state : { ...state, pullRequest: { ...state.pullRequest, why } },
} satisfies ByType<[state: RunState], [at: Millis], RunState>;

/** The types that this version knows. A type without a row in one of the tables does not compile. */
const KNOWN: Readonly<Record<EventType, unknown>> = { ...LINES, ...AGENT_FOLDS, ...RUN_FOLDS };

/** The key of a warning: once for each limit until the limit changes. */
const warnedKey = ({ agent, of, scope, what, estimate }: EventOf<'budget.warned'>): string =>
  estimate === true ? estimateKey(agent) : `${of ?? (scope === 'agent' ? agent : scope)}:${what}`;

const ownerOf = (key: string): string => key.slice(0, key.lastIndexOf(':'));

/** Counted from the start of a call, because it is unknown whether a call cut off by a stop still wrote. */
function withWritten(state: RunState, { tool, input }: EventOf<'tool.started'>): RunState {
  const path = factsOf(tool).writes === true ? ownField(input, 'path') : null;
  if (typeof path !== 'string' || state.written?.includes(path) === true) return state;
  return { ...state, written: [...(state.written ?? []), path] };
}

/** The state after `event`. Events of an unknown type are only counted. */
export function fold(state: RunState, event: MimirEvent): RunState {
  const at = Date.parse(event.time);
  const stamp = { session: event.session, seq: event.seq, lastAt: at };
  if (!Object.hasOwn(KNOWN, event.type)) return { ...state, ...stamp, unknown: state.unknown + 1 };
  const change = forType<[RunState], [Millis], RunState>(RUN_FOLDS, event.type);
  const changed = change ? change(state, event, at) : state;
  // A state has dozens of properties, so it is copied once.
  const agents = agentsAfter(changed, event, at);
  return { ...changed, ...stamp, agents, log: logAfter({ agents, log: changed.log }, event, at) };
}

/** The state after all of `events`. */
export const foldAll = (events: Iterable<MimirEvent>, from: RunState = EMPTY): RunState => {
  let state = from;
  for (const event of events) state = fold(state, event);
  return state;
};

const withEach = (state: RunState, change: (agent: AgentState) => AgentState): RunState => ({
  ...state,
  agents: Roster.of([...state.agents.values()].map(change)),
});

const some = ({ agents }: RunState, is: (agent: AgentState) => boolean): boolean => [...agents.values()].some(is);

const withChecks = (state: RunState, change: (checks: readonly CheckRun[]) => readonly CheckRun[]): RunState =>
  some(state, ({ checks }) => checks !== undefined)
    ? withEach(state, (agent) => (agent.checks === undefined ? agent : { ...agent, checks: change(agent.checks) }))
    : state;

/** The state whose checks are stale where they ran on another tree than this. */
export const comparedWith = (state: RunState, tree: string): RunState =>
  withChecks(state, (checks) => comparedChecks(checks, tree));

const changesProject = ({ tool, ok, changed }: EventOf<'tool.finished'>): boolean =>
  changed === undefined ? ok && factsOf(tool).writes === true : changed.inOwnTree !== true;

const withStoppedClocks = (state: RunState, at: Millis): RunState =>
  some(state, ({ runningSince }) => runningSince !== null)
    ? withEach(state, (agent) => clock(agent, false, at))
    : state;

/** Shifts stored times with the clock, so that a jump counts neither as running time nor as silence. */
function withMovedClocks(state: RunState, { by }: EventOf<'clock.moved'>): RunState {
  return withEach(state, (agent) => {
    const runningSince = agent.runningSince === null ? null : agent.runningSince + by;
    return { ...agent, lastAt: agent.lastAt + by, runningSince };
  });
}

/** The state after its process ended: open calls will never get an end, and their cost is uncertain. */
export function withLostCalls(state: RunState): RunState {
  if (!some(state, ({ open }) => open.some(({ uncertain }) => uncertain !== true))) return state;
  return withEach(state, (agent) =>
    agent.open.length === 0 ? agent : { ...agent, open: agent.open.map((call) => ({ ...call, uncertain: true })) },
  );
}

/** Agents of an ended process are not working any more; they take a slot when they continue. */
function begunAgain(state: RunState): RunState {
  if (!some(state, wasAtWork)) return state;
  const begins = { status: 'initializing', reason: '', waitingFor: null, endedBy: null } as const;
  return withEach(state, (one) => (wasAtWork(one) ? { ...one, ...begins } : one));
}

const wasAtWork = ({ status }: AgentState): boolean => status === 'running' || status === 'waiting';

function agentsAfter({ agents }: RunState, event: MimirEvent, at: Millis): RunState['agents'] {
  // What ran before anything had begun is no work of main, in whose name it ran.
  const id = 'agent' in event && !('first' in event) ? event.agent : null;
  const agent = id === null || event.type === 'agent.created' ? undefined : agents.get(id);
  if (!agent) return agents;
  const changed: AgentState = foldAgent(agent, event, at);
  return changed === agent ? agents : withAgent(agents, changed);
}

/** ROOT's name in a run whose only task is done by `main`, because two agents of one name would be shown. */
const PLANNER = { name: 'planner' } as const;

/** Whether the denying answer has already reported the result of this call. */
const isTold = (log: RunState['log'], event: MimirEvent): boolean =>
  event.type === 'tool.finished' && log.findLast(({ agent }) => agent === event.agent)?.denial === true;

function logAfter({ agents, log }: Pick<RunState, 'agents' | 'log'>, event: MimirEvent, at: Millis): RunState['log'] {
  const line = logLine(event, at, (id) => agents.get(id)?.name ?? id);
  if (line === null || isTold(log, event)) return log;
  const lines = log.slice(-(LOG_LINES - 1));
  lines.push(line);
  return lines;
}

/** The most points kept; more than any screen has columns. */
export const MOST_POINTS = 400;

/** The series after one more call; the last point is always the exact sum. A call without cost and tokens adds no point. */
export function withSpend(points: readonly SpendPoint[], at: Millis, cost: Usd, tokens: number): readonly SpendPoint[] {
  if (cost === 0 && tokens === 0) return points;
  const last = points.at(-1);
  const point = { at, cost: fromMicro(toMicro(last?.cost ?? 0) + toMicro(cost)), tokens: (last?.tokens ?? 0) + tokens };
  const next = [...points, point];
  // Every other point is removed, but not the last, so that the curve keeps its shape.
  return next.length <= MOST_POINTS ? next : next.filter((_, index) => (next.length - 1 - index) % 2 === 0);
}
