/**
 * Children that an agent calls for by its tool Task: fresh context, only the final text comes back. The
 * call waits for its child; one that a crash or another process has cut off goes on with the child that it has.
 */
import type { AgentOutcome, WorkOrder } from '../../domain/agents/agent.ts';
import { tightest } from '../../domain/budget.ts';
import { type AgentId, type CallId, childOf, depthOf } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Capability, Role } from '../../domain/agents/role.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { standingsOf } from '../../events/turns.ts';
import { spawnProblem } from '../../policy/decide.ts';
import { roleNamed, roleProblem } from '../../policy/roles.ts';
import { openBelow } from './child-end.ts';
import { budgetOf, modelFor } from '../planning/model-selection.ts';
import type { Crew } from '../agents/supervisor.ts';
import type { Desk, ToolOutput } from '../gate/gate.ts';
import { OF_CALLS, openCalls } from '../gate/tools/interrupted-call.ts';
import type { Loans } from '../agents/yield-slot.ts';
import { createdEvent, type NewAgent, orderOf, writesIn } from '../agents/agent-spec.ts';
import type { Recorder } from '../run/recorder.ts';
import type { RunOptions } from '../run/run-options.ts';

export interface TaskParts {
  readonly options: RunOptions;
  readonly recorder: Recorder;
  /** The call of the tool that asks. */
  readonly call: CallId;
  /** The crew is made after the gate, which needs the desk. */
  readonly crew: () => Crew;
  readonly loans: Loans;
}

/** Resolves with what the child has found, or why it found nothing; left open where the run was stopped meanwhile. */
export async function taskFor(
  parts: TaskParts,
  order: WorkOrder,
  wish: Parameters<Desk['spawn']>[0],
  signal: AbortSignal,
): Promise<ToolOutput> {
  const before = madeBefore(parts, order);
  if (before !== null && isFinal(before)) return answerOf(before, before.outcome);
  const child = before === null ? made(parts, order, wish) : again(parts, order, before);
  if (!child.ok) return refused(child.fault);
  const { agent } = child.value;
  const outcome = await parts.loans.during(order.agent, () => parts.crew().run(child.value, stopsChild(signal)));
  // The child is left for whoever goes on with the run, and so is the call.
  if (outcome === null) return { ...refused('the run was stopped'), open: true };
  // Also when the step was ended: an urgent message ends the child, not the parent. Who is stopped itself does not run any more.
  if (!parts.loans.waits(order.agent) && parts.crew().signal(order.agent)?.aborted !== true)
    parts.recorder.record({ type: 'agent.status', agent: order.agent, status: 'running', reason: '' });
  const ended = parts.recorder.state().agents.get(agent);
  return ended === undefined ? refused('The child is gone.') : answerOf(ended, outcome);
}

function answerOf({ id, error, summary }: AgentState, outcome: AgentOutcome | null): ToolOutput {
  if (outcome === 'completed') return { ok: true, text: summary };
  if (outcome === 'partial' && summary !== '')
    return { ok: true, text: `(The child ${id} ended before its work was whole: ${error ?? ''})\n\n${summary}` };
  const last = summary === '' ? '' : `\nIts last words:\n${summary}`;
  return refused(`The child ${id} did not complete (${error ?? outcome ?? 'it was stopped'}).${last}`);
}

/** The child that this very call has made before the run was resumed. */
function madeBefore({ recorder, call }: TaskParts, { agent }: WorkOrder): AgentState | null {
  const { agents } = recorder.state();
  const children = agents.get(agent)?.children ?? [];
  // The log is read only where there may be one: ids of calls come again.
  if (!children.some((child) => agents.get(child)?.call === call)) return null;
  const found = openCalls(recorder.each({ types: OF_CALLS })).find((one) => one.agent === agent && one.call === call);
  return found?.child ? (agents.get(found.child) ?? null) : null;
}

