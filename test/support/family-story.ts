/** A run with sessions of every kind: planned, spawned by a person and by agents, of the Task tool, forced; ended in all ways. */
import { statusOfOutcome } from '../../src/domain/agents/agent.ts';
import type { AgentOutcome } from '../../src/domain/agents/agent.ts';
import { AgentId, CallId, ModelId, parentOf, RoleName, ROOT, SessionId } from '../../src/domain/ids.ts';
import { withReasons } from '../../src/events/earlier-words.ts';
import type { EventOf } from '../../src/events/event.ts';
import type { ApprovalRequest, EventBody, MimirEvent } from '../../src/events/event.ts';
import { approval } from './recorded-run.ts';
import type { Timed } from './session-stage.ts';

export const RUN = SessionId.parse('k7f3a2');
/** When it began, and when it is looked at: ten minutes later. */
const BEGAN = Date.UTC(2026, 10, 22, 9, 0, 0);
export const NOW = BEGAN + 600_000;

export const agentAt = (place: string): AgentId => AgentId.parse(place);
export const ENGINEER = AgentId.parse('ROOT::S1');
export const ARCHITECT = AgentId.parse('ROOT::S2');
export const TESTER = AgentId.parse('ROOT::S3');
export const SECURITY = AgentId.parse('ROOT::S4');
/** Below the engineer. */
export const HELP = AgentId.parse('ROOT::S1::S1');
export const TASK = AgentId.parse('ROOT::S1::S2');

/** `body` that many seconds after the run began. */
export const at = (seconds: number, body: EventBody): Timed => ({ at: BEGAN + seconds * 1000, body });

export const started = (task = 'Make the cache faster', more: { readonly idle?: true } = {}): EventBody => ({
  type: 'session.started',
  task,
  cwd: '/home/me/shop',
  mode: 'confirm',
  policyHash: 'p1',
  version: '0.1.0',
  budget: {},
  maxParallel: 4,
  sandbox: 'bubblewrap',
  provider: 'anthropic',
  notes: [],
  ...more,
});

type Made = Partial<Omit<EventOf<'agent.created'>, 'agent' | 'role'>>;

export const made = (agent: AgentId, role: string, task: string, more: Made = {}): EventBody => ({
  type: 'agent.created',
  agent,
  parent: parentOf(agent),
  role: RoleName.parse(role),
  name: role,
  task,
  taskId: null,
  tools: ['read'],
  budget: {},
  dependsOn: [],
  model: { asked: 'haiku-4.5', used: ModelId.parse('anthropic/claude-haiku-4-5'), because: null },
  iterations: 20,
  ...more,
});

export const spawned = (
  friendly: string | null,
  by: 'person' | AgentId = 'person',
  more: { readonly wait?: number; readonly workingDir?: string } = {},
): Made => ({ spawned: { by, friendly, wait: more.wait ?? null, workingDir: more.workingDir ?? '' } });

export const status = (agent: AgentId, is: EventOf<'agent.status'>['status'], reason = ''): EventBody =>
  withReasons({
    type: 'agent.status',
    agent,
    status: is,
    reason,
  });

/** A call of a model that used so much. */
export const turn = (agent: AgentId, call: string, tokens: number, cost: number, text = ''): readonly EventBody[] => [
  {
    type: 'model.started',
    agent,
    call: CallId.parse(call),
    model: ModelId.parse('anthropic/claude-haiku-4-5'),
    purpose: 'work',
    reserved: { tokens, cost },
  },
  {
    type: 'model.finished',
    agent,
    call: CallId.parse(call),
    model: ModelId.parse('anthropic/claude-haiku-4-5'),
    usage: { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0 },
    cost,
    priced: true,
    stopReason: 'end',
    ms: 1000,
    calls: [],
  },
  ...(text === '' ? [] : [{ type: 'agent.message' as const, agent, call: CallId.parse(call), text }]),
];

const tool = (
  agent: AgentId,
  call: string,
  name: string,
  label: string,
  ok: boolean | null = true,
): readonly EventBody[] => [
  { type: 'tool.started', agent, call: CallId.parse(call), tool: name, label, input: {}, repeat: 'safe' },
  ...(ok === null
    ? []
    : [{ type: 'tool.finished' as const, agent, call: CallId.parse(call), tool: name, ok, output: 'out', ms: 5 }]),
];

