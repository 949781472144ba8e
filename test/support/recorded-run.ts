/** A run as its log has it: eight agents in every state there is, at a fixed time. What the pictures of the run screen show. */
import { AgentId, CallId, ModelId, RoleName, SessionId, TaskId } from '../../src/domain/ids.ts';
import { withReasons } from '../../src/events/earlier-words.ts';
import type { AgentOutcome } from '../../src/domain/agents/agent.ts';
import { statusOfOutcome } from '../../src/domain/agents/agent.ts';
import type { PlanTask } from '../../src/domain/plan/plan.ts';
import type { Todo } from '../../src/domain/turn.ts';
import type { ApprovalRequest, EventBody, MimirEvent } from '../../src/events/event.ts';

export const START = Date.UTC(2026, 8, 5, 20, 29, 2);
export const SESSION = SessionId.parse('run-7f3a');

/** Builds a log: each call appends one event `after` seconds from the start. */
export class Recording {
  readonly events: MimirEvent[] = [];

  at(after: number, body: EventBody): this {
    const time = new Date(START + after * 1000).toISOString();
    this.events.push({ v: 1, seq: this.events.length + 1, time, session: SESSION, ...withReasons(body) });
    return this;
  }
}

const agentId = (id: string): AgentId => AgentId.parse(id);
const todosOf = (done: number, ...all: readonly string[]): readonly Todo[] =>
  all.map((description, index) => ({
    description,
    status: index < done ? 'completed' : index === done ? 'active' : 'pending',
  }));

export const approval = (request: Partial<ApprovalRequest>): ApprovalRequest => ({
  action: 'shell',
  title: 'npm test',
  exact: 'npm test -- refresh --repeat 50',
  options: [],
  unsandboxed: true,
  because: 'shell asks in confirm mode',
  ...request,
});

export function started(recording: Recording, provider = 'anthropic'): Recording {
  return recording.at(0, {
    type: 'session.started',
    task: 'Fix the token refresh race',
    cwd: '/home/me/shop',
    mode: 'confirm',
    policyHash: 'p1',
    version: '0.1.0',
    budget: { maxCost: 2 },
    maxParallel: 4,
    sandbox: 'bubblewrap',
    provider,
    notes: [],
  });
}

const TASKS: readonly (readonly [role: string, model: string, task: string, needs: readonly number[]])[] = [
  ['finder', 'haiku-4.5', 'Locate every caller of the refresh endpoint', []],
  ['librarian', 'sonnet-4.5', 'Summarise token rotation guidance', []],
  ['oracle', 'o3', 'Explain the race: why do two refreshes both win?', [1]],
  ['refactoring', 'sonnet-4.5', 'Move rotation into TokenStore', [1, 2]],
  ['tester', 'sonnet-4.5', 'Write race, replay and expiry tests', [3]],
  ['reviewer', 'gpt-5', 'Security review of the store and the diff', [4]],
];

const planTask = (index: number): PlanTask => {
  const [role = 'finder', model = '', description = '', needs = []] = TASKS[index] ?? [];
  return {
    id: TaskId.parse(`task-${index + 1}`),
    description,
    role: RoleName.parse(role),
    model: { asked: model, used: ModelId.parse(`anthropic/${model}`), because: null },
    tools: ['file_search'],
    estimatedTokens: 10_000,
    estimatedCost: 0.05,
    estimatedSeconds: 30,
    budget: { maxCost: 0.15 },
    dependsOn: needs.map((need) => TaskId.parse(`task-${need}`)),
    writes: [],
    maySpawn: false,
  };
};

export function planned(recording: Recording): Recording {
  const plan = { reason: 'Search first, then fix, test and review.', tasks: TASKS.map((_, index) => planTask(index)) };
  const choices = { roles: [], models: [], limits: { maxTasks: 50, maxParallel: 4, run: { maxCost: 2 }, agent: {} } };
  createMain(recording);
  return recording.at(6, { type: 'plan.proposed', plan, choices, by: 'opus-4.5', ms: 6000, digest: 'd1' });
}

/** An approved plan whose agents have not begun. */
export const begun = (): Recording => created(planned(started(new Recording())));

/** Main at work on the plan, which is not there yet. */
export function planning(recording: Recording): Recording {
  started(recording);
  createMain(recording);
  return recording.at(0, { type: 'agent.status', agent: agentId('ROOT'), status: 'running', reason: '' });
}

