/**
 * Where the text protocol meets the gate: which agents speak it, what their model is really asked, what its reply means. What
 * the protocol is, is in read-reply.ts; a command with a marker is carried out in tools/text-use.ts.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { boxFor } from '../../../domain/agents/role.ts';
import { CallId, depthOf, providerOf } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ModelReply, ToolCall } from '../../../domain/turn.ts';
import { OFFLINE } from '../../../policy/models.ts';
import type { ModelRequest } from '../../../ports/model.ts';
import type { Tool, ToolContext, ToolPort } from '../../../ports/tool.ts';
import type { RunContext } from '../context.ts';
import type { AskFault, Question } from '../question.ts';
import { notOwn, readReply, SHELL, textTurns, unreadInARow } from './read-reply.ts';
import { GIVEN_UP, MOST_UNREAD, protocolWords } from './read-reply.ts';

type Asks = Pick<Question, 'order' | 'purpose' | 'closing'>;

type TextParts = Pick<RunContext, 'recorder' | 'rules'> & { readonly tools: ToolPort };

/**
 * By its role, or by its model of the moment: who falls back to a model of the other kind speaks the other way from then on. The
 * offline analyst is no language model: it knows its tools, and no words.
 */
const speaksText = ({ protocol }: WorkOrder, model: Pick<ModelOption, 'id' | 'protocol'>): boolean =>
  (protocol === 'text' && model.id !== OFFLINE) || model.protocol === 'text';

/** Can the agent of `order` go on with `model`: by calls where it takes them, by words where there is a shell for them? */
export const canSpeak = (order: WorkOrder, model: ModelOption): boolean =>
  speaksText(order, model) ? order.tools.includes(SHELL) : model.tools !== false;

/** Its own work; a plan, a report or a summary is a text anyway. */
const isWork = ({ purpose }: Asks): boolean => purpose === undefined || purpose.is === 'work';

/** Roles that a child may be told to have; others by their name as well. */
const CHILDREN = ['code', 'explore', 'plan'];

/** What is really asked: the same where the model has tool calls, else text alone, and no tools. */
export function asSpoken(parts: TextParts, question: Asks, model: ModelOption, draft: ModelRequest): ModelRequest {
  const { order } = question;
  if (!speaksText(order, model)) return draft;
  const turns = textTurns(draft.turns);
  // The summary is asked for behind the conversation: what stands before it stays the same, and so do caches.
  if (!isWork(question) && draft.purpose.is !== 'compact') return { ...draft, tools: [], turns };
  const { tools } = parts;
  const maySpawn = taskToolOf(tools, order) !== undefined && depthOf(order.agent) < parts.rules().maxNestingDepth.value;
  const words = protocolWords({
    box: boxOf(tools, order),
    children: maySpawn ? CHILDREN : [],
    findings: findingToolOf(tools, order) !== undefined,
  });
  return { ...draft, system: `${draft.system}\n\n${words}`, tools: [], turns };
}

/** The reply to it as the engine takes it. `call` is the id of the call of the model. */
export function asHeard(asks: Asks, model: ModelOption, call: CallId, reply: ModelReply): ModelReply {
  const { order, closing } = asks;
  const own = reply.calls.map((one) => ({ ...one, id: notOwn(one.id) }));
  if (!speaksText(order, model)) return { ...reply, calls: uniqueCalls(own) };
  // A closing answer is its words, whatever command stands in them.
  if (closing) return { ...reply, calls: [], stopReason: reply.stopReason === 'tool use' ? 'end' : reply.stopReason };
  return isWork(asks) ? readReply(reply, call) : { ...reply, calls: [] };
}

/** An agent that works by commands needs a shell, and no tool of its own: without one, or with, it is not even asked. */
export function hasWords(parts: TextParts, question: Asks, model: ModelOption): Result<null, AskFault> {
  const { order } = question;
  if (!isWork(question) || !speaksText(order, model)) return ok(null);
  const what = whoSaysText(order, model);
  if (parts.recorder.state().agents.get(order.agent)?.forced)
    return fail({
      is: 'denied',
      text: `${what}, and a verdict is given by a tool, which it has not: judge with tool calls`,
    });
  if (order.tools.includes(SHELL)) return ok(null);
  const noBox = parts.tools.sandbox.is === 'none' && !order.capabilities.includes('write');
  const why = noBox ? 'it reads only, and there is no sandbox to hold a shell to that' : 'give it bash_execution';
  const text = `${what}: its agents work by commands in a shell, and role ${order.role} has none here (${why}); or use a model with tool calls`;
  return fail({ is: 'denied', text });
}

/** The rule. */
const whoSaysText = ({ protocol, role }: WorkOrder, { id }: ModelOption): string =>
  protocol === 'text' ? `role ${role} has protocol: text` : `${id} has protocol: text (providers.${providerOf(id)})`;

/** The reply, unless it is one too many that holds no command to run. */
export function withPatience(question: Question, reply: ModelReply): Result<ModelReply, AskFault> {
  const { text, calls } = reply;
  const unread = isWork(question) ? unreadInARow([...question.turns, { by: 'model', text, calls }]) : 0;
  return unread < MOST_UNREAD ? ok(reply) : fail({ is: 'model', text: GIVEN_UP });
}

/** By which the agent's children are let in; undefined where it may not have any. */
export const taskToolOf = ({ tools }: ToolPort, order: WorkOrder): Tool | undefined =>
  tools.find(({ name, capability }) => capability === 'spawn' && order.tools.includes(name));

/** With which the findings of others are read; undefined where the agent has none to read. */
export const findingToolOf = ({ tools }: ToolPort, order: WorkOrder): Tool | undefined =>
  tools.find(({ name }) => name === 'read_finding' && order.tools.includes(name));

/** In which sandbox the agent's commands run. */
export const boxOf = ({ sandbox }: ToolPort, { capabilities }: WorkOrder): ToolContext['box'] =>
  sandbox.is === 'none' ? 'none' : boxFor(capabilities);

/** Two calls with one id in a reply could not be told apart: the later one is given an id of its own. */
function uniqueCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<CallId>();
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; seen.has(id); n += 1) id = CallId.parse(`${call.id}-${n}`);
    seen.add(id);
    return id === call.id ? call : { ...call, id };
  });
}
