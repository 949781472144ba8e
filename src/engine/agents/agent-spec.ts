/** From a task, planned or spawned, to the order an agent is sent out with. */
import type { Finding, ModelChoice, WorkOrder } from '../../domain/agents/agent.ts';
import { FINDING_LIMIT, partOf } from '../../domain/agents/brief.ts';
import type { Budget } from '../../domain/budget.ts';
import type { Effort } from '../../domain/models/effort.ts';
import { cappedEffort, withEffort } from '../../domain/models/effort.ts';
import type { AgentId, CallId, ModelId, TaskId } from '../../domain/ids.ts';
import { depthOf, ROOT } from '../../domain/ids.ts';
import type { PlanTask } from '../../domain/plan/plan.ts';
import type { Prompts } from '../../domain/prompts.ts';
import type { Capability, Role } from '../../domain/agents/role.ts';
import { bytesIn, fairShare, headOf, withinBytes } from '../../domain/text/text.ts';
import type { EventBody } from '../../events/event.ts';
import type { RunState } from '../../events/state.ts';
import { childRules } from '../../policy/children.ts';
import { namesOf } from '../../policy/rules.ts';
import { choicesOf, fallbacksFor } from '../planning/model-selection.ts';
import type { RunOptions } from '../run/run-options.ts';

/** What one task hands to another, and all that one gets. */
const FOR_DEPENDANTS: FindingLimits = { one: FINDING_LIMIT, all: 240_000 };

export interface FindingLimits {
  /** Characters of one finding. */
  readonly one: number;
  /** Bytes of UTF-8 of all findings together. */
  readonly all: number;
}

export interface NewAgent {
  readonly agent: AgentId;
  readonly parent: AgentId | null;
  readonly role: Role;
  readonly name: string;
  readonly task: string;
  readonly taskId: TaskId | null;
  readonly model: ModelChoice;
  readonly capabilities: readonly Capability[];
  readonly budget: Budget;
  /** Globs of the files that it may change; absent: its role alone decides. */
  readonly writes?: readonly string[];
  readonly dependsOn: readonly AgentId[];
  /** Of one that another agent called for: the call of its tool. */
  readonly call?: CallId;
  /** Of a planned agent: as its task was approved. Of others it is the role's. */
  readonly effort?: Effort;
  /** Of a child of one that works by words; otherwise its role says it. */
  readonly protocol?: 'text';
}

type Started = Extract<EventBody, { readonly type: 'session.started' }>;

/** The first event of a session. `kind`: what else it is than a run with a plan. */
export const startedEvent = (options: RunOptions, kind: Pick<Started, 'idle' | 'draft'>): Started => ({
  type: 'session.started',
  task: options.task,
  cwd: options.cwd,
  mode: options.mode,
  ...namesOf(options.rules),
  version: options.version,
  budget: options.runBudget,
  maxParallel: options.rules.maxParallelAgents.value,
  sandbox: sandboxText(options),
  provider: options.provider,
  notes: options.notes,
  ...kind,
  // Where no plan is proposed nothing else would say what children may be made of.
  ...(kind.idle === true ? { choices: choicesOf(options) } : {}),
});

const sandboxText = ({ tools }: RunOptions): string =>
  tools.sandbox.is === 'none' ? `none: ${tools.sandbox.because}` : tools.sandbox.is;

/** The event that creates the agent. */
export const createdEvent = (
  options: RunOptions,
  one: NewAgent,
): Extract<EventBody, { readonly type: 'agent.created' }> => ({
  type: 'agent.created',
  agent: one.agent,
  parent: one.parent,
  role: one.role.name,
  name: one.name,
  task: one.task,
  taskId: one.taskId,
  tools: toolsOf(options, one),
  budget: one.budget,
  dependsOn: one.dependsOn,
  model: one.model,
  iterations: one.role.iterations,
  ...writesIn(one),
  ...effortOf(options, one),
  ...(one.call === undefined ? {} : { call: one.call }),
  ...(one.protocol === undefined ? {} : { protocol: one.protocol }),
});

/** The order itself; `findings` are of the tasks that it needs. */
export const orderOf = (options: RunOptions, one: NewAgent, findings: readonly Finding[]): WorkOrder => ({
  agent: one.agent,
  parent: one.parent,
  taskId: one.taskId,
  role: one.role.name,
  task: one.task,
  ...(one.taskId === null ? {} : { wholeTask: options.task }),
  system: withInstructions(toldTo(options, one), options.prompts),
  compact: options.prompts.compact,
  model: one.model,
  fallbacks: fallbacksFor(options, one.role, one.model.used),
  capabilities: one.capabilities,
  tools: toolsOf(options, one),
  budget: one.budget,
  iterations: one.role.iterations,
  ...writesIn(one),
  findings,
  turns: [],
  ...effortOf(options, one),
  ...spokenBy(one),
});