function createMain(recording: Recording): void {
  recording.at(0, {
    type: 'agent.created',
    agent: agentId('ROOT'),
    parent: null,
    role: RoleName.parse('main'),
    name: 'main',
    task: 'Fix the token refresh race',
    taskId: null,
    tools: ['task'],
    budget: {},
    dependsOn: [],
    model: { asked: 'opus-4.5', used: ModelId.parse('anthropic/claude-opus-4-5'), because: null },
    iterations: 20,
  });
}

/** `ROOT::S1` … as the plan has them, and a child of the fourth. */
export function created(recording: Recording): Recording {
  recording.at(8, { type: 'plan.approved', digest: 'd1', by: 'person' });
  for (const [index, [role, model, task, needs]] of TASKS.entries()) {
    recording.at(8, {
      type: 'agent.created',
      agent: agentId(`ROOT::S${index + 1}`),
      parent: agentId('ROOT'),
      role: RoleName.parse(role),
      name: role,
      task,
      taskId: TaskId.parse(`task-${index + 1}`),
      tools: ['read', 'search'],
      budget: { maxCost: 0.15 },
      dependsOn: needs.map((need) => agentId(`ROOT::S${need}`)),
      model: { asked: model, used: ModelId.parse(`anthropic/${model}`), because: null },
      iterations: 20,
    });
  }
  return recording;
}

export const runs = (recording: Recording, after: number, id: string): Recording =>
  recording.at(after, { type: 'agent.status', agent: agentId(id), status: 'running', reason: '' });

/** One model call with what it said. */
export function says(
  recording: Recording,
  after: number,
  id: string,
  text: string,
  tokens: number,
  cost: number,
): Recording {
  const call = CallId.parse(`m${recording.events.length}`);
  const model = ModelId.parse('anthropic/x');
  const agent = agentId(id);
  recording.at(after, { type: 'model.started', agent, call, model, purpose: 'work', reserved: { tokens: 0, cost: 0 } });
  recording.at(after, {
    type: 'model.finished',
    agent,
    call,
    model,
    usage: { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0 },
    cost,
    priced: true,
    stopReason: 'end',
    ms: 900,
    calls: [],
  });
  return recording.at(after, { type: 'agent.message', agent, call, text });
}

/** A tool call; without an output it goes on. */
export function uses(
  recording: Recording,
  after: number,
  id: string,
  tool: string,
  label: string,
  output?: string,
): Recording {
  const call = CallId.parse(`t${recording.events.length}`);
  const agent = agentId(id);
  recording.at(after, { type: 'tool.started', agent, call, tool, label, input: {}, repeat: 'safe' });
  if (output === undefined) return recording;
  return recording.at(after + 1, { type: 'tool.finished', agent, call, tool, ok: true, output, ms: 1200 });
}

function finishes(recording: Recording, after: number, id: string, outcome: AgentOutcome, summary: string): Recording {
  return recording.at(after, {
    type: 'agent.finished',
    agent: agentId(id),
    status: statusOfOutcome(outcome),
    outcome,
    summary: outcome === 'completed' ? summary : '',
    error: outcome === 'completed' ? null : summary,
    metrics: { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 1, toolCalls: 1 },
  });
}

export const asks = (
  recording: Recording,
  after: number,
  id: string,
  name: string,
  request: ApprovalRequest,
): Recording =>
  recording
    .at(after, { type: 'agent.status', agent: agentId(id), status: 'waiting', reason: '' })
    .at(after, { type: 'approval.requested', agent: agentId(id), approval: name, call: null, request });

