/** What tools ask of the run for an agent: todos, messages, children, questions, findings. The sender is set here. */
import type { Finding } from '../../domain/agents/agent.ts';
import { FINDING_LIMIT, findingText, freeTag, partOf, textsIn } from '../../domain/agents/brief.ts';
import { MAIN } from '../../domain/agents/role.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { bytesIn, withinBytes } from '../../domain/text/text.ts';
import { type AgentState, isFinal, mainAgent, type RunState } from '../../events/index.ts';
import { childRules } from '../../policy/index.ts';
import type { Delivery, Receipt } from '../../ports/controls.ts';
import type { StoredMessage } from '../../ports/log.ts';
import type { ToolHost, ToolOutput as Output } from '../gate/index.ts';
import type { Children } from './children.ts';
import type { FamilyParts } from './spawn.ts';
import { refused, type ToolHostCall, taskFor } from './task-tool.ts';

export interface MessageParts extends FamilyParts {
  readonly children: Children;
}

type Asking = MessageParts & ToolHostCall;

export function toolHostOf(asking: Asking): ToolHost {
  const { recorder, order } = asking;
  return {
    setTodos(todos) {
      recorder.record({ type: 'agent.todos', agent: order.agent, todos });
      const done = todos.filter(({ status }) => status === 'completed').length;
      return { ok: true, text: `${done} of ${todos.length} done` };
    },
    readFinding: (wanted) => readFinding(asking, wanted),
    sendMessage: (to, content) => sendMessage(asking, to, content),
    spawn: (child) => taskFor(asking, child),
    giveVerdict: (verdict) => giveVerdict(asking, verdict),
    askUser: (question, options) => askUser(asking, question, options),
  };
}

/** The verdict applies to the tree that the reviewer was given. Its last verdict counts, once it has ended. */
function giveVerdict(
  { recorder, order: { agent, role } }: Asking,
  verdict: Parameters<ToolHost['giveVerdict']>[0],
): Output {
  const forced = recorder.state().agents.get(agent)?.forced ?? null;
  if (forced === null) return refused('Only mandatory reviewers can give a verdict.');
  recorder.record({ type: 'forced.verdict', agent, role, tree: forced.tree, ...verdict });
  return { ok: true, text: `Noted: ${verdict.pass ? 'pass' : 'no pass'}. End now with one short sentence.` };
}

async function askUser(asking: Asking, question: string, options: readonly string[]): Promise<Output> {
  const { options: setup, gate, order, ends: signal } = asking;
  if (!setup.person) return refused('Nobody can be asked. Decide yourself, and state your assumptions in your answer.');
  const request = {
    action: 'question',
    title: question.split('\n')[0] ?? '',
    exact: question,
    options,
    unsandboxed: false,
    because: '',
  } as const;
  const answer = await gate.approvals.ask(order, null, request, signal);
  // The resumed run asks again.
  if (answer.is === 'withdrawn')
    return { ...refused('The question was withdrawn.'), ...(signal.reason === 'run stopped' ? { open: true } : {}) };
  const text = answer.text.trim();
  if (answer.is === 'denied' && text === '') return refused('The person does not want to answer this.');
  return { ok: true, text: text === '' ? 'Yes.' : text };
}

/** Sends to an agent by id or name, to the orchestrator, or to all others. */
function sendMessage(asking: Asking, to: string, content: string): Output {
  const { recorder, order } = asking;
  const all = [...recorder.state().agents.values()];
  const wanted = to.trim().toLowerCase();
  if (wanted === 'all') return toAll(asking, content);
  const called = calledBy(wanted, all, mainAgent(recorder.state()));
  const [receiver, ...more] = called;
  // A child may have been given another agent's name to intercept its messages.
  if (receiver !== undefined && more.length > 0)
    return refused(
      `There are several agents "${to}": say which by its id, ${called.map(({ id }) => id).join(' or ')}.`,
    );
  if (!receiver)
    return refused(`There is no agent "${to}". Agents: ${all.map(({ id, name }) => `${id} (${name})`).join(', ')}`);
  const done = post(asking, { from: order.agent, to: receiver.id, text: content, delivery: 'important' });
  if (!done.ok) return refused(`${done.fault.charAt(0).toUpperCase()}${done.fault.slice(1)}.`);
  const how = done.value.sent === 'resumed' ? 'it had ended and is resumed by it' : 'it is read between turns';
  return { ok: true, text: `Sent to ${receiver.name} (${receiver.id}); ${how}.` };
}

/** Agents matching the name; an id match takes precedence. */
function calledBy(wanted: string, all: readonly AgentState[], main: AgentId): readonly AgentState[] {
  if (wanted === 'orchestrator') return all.filter(({ parent }) => parent === null);
  if (wanted === MAIN) return all.filter(({ id }) => id === main);
  const byId = all.filter(({ id }) => id.toLowerCase() === wanted);
  return byId.length > 0 ? byId : all.filter(({ name }) => name.toLowerCase() === wanted);
}

