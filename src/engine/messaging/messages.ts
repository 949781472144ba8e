/**
 * Messages to agents, of a person or of another agent: one way for the command, the tool and the box of kept letters. Who works
 * reads it between turns; who has ended goes on with it. Who may write to whom is said here.
 */
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { childRules } from '../../policy/children.ts';
import type { Delivery, Receipt } from '../../ports/controls.ts';
import type { Children } from './children.ts';
import type { Inbox } from './inbox.ts';
import type { Recorder } from '../run/recorder.ts';
import type { RunOptions } from '../run/run-options.ts';

export interface LetterParts {
  readonly options: Pick<RunOptions, 'rules'>;
  readonly recorder: Pick<Recorder, 'state'>;
  readonly inbox: Pick<Inbox, 'send'>;
  readonly children: Pick<Children, 'revive' | 'closed'>;
}

export interface Letter {
  /** Stamped by who knows. */
  readonly from: 'person' | AgentId;
  readonly to: AgentId;
  readonly text: string;
  readonly delivery: Delivery;
  /** Its id in the box, where it was kept there. */
  readonly letter?: string;
}

/** Recorded, and on its way, when it returns; or why nobody will read it. */
export function post(parts: LetterParts, letter: Letter): Result<Receipt, string> {
  const state = parts.recorder.state();
  const one = state.agents.get(letter.to);
  if (one === undefined) return fail(`there is no agent ${letter.to}`);
  const problem = whyNot(parts, letter, one);
  if (problem !== null) return fail(problem);
  const { from, to, text, delivery } = letter;
  const ended = isFinal(one) && to !== ROOT;
  parts.inbox.send({
    from,
    sender: from === 'person' ? null : from,
    to,
    kind: from === 'person' ? 'request' : 'status',
    // It is at the end of its work already: there is nothing to wait for.
    delivery: ended ? 'important' : delivery,
    content: text,
    ...(letter.letter === undefined ? {} : { letter: letter.letter }),
  });
  const lost = ended ? parts.children.revive(to) : null;
  return lost === null ? ok(receiptOf(one, ended, delivery)) : fail(lost);
}

function whyNot(parts: LetterParts, { from, to, text }: Letter, one: AgentState): string | null {
  if (text.trim() === '') return 'an empty message is not sent';
  if (from === to) return 'a message to yourself goes nowhere';
  if (from !== 'person') {
    const problem = whyNotTo(parts, from, one) ?? whyFull(parts.recorder.state(), from, one);
    if (problem !== null) return problem;
  }
  return parts.children.closed(to);
}

/** Messages of one agent that may wait for one reader: they are read in one piece, and fill its conversation. */
const MOST_WAITING = 8;

function whyFull({ messages }: RunState, from: AgentId, { id, name }: AgentState): string | null {
  const waiting = messages.filter((one) => one.from === from && one.to === id && !one.delivered && one.notice === null);
  return waiting.length < MOST_WAITING
    ? null
    : `${name} has ${waiting.length} messages of yours to read yet: wait until it has, or send one that holds all`;
}

/** Whom a word to all of `from` reaches: those at work, but not main. It lets nobody go on that has ended. */
export const readersOf = (parts: LetterParts, from: 'person' | AgentId): readonly AgentState[] =>
  [...parts.recorder.state().agents.values()].filter(
    (one) =>
      one.id !== from && one.id !== ROOT && !isFinal(one) && (from === 'person' || whyNotTo(parts, from, one) === null),
  );

/** Why no message of agent `from` reaches `to`. Whoever judges work is not to be talked to by those who did it. */
function whyNotTo({ options, recorder }: LetterParts, from: AgentId, to: AgentState): string | null {
  if (to.forced !== null) return `${to.name} judges work, and reads no messages of agents`;
  const { value, from: rule } = childRules(options.rules).messages;
  return value === 'run' || isFamily(recorder.state(), from, to)
    ? null
    : `${to.name} is none of yours: agents write to their parent, children and siblings (${reasonText(rule)})`;
}

function isFamily({ agents }: RunState, from: AgentId, to: AgentState): boolean {
  const own = agents.get(from);
  if (own === undefined) return false;
  return [own.parent, own.owner].includes(to.id) || [to.parent, to.owner].includes(from) || own.parent === to.parent;
}

function receiptOf(one: AgentState, ended: boolean, delivery: Delivery): Receipt {
  if (ended) return { text: `sent to ${one.name}: it had ended, and goes on`, sent: 'resumed' };
  const works = one.status === 'running' || one.status === 'waiting';
  if (delivery === 'urgent') return { text: `sent to ${one.name}`, sent: works ? 'interrupted' : 'sent' };
  // Between turns there is nothing that would have to end first.
  const idle = one.id === ROOT || one.waitingFor?.is === 'children';
  return delivery === 'sequential' && !idle
    ? { text: `sent to ${one.name} (read when its work is done)`, sent: 'queued' }
    : { text: `sent to ${one.name}`, sent: 'sent' };
}
