/** A run to test with: scripted models, small tools that write down what they did, a log in memory, a clock that waits. */
import { z } from 'zod';
import { briefText } from '../../src/domain/agents/brief.ts';
import type { Budget } from '../../src/domain/budget.ts';
import { AgentId, ModelId, RoleName, SessionId } from '../../src/domain/ids.ts';
import { DraftPlan } from '../../src/domain/plan/plan.ts';
import type { Capability, Role } from '../../src/domain/agents/role.ts';
import type { Run } from '../../src/engine/run/run.ts';
import { startRun } from '../../src/engine/run/run.ts';
import type { RunOptions } from '../../src/engine/run/open-run.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import type { RunState } from '../../src/events/state.ts';
import { routeModels } from '../../src/models/open.ts';
import type { ScriptedOptions, ScriptedReply } from './scripted.ts';
import { scriptedModel, scriptedProvider } from './scripted.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { builtIn } from '../../src/policy/rules.ts';
import type { Command } from '../../src/ports/controls.ts';
import type { Log } from '../../src/ports/log.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import type { FakeWorld } from './world.ts';
import { fakeWorld } from './world.ts';
import { memoryLog } from './log.ts';

const from = builtIn('the test');
const rule = <T>(value: T): { value: T; from: typeof from } => ({ value, from });

export const RULES: Rules = {
  policyHash: 'hash',
  enabled: rule(true),
  autoDetect: rule(true),
  promptForApproval: rule(true),
  promptForModels: rule(true),
  maxNestingDepth: rule(2),
  maxParallelAgents: rule(4),
  onFailure: rule('ask'),
  allowedModels: [],
  deniedModels: [],
  modelFallback: rule('list'),
  allowedSubAgents: [],
  disabledRoles: [],
  runBudget: rule({}),
  agentBudget: rule({}),
  roleBudgets: [],
  costLimitSet: false,
  maxTasksPerPlan: rule(50),
  maxAgentsPerRun: rule(100),
  mode: 'confirm',
  maxMode: rule('yolo'),
};

const role = (name: string, capabilities: readonly Capability[], planned = true): Role => ({
  name: RoleName.parse(name),
  description: `${name} of the test`,
  prompt: `You are ${name}.`,
  tools: ['file_operations'],
  capabilities,
  models: ['fast', 'slow'],
  iterations: 20,
  planned,
  source: 'built-in',
});

export const ROLES: readonly Role[] = [
  role('main', ['read', 'write', 'shell', 'spawn'], false),
  role('finder', ['read']),
  role('oracle', ['read', 'write', 'shell']),
  role('reviewer', ['read']),
  role('explore', ['read'], false),
];

export const FAST = ModelId.parse('scripted/fast');
export const SLOW = ModelId.parse('scripted/slow');
export const MODELS = [
  scriptedModel('scripted/fast', { aliases: ['fast'], price: { input: 1, output: 5 } }),
  scriptedModel('scripted/slow', { aliases: ['slow'], price: { input: 3, output: 15 } }),
];

