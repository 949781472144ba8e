/**
 * Who has which task of the plan in force, `ROOT::S1`, `ROOT::S2` …: an agent's id stays with its task for ever, its name as long as
 * its role does. And what brings the agents of a run in line with a plan that was amended. Whether it may be is amend.ts's.
 */
import type { Budget } from '../../domain/budget.ts';
import { tightest } from '../../domain/budget.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { withEffort } from '../../domain/models/effort.ts';
import type { TaskId } from '../../domain/ids.ts';
import { childOf, ROOT } from '../../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { WHOLE_PROJECT } from '../../domain/plan/writes.ts';
import type { EventBody } from '../../events/event.ts';
import { isFinal, isTakenOut, TAKEN_OUT } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { roleNamed } from '../../policy/roles.ts';
import { budgetOf } from './model-selection.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import { capabilitiesOf, createdEvent, writesIn } from '../agents/agent-spec.ts';
import type { RunParts } from '../run/parts.ts';
import type { RunOptions } from '../run/run-options.ts';

/** One agent for each task, in plan order. Tasks without one yet get the next free numbers below ROOT. */
export function plannedAgents(options: RunOptions, plan: SoundPlan, state: RunState): readonly NewAgent[] {
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
    };
  });
}

/** Of an agent that was made when plans did not say what may be changed, nothing is said of it now. */
const saidOf = (agent: AgentState | undefined, task: PlanTask): { readonly writes?: readonly string[] } =>
  agent !== undefined && agent.writes === undefined ? {} : { writes: task.writes };

/** The agents of planned tasks, those that were taken out among them. */
export const agentsByTask = (state: RunState): ReadonlyMap<TaskId, AgentState> =>
  new Map([...state.agents.values()].flatMap((one) => (one.taskId === null ? [] : [[one.taskId, one]])));

/** Can the plan still say otherwise of it? Not of one that was begun, or left out. */
export const hasNotBegun = (one: AgentState): boolean =>
  one.firstRunAt === null && (one.outcome === null ? one.status === 'pending' : isTakenOut(one));

/** `finder`, or `finder 1`, `finder 2` where there are several. Who has one of its role keeps it, and none is given twice. */
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

/** The plan that the agents are in line with, and the one they are to be. */
interface Plans {
  readonly before: SoundPlan;
  readonly now: SoundPlan;
}

/**
 * What makes the agents of `state` those of the plan of now: new ones, changes of those that have not begun, ends of those
 * whose task is gone. Limits that the plan says nothing new of stay as they are: a person may have set them since.
 */
export function inLine(
  { options, crew }: Pick<RunParts, 'options' | 'crew'>,
  state: RunState,
  agents: readonly NewAgent[],
  plans: Plans,
): readonly EventBody[] {
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
  return [...come, ...changed, ...gone.map(({ id }) => crew.finished(id, 'skipped', '', TAKEN_OUT))];
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
});

const factsOf = ({ id, maxIterations, ...one }: AgentState): Omit<Changed, 'type'> => ({
  ...one,
  agent: id,
  iterations: maxIterations,
});
