/** Assigns agents to the tasks of the plan in force, and reconciles the agents of a run with an amended plan. An agent's id stays with its task. */
import { type Budget, tightest } from '../../domain/budget.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { withEffort } from '../../domain/models/provider.ts';
import { defined } from '../../domain/result.ts';
import { childOf, ROOT, type TaskId } from '../../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { WHOLE_PROJECT } from '../../domain/plan/writes.ts';
import { type AgentState, type EventBody, isFinal, isTakenOut, type RunState, TAKEN_OUT } from '../../events/index.ts';
import { roleNamed } from '../../policy/index.ts';
import type { AgentModules, NewAgent } from '../agents/index.ts';
import { capabilitiesOf, createdEvent, finishedEvent, writesIn } from '../agents/index.ts';
import { type AgentSetup, budgetOf } from '../gate/index.ts';

/** One agent for each task, in plan order. New tasks get the next free numbers below ROOT. */
export function plannedAgents(options: AgentSetup, plan: SoundPlan, state: RunState): readonly NewAgent[] {
  const known = agentsByTask(state);
  let taken = state.agents.get(ROOT)?.children.length ?? 0;
  const ids = new Map(plan.tasks.map(({ id }) => [id, known.get(id)?.id ?? childOf(ROOT, (taken += 1))]));
  const names = namesOf(plan.tasks, known, state);
  return plan.tasks.map((task) => {
    const role = roleNamed(task.role, options.roles);
    const agent = ids.get(task.id);
    const said = saidOf(known.get(task.id), task);
    if (role === null || agent === undefined) throw new Error(`the approved plan names an unknown role ${task.role}`);
    return {
      agent,
      parent: ROOT,
      role,
      name: names.get(task.id) ?? task.role,
      task: task.description,
      taskId: task.id,
      model: task.model,
      capabilities: capabilitiesOf(task, role, said.writes ?? WHOLE_PROJECT),
      ...said,
      budget: tightest(task.budget, budgetOf(options, role.name)),
      dependsOn: task.dependsOn.flatMap((need) => ids.get(need) ?? []),
      ...withEffort(task.effort),
      ...(task.tree === 'own' ? { tree: 'own' as const } : {}),
    };
  });
}

/** An agent created by a version without `writes` in plans keeps none. */
const saidOf = (agent: AgentState | undefined, task: PlanTask): { readonly writes?: readonly string[] } =>
  agent !== undefined && agent.writes === undefined ? {} : { writes: task.writes };

/** The agents of planned tasks, including removed ones. */
export const agentsByTask = (state: RunState): ReadonlyMap<TaskId, AgentState> =>
  new Map([...state.agents.values()].flatMap((one) => (one.taskId === null ? [] : [[one.taskId, one]])));

/** Whether the plan may still change the agent: it has neither begun nor been skipped. */
export const hasNotBegun = (one: AgentState): boolean =>
  one.firstRunAt === null && (one.outcome === null ? one.status === 'pending' : isTakenOut(one));

/** Names `finder`, or `finder 1`, `finder 2` if there are several. Existing names are kept, and none is given twice. */
function namesOf(
  tasks: readonly PlanTask[],
  known: ReadonlyMap<TaskId, AgentState>,
  { agents }: RunState,
): ReadonlyMap<TaskId, string> {
  const planned = new Map(tasks.map(({ id, role }) => [id, role]));
  const keepers = [...known].filter(([id, { role }]) => (planned.get(id) ?? role) === role);
  const names = new Map(keepers.map(([id, { name }]) => [id, name]));
  const children = [...agents.values()].flatMap(({ name, spawned }) => (spawned === null ? [] : [name]));
  const taken = new Set([...names.values(), ...children]);
  for (const { id, role } of tasks) {
    if (names.has(id)) continue;
    const before = keepers.filter(([, one]) => one.role === role).length;
    const isOnly = before === 0 && tasks.filter((task) => task.role === role).length === 1;
    const name = isOnly && !taken.has(role) ? role : freeName(role, before + 1, taken);
    names.set(id, name);
    taken.add(name);
  }
  return names;
}

function freeName(role: string, from: number, taken: ReadonlySet<string>): string {
  let number = from;
  while (taken.has(`${role} ${number}`)) number += 1;
  return `${role} ${number}`;
}

/** The events that reconcile the agents with the new plan: new agents, changes of those that have not begun, ends of those whose task is gone. Limits
 * that the plan does not change stay, because a person may have set them. `before` is the plan that the agents match now. */
export function reconcile(
  parts: Pick<AgentModules, 'options' | 'recorder' | 'world'>,
  state: RunState,
  agents: readonly NewAgent[],
  plans: Readonly<Record<'before' | 'now', SoundPlan>>,
): readonly EventBody[] {
  const { options } = parts;
  const planned = new Set(agents.map(({ agent }) => agent));
  const come = agents.filter(({ agent }) => !state.agents.has(agent)).map((one) => createdEvent(options, one));
  const changed = agents.flatMap((one): EventBody[] => {
    const now = state.agents.get(one.agent);
    if (now === undefined || !hasNotBegun(now)) return [];
    const back = isTakenOut(now);
    const keeps = !back && isSame(limitOf(plans.before, one), limitOf(plans.now, one));
    const next = changedEvent(createdEvent(options, keeps ? { ...one, budget: now.budget } : one));
    return !back && isSame(next, changedEvent(factsOf(now))) ? [] : [next];
  });
  const gone = [...state.agents.values()].filter(
    (one) => one.taskId !== null && !planned.has(one.id) && !isFinal(one) && hasNotBegun(one),
  );
  return [...come, ...changed, ...gone.map(({ id }) => finishedEvent(parts, id, 'skipped', '', TAKEN_OUT))];
}

const isSame = (a: unknown, b: unknown): boolean => jsonDigest(a) === jsonDigest(b);

const limitOf = ({ tasks }: SoundPlan, { taskId }: NewAgent): Budget =>
  tasks.find(({ id }) => id === taskId)?.budget ?? {};

type Changed = Extract<EventBody, { readonly type: 'agent.changed' }>;

const changedEvent = (one: Omit<Changed, 'type'>): Changed => ({
  type: 'agent.changed',
  agent: one.agent,
  role: one.role,
  name: one.name,
  task: one.task,
  tools: one.tools,
  budget: one.budget,
  dependsOn: one.dependsOn,
  model: one.model,
  iterations: one.iterations,
  ...writesIn(one),
  ...withEffort(one.effort),
  ...defined({ tree: one.tree }),
});

const factsOf = ({ id, maxIterations, ...one }: AgentState): Omit<Changed, 'type'> => ({
  ...one,
  agent: id,
  iterations: maxIterations,
});
