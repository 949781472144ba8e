/** Everything that can happen, at random: bodies of every type, and histories in which agents exist before they act. */
import * as fc from 'fast-check';
import { OUTCOMES, STATUSES } from '../../src/domain/agents/agent.ts';
import {
  type AgentId,
  AgentId as agentId,
  CallId,
  childOf,
  ModelId,
  RoleName,
  ROOT,
  TaskId,
} from '../../src/domain/ids.ts';
import { MODES } from '../../src/domain/reason.ts';
import type { PlanChoices, SoundPlan } from '../../src/domain/plan/plan.ts';
import type { Json } from '../../src/domain/turn.ts';
import type { EventBody } from '../../src/events/event.ts';
import { ofRulings } from './events-of-rulings.ts';
import { ofSteering } from './events-of-steering.ts';

/** Texts that are hard to keep: very long ones, NUL, half a surrogate pair, what looks like a reference. */
const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\u0000',
      '\u0000text:abc',
      '\u0000\u0000x',
      '\ud800',
      'a\udc00b',
      'x'.repeat(16_384),
      'y'.repeat(16_385),
      `\ud800${'z'.repeat(20_000)}`,
      `\u0000text:${'ä'.repeat(17_000)}`,
    ),
  },
);

const orNull = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one, { nil: null });

const leaf: fc.Arbitrary<Json> = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), text);
/** What a model may send as a tool's input, odd keys among it. */
const json: fc.Arbitrary<Json> = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }),
  fc.dictionary(fc.oneof(fc.string({ maxLength: 8 }), fc.constant('__proto__')), leaf, {
    maxKeys: 4,
    noNullPrototype: true,
  }),
);

const agent: fc.Arbitrary<AgentId> = fc.constantFrom(
  ...['ROOT', 'ROOT::S1', 'ROOT::S2', 'ROOT::S3', 'ROOT::S1::S1'].map((id) => agentId.parse(id)),
);
const call = fc.constantFrom(...['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => CallId.parse(id)));
const model = fc.constantFrom(...['offline/analyst', 'anthropic/claude-haiku'].map((id) => ModelId.parse(id)));
const role = fc.constantFrom(...['finder', 'reviewer', 'main'].map((name) => RoleName.parse(name)));
const taskId = fc.constantFrom(...['task-1', 'task-2'].map((id) => TaskId.parse(id)));
const count = fc.nat({ max: 1_000_000 });
/** Dollars in whole micro-dollars, as sums are kept. */
const usd = fc.nat({ max: 5_000_000 }).map((micro) => micro / 1_000_000);
const budget = fc.record({ maxTokens: count, maxCost: usd, maxDuration: count }, { requiredKeys: [] });
const usage = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count });
const choice = fc.record({ asked: fc.constant('haiku-4.5'), used: model, because: orNull(text) });
const totals = fc.record({ cost: usd, tokens: count, agents: count, duration: count });
const todo = fc.record({ description: text, status: fc.constantFrom('pending', 'active', 'completed') });
const toolCall = fc.record({ id: call, tool: fc.constant('read_file'), input: json });
const time = fc.constant('2026-01-01T00:00:00.000Z');
const metrics = fc.record({
  startTime: time,
  endTime: time,
  duration: count,
  tokensUsed: count,
  cost: usd,
  iterations: count,
  toolCalls: count,
});

