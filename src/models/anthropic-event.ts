/** The events of Anthropic's stream as they are documented, and nothing trusted: what has another form is no event. */
import { z } from 'zod';

const Index = z.int().min(0);

const Started = z.object({
  type: z.literal('message_start'),
  message: z.object({ model: z.string(), usage: z.unknown().optional() }),
});

const BlockStarted = z.object({
  type: z.literal('content_block_start'),
  index: Index,
  content_block: z.union([
    z.object({ type: z.literal('text'), text: z.string().default('') }),
    z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.json().default({}) }),
    z.object({
      type: z.literal('thinking'),
      thinking: z.string().default(''),
      signature: z.string().default(''),
    }),
    z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
    /** Blocks of server tools, which are never asked for. */
    z.object({ type: z.string().refine((type) => !OURS.has(type)) }).transform(() => ({ type: 'other' as const })),
  ]),
});

const OURS: ReadonlySet<string> = new Set(['text', 'tool_use', 'thinking', 'redacted_thinking']);
const DELTAS: ReadonlySet<string> = new Set(['text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta']);

const BlockGrew = z.object({
  type: z.literal('content_block_delta'),
  index: Index,
  delta: z.union([
    z.object({ type: z.literal('text_delta'), text: z.string() }),
    z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
    z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
    z.object({ type: z.literal('signature_delta'), signature: z.string() }),
    z.object({ type: z.string().refine((type) => !DELTAS.has(type)) }).transform(() => ({ type: 'other' as const })),
  ]),
});

const Ending = z.object({
  type: z.literal('message_delta'),
  delta: z.object({
    stop_reason: z.string().nullish(),
    stop_details: z.object({ explanation: z.string().nullish() }).nullish(),
  }),
  usage: z.unknown().optional(),
});

const Known = z.discriminatedUnion('type', [
  Started,
  BlockStarted,
  BlockGrew,
  z.object({ type: z.literal('content_block_stop'), index: Index }),
  Ending,
  z.object({ type: z.literal('message_stop') }),
]);
const KNOWN: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);
const Typed = z.object({ type: z.string() });

export type Event = z.infer<typeof Known>;
export type BlockStart = z.infer<typeof BlockStarted>['content_block'];
export type BlockDelta = z.infer<typeof BlockGrew>['delta'];

/** The event, `other` for a kind that is not known here (new ones may be added), or null for what is none. */
export function eventOf(value: unknown): Event | 'other' | null {
  const known = Known.safeParse(value);
  if (known.success) return known.data;
  const typed = Typed.safeParse(value);
  return typed.success && !KNOWN.has(typed.data.type) ? 'other' : null;
}
