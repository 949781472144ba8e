/** Builds the work order and the `agent.created` event of a planned or spawned agent. */
import { defined } from '../../domain/result.ts';
import type { Finding, WorkOrder } from '../../domain/agents/agent.ts';
import { environmentText, FINDING_LIMIT, partOf } from '../../domain/agents/brief.ts';
import type { Capability, Prompts, Role } from '../../domain/agents/role.ts';
import { FOREIGN_TOOLS } from '../../domain/agents/tool-facts.ts';
import { type AgentId, depthOf, isForeign, type ModelId, ROOT } from '../../domain/ids.ts';
import { cappedEffort, type Effort, withEffort } from '../../domain/models/provider.ts';
import type { PlanTask } from '../../domain/plan/plan.ts';
import { bytesIn, fairShare, headOf, withinBytes } from '../../domain/text/text.ts';
import { type AgentState, type EventBody, type RunState, workspaceOf } from '../../events/index.ts';
import { childRules } from '../../policy/index.ts';
import { type AgentSetup, fallbacksFor, orAborted, type RunContext } from '../gate/index.ts';

/** Findings that a task hands to its dependants: the size of each and of all together. */
const FOR_DEPENDANTS: FindingLimits = { one: FINDING_LIMIT, all: 240_000 };

export interface FindingLimits {
  readonly one: number;
  /** Bytes of all findings together, in UTF-8. */
  readonly all: number;
}

type Created = Extract<EventBody, { readonly type: 'agent.created' }>;
type FromSetup = 'type' | 'role' | 'tools' | 'iterations' | 'effort' | 'spawned' | 'forced';

export interface NewAgent extends Omit<Created, FromSetup> {
  readonly role: Role;
  readonly capabilities: readonly Capability[];
  /** For a planned agent, as approved with its task; other agents have their role's effort. */
  readonly effort?: Effort;
}

export const createdEvent = (options: AgentSetup, spec: NewAgent): Created => ({
  type: 'agent.created',
  agent: spec.agent,
  parent: spec.parent,
  role: spec.role.name,
  name: spec.name,
  task: spec.task,
  taskId: spec.taskId,
  tools: toolsOf(options, spec),
  budget: spec.budget,
  dependsOn: spec.dependsOn,
  model: spec.model,
  iterations: spec.role.iterations,
  ...writesIn(spec),
  ...effortOf(options, spec),
  ...defined({ call: spec.call, protocol: spec.protocol, tree: spec.tree }),
});

/** The work order; `findings` are the results of its dependencies. */
export const workOrderFor = (options: AgentSetup, spec: NewAgent, findings: readonly Finding[]): WorkOrder => ({
  agent: spec.agent,
  parent: spec.parent,
  taskId: spec.taskId,
  role: spec.role.name,
  task: spec.task,
  ...(spec.taskId === null ? {} : { wholeTask: options.task }),
  system: withInstructions(systemPrompt(options, spec), options.prompts),
  compact: options.prompts.compact,
  model: spec.model,
  fallbacks: fallbacksFor(options, spec.role, spec.model.used),
  capabilities: spec.capabilities,
  tools: toolsOf(options, spec),
  budget: spec.budget,
  iterations: spec.role.iterations,
  ...writesIn(spec),
  findings,
  turns: [],
  ...effortOf(options, spec),
  ...protocolOf(spec),
});

/** Tools of the agent's capabilities. Planned agents and ROOT can also read findings of the run. Agents of other programs have tools of their own. */
function toolsOf(options: AgentSetup, { capabilities, taskId, agent, model }: NewAgent): readonly string[] {
  if (isForeign(model.used)) return FOREIGN_TOOLS;
  const reads = taskId !== null || agent === ROOT;
  const has = options.tools.tools.some(({ name }) => name === READ_FINDING);
  return [...options.toolsOf(capabilities), ...(reads && has ? [READ_FINDING] : [])];
}
const READ_FINDING = 'read_finding';

/** The common prompt, the role's, and the one about child agents only where the agent can spawn them by its shell,
 * because each word is paid at every turn. */
function systemPrompt({ prompts, rules, agentSockets }: AgentSetup, { agent, capabilities, role }: NewAgent): string {
  const texts = [prompts.common, role.prompt];
  const canSpawn =
    agentSockets !== undefined &&
    capabilities.includes('spawn') &&
    capabilities.includes('shell') &&
    depthOf(agent) < rules.maxNestingDepth.value &&
    childRules(rules).mode.value !== 'manual';
  if (canSpawn && prompts.children !== undefined) texts.push(prompts.children);
  return texts.join('\n\n');
}

const effortOf = ({ rules }: AgentSetup, { taskId, role, effort }: NewAgent): Pick<WorkOrder, 'effort'> =>
  withEffort(cappedEffort(taskId === null ? role.effort : effort, rules.maxEffort?.value));

/** The role's protocol. The present model's is checked with each request. */
const protocolOf = ({ protocol, role }: NewAgent): Pick<WorkOrder, 'protocol'> =>
  (protocol ?? role.protocol) === undefined ? {} : { protocol: 'text' };

