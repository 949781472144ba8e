/**
 * A conversation as Anthropic's Messages take it: user and assistant in turn, calls answered in the very next message, no empty text.
 * Turns are translated one by one from what stands before them, so a longer conversation begins with the same bytes.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { ModelId } from '../../domain/ids.ts';
import type { Json, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { BETWEEN, lengthOfTurn, type Part, unpacked } from './opaque.ts';
import { isObject } from '../http/strict-json.ts';

export type Block =
  | Anthropic.TextBlockParam
  | Anthropic.ToolUseBlockParam
  | Anthropic.ToolResultBlockParam
  | Anthropic.ThinkingBlockParam
  | Anthropic.RedactedThinkingBlockParam;

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Block[];
}

const NO_OUTPUT = '(no output)';
const NO_RESULT = 'There is no result: this was not run.';
const GO_ON: Block = { type: 'text', text: 'Go on.' };

/** `turns` as messages for `model`: the first and the last one are the user's. Reasoning goes back of the turns from `reasonedFrom` on. */
export function messagesOf(model: ModelId, turns: readonly Turn[], reasonedFrom = 0): readonly Message[] {
  const messages: { role: Message['role']; content: Block[] }[] = [];
  const say = (role: Message['role'], content: readonly Block[]): void => {
    if (content.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content: [...content] });
  };
  let before = 0;
  turns.forEach((turn, at) => {
    if (turn.by === 'user') say('user', textBlocks(turn.text));
    else if (turn.by === 'model') {
      const blocks = at < reasonedFrom ? plainBlocks(turn) : blocksOf(model, before, turn);
      // Before a second reply in a row stands what it was asked with: reasoning is bound to all that was before it.
      if (blocks.length > 0 && messages.at(-1)?.role !== 'user') say('user', [GO_ON]);
      say('assistant', blocks);
      say('user', answers(turn.calls, turns[at + 1]));
    }
    before += lengthOfTurn(turn);
  });
  if (messages.at(-1)?.role !== 'user') say('user', [GO_ON]);
  return messages;
}

/** The API refuses texts without anything to see. */
const textBlocks = (text: string): readonly Anthropic.TextBlockParam[] =>
  text.trim() === '' ? [] : [{ type: 'text', text: text.toWellFormed() }];

/** Every call has its answer in the next message, also one that was never run. Answers to nothing are left out. */
function answers(calls: readonly ToolCall[], next: Turn | undefined): readonly Block[] {
  const results: readonly ToolResult[] = next?.by === 'tools' ? next.results : [];
  return calls.map(({ id }) => {
    const result = results.find(({ call }) => call === id) ?? { ok: false, text: NO_RESULT };
    const content = result.text.trim() === '' ? NO_OUTPUT : result.text.toWellFormed();
    return { type: 'tool_result', tool_use_id: wireId(id), content, ...(result.ok ? {} : { is_error: true }) };
  });
}

function blocksOf(model: ModelId, before: number, turn: Extract<Turn, { by: 'model' }>): readonly Block[] {
  const parts = unpacked(model, before, turn);
  return parts === null ? plainBlocks(turn) : inOrder(parts, turn);
}

const plainBlocks = ({ text, calls }: Extract<Turn, { by: 'model' }>): readonly Block[] => [
  ...textBlocks(text),
  ...calls.map(callBlock),
];

/** As the reply came: reasoning, texts and calls in their places. */
function inOrder(parts: readonly Part[], turn: Extract<Turn, { by: 'model' }>): readonly Block[] {
  let text = 0;
  let call = 0;
  return parts.flatMap((part): readonly Block[] => {
    if (part.type === 'text') {
      const said = turn.text.slice(text, text + part.length);
      text += part.length + BETWEEN.length;
      return textBlocks(said);
    }
    if (part.type !== 'call') return [part];
    const asked = turn.calls[call];
    call += 1;
    return asked === undefined ? [] : [callBlock(asked)];
  });
}

/** Arguments that were no JSON are told as what they were, since an input must be an object. */
const callBlock = ({ id, tool, input }: ToolCall): Anthropic.ToolUseBlockParam => ({
  type: 'tool_use',
  id: wireId(id),
  name: wireName(tool),
  input: asInput(input),
});

const asInput = (input: Json): Json => wellFormed(isObject(input) ? input : { arguments: input });

/** Half a character, which a model can write as an escape, would make the whole request unreadable. */
function wellFormed(value: Json): Json {
  // Only halves are escaped so.
  if (!/\\ud[89a-f]/.test(JSON.stringify(value))) return value;
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map((one: Json) => wellFormed(one));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.toWellFormed(), wellFormed(one)]));
}

/** An id as the API takes them: its own unchanged, others by a name that is always the same. */
export const wireId = (id: string): string => (/^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : named(id));

/** What a model called for that can't be a tool's name can't be sent back as one. */
const wireName = (tool: string): string => (/^[A-Za-z0-9_-]{1,128}$/.test(tool) ? tool : named(tool));

const named = (text: string): string =>
  `${text.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}_${mixed(text, 0x811c9dc5)}${mixed(text, 0x01000193)}`;

/** FNV-1a: only to tell names apart that look alike once their odd characters are gone. */
function mixed(text: string, seed: number): string {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
