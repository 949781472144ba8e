/** A conversation in the form of Anthropic's Messages API: alternating roles, calls answered in the next message, no empty text. Each
 * turn is translated from what precedes it only, so a longer conversation begins with the same bytes. */
import type Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import type { ModelId } from '../../domain/ids.ts';
import type { Json, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { isObject, jsonOf, parsed, withoutHalves } from '../http/json.ts';
import { wireWord } from '../provider.ts';

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

/** `turns` as messages for `model`; the first and the last are the user's. Reasoning is sent back for turns from `reasonedFrom` on. */
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
      // Two replies in a row are separated: reasoning is bound to everything before it.
      if (blocks.length > 0 && messages.at(-1)?.role !== 'user') say('user', [GO_ON]);
      say('assistant', blocks);
      say('user', answers(turn.calls, turns[at + 1]));
    }
    before += lengthOfTurn(turn);
  });
  if (messages.at(-1)?.role !== 'user') say('user', [GO_ON]);
  return messages;
}

/** Skips blank texts, which the API refuses. */
const textBlocks = (text: string): readonly Anthropic.TextBlockParam[] =>
  text.trim() === '' ? [] : [{ type: 'text', text: text.toWellFormed() }];

/** Answers every call in the next message, including calls that were never run; other results are dropped. */
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

/** The blocks in the order of the reply: reasoning, texts and calls. */
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

/** The API requires an object as input, so invalid arguments are wrapped in one. */
const callBlock = ({ id, tool, input }: ToolCall): Anthropic.ToolUseBlockParam => ({
  type: 'tool_use',
  id: wireId(id),
  name: wireId(tool),
  input: asInput(input),
});

function asInput(input: Json): Json {
  const object = isObject(input) ? input : { arguments: input };
  const text = JSON.stringify(object);
  const whole = withoutHalves(text);
  return whole === text ? object : jsonOf(parsed(whole));
}

/** An id or the name of a tool. */
export const wireId = (id: string): string => wireWord(id, 128);

// Reasoning, which Claude wants back unchanged and in place. It is bound to the model and to the conversation before it, so it is sent
// back only to the same model after the same conversation.

const Thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const Redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });
const Part = z.discriminatedUnion('type', [
  Thinking,
  Redacted,
  z.strictObject({ type: z.literal('text'), length: z.int().min(1) }),
  /** The turn's next call. */
  z.strictObject({ type: z.literal('call') }),
]);
const Opaque = z.object({
  anthropic: z.object({ model: z.string(), before: z.int(), parts: z.array(Part) }),
});

export type Part = z.infer<typeof Part>;
type Reasoning = z.infer<typeof Thinking> | z.infer<typeof Redacted>;

/** The separator between two texts of one reply. */
export const BETWEEN = '\n\n';

/** The value of `ModelReply.opaque`; undefined if the reply has no reasoning to send back. */
export function packed(model: ModelId, turns: readonly Turn[], parts: readonly Part[]): Json | undefined {
  if (!parts.some(isReasoning)) return undefined;
  return { anthropic: { model, before: lengthOf(turns), parts: parts.map((part) => ({ ...part })) } };
}

/** The parts of `turn`, which follows turns of length `before`; null if none may be sent back to `model`. */
export function unpacked(model: ModelId, before: number, turn: Extract<Turn, { by: 'model' }>): readonly Part[] | null {
  if (turn.opaque === undefined) return null;
  const opaque = Opaque.safeParse(turn.opaque);
  if (!opaque.success) return null;
  const { anthropic } = opaque.data;
  const texts = anthropic.parts.flatMap((part) => (part.type === 'text' ? [part.length] : []));
  const length = texts.reduce((sum, one) => sum + one + BETWEEN.length, texts.length === 0 ? 0 : -BETWEEN.length);
  const calls = anthropic.parts.filter(({ type }) => type === 'call').length;
  const fits = length === turn.text.length && calls === turn.calls.length;
  return fits && anthropic.model === model && anthropic.before === before ? anthropic.parts : null;
}

const isReasoning = (part: Part): part is Reasoning => part.type === 'thinking' || part.type === 'redacted_thinking';

/** The length in characters: cheap to compute, and different after a turn was replaced by a summary. */
export const lengthOf = (turns: readonly Turn[]): number => turns.reduce((sum, turn) => sum + lengthOfTurn(turn), 0);

const lengthOfTurn = (turn: Turn): number =>
  1 + (turn.by === 'tools' ? turn.results.reduce((all, { text }) => all + text.length, 0) : turn.text.length);