/** In the middle of a run, 3 minutes and 12 seconds after its start. */
export function midRun(provider = 'anthropic'): Recording {
  const recording = created(planned(started(new Recording(), provider)));
  runs(recording, 1, 'ROOT');
  says(recording, 7, 'ROOT', 'Watching wave 2.', 22_000, 0.0912);
  recording.at(7, {
    type: 'agent.todos',
    agent: agentId('ROOT'),
    todos: todosOf(1, 'Start wave 1', 'Watch wave 2', 'Merge results', 'Check the report', 'Say goodbye'),
  });
  runs(recording, 10, 'ROOT::S1');
  uses(recording, 12, 'ROOT::S1', 'search', 'Search refreshToken', 'src/a.ts:3\nsrc/b.ts:9');
  says(recording, 30, 'ROOT::S1', '14 files found', 6200, 0.0031);
  recording.at(30, {
    type: 'agent.todos',
    agent: agentId('ROOT::S1'),
    todos: todosOf(3, 'List auth files', 'Map call sites', 'Report'),
  });
  finishes(recording, 31, 'ROOT::S1', 'completed', '14 files found');
  runs(recording, 10, 'ROOT::S2');
  says(recording, 50, 'ROOT::S2', 'Summary delivered', 15_000, 0.0418);
  finishes(recording, 58, 'ROOT::S2', 'failed', 'provider refused the request (400)');
  runs(recording, 59, 'ROOT::S3');
  recording.at(59, {
    type: 'agent.told',
    agent: agentId('ROOT::S3'),
    text: 'Explain the race: why do two refreshes both win?',
    messages: [],
  });
  recording.at(60, {
    type: 'agent.todos',
    agent: agentId('ROOT::S3'),
    todos: todosOf(
      1,
      'Reproduce the race',
      'Explain why two refreshes both win',
      'Propose a lock',
      'Measure it',
      'Report',
    ),
  });
  says(recording, 80, 'ROOT::S3', 'I look at the `TokenStore` first.', 20_000, 0.08);
  uses(
    recording,
    90,
    'ROOT::S3',
    'edit',
    'Edit src/auth/store.ts',
    '@@ -1,3 +1,4 @@\n-  await db.update(id, { token, gen: gen + 1 })\n+  const n = await db.update(id, { token, gen: gen + 1 }, { gen });\n+  if (n === 0) throw new StaleTokenError(id)\n   return token\n // five\n // six\n // seven',
  );
  says(
    recording,
    120,
    'ROOT::S3',
    '## Why both win\n\nBoth calls read generation 7 before **either** writes generation 8.\n\n- the UPDATE has no guard\n- the first client keeps a revoked token',
    11_000,
    0.0384,
  );
  uses(recording, 130, 'ROOT::S3', 'bash', 'Bash npm test -- refresh --repeat 50');
  runs(recording, 96, 'ROOT::S4');
  says(recording, 100, 'ROOT::S4', 'Update 14 call sites', 28_000, 0.0733);
  recording.at(100, {
    type: 'agent.todos',
    agent: agentId('ROOT::S4'),
    todos: todosOf(1, 'Move rotation into it', 'Update 14 call sites', 'Delete the old path', 'Format', 'Report'),
  });
  recording.at(101, {
    type: 'agent.created',
    agent: agentId('ROOT::S4::S1'),
    parent: agentId('ROOT::S4'),
    role: RoleName.parse('finder'),
    name: 'finder 2',
    task: 'Find imports of legacyRefresh',
    taskId: null,
    tools: ['read', 'search'],
    budget: { maxCost: 0.03 },
    dependsOn: [],
    model: { asked: 'qwen-3', used: ModelId.parse('offline/analyst'), because: 'no provider' },
    iterations: 20,
  });
  runs(recording, 180, 'ROOT::S4::S1');
  uses(recording, 181, 'ROOT::S4::S1', 'search', 'Search legacyRefresh');
  return recording;
}

/** The same run at its end. */
export function finished(status: 'completed' | 'failed' | 'stopped' | 'rejected' = 'completed'): Recording {
  const recording = midRun();
  for (const id of ['ROOT::S4::S1', 'ROOT::S3', 'ROOT::S4', 'ROOT::S5', 'ROOT::S6']) {
    finishes(
      recording,
      190,
      id,
      id === 'ROOT::S6' ? 'killed' : 'completed',
      id === 'ROOT::S6' ? 'killed by the person' : `## Result\n\n${id} is done.`,
    );
  }
  return recording.at(200, {
    type: 'session.finished',
    status,
    summary:
      status === 'stopped'
        ? 'stopped by you'
        : '# Token refresh\n\nThe race is in `src/auth/store.ts:41`.\n\n1. Agent 1: 14 files found\n2. Agent 2: failed\n\n> No language model was used.',
    totals: { cost: 0.2878, tokens: 102_200, agents: 7, duration: 200_000 },
  });
}