/** Tools that do nothing but say so, and the agent's own ones; `acts` is what was really done, in order. */
export function testTools(acts: string[], wait?: Setting['wait']): ToolPort {
  const text = z.strictObject({ text: z.string() });
  const tool = (name: string, capability: Capability | null, repeat: 'safe' | 'never'): Tool<{ text: string }> => ({
    name,
    description: `the tool ${name}`,
    input: text,
    capability,
    repeat,
    label: (input) => `${name} ${input.text}`,
    run: async (input, { signal }) => {
      acts.push(`${name} ${input.text}`);
      await wait?.(signal);
      return { ok: true, text: `${name} did ${input.text}` };
    },
  });
  const bash: Tool<{ command: string; timeout?: number }> = {
    name: 'bash',
    description: 'the tool bash',
    input: z.strictObject({ command: z.string(), timeout: z.number().exactOptional() }),
    capability: 'shell',
    repeat: 'never',
    label: ({ command }) => command,
    run: ({ command }) => {
      acts.push(`bash ${command}`);
      return Promise.resolve({ ok: true, text: `bash did ${command}` });
    },
  };
  const todos: Tool<{ todos: { description: string; status: 'pending' | 'active' | 'completed' }[] }> = {
    name: 'update_todos',
    description: 'todos',
    input: z.strictObject({
      todos: z.array(z.strictObject({ description: z.string(), status: z.enum(['pending', 'active', 'completed']) })),
    }),
    capability: null,
    repeat: 'safe',
    label: () => 'todos',
    run: (input, { toolHost }) => Promise.resolve(toolHost.setTodos(input.todos)),
  };
  const send: Tool<{ to: string; content: string }> = {
    name: 'send_message',
    description: 'sends',
    input: z.strictObject({ to: z.string(), content: z.string() }),
    capability: null,
    repeat: 'never',
    label: ({ to }) => `message to ${to}`,
    run: (input, { toolHost }) => Promise.resolve(toolHost.sendMessage(input.to, input.content)),
  };
  const child: Tool<{ description: string; prompt: string; subagent_type: string }> = {
    name: 'Task',
    description: 'spawn a subagent for a focused subtask',
    input: z.strictObject({ description: z.string(), prompt: z.string(), subagent_type: z.string() }),
    capability: 'spawn',
    repeat: 'never',
    label: (input) => `Task(${input.subagent_type}): ${input.description}`,
    run: ({ description, prompt, subagent_type }, { toolHost }) =>
      toolHost.spawn({ description, prompt, role: subagent_type }),
  };
  const ask: Tool<{ question: string }> = {
    name: 'ask_user',
    description: 'asks',
    input: z.strictObject({ question: z.string() }),
    capability: null,
    repeat: 'never',
    label: ({ question }) => `asks: ${question}`,
    run: ({ question }, { toolHost }) => toolHost.askUser(question, []),
  };
  const tools: readonly Tool[] = [
    widened(tool('read', 'read', 'safe')),
    widened(tool('write', 'write', 'never')),
    widened(bash),
    widened(todos),
    widened(send),
    widened(child),
    widened(ask),
  ];
  return { tools, sandbox: { is: 'none', because: 'a test' } };
}

/** A tool for any input: what doesn't parse never reaches it. */
const widened = <T>(tool: Tool<T>): Tool => ({
  ...tool,
  label: (input) => tool.label(tool.input.parse(input)),
  run: (input, context) => tool.run(tool.input.parse(input), context),
});

const TOOLS_OF: Readonly<Partial<Record<Capability, string>>> = {
  read: 'read',
  write: 'write',
  shell: 'bash',
  spawn: 'Task',
};

/** What each agent says at work, one reply a call; agents and calls that are not named say that they are done. */
export const says =
  (replies: Readonly<Record<string, readonly (ScriptedReply | undefined)[]>>): Script =>
  ({ agent, purpose }, n) =>
    purpose.is === 'work' ? replies[agent]?.[n] : undefined;

/** A reply with calls of the small tools: `read a`, `write b`, `bash ls` … */
export const calling = (...calls: readonly string[]): ScriptedReply => ({
  text: '',
  calls: calls.map((one) => {
    const [tool = '', ...words] = one.split(' ');
    const text = words.join(' ');
    return { tool, input: tool === 'bash' ? { command: text } : { text } };
  }),
});

export type Script = (
  request: ModelRequest,
  n: number,
) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;

