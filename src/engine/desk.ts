/** What tools ask of the run on behalf of an agent: its todos, messages, children, questions. The sender is stamped here. */
import type { WorkOrder } from '../domain/agent.ts';
import { tightest } from '../domain/budget.ts';
import type { AgentId, CallId } from '../domain/ids.ts';
import { childOf, depthOf } from '../domain/ids.ts';
import { reasonText } from '../domain/reason.ts';
import type { Capability, Role } from '../domain/role.ts';
import { roleNamed, roleProblem } from '../policy/roles.ts';
import type { GateParts } from './gate.ts';
import { modelFor, budgetOf } from './choices.ts';
import type { Crew } from './crew.ts';
import { sendMessage } from './desk-messages.ts';
import { createdEvent, orderOf } from './orders.ts';
import type { RunOptions } from './run-options.ts';

type Desk = ReturnType<GateParts['desk']>;
type Output = ReturnType<Desk['setTodos']>;

export interface DeskParts extends Pick<GateParts, 'recorder' | 'inbox' | 'approvals' | 'person'> {
  readonly options: RunOptions;
  /** The call of the tool that asks. */
  readonly call: CallId;
  /** The crew is made after the gate, which needs the desk. */
  readonly crew: () => Crew;
}

export function deskOf(parts: DeskParts, order: WorkOrder, signal: AbortSignal): Desk {
  const { recorder } = parts;
  return {
    setTodos(todos) {
      recorder.record({ type: 'agent.todos', agent: order.agent, todos });
      const done = todos.filter(({ status }) => status === 'completed').length;
      return { ok: true, text: `${done} of ${todos.length} done` };
    },
    sendMessage: (to, content) => sendMessage(parts, order, to, content),
    spawn: (child) => spawn(parts, order, child, signal),
    giveVerdict: (verdict) => giveVerdict(parts, order, verdict),
    askUser: (question, options) => askUser(parts, order, { question, options }, signal),
  };
}

/** Bound to the tree that the agent was given to judge. Its last one counts, once it has ended. */
function giveVerdict(
  { recorder }: DeskParts,
  { agent, role }: WorkOrder,
  verdict: Parameters<Desk['giveVerdict']>[0],
): Output {
  const forced = recorder.state().agents.get(agent)?.forced ?? null;
  if (forced === null) return refused('Only agents that a rule makes run give verdicts.');
  recorder.record({ type: 'forced.verdict', agent, role, tree: forced.tree, ...verdict });
  return { ok: true, text: `Noted: ${verdict.pass ? 'pass' : 'no pass'}. End now with one short sentence.` };
}

/** A child beyond the plan: fresh context, only its final text comes back (I002 to I005, T020). */
async function spawn(
  parts: DeskParts,
  order: WorkOrder,
  child: { readonly description: string; readonly prompt: string; readonly role: string },
  signal: AbortSignal,
): Promise<Output> {
  const { options, recorder } = parts;
  const max = options.rules.maxNestingDepth.value;
  if (depthOf(order.agent) + 1 > max)
    return refused(`Max nesting depth (${max}) exceeded. Cannot create nested agent.`);
  const problem = roleProblem(child.role, options.rules, options.roles);
  if (problem) return refused(`${problem.text} — ${reasonText(problem.reason)}`);
  const role = roleNamed(child.role, options.roles);
  if (role === null) return refused(`There is no role ${child.role}.`);
  const model = modelFor(options, role, null);
  if (!model.ok) return refused(model.fault);
  const agent = nextChild(parts, order.agent);
  const one = {
    agent,
    parent: order.agent,
    role,
    name: child.description,
    task: child.prompt,
    taskId: null,
    model: model.value.choice,
    capabilities: inherited(role, order),
    budget: tightest(role.budget ?? {}, budgetOf(options, role.name)),
    dependsOn: [],
    call: parts.call,
  };
  recorder.record(createdEvent(options, one), {
    type: 'agent.status',
    agent: order.agent,
    status: 'waiting',
    reason: '',
  });
  return ofChild(parts, order, agent, orderOf(options, one, []), signal);
}

async function ofChild(
  parts: DeskParts,
  parent: WorkOrder,
  agent: AgentId,
  order: WorkOrder,
  signal: AbortSignal,
): Promise<Output> {
  const { recorder, crew } = parts;
  const takeSlotAgain = crew().lend(parent.agent);
  const outcome = await crew().run(order, signal);
  await takeSlotAgain();
  // Also when the step was ended: an urgent message ends the child, not the parent.
  recorder.record({ type: 'agent.status', agent: parent.agent, status: 'running', reason: '' });
  const state = recorder.state().agents.get(agent);
  if (outcome === 'completed') return { ok: true, text: state?.summary ?? '' };
  const why = state?.error ?? outcome ?? 'the run was stopped';
  return refused(
    `The child ${agent} did not complete (${why}).${state?.summary ? `\nIts last words:\n${state.summary}` : ''}`,
  );
}

/** Never more than the parent has, and no spawning of its own: one level by this tool (D1, I011). */
const inherited = (role: Role, parent: WorkOrder): readonly Capability[] =>
  role.capabilities.filter((one) => one !== 'spawn' && parent.capabilities.includes(one));

function nextChild({ recorder }: DeskParts, parent: AgentId): AgentId {
  return childOf(parent, (recorder.state().agents.get(parent)?.children.length ?? 0) + 1);
}

async function askUser(
  { approvals, person }: DeskParts,
  order: WorkOrder,
  { question, options }: { readonly question: string; readonly options: readonly string[] },
  signal: AbortSignal,
): Promise<Output> {
  if (!person) return refused('Nobody can be asked here. Decide yourself, and say in your answer what you assumed.');
  const request = {
    action: 'question',
    title: question.split('\n')[0] ?? '',
    exact: question,
    options,
    unsandboxed: false,
    because: '',
  } as const;
  const answer = await approvals.ask(order, null, request, signal);
  if (answer.is === 'withdrawn') return refused('The question was withdrawn.');
  const text = answer.text.trim();
  if (answer.is === 'denied' && text === '') return refused('The person does not want to answer this.');
  return { ok: true, text: text === '' ? 'Yes.' : text };
}

const refused = (text: string): Output => ({ ok: false, text });
