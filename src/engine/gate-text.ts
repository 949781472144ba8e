/**
 * Where the text protocol meets the gate: which agents speak it, what their model is really asked, what its reply means. What
 * the protocol is, is in text-protocol.ts; a command with a marker is gate-text-use.ts's.
 */
import type { WorkOrder } from '../domain/agent.ts';
import { depthOf } from '../domain/ids.ts';
import type { CallId } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { ModelReply } from '../domain/turn.ts';
import { OFFLINE } from '../policy/models.ts';
import type { ModelRequest } from '../ports/model.ts';
import { boxFor } from './gate-context.ts';
import { uniqueCalls } from './gate-specs.ts';
import { taskToolOf } from './gate-text-use.ts';
import type { AskFault, GateParts, Question } from './gate.ts';
import { notOwn, readReply, SHELL, textTurns, unreadInARow } from './text-protocol.ts';
import { GIVEN_UP, MOST_UNREAD, protocolWords } from './text-protocol-words.ts';

type Asks = Pick<Question, 'order' | 'purpose'>;

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
export function asSpoken(parts: GateParts, question: Asks, model: ModelOption, draft: ModelRequest): ModelRequest {
  const { order } = question;
  if (!speaksText(order, model)) return draft;
  const turns = textTurns(draft.turns);
  // The summary is asked for behind the conversation: what stands before it stays the same, and so do caches.
  if (!isWork(question) && draft.purpose.is !== 'compact') return { ...draft, tools: [], turns };
  const maySpawn = taskToolOf(parts, order) !== undefined && depthOf(order.agent) < parts.rules.maxNestingDepth.value;
  const words = protocolWords({ box: boxFor(parts, order), children: maySpawn ? CHILDREN : [] });
  return { ...draft, system: `${draft.system}\n\n${words}`, tools: [], turns };
}

/** The reply to it as the engine takes it. `call` is the id of the call of the model. */
export function asHeard({ order, purpose }: Asks, model: ModelOption, call: CallId, reply: ModelReply): ModelReply {
  const own = reply.calls.map((one) => ({ ...one, id: notOwn(one.id) }));
  if (!speaksText(order, model)) return { ...reply, calls: uniqueCalls(own) };
  return isWork({ order, ...(purpose && { purpose }) }) ? readReply(reply, call) : { ...reply, calls: [] };
}

/** An agent that works by commands needs a shell: without one it is not even asked. */
export function hasWords(parts: GateParts, question: Asks, model: ModelOption): Result<null, AskFault> {
  const { order } = question;
  if (!isWork(question) || !speaksText(order, model) || order.tools.includes(SHELL)) return ok(null);
  const [what, way] =
    order.protocol === 'text'
      ? [`role ${order.role} has protocol: text`, 'give it bash_execution, or take protocol: text away']
      : [`${model.id} has protocol: text (providers.${model.id.split('/')[0] ?? ''})`, 'use a model with tool calls'];
  const noBox = parts.tools.sandbox.is === 'none' && !order.capabilities.includes('write');
  const why = noBox ? 'it reads only, and there is no sandbox to hold a shell to that' : 'it has none';
  const text = `${what}: its agents work by commands in a shell, and for role ${order.role} there is no shell (${why}); ${way}`;
  return fail({ is: 'denied', text });
}

/** The reply, unless it is one too many that holds no command to run. */
export function withPatience(question: Question, reply: ModelReply): Result<ModelReply, AskFault> {
  const { text, calls } = reply;
  const unread = isWork(question) ? unreadInARow([...question.turns, { by: 'model', text, calls }]) : 0;
  return unread < MOST_UNREAD ? ok(reply) : fail({ is: 'model', text: GIVEN_UP });
}