/** Those of its capabilities. Planned agents and ROOT can read findings of the run; a child has its prompt alone. */
function toolsOf(options: RunOptions, { capabilities, taskId, agent }: NewAgent): readonly string[] {
  const reads = taskId !== null || agent === ROOT;
  const has = options.tools.tools.some(({ name }) => name === READ_FINDING);
  return [...options.toolsOf(capabilities), ...(reads && has ? [READ_FINDING] : [])];
}
const READ_FINDING = 'read_finding';

/** What all are told, what its role is told, and how it has children by its shell, only where it can: a word too many is paid at each turn. */
function toldTo({ prompts, rules, doors }: RunOptions, { agent, capabilities, role }: NewAgent): string {
  const texts = [prompts.common, role.prompt];
  const may =
    doors !== undefined &&
    capabilities.includes('spawn') &&
    capabilities.includes('shell') &&
    depthOf(agent) < rules.maxNestingDepth.value &&
    childRules(rules).mode.value !== 'manual';
  if (may && prompts.children !== undefined) texts.push(prompts.children);
  return texts.join('\n\n');
}

/** Within what the rules allow now. */
const effortOf = ({ rules }: RunOptions, { taskId, role, effort }: NewAgent): Pick<WorkOrder, 'effort'> =>
  withEffort(cappedEffort(taskId === null ? role.effort : effort, rules.maxEffort?.value));

/** What its role says; how its model of the moment speaks is looked at with each request. */
const spokenBy = ({ protocol, role }: NewAgent): Pick<WorkOrder, 'protocol'> =>
  (protocol ?? role.protocol) === undefined ? {} : { protocol: 'text' };

/** As they are given on: absent stays absent. */
export const writesIn = ({
  writes,
}: {
  readonly writes?: readonly string[];
}): { readonly writes?: readonly string[] } => (writes === undefined ? {} : { writes });

/**
 * Capabilities of the role, less those whose tool the plan took away, and less writing where it may change nothing (D41);
 * spawning only where the plan says so (D1).
 */
export function capabilitiesOf(
  task: PlanTask,
  role: Role,
  writes: readonly string[] = task.writes,
): readonly Capability[] {
  const isHeld = writes.length === 0 && role.capabilities.includes('write');
  const changes: readonly Capability[] = isHeld ? ['write', 'git-write'] : [];
  const all = role.tools.includes('*') ? Object.keys(STANDS_FOR) : role.tools;
  const taken = task.tools.includes('*') ? [] : all.filter((tool) => !task.tools.includes(tool));
  const without = taken.flatMap((tool) => STANDS_FOR[tool] ?? []);
  const left = role.capabilities.filter((one) => one !== 'spawn' && ![...without, ...changes].includes(one));
  return task.maySpawn ? [...left, 'spawn'] : left;
}

const STANDS_FOR: Readonly<Record<string, readonly Capability[]>> = {
  file_operations: ['read', 'write'],
  bash_execution: ['shell'],
  git: ['git-read', 'git-write'],
};

/** The project's own conventions come last: what stands before them goes before. */
export const withInstructions = (prompt: string, { instructions }: Prompts): string =>
  instructions === '' ? prompt : `${prompt}\n\n${instructions}`;

/** What the agents `needs` have found, each cut to its share, for those that depend on them. */
export function findingsOf(
  state: RunState,
  needs: readonly AgentId[],
  { one: most, all }: FindingLimits = FOR_DEPENDANTS,
): readonly Finding[] {
  const ended = needs.flatMap((id) => {
    const one = state.agents.get(id);
    return one && one.outcome !== null ? [{ one, outcome: one.outcome }] : [];
  });
  const shown = ended.map(({ one }) => partOf(one.summary, 0, most));
  const share = fairShare(shown.map(bytesIn), all);
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

/** Of the window of `model`, what findings may fill. Known to be small: less than usual. */
export function findingLimits(
  options: RunOptions,
  model: ModelId,
  { one, all }: FindingLimits = FOR_DEPENDANTS,
): FindingLimits {
  const window = options.models.models().find(({ id }) => id === model)?.window ?? Infinity;
  // Three bytes a token, half of the window: the rest is for the task, the instructions and the answer.
  const room = Math.min(all, Math.floor(window * 1.5));
  return { one: Math.min(one, room), all: room };
}
