/** Histories of runs at random, each with what it comes to by counting alone, without the fold. */
import * as fc from 'fast-check';
import type { ShownStatus } from '../../src/app/views/agent-counts.ts';
import type { AgentOutcome, AgentStatus } from '../../src/domain/agents/agent.ts';
import { statusOfOutcome } from '../../src/domain/agents/agent.ts';
import { AgentId, CallId, ModelId, ROOT, RoleName, TaskId } from '../../src/domain/ids.ts';
import type { PlanTask } from '../../src/domain/plan/plan.ts';
import type { EventBody } from '../../src/events/event.ts';
import { Recording, started } from './recorded-run.ts';

const MODEL = ModelId.parse('anthropic/x');
const PARALLEL = 4;
export const idOf = (index: number): AgentId => AgentId.parse(`ROOT::S${index + 1}`);

const taskOf = (index: number): PlanTask => ({
  id: TaskId.parse(`task-${index + 1}`),
  description: `Step ${index + 1}`,
  role: RoleName.parse('finder'),
  model: { asked: 'x', used: MODEL, because: null },
  tools: [],
  estimatedTokens: 10_000,
  estimatedCost: 0.05,
  estimatedSeconds: 30,
  budget: {},
  dependsOn: [],
  writes: [],
  maySpawn: false,
});

function born(log: Recording, agent: AgentId, index: number): void {
  log.at(1, {
    type: 'agent.created',
    agent,
    parent: agent === ROOT ? null : ROOT,
    role: RoleName.parse('finder'),
    name: agent === ROOT ? 'main' : `finder ${index + 1}`,
    task: 'Look',
    taskId: agent === ROOT ? null : TaskId.parse(`task-${index + 1}`),
    tools: [],
    budget: { maxCost: 1 },
    dependsOn: [],
    model: { asked: 'x', used: MODEL, because: null },
    iterations: 20,
  });
}

/** A run of so many tasks without needs, approved: nothing has begun. */
export function begun(count: number): Recording {
  const log = started(new Recording());
  const tasks = Array.from({ length: count }, (_, index) => taskOf(index));
  const choices = { roles: [], models: [], limits: { maxTasks: 50, maxParallel: PARALLEL, run: {}, agent: {} } };
  born(log, ROOT, 0);
  log.at(1, { type: 'agent.status', agent: ROOT, status: 'running', reason: '' });
  log.at(1, { type: 'plan.proposed', plan: { reason: '', tasks }, choices, by: 'x', ms: 1, digest: 'd' });
  log.at(1, { type: 'plan.approved', digest: 'd', by: 'person' });
  for (const index of tasks.keys()) born(log, idOf(index), index);
  return log;
}

const COUNTS = { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 0, toolCalls: 0 };

const ended = (agent: AgentId, outcome: AgentOutcome): EventBody => ({
  type: 'agent.finished',
  agent,
  status: statusOfOutcome(outcome),
  outcome,
  summary: 'done',
  error: null,
  metrics: COUNTS,
});
export const at = (agent: AgentId, status: AgentStatus, reason = ''): EventBody => ({
  type: 'agent.status',
  agent,
  status,
  reason,
});
const asksModel = (agent: AgentId, call: CallId, cost: number): EventBody => ({
  type: 'model.started',
  agent,
  call,
  model: MODEL,
  purpose: 'work',
  reserved: { tokens: 100, cost },
});
const answered = (agent: AgentId, call: CallId, cost: number): EventBody => ({
  type: 'model.finished',
  agent,
  call,
  model: MODEL,
  usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 },
  cost,
  priced: true,
  stopReason: 'end',
  ms: 1,
  calls: [],
});

