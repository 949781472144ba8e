/**
 * How an agent goes on that is in the log already: as what it was made, under the rules of now, with its
 * whole conversation. Which message lets it go on is letters.ts's.
 */
import type { AgentOutcome, WorkOrder } from '../../domain/agents/agent.ts';
import { withEffort } from '../../domain/models/effort.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { AgentState } from '../../events/state.ts';
import { childRules } from '../../policy/children.ts';
import { plannedRoleProblem, roleNamed, roleProblem } from '../../policy/roles.ts';
import { openBelow } from './child-end.ts';
import { capabilitiesIn, workingDirOf } from './spawn.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import { findingLimits, findingsOf, orderOf, writesIn } from '../agents/agent-spec.ts';
import { spentLimit } from '../gate/budget/limits.ts';
import type { RunParts } from '../run/parts.ts';

export type AgainParts = Pick<RunParts, 'options' | 'recorder' | 'root'>;

const CLOSED: Readonly<Partial<Record<AgentOutcome, string>>> = {
  killed: 'was killed',
  abandoned: 'was abandoned',
  skipped: 'was left out',
};

/** Why no message lets it go on; null: one does, or it has not ended. */
export function whyClosed(parts: AgainParts, agent: AgentId): string | null {
  const one = parts.recorder.state().agents.get(agent);
  if (one === undefined || one.outcome === null || agent === ROOT) return null;
  return whyOver(parts, one) ?? spentLimit(parts.recorder.state(), agent, parts.options.world.now());
}

/** The same, its budget left aside: null for an agent that goes on when it is given more. */
export function whyOver(parts: AgainParts, one: AgentState): string | null {
  const { options } = parts;
  if (one.outcome === null) return null;
  const outcome = CLOSED[one.outcome];
  if (outcome !== undefined) return `${one.name} ${outcome} and reads no messages any more`;
  if (one.forced !== null || one.call !== null) return `${one.name} has finished and reads no messages any more`;
  if (one.spawned !== null && childRules(options.rules).killOnComplete)
    return `${one.name} was closed with its turn (childAgents.cleanup.autoKillOnComplete): spawn another`;
  const again = agentAgain(parts, one);
  return again.ok ? whyCrowded(parts, one) : `${one.name} can't go on: ${again.fault}`;
}

/** Who is let go on works beside its siblings, as a new child would. */
function whyCrowded({ options, recorder }: AgainParts, { name, parent, spawned }: AgentState): string | null {
  if (spawned === null || parent === null) return null;
  const { maxPerParent } = childRules(options.rules);
  const siblings = openBelow(recorder.state(), parent).length;
  if (siblings < maxPerParent.value) return null;
  const rule = `${maxPerParent.from.rule}: ${siblings} children of its parent are not done`;
  return `${name} can't go on now: ${reasonText({ ...maxPerParent.from, rule })}`;
}

/** As what it goes on, or the rule that speaks against it by now. */
export function agentAgain({ options, recorder, root }: AgainParts, one: AgentState): Result<NewAgent, string> {
  const problemOf = one.taskId === null ? roleProblem : plannedRoleProblem;
  const problem = problemOf(one.role, options.rules, options.roles);
  if (problem !== null) return fail(`${problem.text}: ${reasonText(problem.reason)}`);
  const role = roleNamed(one.role, options.roles);
  if (role === null) return fail(`there is no role ${one.role} any more`);
  return ok({
    agent: one.id,
    parent: one.parent,
    role,
    name: one.name,
    task: one.task,
    taskId: one.taskId,
    model: one.model,
    capabilities: capabilitiesIn(options, root, recorder.state(), one),
    budget: one.budget,
    ...writesIn(one),
    dependsOn: one.dependsOn,
    ...withEffort(one.effort),
  });
}

/** The order to go on with. Turns that it had for earlier work are not counted against what it is told now. */
export function orderAgain(
  { options, recorder, conversations }: AgainParts & Pick<RunParts, 'conversations'>,
  one: NewAgent,
): WorkOrder {
  const state = recorder.state();
  const findings = findingsOf(state, one.dependsOn, findingLimits(options, one.model.used));
  const order = orderOf(options, one, findings);
  const dir = workingDirOf(state, one.agent);
  return {
    ...order,
    ...conversations.of(one.agent),
    iterations: order.iterations + conversations.repliesBefore(one.agent),
    ...(dir === '' ? {} : { workingDir: dir }),
  };
}
