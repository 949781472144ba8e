/** Children of the tool Task: a fresh context, and only the final text comes back. The call waits for its child; a call cut off by a crash
 * continues with the child it has. */
import type { AgentOutcome, WorkOrder } from '../../domain/agents/agent.ts';
import { tightest } from '../../domain/budget.ts';
import { type AgentId, type CallId, childOf, depthOf } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import type { Capability, Role } from '../../domain/agents/role.ts';
import { type AgentState, isFinal, openBelow } from '../../events/index.ts';
import { spawnProblem } from '../../policy/decide.ts';
import { createdEvent, finishedEvent, recreatedAgent, type NewAgent, workOrderFor, writesIn } from '../agents/index.ts';
import { type AgentSetup, budgetOf, type ToolHost, modelFor, type ToolOutput } from '../gate/index.ts';
import { inItsTree, treeOfChild } from '../workspaces/index.ts';
import { allowedRole, childCapabilities, type FamilyParts } from './spawn.ts';

/** A tool call that asks something of the run. */
export interface ToolHostCall extends FamilyParts {
  readonly order: WorkOrder;
  readonly call: CallId;
  /** The child that this call spawned before the run was resumed. */
  readonly child: AgentId | null;
  readonly ends: AbortSignal;
}

type SpawnArguments = Parameters<ToolHost['spawn']>[0];

/** Resolves with the child's answer, or why there is none; left open where the run was stopped meanwhile. */
export async function taskFor(asking: ToolHostCall, wish: SpawnArguments): Promise<ToolOutput> {
  const { order, recorder, yieldedSlots, supervisor, ends } = asking;
  const before = madeBefore(asking);
  if (before !== undefined && isFinal(before)) return answerOf(before, before.outcome);
  const child = before === undefined ? made(asking, wish) : again(asking, before);
  if (!child.ok) return refused(child.fault);
  // The child works in its parent's folder.
  const work = (one: NewAgent): Promise<AgentOutcome | null> =>
    supervisor.run(
      { ...workOrderFor(asking.options, one, []), ...defined({ workingDir: order.workingDir }) },
      stopsChild(ends),
    );
  const outcome = await yieldedSlots.during(order.agent, () => inItsTree(asking, child.value, false, work));
  // The resumed run continues the child and the call.
  if (outcome === null) return { ...refused('the run was stopped'), open: true };
  // Also when the step was ended, because an urgent message ends the child and not the parent. A stopped parent does not run any more.
  if (!yieldedSlots.waits(order.agent) && supervisor.signal(order.agent)?.aborted !== true)
    recorder.record({ type: 'agent.status', agent: order.agent, status: 'running', reason: '' });
  const ended = recorder.state().agents.get(child.value.agent);
  return ended === undefined ? refused('The child is gone.') : answerOf(ended, outcome);
}

const madeBefore = ({ recorder, child }: ToolHostCall): AgentState | undefined =>
  child === null ? undefined : recorder.state().agents.get(child);

function answerOf({ id, error, summary }: AgentState, outcome: AgentOutcome | null): ToolOutput {
  if (outcome === 'completed') return { ok: true, text: summary };
  if (outcome === 'partial' && summary !== '')
    return { ok: true, text: `(The child ${id} ended before its work was complete: ${error ?? ''})\n\n${summary}` };
  const last = summary === '' ? '' : `\nIts last words:\n${summary}`;
  return refused(`The child ${id} did not complete (${error ?? outcome ?? 'it was stopped'}).${last}`);
}

/** Records a new child. The limits are checked again, because several calls of one reply were permitted before any of them had a child. */
function made({ options, recorder, call, order }: ToolHostCall, wish: SpawnArguments): Result<NewAgent, string> {
  const state = recorder.state();
  const depth = depthOf(order.agent) + 1;
  const siblings = openBelow(state, order.agent).length;
  const problem = spawnProblem({ depth, agents: state.agents.size - 1, siblings }, options.rules);
  if (problem !== null) return fail(`Denied: ${reasonText(problem)}`);
  const role = allowedRole(options, wish.role);
  if (!role.ok) return role;
  const model = modelFor(options, role.value, null);
  if (!model.ok) return model;
  const tree = treeOfChild({ options, recorder }, order.agent, role.value);
  if (!tree.ok) return tree;
  const one: NewAgent = {
    agent: childOf(order.agent, (state.agents.get(order.agent)?.children.length ?? 0) + 1),
    parent: order.agent,
    role: role.value,
    name: wish.description,
    task: wish.prompt,
    taskId: null,
    model: model.value.choice,
    capabilities: inherited(options, role.value, order, wish),
    budget: tightest(role.value.budget ?? {}, budgetOf(options, role.value.name)),
    ...writesIn(order),
    ...tree.value,
    dependsOn: [],
    call,
    ...defined({ protocol: wish.protocol }),
  };
  recorder.record(createdEvent(options, one), { type: 'agent.status', agent: order.agent, ...WAITS_FOR_CHILD });
  return ok(one);
}

const WAITS_FOR_CHILD = { status: 'waiting', reason: '', waitingFor: { is: 'child' } } as const;

/** An existing child under the present rules; a role that is now forbidden ends it. */
function again(asking: ToolHostCall, before: AgentState): Result<NewAgent, string> {
  const { options, recorder, order } = asking;
  const role = allowedRole(options, before.role);
  if (!role.ok) {
    recorder.record(finishedEvent(asking, before.id, 'failed', before.summary, role.fault));
    return role;
  }
  recorder.record({ type: 'agent.status', agent: order.agent, ...WAITS_FOR_CHILD });
  return ok(recreatedAgent(before, role.value, inherited(options, role.value, order, before)));
}

/** Never more than the parent has, and no spawning: Task children have no children of their own. In the text protocol, children may spawn as
 * deep as the rules allow. */
function inherited(
  options: AgentSetup,
  role: Role,
  parent: WorkOrder,
  { protocol }: Pick<AgentState, 'protocol'>,
): readonly Capability[] {
  const all = childCapabilities(options, role, childOf(parent.agent, 1), parent.capabilities);
  return protocol === 'text' ? all : all.filter((one) => one !== 'spawn');
}

/** Aborted with the call, except at the end of the run, when both are left for a resume. */
function stopsChild(signal: AbortSignal): AbortSignal {
  const child = new AbortController();
  const end = (): void => {
    if (signal.reason !== 'run stopped') child.abort(signal.reason);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return child.signal;
}

/** The output of a call that was not carried out. */
export const refused = (text: string): ToolOutput => ({ ok: false, text });
