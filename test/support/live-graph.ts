/** Running plans of any shape, to draw: who needs whom, and where each stands 60 s after the approval. */
import type { AgentOutcome } from '../../src/domain/agents/agent.ts';
import { statusOfOutcome } from '../../src/domain/agents/agent.ts';
import { AgentId, CallId, ModelId, RoleName, TaskId } from '../../src/domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../src/domain/plan/plan.ts';
import { approval, asks, Recording, runs, started, uses } from './recorded-run.ts';

export type Stand = 'done' | 'runs' | 'late' | 'asks' | 'held' | 'failed' | 'left out' | 'pending';

/** Role, the numbers of the tasks that it needs (from 1), where it stands, and how many sub-agents it made. */
export type ShapeTask = readonly [role: string, needs: readonly number[], stands: Stand, children?: number];

const agentAt = (index: number): AgentId => AgentId.parse(`ROOT::S${index + 1}`);
const used = ModelId.parse('anthropic/claude-sonnet-4-5');
const model = { asked: 'sonnet-4.5', used, because: null };

const planTask = ([role, needs]: ShapeTask, index: number): PlanTask => ({
  id: TaskId.parse(`task-${index + 1}`),
  description: `Step ${index + 1} of the work: ${role}`,
  role: RoleName.parse(role),
  model,
  tools: ['read'],
  estimatedTokens: 10_000,
  estimatedCost: 0.05,
  estimatedSeconds: 90,
  budget: { maxCost: 0.15 },
  dependsOn: needs.map((need) => TaskId.parse(`task-${need}`)),
  writes: [],
  maySpawn: false,
});

const choices = { roles: [], models: [], limits: { maxTasks: 50, maxParallel: 4, run: {}, agent: {} } };
const born = { budget: {}, tools: ['read'], model, iterations: 20 } as const;
const metrics = { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 1, toolCalls: 1 };

/** The log of a run of this plan. */
export function shaped(tasks: readonly ShapeTask[], more: Partial<SoundPlan> = {}): Recording {
  const log = started(new Recording());
  const main = { agent: AgentId.parse('ROOT'), parent: null, role: RoleName.parse('main'), name: 'main' };
  log.at(0, { type: 'agent.created', ...main, ...born, task: 'Do it', taskId: null, dependsOn: [] });
  const plan = { reason: 'So.', tasks: tasks.map(planTask), ...more };
  log.at(5, { type: 'plan.proposed', plan, choices, by: 'opus-4.5', ms: 5000, digest: 'd' });
  log.at(10, { type: 'plan.approved', digest: 'd', by: 'person' });
  for (const [index, [role, needs]] of tasks.entries()) {
    log.at(10, {
      type: 'agent.created',
      agent: agentAt(index),
      parent: AgentId.parse('ROOT'),
      role: RoleName.parse(role),
      name: role,
      task: `Step ${index + 1} of the work: ${role}`,
      taskId: TaskId.parse(`task-${index + 1}`),
      dependsOn: needs.map((need) => agentAt(need - 1)),
      ...born,
    });
  }
  for (const [index, one] of tasks.entries()) stand(log, index, one);
  return log;
}

const OUTCOMES: Readonly<Partial<Record<Stand, AgentOutcome>>> = {
  done: 'completed',
  failed: 'failed',
  'left out': 'skipped',
};
const ERRORS: Readonly<Partial<Record<AgentOutcome, string>>> = {
  failed: 'the tests do not pass',
  skipped: 'left out by the person',
};

function stand(log: Recording, index: number, [role, , stands, children = 0]: ShapeTask): void {
  const agent = agentAt(index);
  if (stands === 'pending') return;
  if (stands !== 'left out') runs(log, stands === 'late' ? 10 : 40, agent);
  spawn(log, agent, children);
  if (stands === 'runs' || stands === 'late') uses(log, 45, agent, 'bash', `Bash npm test -- ${role}`);
  if (stands === 'asks') asks(log, 50, agent, `ask ${index}`, approval({ title: 'npm publish' }));
  if (stands === 'held') hold(log, agent);
  const outcome = OUTCOMES[stands];
  if (outcome !== undefined) end(log, agent, role, outcome);
}

function end(log: Recording, agent: AgentId, role: string, outcome: AgentOutcome): void {
  log.at(60, {
    type: 'agent.finished',
    agent,
    status: statusOfOutcome(outcome),
    outcome,
    summary: outcome === 'completed' ? `${role} found what it looked for` : '',
    error: ERRORS[outcome] ?? null,
    metrics,
  });
}

function spawn(log: Recording, agent: AgentId, children: number): void {
  for (let child = 1; child <= children; child++) {
    const id = `${agent}::S${child}`;
    const role = RoleName.parse('finder');
    const call = CallId.parse(`task ${id}`);
    const of = { agent: AgentId.parse(id), parent: agent, role, name: `finder ${child}`, call };
    log.at(41, { type: 'agent.created', ...of, ...born, task: 'Find it', taskId: null, dependsOn: [] });
    runs(log, 42, id);
    uses(log, 43, id, 'search', 'Search legacyRefresh');
  }
}

function hold(log: Recording, agent: AgentId): void {
  const call = CallId.parse(`held ${agent}`);
  log.at(55, { type: 'model.started', agent, call, model: used, purpose: 'work', reserved: { tokens: 0, cost: 0 } });
  log.at(66, {
    type: 'model.retry',
    agent,
    call,
    model: used,
    cause: 'rate limit',
    wait: 20_000,
    attempt: 2,
    attempts: 5,
  });
}