function toAll(asking: Asking, content: string): Output {
  const { agent } = asking.order;
  const others = readersOf(asking, agent);
  if (others.length === 0) return refused('No other agent is left to read it.');
  const sent = others.filter(
    ({ id }) => post(asking, { from: agent, to: id, text: content, delivery: 'important' }).ok,
  ).length;
  if (sent === 0) return refused('None of the others can receive it now: they have unread messages from you.');
  return { ok: true, text: `Sent to ${sent === 1 ? '1 agent' : `${sent} agents`}; it is read between turns.` };
}

/** `task`: a number (`2`, `#2`), the id of a task, or the id or name of an agent. `room`: the most bytes of the result. */
function readFinding(
  { recorder, order: { agent } }: Asking,
  { task, from, room }: Parameters<ToolHost['readFinding']>[0],
): Output {
  const known = readable([...recorder.state().agents.values()], agent);
  const wanted = task.trim().toLowerCase().replace(/^#/, '');
  const found = known.filter((one) => namesOf(one).includes(wanted));
  const [one, another] = found;
  if (one === undefined || another !== undefined) return refused(whichOne(task, found, known));
  const label = `${one.name} (${one.id})`;
  if (one.outcome === null) return refused(`${label} has not ended and has no finding yet.`);
  if (from > 0 && from >= one.summary.length)
    return refused(`The finding of ${label} has ${one.summary.length} characters: nothing follows character ${from}.`);
  return { ok: true, text: textFrom(one, from, room) };
}

/** Tasks of the plan and the reader's own children; neither the reader itself nor reviewers. */
const readable = (agents: readonly AgentState[], reader: AgentState['id']): readonly AgentState[] =>
  agents.filter(
    ({ id, taskId, owner, forced }) => id !== reader && forced === null && (taskId !== null || owner === reader),
  );

function namesOf({ id, taskId, name }: AgentState): readonly string[] {
  const number = id.startsWith(`${ROOT}::S`) ? id.slice(`${ROOT}::S`.length) : '';
  return [id, taskId ?? '', name, number].filter((one) => one !== '').map((one) => one.toLowerCase());
}

function whichOne(task: string, found: readonly AgentState[], known: readonly AgentState[]): string {
  const all = (found.length > 0 ? found : known).map(({ id, name, status }) => `${id} (${name}, ${status})`).join(', ');
  if (found.length > 0) return `Several tasks are named "${task}": give the id of one. ${all}`;
  return `This run has no task "${task}" whose finding you can read. ${all === '' ? 'It has no other tasks.' : `Tasks: ${all}`}`;
}

/** As much as fits into `room` bytes, starting at character `from`, with the position of the rest. */
function textFrom(one: AgentState, from: number, room: number): string {
  const all = one.summary.length;
  const asked = partOf(one.summary, from, FINDING_LIMIT);
  const of = (summary: string): Finding => ({
    agent: one.id,
    task: one.taskId,
    role: one.role,
    description: partOf(one.task, 0, 300),
    outcome: one.outcome ?? 'completed',
    ...(one.outcome !== 'completed' && one.error !== null ? { because: partOf(one.error, 0, 300) } : {}),
    summary,
    ...(from > 0 || summary.length < all ? { cut: { from, to: from + summary.length, all } } : {}),
  });
  const tag = freeTag(textsIn([of(asked)]));
  const frame = bytesIn(findingText(of(''), tag)) + FRAME_SPARE;
  return findingText(of(withinBytes(asked, Math.max(room - frame, 200))), tag);
}
/** Bytes by which the numbers in a frame may exceed those of an empty one. */
const FRAME_SPARE = 40;

// Messages to agents, for the command, the tool and the message store: running agents read them between turns, ended agents are revived.
// Decides who may write to whom.

interface Outgoing {
  /** Set by the caller, never by the agent. */
  readonly from: 'person' | AgentId;
  readonly to: AgentId;
  readonly text: string;
  readonly delivery: Delivery;
  /** Its id in the message store, if it was stored. */
  readonly letter?: string;
}

/** Records and delivers the message, or returns why nobody will read it. */
export function post(parts: MessageParts, letter: Outgoing): Result<Receipt, string> {
  const state = parts.recorder.state();
  const one = state.agents.get(letter.to);
  if (one === undefined) return fail(`there is no agent ${letter.to}`);
  const problem = whyNot(parts, letter, one);
  if (problem !== null) return fail(problem);
  const { from, to, text, delivery } = letter;
  const ended = isFinal(one) && to !== ROOT;
  parts.gate.inbox.send({
    from,
    to,
    // An ended agent has no work to wait for.
    delivery: ended ? 'important' : delivery,
    content: text,
    ...(letter.letter === undefined ? {} : { letter: letter.letter }),
  });
  const lost = ended ? parts.children.revive(to) : null;
  return lost === null ? ok(receiptOf(one, ended, delivery)) : fail(lost);
}

function whyNot(parts: MessageParts, { from, to, text }: Outgoing, one: AgentState): string | null {
  if (text.trim() === '') return 'the message is empty';
  if (from === to) return 'you cannot send a message to yourself';
  if (from !== 'person') {
    const problem = whyNotTo(parts, from, one) ?? whyFull(parts.recorder.state(), from, one);
    if (problem !== null) return problem;
  }
  return parts.children.closed(to);
}

/** The most unread messages from one agent to another, because they are read together and fill the conversation. */
const MOST_WAITING = 8;

function whyFull({ messages }: RunState, from: AgentId, { id, name }: AgentState): string | null {
  const waiting = messages.filter((one) => one.from === from && one.to === id && !one.delivered && one.notice === null);
  return waiting.length < MOST_WAITING
    ? null
    : `${name} has ${waiting.length} unread messages from you: wait until it has read them`;
}

/** The receivers of a message to all: running agents, except main. It revives nobody. */
export const readersOf = (parts: MessageParts, from: 'person' | AgentId): readonly AgentState[] =>
  [...parts.recorder.state().agents.values()].filter(
    (one) =>
      one.id !== from && one.id !== ROOT && !isFinal(one) && (from === 'person' || whyNotTo(parts, from, one) === null),
  );

/** Why no message of agent `from` may reach `to`. Reviewers must not be influenced by the agents they judge. */
function whyNotTo({ options, recorder }: MessageParts, from: AgentId, to: AgentState): string | null {
  if (to.forced !== null) return `${to.name} is a reviewer and reads no messages of agents`;
  const { value, from: rule } = childRules(options.rules).messages;
  return value === 'run' || isFamily(recorder.state(), from, to)
    ? null
    : `${to.name} is not related to you: agents can write only to their parent, children and siblings (${reasonText(rule)})`;
}

function isFamily({ agents }: RunState, from: AgentId, to: AgentState): boolean {
  const own = agents.get(from);
  if (own === undefined) return false;
  return [own.parent, own.owner].includes(to.id) || [to.parent, to.owner].includes(from) || own.parent === to.parent;
}

function receiptOf(one: AgentState, ended: boolean, delivery: Delivery): Receipt {
  if (ended) return { text: `sent to ${one.name}: it had ended and is resumed`, sent: 'resumed' };
  const works = one.status === 'running' || one.status === 'waiting';
  if (delivery === 'urgent') return { text: `sent to ${one.name}`, sent: works ? 'interrupted' : 'sent' };
  // Between turns no work has to end first.
  const idle = one.id === ROOT || one.waitingFor?.is === 'children';
  return delivery === 'sequential' && !idle
    ? { text: `sent to ${one.name} (read when its work is done)`, sent: 'queued' }
    : { text: `sent to ${one.name}`, sent: 'sent' };
}

// Messages that a person wrote while no run, or another process, was active; each is moved from the store into the log once.

/** Moves stored messages into the log, then marks them as taken. `at once`: they revive ended agents; `later`: the caller resumes the run
 * and revives them. */
export function takeMessages(parts: MessageParts, when: 'at once' | 'later'): void {
  const { waiting, fresh } = storedMessages(parts);
  for (const letter of fresh) if (when === 'later' || !isPosted(parts, letter)) kept(parts, letter);
  const ids = waiting.map(({ id }) => id);
  if (ids.length > 0) parts.messageStore?.taken(parts.recorder.session, ids);
}

function storedMessages(parts: MessageParts): Readonly<Record<'waiting' | 'fresh', readonly StoredMessage[]>> {
  const waiting = parts.messageStore?.waiting(parts.recorder.session) ?? [];
  const known = waiting.length === 0 ? new Set() : lettersIn(parts);
  return { waiting, fresh: waiting.filter(({ id }) => !known.has(id)) };
}

/** Whether the store has messages that are not in the log. */
export const hasMessages = (parts: MessageParts): boolean => storedMessages(parts).fresh.length > 0;

/** A message may be in the log although it was refused, because its reader could not be revived. */
const isPosted = (parts: MessageParts, { id, to, text, delivery }: StoredMessage): boolean =>
  post(parts, { from: 'person', to, text, delivery, letter: id }).ok || lettersIn(parts).has(id);

/** Records the message even if the agent can no longer read it, so that it shows in the log. */
const kept = ({ gate }: MessageParts, { id, to, text, delivery }: StoredMessage): void =>
  gate.inbox.send({ from: 'person', to, delivery, content: text, letter: id });

const lettersIn = ({ recorder }: MessageParts): ReadonlySet<string> =>
  new Set(recorder.state().messages.flatMap(({ letter }) => letter ?? []));