export interface Setting extends Partial<Omit<RunOptions, 'tools' | 'runBudget' | 'plan'>> {
  /** What agents say; planner and merge have an answer of their own when it says nothing. */
  readonly script?: Script;
  readonly plan?: unknown;
  readonly runBudget?: Budget;
  readonly acts?: string[];
  /** A plan as from a file: nobody is asked for one. */
  readonly file?: RunOptions['plan'];
  /** Told of every request to a model. */
  readonly record?: ((request: ModelRequest) => void) | undefined;
  /** What the provider counts, and what calls that are aborted cost. */
  readonly scripted?: Pick<ScriptedOptions, 'count' | 'aborted' | 'terms'>;
  /** The models there are: two with prices when left out. */
  readonly catalogue?: typeof MODELS;
  /** Tools instead of the small ones. */
  readonly port?: ToolPort;
  /** What `read` and `write` wait for before they answer. */
  readonly wait?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

export interface TestRun extends Run {
  readonly options: RunOptions;
  readonly log: Log;
  readonly world: FakeWorld | RunOptions['world'];
  events(): readonly MimirEvent[];
  state(): RunState;
  /** Submits and expects it to be done. */
  tell(command: Command): Promise<string>;
  /** Submits and expects a refusal. */
  refused(command: Command): Promise<string>;
  /** Resolves when the log satisfies `holds`. */
  until(holds: (state: RunState) => boolean): Promise<RunState>;
}

/** The first turn of a planned agent without needs, in a run of the usual task. */
export const briefOf = (part: string): string => briefText({ task: part, wholeTask: 'the task', findings: [] });

export const AGENT = (id: string): AgentId => AgentId.parse(id);

/** A plan of tasks `[id, needs…]` for finders, or oracles where the id begins with `o`. */
export const planOf = (...tasks: readonly (readonly [string, ...string[]])[]): unknown => ({
  reason: 'test',
  tasks: tasks.map(([id, ...dependencies]) => ({
    id,
    description: `do ${id}`,
    recommendedRole: id.startsWith('o') ? 'oracle' : 'finder',
    recommendedModel: 'fast',
    estimatedTokens: 1000,
    dependencies,
    // Each its own, so that they are not put in order for it; an only one may change all.
    writes: id.startsWith('o') ? [tasks.filter(([one]) => one.startsWith('o')).length > 1 ? `${id}/**` : '**'] : [],
  })),
});

const modelsOf = (others: Setting['models'], scripted: RunOptions['models']): RunOptions['models'] =>
  others ?? scripted;

const sessionOf = ({ session }: Setting): SessionId => session ?? SessionId.parse('test-session');

export function testRun(setting: Setting = {}): TestRun {
  const { script, plan, acts = [], wait, catalogue = MODELS, record, file, runBudget = {}, port, ...more } = setting;
  const { scripted = {}, models: others, ...rest } = more;
  const log = setting.log ?? memoryLog();
  const world = setting.world ?? fakeWorld();
  const session = sessionOf(setting);
  const replies = answers(plan, script, record);
  const scriptedOnes = routeModels([scriptedProvider({ ...scripted, replies, models: catalogue })]);
  const options: RunOptions = {
    session,
    task: 'the task',
    cwd: '/project',
    version: '0',
    provider: 'scripted',
    notes: [],
    mode: 'confirm',
    rules: RULES,
    roles: ROLES,
    prompts: { common: 'common', plan: 'plan', merge: 'merge', compact: 'compact', instructions: '' },
    toolsOf: (capabilities) => [
      ...capabilities.flatMap((one) => TOOLS_OF[one] ?? []),
      'update_todos',
      'send_message',
      'ask_user',
    ],
    repository: { facts: () => Promise.resolve(FACTS) },
    person: true,
    approval: 'flag',
    offlineOnly: false,
    model: null,
    roleModels: new Map(),
    ...rest,
    plan: file ?? null,
    log,
    world,
    models: modelsOf(others, scriptedOnes),
    tools: port ?? testTools(acts, wait),
    runBudget,
  };
  const run = startRun(options);
  const state = (): RunState => foldAll(log.read(session));
  const submit = async (command: Command): Promise<string> => {
    const done = await run.controls.submit(command);
    return done.ok ? done.value.text : `refused: ${done.fault.text}`;
  };
  return {
    ...run,
    options,
    log,
    world,
    state,
    events: () => log.read(session),
    tell: submit,
    refused: submit,
    async until(holds) {
      if (holds(state())) return state();
      for await (const _ of run.controls.events(0)) if (holds(state())) return state();
      throw new Error(`the run ended before: ${holds.toString()}`);
    },
  };
}

const answers =
  (plan: unknown, script: Script | undefined, record: Setting['record']): Script =>
  async (request, n) => {
    record?.(request);
    const own = await script?.(request, n);
    if (own !== undefined) return own;
    if (request.purpose.is === 'plan') return { text: JSON.stringify(plan ?? planOf(['a'])) };
    if (request.purpose.is === 'merge') return { text: 'merged' };
    return { text: `${request.agent} is done` };
  };

const FACTS = {
  name: 'project',
  isGit: true,
  files: 1,
  more: false,
  bytes: 1,
  languages: [],
  top: [],
  manifests: [],
  readme: '',
  tests: { count: 0, some: [] },
};

/** A plan as a person would have written it into a file. */
export const draftOf = (plan: unknown): DraftPlan => DraftPlan.parse(plan);

/** A run of this plan from a file: its only task keeps its role, where a planner's goes to main. */
export const filed = (plan: unknown): Pick<Setting, 'file'> => ({ file: { draft: draftOf(plan), from: 'plan.yml' } });
