/**
 * The protocol of agents whose model has no tool calls: one command a turn, in a fenced block of its text. Here a
 * conversation becomes text, and a reply becomes a call of `bash`; which agents speak so is the gate's to say. Pure.
 */
import { CallId } from '../../../domain/ids.ts';
import type { Json, ModelReply, ToolCall, ToolResult, Turn } from '../../../domain/turn.ts';
import { isHereDocOpen } from '../../../policy/commands/echo.ts';
import { fenced, fencesIn } from './fences.ts';
import { markedBy, markerOf } from './markers.ts';
import type { Marked } from './markers.ts';
import { UNREAD } from './words.ts';
import type { Unread } from './words.ts';

/** The only tool there is in this protocol. */
export const SHELL = 'bash';
/** Calls that were read out of a text, so that the log says which: no other call's id begins like this. */
const OWN = 'text_';

export const isOwn = ({ id, tool }: ToolCall): boolean => tool === SHELL && id.startsWith(OWN);

/** An id of somebody else's making that looks like one of these is none. */
export const notOwn = (id: CallId): CallId => (id.startsWith(OWN) ? CallId.parse(`model_${id}`.slice(0, 200)) : id);

/**
 * The reply as the engine takes it: exactly one call, or the end (`[COMPLETE]`, D9). What has no command, or several, is a call as
 * well, one that is answered with what was wrong. `asked` is the id of the call of the model.
 */
export function readReply(reply: ModelReply, asked: CallId): ModelReply {
  const { opaque: _, ...plain } = reply;
  // A server may make up calls of tools that it was not given: they are no part of this protocol.
  if (reply.stopReason === 'output limit' || reply.stopReason === 'refused') return { ...plain, calls: [] };
  const input = inputOf(reply.text);
  if (input === null) return { ...plain, calls: [], stopReason: 'end' };
  return { ...plain, calls: [{ id: CallId.parse(`${OWN}${asked}`), tool: SHELL, input }], stopReason: 'tool use' };
}

/** Null: it is at its end. */
function inputOf(text: string): Json | null {
  const { commands, open } = fencesIn(text);
  const [one] = commands;
  if (open) return problem('no end');
  if (commands.length > 1) return problem('several commands');
  if (one === undefined || one.command.trim() === '') return ENDED.test(text) ? null : problem('no command');
  if (isHereDocOpen(one.command)) return problem('no end');
  return { command: one.command, ...(one.timeout === null ? {} : { timeout: one.timeout }) };
}

const ENDED = /(?:^|\n)\s*\[(?:COMPLETE|DONE)\]\s*$/;
const problem = (is: Unread): Json => ({ problem: is });

/** Why the reply that this call stands for could not be carried out; null for any other call. */
export function unreadIn(call: ToolCall): Unread | null {
  const said = isOwn(call) ? textField(call.input, 'problem') : null;
  return said === null || !isUnread(said) ? null : said;
}
const isUnread = (said: string): said is Unread => Object.hasOwn(UNREAD, said);

const commandOf = ({ input }: ToolCall): string | null => textField(input, 'command');

function textField(input: Json, key: string): string | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  const value = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : null;
}

/** Does the command of this call begin with a marker, so that what it prints may be more than output? */
export const mayMark = (call: ToolCall): boolean => isOwn(call) && markerOf(commandOf(call) ?? '') !== null;

/** What the command of `call` asks for, now that it has ended. */
export function asksFor(call: ToolCall, result: Pick<ToolResult, 'ok' | 'text'>): Marked | null {
  const command = isOwn(call) ? commandOf(call) : null;
  return command === null ? null : markedBy(command, result);
}

/** How many replies in a row could not be carried out, up to the end of `turns`. */
export function unreadInARow(turns: readonly Turn[]): number {
  const replies = turns.flatMap((turn) =>
    turn.by === 'model' ? [turn.calls.some((call) => unreadIn(call) !== null)] : [],
  );
  return replies.length - 1 - replies.lastIndexOf(false);
}

/** What an agent handed over with its final output; null where `turn` and the results after it are nothing of the kind. */
export function finalOutput(turn: Turn, next: Turn | undefined): string | null {
  if (turn.by !== 'model' || next?.by !== 'tools') return null;
  const [call, more] = turn.calls;
  const result = next.results.find((one) => one.call === call?.id);
  if (call === undefined || more !== undefined || result === undefined) return null;
  const marked = asksFor(call, result);
  if (marked?.is !== 'final') return null;
  return marked.text === '' ? fencesIn(turn.text).words : marked.text;
}

/** The final output that the agent has ended by, nothing having been said since; null when it has not ended so. */
export const handedOver = (turns: readonly Turn[]): string | null => {
  const before = turns.at(-2);
  return before === undefined ? null : finalOutput(before, turns.at(-1));
};

/** The conversation as text, turn for turn: calls of tools and their results, of whichever model, in words. */
export const textTurns = (turns: readonly Turn[]): readonly Turn[] =>
  turns.map((turn, at): Turn => {
    if (turn.by === 'user') return turn;
    const before = turns[at - 1];
    if (turn.by === 'tools')
      return { by: 'user', text: resultsText(turn.results, before?.by === 'model' ? before.calls : []) };
    const others = turn.calls.filter((call) => !isOwn(call)).map(callText);
    return { by: 'model', text: [turn.text, ...others].filter((part) => part !== '').join('\n\n'), calls: [] };
  });

/** A call of a model that has tool calls, which went on before or after. */
function callText(call: ToolCall): string {
  const command = call.tool === SHELL ? commandOf(call) : null;
  return command === null ? `(used ${call.tool}: ${JSON.stringify(call.input)})` : fenced(command);
}

function resultsText(results: readonly ToolResult[], calls: readonly ToolCall[]): string {
  const parts = results.map(({ call: id, text }) => {
    const call = calls.find((one) => one.id === id);
    if (call === undefined || unreadIn(call) !== null) return text;
    return `${call.tool === SHELL ? 'Result of the command' : `Result of ${call.tool}`}:\n\n${text}`;
  });
  return parts.join('\n\n');
}
