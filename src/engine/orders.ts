/** From a task, planned or spawned, to the order an agent is sent out with. */
import type { Finding, ModelChoice, WorkOrder } from '../domain/agent.ts';
import type { Budget } from '../domain/budget.ts';
import { tightest } from '../domain/budget.ts';
import type { AgentId, ModelId, RoleName, TaskId } from '../domain/ids.ts';
import { childOf, ROOT } from '../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../domain/plan.ts';
import type { Prompts } from '../domain/prompts.ts';
import type { Capability, Role } from '../domain/role.ts';
import { bytesIn, fairShare, headOf } from '../domain/text.ts';
import type { EventBody } from '../events/event.ts';
import type { RunState } from '../events/state.ts';
import { roleNamed } from '../policy/roles.ts';
import { budgetOf, fallbacksFor } from './choices.ts';
import type { RunOptions } from './run-options.ts';

/** Longest summary that one task hands to another, in bytes, and all that one gets: contexts stay apart, which is the point. */
const FOR_DEPENDANTS: FindingLimits = { one: 6000, all: 60_000 };

/** Both in bytes of UTF-8. */
export interface FindingLimits {
  readonly one: number;
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
  readonly dependsOn: readonly AgentId[];
}

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
  tools: options.toolsOf(one.capabilities),
  budget: one.budget,
  dependsOn: one.dependsOn,
  model: one.model,
  iterations: one.role.iterations,
});

/** The order itself; `findings` are of the tasks that it needs. */
export const orderOf = (options: RunOptions, one: NewAgent, findings: readonly Finding[]): WorkOrder => ({
  agent: one.agent,
  parent: one.parent,
  taskId: one.taskId,
  role: one.role.name,
  task: one.task,
  system: withInstructions(`${options.prompts.common}\n\n${one.role.prompt}`, options.prompts),
  compact: options.prompts.compact,
  model: one.model,
  fallbacks: fallbacksFor(options, one.role, one.model.used),
  capabilities: one.capabilities,
  tools: options.toolsOf(one.capabilities),
  budget: one.budget,
  iterations: one.role.iterations,
  findings,
  turns: [],
});

/** The agents of an approved plan, in its order: `ROOT::S1`, `ROOT::S2` … */
export function plannedAgents(options: RunOptions, plan: SoundPlan): readonly NewAgent[] {
  const ids = new Map(plan.tasks.map((task, index) => [task.id, childOf(ROOT, index + 1)]));
  const names = namesOf(plan.tasks.map(({ role }) => role));
  return plan.tasks.map((task, index) => {
    const role = roleNamed(task.role, options.roles);
    if (role === null) throw new Error(`the approved plan names an unknown role ${task.role}`);
    return {
      agent: childOf(ROOT, index + 1),
      parent: ROOT,
      role,
      name: names[index] ?? task.role,
      task: task.description,
      taskId: task.id,
      model: task.model,
      capabilities: capabilitiesOf(task, role),
      budget: tightest(task.budget, budgetOf(options, role.name)),
      dependsOn: task.dependsOn.flatMap((need) => ids.get(need) ?? []),
    };
  });
}

/** Capabilities of the role, less those whose tool the plan took away; spawning only where the plan says so (D1). */
export function capabilitiesOf(task: PlanTask, role: Role): readonly Capability[] {
  const without = role.tools.filter((tool) => !task.tools.includes(tool)).flatMap((tool) => STANDS_FOR[tool] ?? []);
  const left = role.capabilities.filter((one) => one !== 'spawn' && !without.includes(one));
  return task.maySpawn ? [...left, 'spawn'] : left;
}

const STANDS_FOR: Readonly<Record<string, readonly Capability[]>> = {
  file_operations: ['read', 'write'],
  bash_execution: ['shell'],
  git: ['git-read', 'git-write'],
};

/** `finder`, or `finder 1`, `finder 2` where there are several. */
function namesOf(roles: readonly RoleName[]): readonly string[] {
  const seen = new Map<string, number>();
  return roles.map((role) => {
    const number = (seen.get(role) ?? 0) + 1;
    seen.set(role, number);
    return roles.filter((one) => one === role).length === 1 ? role : `${role} ${number}`;
  });
}

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
  const share = fairShare(
    ended.map(({ one }) => Math.min(most, bytesIn(one.summary))),
    all,
  );
  return ended.map(({ one, outcome }) => ({
    agent: one.id,
    task: one.taskId,
    role: one.role,
    description: headOf(one.task, 600),
    outcome,
    summary: headOf(one.summary, Math.max(share, 200)),
  }));
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