/** The spec of an agent in the log, with its capabilities under the present rules. */
export const recreatedAgent = (one: AgentState, role: Role, capabilities: readonly Capability[]): NewAgent => ({
  agent: one.id,
  parent: one.parent,
  role,
  name: one.name,
  task: one.task,
  taskId: one.taskId,
  model: one.model,
  capabilities,
  budget: one.budget,
  ...writesIn(one),
  dependsOn: one.dependsOn,
  ...withEffort(one.effort),
  ...defined({ protocol: one.protocol, tree: one.tree }),
});

export const writesIn = ({ writes }: Pick<NewAgent, 'writes'>): Pick<NewAgent, 'writes'> =>
  writes === undefined ? {} : { writes };

/** The role's capabilities, without those whose tools the plan removed, without writing where no file may be changed,
 * and with spawning only where the plan allows it. */
export function capabilitiesOf(
  task: PlanTask,
  role: Role,
  writes: readonly string[] = task.writes,
): readonly Capability[] {
  const isReadOnly = writes.length === 0 && role.capabilities.includes('write');
  const changes: readonly Capability[] = isReadOnly ? ['write', 'git-write'] : [];
  const roleTools = role.tools.includes('*') ? Object.keys(CAPABILITIES_OF) : role.tools;
  const removedTools = task.tools.includes('*') ? [] : roleTools.filter((tool) => !task.tools.includes(tool));
  const removed = removedTools.flatMap((tool) => CAPABILITIES_OF[tool] ?? []);
  const remaining = role.capabilities.filter((one) => one !== 'spawn' && ![...removed, ...changes].includes(one));
  return task.maySpawn ? [...remaining, 'spawn'] : remaining;
}

const CAPABILITIES_OF: Readonly<Record<string, readonly Capability[]>> = {
  file_operations: ['read', 'write'],
  bash_execution: ['shell'],
  git: ['git-read', 'git-write'],
};

/** The project's own instructions come last. */
export const withInstructions = (prompt: string, { instructions }: Prompts): string =>
  instructions === '' ? prompt : `${prompt}\n\n${instructions}`;

/** The findings of the agents `needs` for their dependants, each cut to its share. */
export function findingsOf(state: RunState, needs: readonly AgentId[], limits = FOR_DEPENDANTS): readonly Finding[] {
  const ended = needs.flatMap((id) => {
    const one = state.agents.get(id);
    return one && one.outcome !== null ? [{ one, outcome: one.outcome }] : [];
  });
  const shown = ended.map(({ one }) => partOf(one.summary, 0, limits.one));
  const share = fairShare(shown.map(bytesIn), limits.all);
  return ended.map(({ one, outcome }, index) => {
    const summary = withinBytes(shown[index] ?? '', Math.max(share, 200));
    return {
      agent: one.id,
      task: one.taskId,
      role: one.role,
      description: headOf(one.task, 600),
      outcome,
      ...(outcome === 'partial' && one.error !== null ? { because: one.error } : {}),
      summary,
      ...(summary.length < one.summary.length ? { cut: { from: 0, to: summary.length, all: one.summary.length } } : {}),
    };
  });
}

/** The finding limits for `model`: half of its context window, at most `one` and `all`. */
export function findingLimits(
  options: AgentSetup,
  model: ModelId,
  { one, all }: FindingLimits = FOR_DEPENDANTS,
): FindingLimits {
  const window = options.models.models().find(({ id }) => id === model)?.window ?? Infinity;
  // Three bytes per token and half of the window; the rest is for the task, the instructions and the answer.
  const most = Math.min(all, Math.floor(window * 1.5));
  return { one: Math.min(one, most), all: most };
}

// The environment block of a system prompt is recorded once, so that the prompt stays equal. Reviewers get none,
// because file names are chosen by the agents they judge.

/** Appends the environment block to the system prompt; at the end, so that the text before it stays cacheable across agents. */
export async function withEnvironment(
  { options, recorder, world }: Pick<RunContext, 'recorder' | 'world'> & { readonly options: AgentSetup },
  order: WorkOrder,
  signal: AbortSignal,
): Promise<WorkOrder> {
  const { repository } = options;
  const agent = recorder.state().agents.get(order.agent);
  if (agent === undefined || agent.forced !== null) return order;
  if (agent.environment === undefined && repository.environment !== undefined && !signal.aborted) {
    const facts = await orAborted(repository.environment(signal), signal, null);
    if (facts === null) return order;
    const place = folderOf(options, recorder.state(), order.agent);
    const text = environmentText(facts, { ...place, now: world.now(), sandbox: options.tools.sandbox });
    recorder.record({ type: 'agent.environment', agent: order.agent, text });
  }
  // Read back from the log, where secrets have been removed.
  const text = recorder.state().agents.get(order.agent)?.environment;
  return text === undefined ? order : { ...order, system: `${order.system}\n\n${text}` };
}

/** Where the agent works: the project, or a tree of its own. */
function folderOf(
  { cwd, workspaces }: AgentSetup,
  state: RunState,
  agent: AgentId,
): Pick<Parameters<typeof environmentText>[1], 'folder' | 'ownTree'> {
  const own = workspaceOf(state, agent);
  return own === undefined || workspaces === undefined
    ? { folder: cwd }
    : { folder: workspaces.folder(own), ownTree: true };
}