export const ended = (
  agent: AgentId,
  outcome: AgentOutcome,
  summary: string,
  error: string | null = null,
): EventBody => ({
  type: 'agent.finished',
  agent,
  status: statusOfOutcome(outcome),
  outcome,
  summary,
  error,
  metrics: {
    startTime: '2026-11-22T09:00:00.000Z',
    endTime: '2026-11-22T09:05:00.000Z',
    duration: 60_000,
    tokensUsed: 1200,
    cost: 0.01,
    iterations: 1,
    toolCalls: 1,
  },
});

const all = (seconds: number, bodies: readonly EventBody[]): readonly Timed[] =>
  bodies.map((body) => at(seconds, body));

/**
 * ROOT waits for its children. `engineer-cache` was spawned by the person and works, with one child of its own that is done and one
 * of its Task tool that works; `architect` is done; a tester without a name failed; a forced agent has judged.
 */
export const FAMILY: readonly Timed[] = [
  at(0, started()),
  at(0, made(ROOT, 'main', 'Make the cache faster')),
  at(1, status(ROOT, 'running')),
  ...all(2, turn(ROOT, 'r1', 500, 0.005)),
  at(
    60,
    made(ENGINEER, 'engineer', 'As engineer, implement the cache\nwith tests', {
      ...spawned('engineer-cache', 'person', { wait: 600, workingDir: 'packages/cache' }),
      budget: { maxTokens: 10_000 },
    }),
  ),
  at(61, status(ENGINEER, 'initializing')),
  at(62, status(ENGINEER, 'running')),
  at(120, made(ARCHITECT, 'oracle', 'Design the cache', spawned('architect', ROOT))),
  at(121, status(ARCHITECT, 'running')),
  at(130, status(ROOT, 'waiting', 'waits for its children')),
  ...all(150, turn(ARCHITECT, 'a1', 1200, 0.01, 'An LRU with a bound.\nMore follows.')),
  at(180, ended(ARCHITECT, 'completed', 'An LRU with a bound.\nMore follows.')),
  at(200, made(HELP, 'finder', 'Find all callers', spawned('finder', ENGINEER, { workingDir: 'packages/cache' }))),
  at(201, status(HELP, 'running')),
  ...all(210, turn(HELP, 'h1', 300, 0.002)),
  at(240, ended(HELP, 'partial', 'Found 3 of them', 'the budget is used up')),
  at(250, made(TESTER, 'tester', 'Run the tests', spawned(null, ROOT))),
  at(251, status(TESTER, 'running')),
  at(260, ended(TESTER, 'failed', '', 'no database\nat all')),
  at(270, made(SECURITY, 'security', 'Judge it', { forced: { trigger: 'on-write', tree: 't1' } })),
  at(271, status(SECURITY, 'running')),
  at(280, ended(SECURITY, 'completed', 'pass')),
  at(300, {
    type: 'agent.todos',
    agent: ENGINEER,
    todos: [
      { description: 'read', status: 'completed' },
      { description: 'write', status: 'active' },
      { description: 'test', status: 'pending' },
    ],
  }),
  ...all(400, turn(ENGINEER, 'e1', 2500, 0.02, 'I read the sources.')),
  ...all(420, tool(ENGINEER, 'e2', 'read', 'read src/cache.ts')),
  ...all(430, tool(ENGINEER, 'e3', 'search', 'search "evict"', false)),
  at(440, made(TASK, 'explore', 'Look at the tests', { call: CallId.parse('e4') })),
  at(441, status(TASK, 'running')),
  ...all(570, tool(ENGINEER, 'e4', 'read', 'read src/lru.ts', null)),
];

/** A story as the log tells it. */
export const told = (story: readonly Timed[]): readonly MimirEvent[] =>
  story.map(({ at: time, body }, index) => ({
    v: 1,
    seq: index + 1,
    time: new Date(time).toISOString(),
    session: RUN,
    ...body,
  }));

/** The engineer wants to run a command. */
export const asks = (request: Partial<ApprovalRequest> = {}): EventBody => ({
  type: 'approval.requested',
  agent: ENGINEER,
  approval: 'q1',
  call: null,
  request: approval(request),
});