const plan: fc.Arbitrary<SoundPlan> = fc.record({
  reason: text,
  tasks: fc.array(
    fc.record({
      id: taskId,
      description: text,
      role,
      model: choice,
      tools: fc.array(fc.constant('git'), { maxLength: 2 }),
      estimatedTokens: count,
      estimatedCost: orNull(usd),
      estimatedSeconds: count,
      budget,
      dependsOn: fc.array(taskId, { maxLength: 2 }),
      writes: fc.array(text, { maxLength: 1 }),
      maySpawn: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
});
const NO_CHOICES: PlanChoices = { roles: [], models: [], limits: { maxTasks: 50, maxParallel: 4, run: {}, agent: {} } };

/** Bodies that start a session. */
const started: fc.Arbitrary<EventBody> = fc.record({
  type: fc.constant('session.started'),
  task: text,
  cwd: fc.constant('/project'),
  mode: fc.constantFrom(...MODES),
  policyHash: fc.constant('hash'),
  version: fc.constant('0.1.0'),
  budget,
  maxParallel: fc.constant(4),
  sandbox: fc.constant('none'),
  provider: fc.constant('offline'),
  notes: fc.array(text, { maxLength: 2 }),
});

const created = (id: AgentId): fc.Arbitrary<EventBody> =>
  fc.record({
    type: fc.constant('agent.created'),
    agent: fc.constant(id),
    parent: fc.constant(id === ROOT ? null : agentId.parse(id.slice(0, id.lastIndexOf('::')))),
    role,
    name: fc.constant('finder'),
    task: text,
    taskId: orNull(taskId),
    tools: fc.constant(['git']),
    budget,
    dependsOn: fc.constant([]),
    model: choice,
    iterations: fc.constant(20),
  });

const approval = fc.constantFrom('a1', 'a2');
const money = {
  scope: fc.constantFrom('run', 'agent', 'day', 'model'),
  what: fc.constantFrom('tokens', 'cost', 'time'),
};
const spent = { spent: count, limit: count };

/** What agents do and what happens to them. */
const ofAgents: readonly fc.Arbitrary<EventBody>[] = [
  fc.record(
    {
      type: fc.constant('agent.status'),
      agent,
      status: fc.constantFrom(...STATUSES),
      reason: text,
      waitsFor: fc.constant('provider'),
      waitingFor: fc.constantFrom({ is: 'message' }, { is: 'children' }, { is: 'person' }),
    },
    { requiredKeys: ['type', 'agent', 'status', 'reason', 'waitingFor'] },
  ),
  fc.record({
    type: fc.constant('agent.told'),
    agent,
    text,
    messages: fc.array(fc.nat({ max: 60 }), { maxLength: 2 }),
  }),
  fc.record({ type: fc.constant('agent.todos'), agent, todos: fc.array(todo, { maxLength: 3 }) }),
  fc.record({ type: fc.constant('agent.message'), agent, call, text }),
  fc.record({
    type: fc.constant('agent.finished'),
    agent,
    status: fc.constantFrom(...STATUSES),
    outcome: fc.constantFrom(...OUTCOMES),
    summary: text,
    error: orNull(text),
    metrics,
  }),
  fc.record({
    type: fc.constant('message.sent'),
    agent: orNull(agent),
    from: fc.constant('person'),
    to: agent,
    kind: fc.constantFrom('result', 'request', 'status', 'error'),
    delivery: fc.constantFrom('sequential', 'important', 'urgent'),
    content: text,
  }),
];

/** What passes the gate. */
const ofGate: readonly fc.Arbitrary<EventBody>[] = [
  fc.record({
    type: fc.constant('model.started'),
    agent,
    call,
    model,
    purpose: fc.constantFrom('plan', 'work', 'merge', 'compact'),
    reserved: fc.record({ tokens: count, cost: usd }),
  }),
  fc.record(
    {
      type: fc.constant('model.finished'),
      agent,
      call,
      model,
      usage,
      cost: usd,
      priced: fc.boolean(),
      stopReason: fc.constantFrom('end', 'tool use', 'output limit', 'refused'),
      ms: count,
      calls: fc.array(toolCall, { maxLength: 2 }),
      opaque: json,
    },
    {
      requiredKeys: ['type', 'agent', 'call', 'model', 'usage', 'cost', 'priced', 'stopReason', 'ms', 'calls'],
    },
  ),
  fc.record(
    {
      type: fc.constant('model.failed'),
      agent,
      call,
      model,
      cause: fc.constantFrom('aborted', 'cut', 'rate limited'),
      message: text,
      usage,
      cost: usd,
      priced: fc.boolean(),
    },
    { requiredKeys: ['type', 'agent', 'call', 'model', 'cause', 'message'] },
  ),
  fc.record(
    { type: fc.constant('model.retry'), agent, call, model, cause: text, wait: count, attempt: count, attempts: count },
    { requiredKeys: ['type', 'agent', 'call', 'model', 'cause', 'wait'] },
  ),
  fc.record({
    type: fc.constant('context.compacted'),
    agent,
    summary: text,
    kept: fc.nat({ max: 9 }),
    tokens: fc.record({ before: count, after: count }),
  }),
  fc.record({ type: fc.constant('model.fallback'), agent, from: model, to: model, cause: text, rule: text }),
  fc.record({
    type: fc.constant('tool.started'),
    agent,
    call,
    tool: fc.constant('read_file'),
    label: text,
    input: json,
    repeat: fc.constantFrom('safe', 'never'),
  }),
  fc.record({
    type: fc.constant('tool.finished'),
    agent,
    call,
    tool: fc.constant('read_file'),
    ok: fc.boolean(),
    output: text,
    ms: count,
  }),
  fc.record({
    type: fc.constant('approval.requested'),
    agent,
    approval,
    call: orNull(call),
    request: fc.record({
      action: fc.constantFrom('write', 'shell', 'question'),
      title: text,
      exact: text,
      options: fc.array(text, { maxLength: 2 }),
      unsandboxed: fc.boolean(),
      because: text,
    }),
  }),
  fc.record({
    type: fc.constant('approval.answered'),
    agent,
    approval,
    answer: fc.constantFrom('allowed', 'denied', 'withdrawn'),
    scope: fc.constantFrom('once', 'session'),
    text,
    by: fc.constant('person'),
  }),
  fc.record({
    type: fc.constant('policy.decided'),
    agent,
    subject: text,
    action: fc.constant('model'),
    decision: fc.constantFrom('deny', 'substitute', 'allow', 'ask'),
    rule: text,
    layer: fc.constantFrom('default', 'managed', 'user', 'project', 'command line'),
    file: orNull(text),
    line: orNull(count),
    policyHash: fc.constant('hash'),
  }),
  ...ofRulings(agent, text, count),
  fc.record({ type: fc.constant('budget.warned'), agent, ...money, ...spent }),
  fc.record({ type: fc.constant('budget.exhausted'), agent, ...money, ...spent }),
];

/** What happens to the run as a whole. */
const ofRun: readonly fc.Arbitrary<EventBody>[] = [
  fc.record({ type: fc.constant('session.resumed'), policyHash: text, version: text }),
  fc.record({ type: fc.constant('session.mode'), mode: fc.constantFrom(...MODES) }),
  fc.record({ type: fc.constant('clock.moved'), by: fc.integer({ min: -1e9, max: 1e9 }) }),
  fc.record({
    type: fc.constant('plan.proposed'),
    plan,
    choices: fc.constant(NO_CHOICES),
    by: fc.constant('planner'),
    ms: count,
    digest: text,
  }),
  fc.record({ type: fc.constant('plan.edited'), plan, edit: text, digest: text }),
  fc.record({ type: fc.constant('plan.approved'), digest: text, by: text }),
  ...ofSteering({ agent, role, text, budget, choice, plan }),
  fc.record({ type: fc.constant('plan.rejected'), reason: text }),
  fc.record({
    type: fc.constant('session.finished'),
    status: fc.constantFrom('completed', 'failed', 'rejected', 'stopped'),
    summary: text,
    totals,
  }),
];

/** A body of any type, about agents that may not exist. */
export const body: fc.Arbitrary<EventBody> = fc.oneof(started, agent.chain(created), ...ofAgents, ...ofGate, ...ofRun);

/** A session from its start: a team first, then anything in any order. */
export const history: fc.Arbitrary<readonly EventBody[]> = fc
  .tuple(
    started,
    created(ROOT),
    created(childOf(ROOT, 1)),
    created(childOf(ROOT, 2)),
    created(childOf(childOf(ROOT, 1), 1)),
    fc.array(fc.oneof(...ofAgents, ...ofGate, ...ofRun), { maxLength: 40 }),
  )
  .map(([first, root, one, two, nested, rest]) => [first, root, one, two, nested, ...rest]);
