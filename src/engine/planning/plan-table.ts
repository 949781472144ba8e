/** The agents of an approved plan as the scheduler sees them: what each needs, what it comes after, which may not run side by side. */
import type { AgentId } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { mustBeApart } from '../../domain/plan/writes.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import type { RunParts } from '../run/parts.ts';
import { inLine, plannedAgents } from './plan-agents.ts';
import type { Job } from '../agents/scheduler.ts';

/** The agents of the plan in force, which may be amended at any time until the report is begun. */
export interface Table {
  agents(): readonly NewAgent[];
  agent(id: AgentId): NewAgent | undefined;
  jobs(): readonly Job<AgentId>[];
  /** May both change the same files? */
  areApart(id: AgentId, other: AgentId): boolean;
  /** Does another wait for it? */
  isNeeded(id: AgentId): boolean;
}

/** What the schedule of an approved plan is made from; it follows the plan when that is amended. */
export function openTable(parts: RunParts): Table {
  const { options, recorder, scheduling } = parts;
  const planInForce = (): SoundPlan => {
    const { plan } = recorder.state();
    if (plan === null) throw new Error('agents without a plan');
    return plan;
  };
  const now = planInForce();
  let agents = plannedAgents(options, now, recorder.state());
  let byId = new Map(agents.map((one) => [one.agent, one]));
  const events = inLine(parts, recorder.state(), agents, { before: now, now });
  if (events.length > 0) recorder.record(...events);
  const jobs = (): readonly Job<AgentId>[] => jobsOf(agents, planInForce());
  scheduling.amend = () => {
    agents = plannedAgents(options, planInForce(), recorder.state());
    byId = new Map(agents.map((one) => [one.agent, one]));
    scheduling.now?.change(jobs());
  };
  return {
    agents: () => agents,
    agent: (id) => byId.get(id),
    jobs,
    areApart(id, other) {
      const { tasks } = planInForce();
      const [one, two] = [id, other].map((agent) => tasks.find((task) => task.id === byId.get(agent)?.taskId));
      return one !== undefined && two !== undefined && mustBeApart(one, two);
    },
    isNeeded: (id) => agents.some(({ dependsOn }) => dependsOn.includes(id)),
  };
}

/** What each needs, and what it only comes after. */
function jobsOf(agents: readonly NewAgent[], { tasks }: SoundPlan): readonly Job<AgentId>[] {
  const ids = new Map(agents.map(({ taskId, agent }) => [taskId, agent]));
  const orders = new Map(tasks.map(({ id, after = [] }) => [id, after.flatMap(({ task }) => ids.get(task) ?? [])]));
  return agents.map(({ agent, taskId, dependsOn }) => ({
    id: agent,
    needs: dependsOn,
    after: taskId === null ? [] : (orders.get(taskId) ?? []),
  }));
}