/** A new one, in the log. The limits are looked at again: several calls of one reply were let in before one of them had a child. */
function made(
  { options, recorder, call }: TaskParts,
  order: WorkOrder,
  wish: Parameters<Desk['spawn']>[0],
): Result<WorkOrder, string> {
  const state = recorder.state();
  const depth = depthOf(order.agent) + 1;
  const siblings = openBelow(state, order.agent).length;
  const problem = spawnProblem({ depth, agents: state.agents.size - 1, siblings }, options.rules);
  if (problem !== null) return fail(`Denied: ${reasonText(problem)}`);
  const role = allowedRole(options, wish.role);
  if (!role.ok) return role;
  const model = modelFor(options, role.value, null);
  if (!model.ok) return model;
  const one: NewAgent = {
    agent: nextChild(recorder, order.agent),
    parent: order.agent,
    role: role.value,
    name: wish.description,
    task: wish.prompt,
    taskId: null,
    model: model.value.choice,
    capabilities: inherited(options, role.value, order, wish),
    budget: tightest(role.value.budget ?? {}, budgetOf(options, role.value.name)),
    ...writesIn(order),
    dependsOn: [],
    call,
    ...(wish.protocol === undefined ? {} : { protocol: wish.protocol }),
  };
  recorder.record(createdEvent(options, one), {
    type: 'agent.status',
    agent: order.agent,
    ...WAITS_FOR_CHILD,
  });
  return ok({ ...orderOf(options, one, []), ...placeOf(order) });
}

const WAITS_FOR_CHILD = { status: 'waiting', reason: '', waitingFor: { is: 'child' } } as const;

/** The order of one that was made before, under the rules of now: what is forbidden by now ends it. */
function again(
  { options, recorder, crew }: TaskParts,
  order: WorkOrder,
  before: AgentState,
): Result<WorkOrder, string> {
  const role = allowedRole(options, before.role);
  if (!role.ok) {
    recorder.record(crew().finished(before.id, 'failed', before.summary, role.fault));
    return role;
  }
  recorder.record({ type: 'agent.status', agent: order.agent, ...WAITS_FOR_CHILD });
  const one: NewAgent = {
    agent: before.id,
    parent: order.agent,
    role: role.value,
    name: before.name,
    task: before.task,
    taskId: null,
    model: before.model,
    capabilities: inherited(options, role.value, order, before),
    budget: before.budget,
    ...writesIn(before),
    dependsOn: [],
    ...(before.protocol === undefined ? {} : { protocol: before.protocol }),
  };
  const standing = standingsOf(recorder.each({ agents: [before.id] }), [before.id]).get(before.id);
  return ok({ ...orderOf(options, one, []), ...placeOf(order), ...standing });
}

/** It works where its parent does. */
const placeOf = ({ workingDir }: WorkOrder): Pick<WorkOrder, 'workingDir'> =>
  workingDir === undefined ? {} : { workingDir };

function allowedRole({ rules, roles }: RunOptions, name: string): Result<Role, string> {
  const problem = roleProblem(name, rules, roles);
  if (problem) return fail(`${problem.text} — ${reasonText(problem.reason)}`);
  const role = roleNamed(name, roles);
  return role === null ? fail(`There is no role ${name}.`) : ok(role);
}

/**
 * Never more than the parent has, and no spawning of its own: one level by this tool (D1, I011). Who works by words has children by
 * its commands, as deep as the rules let it.
 */
function inherited(
  { rules }: RunOptions,
  role: Role,
  parent: WorkOrder,
  { protocol }: Pick<AgentState, 'protocol'>,
): readonly Capability[] {
  const own = role.capabilities.filter((one) => one !== 'spawn' && parent.capabilities.includes(one));
  const room = depthOf(parent.agent) + 1 < rules.maxNestingDepth.value;
  return protocol === 'text' && room && parent.capabilities.includes('spawn') ? [...own, 'spawn'] : own;
}

const nextChild = (recorder: Recorder, parent: AgentId): AgentId =>
  childOf(parent, (recorder.state().agents.get(parent)?.children.length ?? 0) + 1);

/** What ends the call ends its child, but for the end of the run: that leaves both to be gone on with. */
function stopsChild(signal: AbortSignal): AbortSignal {
  const child = new AbortController();
  const end = (): void => {
    if (signal.reason !== 'run stopped') child.abort(signal.reason);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return child.signal;
}

const refused = (text: string): ToolOutput => ({ ok: false, text });
