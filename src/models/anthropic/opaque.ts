/**
 * Reasoning that Claude wants back unchanged and in its place: what a reply was made of, in order. Reasoning is bound to the model and
 * to the conversation before it, so it is sent back only to the same model after the same words.
 */
import { z } from 'zod';
import type { ModelId } from '../../domain/ids.ts';
import type { Json, Turn } from '../../domain/turn.ts';

const Thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const Redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });
const Part = z.discriminatedUnion('type', [
  Thinking,
  Redacted,
  /** That many characters of the turn's text. */
  z.strictObject({ type: z.literal('text'), length: z.int().min(1) }),
  /** The turn's next call. */
  z.strictObject({ type: z.literal('call') }),
]);
const Opaque = z.object({
  anthropic: z.object({ model: z.string(), before: z.int(), parts: z.array(Part) }),
});

export type Part = z.infer<typeof Part>;
export type Reasoning = z.infer<typeof Thinking> | z.infer<typeof Redacted>;

/** What stands between two texts of one reply. */
export const BETWEEN = '\n\n';

/** For `ModelReply.opaque`, tagged as Anthropic's; undefined when the reply holds no reasoning to send back. */
export function packed(model: ModelId, turns: readonly Turn[], parts: readonly Part[]): Json | undefined {
  if (!parts.some(isReasoning)) return undefined;
  return { anthropic: { model, before: lengthOf(turns), parts: parts.map((part) => ({ ...part })) } };
}

/** The parts of `turn`, the one after turns of length `before`; null when there are none that may be sent back to `model`. */
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

/** Characters of a conversation: cheap, and different after any of its turns was replaced by a summary. */
export const lengthOf = (turns: readonly Turn[]): number => turns.reduce((sum, turn) => sum + lengthOfTurn(turn), 0);

/** What one turn adds to the length of a conversation. */
export const lengthOfTurn = (turn: Turn): number =>
  1 + (turn.by === 'tools' ? turn.results.reduce((all, { text }) => all + text.length, 0) : turn.text.length);