interface Step {
  readonly is: 'status' | 'end' | 'ask' | 'settle' | 'lose' | 'stop' | 'crash';
  readonly agent: number;
  readonly status: AgentStatus;
  readonly reason: string;
  readonly outcome: AgentOutcome;
  /** Micro-dollars. */
  readonly micro: number;
  readonly seconds: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  is: fc.constantFrom('status', 'status', 'status', 'end', 'ask', 'settle', 'lose', 'stop', 'crash'),
  agent: fc.nat(30),
  status: fc.constantFrom('initializing', 'running', 'waiting', 'interrupted'),
  reason: fc.constantFrom('', 'anthropic is rate limited; next try in 14 s (2 of 5)'),
  outcome: fc.constantFrom('completed', 'partial', 'failed', 'killed', 'skipped'),
  micro: fc.integer({ min: 1, max: 900_000 }),
  seconds: fc.nat(90),
});

/** What the steps come to, without the fold: sums and statuses as they are told of. */
interface Truth {
  readonly log: Recording;
  readonly status: ShownStatus[];
  micro: number;
  /** Of main. */
  ran: number;
  now: number;
}

export function told(count: number, steps: readonly Step[]): Truth {
  const truth: Truth = {
    log: begun(count),
    status: Array.from({ length: count }, () => 'queued'),
    micro: 0,
    ran: 0,
    now: 1,
  };
  const open = new Map<AgentId, CallId>();
  for (const [nth, one] of steps.entries()) {
    truth.now += one.seconds;
    const gone = one.is === 'stop' || one.is === 'crash';
    // Of a process that ended without a word nobody knows how long it worked after its last one.
    if (one.is !== 'crash') truth.ran += one.seconds;
    if (gone) goesOn(truth, one);
    else happens(truth, one, { agent: one.agent % count, call: CallId.parse(`c${nth}`), open });
  }
  return truth;
}

/** The process ends, with a word or without one, and another one goes on with the run. */
function goesOn(truth: Truth, { is }: Step): void {
  const { log, status } = truth;
  const totals = { cost: 0, tokens: 0, agents: 0, duration: 0 };
  if (is === 'stop') log.at(truth.now, { type: 'session.finished', status: 'stopped', summary: '', totals });
  truth.now += 100;
  log.at(truth.now, { type: 'session.resumed', policyHash: 'p1', version: '0.1.0' });
  log.at(truth.now, at(ROOT, 'running'));
  for (const [index, one] of status.entries())
    if (one === 'running' || one === 'waiting' || one === 'held') status[index] = 'queued';
}

function happens(
  truth: Truth,
  one: Step,
  { agent, call, open }: { readonly agent: number; readonly call: CallId; readonly open: Map<AgentId, CallId> },
): void {
  const { log, status, now } = truth;
  const id = idOf(agent);
  const waits = open.get(id);
  const cost = one.micro / 1_000_000;
  if (one.is === 'ask' && waits === undefined) {
    open.set(id, call);
    log.at(now, asksModel(id, call, cost));
  } else if (one.is === 'settle' && waits !== undefined) {
    open.delete(id);
    truth.micro += one.micro;
    log.at(now, answered(id, waits, cost));
  } else if (one.is === 'lose' && waits !== undefined) {
    open.delete(id);
    truth.micro += one.micro;
    log.at(now, { type: 'model.failed', agent: id, call: waits, model: MODEL, cause: 'cut', message: 'cut', cost });
  } else if (one.is === 'end') {
    status[agent] = SHOWN_OF[one.outcome];
    log.at(now, ended(id, one.outcome));
  } else {
    status[agent] = one.is === 'status' ? shownOf(one) : 'running';
    log.at(now, one.is === 'status' ? at(id, one.status, one.reason) : at(id, 'running'));
  }
}

const SHOWN_OF: Readonly<Record<AgentOutcome, ShownStatus>> = {
  completed: 'completed',
  failed: 'failed',
  partial: 'interrupted',
  killed: 'interrupted',
  abandoned: 'interrupted',
  skipped: 'interrupted',
};
const shownOf = ({ status, reason }: Step): ShownStatus =>
  status === 'initializing'
    ? 'queued'
    : status === 'waiting' && reason !== ''
      ? 'held'
      : status === 'pending'
        ? 'queued'
        : status;

export const histories = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.array(step, { maxLength: 40 }));
