/**
 * How long a run will likely go on, from the estimates of its plan less what has been done: the same schedule as before the
 * approval, with what is left. Pure; computed once a second for a state.
 */
import { expectedPlan } from '../../../../app/views/spending/expected-plan.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import type { AgentOutcome } from '../../../../domain/agents/agent.ts';
import type { Millis, TaskId } from '../../../../domain/ids.ts';
import { scheduleOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';

export interface Remaining {
  /** Of the whole plan, in milliseconds; null where there is no plan or nothing is left that can run. */
  readonly left: Millis | null;
  /** Of each task that is not over and can run; none of an agent that takes longer than estimated. */
  readonly byTask: ReadonlyMap<TaskId, Millis>;
  /** Tasks that decide when everything ends. */
  readonly critical: ReadonlySet<TaskId>;
}

const NOTHING: Remaining = { left: null, byTask: new Map(), critical: new Set() };

export function remainingOf(state: RunState, now: Millis): Remaining {
  const { agents } = state;
  const plan = state.plan === null ? null : expectedPlan(state.plan, state.choices);
  if (plan === null || state.finished !== null) return NOTHING;
  const second = Math.floor(now / 1000);
  const known = KNOWN.get(agents);
  if (known?.second === second && known.plan === plan) return known.remaining;
  const remaining = computed(state, plan, now);
  KNOWN.set(agents, { second, plan, remaining });
  return remaining;
}

interface Known {
  readonly second: number;
  readonly plan: SoundPlan;
  readonly remaining: Remaining;
}
const KNOWN = new WeakMap<RunState['agents'], Known>();

function computed(state: RunState, plan: SoundPlan, now: Millis): Remaining {
  const agents = new Map<TaskId, AgentState>();
  for (const agent of state.agents.values()) if (agent.taskId !== null) agents.set(agent.taskId, agent);
  const open = canRun(plan, agents);
  const ids = new Set(open.map(({ id }) => id));
  const tasks = open.map(
    (task): PlanTask => ({
      ...task,
      dependsOn: task.dependsOn.filter((need) => ids.has(need)),
      after: (task.after ?? []).filter((one) => ids.has(one.task)),
      estimatedSeconds: secondsLeft(task, agents.get(task.id), state, now),
    }),
  );
  // Those at work have their places: they come before all that wait for one.
  const begun = tasks.filter(({ id }) => agents.get(id)?.runningSince != null);
  const ordered = [...begun, ...tasks.filter((task) => !begun.includes(task))];
  const slots = scheduleOf({ ...plan, tasks: ordered }, parallelOf(state));
  const end = slots.reduce((last, slot) => Math.max(last, slot.end), 0);
  return {
    left: open.length === 0 ? null : end * 1000,
    byTask: new Map(tasks.map(({ id, estimatedSeconds }) => [id, estimatedSeconds * 1000])),
    critical: new Set(slots.flatMap(({ id, critical }) => (critical ? [id] : []))),
  };
}

/** Tasks that are not over and need nothing that ended badly: the others take no time until somebody tries that again. */
function canRun({ tasks }: SoundPlan, agents: ReadonlyMap<TaskId, AgentState>): readonly PlanTask[] {
  const dead = new Set<TaskId>();
  return tasks.filter(({ id, dependsOn }) => {
    const { outcome = null, firstRunAt = null } = agents.get(id) ?? {};
    // Who works already isn't kept by what ended badly meanwhile.
    const stuck = outcome === null && firstRunAt === null && dependsOn.some((need) => dead.has(need));
    if (stuck || (outcome !== null && !WELL.has(outcome))) dead.add(id);
    return outcome === null && !stuck;
  });
}

/** Ends that others can go on from. */
const WELL: ReadonlySet<AgentOutcome> = new Set(['completed', 'partial']);

function secondsLeft(task: PlanTask, agent: AgentState | undefined, state: RunState, now: Millis): number {
  const done = agent === undefined ? 0 : agentTime(agent, state, now) / 1000;
  return Math.max(0, Math.round(task.estimatedSeconds - done));
}
