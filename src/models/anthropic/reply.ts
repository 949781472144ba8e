/** Takes the events of a stream one by one and tracks the message. Fails closed: an unknown form of an event is a fault. The
 * adapter makes a reply of the result. */
import type { Usage } from '../../domain/budget.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { bytesIn } from '../../domain/text/text.ts';
import type { Json } from '../../domain/turn.ts';
import type { Delta } from '../../ports/model.ts';
import { field } from '../http/fault.ts';
import { at, isFields, isJson } from '../http/json.ts';
import { BETWEEN } from './turns.ts';

/** A growing block; `json` is the part of a call's arguments that has arrived. */
export type Block =
  | Exclude<BlockStart, { type: 'tool_use' }>
  | (Extract<BlockStart, { type: 'tool_use' }> & { json: string });

/** How much of a message has arrived. */
export interface Progress {
  /** The name from the provider; null before the message began. */
  readonly model: string | null;
  readonly usage: Usage;
  readonly blocks: readonly { readonly block: Block; readonly ended: boolean }[];
  readonly stop: string | null;
  /** Why the request was refused, if stated. */
  readonly explanation: string;
  /** The last event has arrived. */
  readonly complete: boolean;
  /** A block began before the previous one ended, out of order, or after the end was announced. */
  readonly disorder: boolean;
}

/** Reads one stream. With `formed`, the reply is the input of a tool, which is streamed as text. */
export class MessageReader {
  readonly #formed: boolean;
  readonly #blocks = new Map<number, { block: Block; ended: boolean }>();
  #model: string | null = null;
  #usage: Usage = UNREPORTED;
  /** False until the final event: earlier counts of output are incomplete. */
  #outputIsFinal = false;
  #stop: string | null = null;
  #explanation = '';
  #complete = false;
  #writtenBytes = 0;
  #content = 0;
  #disorder = false;
  #last = -1;

  constructor(formed: boolean) {
    this.#formed = formed;
  }

  /** Takes the next event. Returns what to show of it, if anything, or why it is invalid. Events outside the reply, such as a ping, are ignored. */
  take(value: unknown): Result<Delta | null, string> {
    const type = at(value, 'type');
    if (type === 'message_start') return this.#begin(at(value, 'message'));
    if (!isKind(type)) return typeof type === 'string' ? ok(null) : UNKNOWN;
    if (this.#model === null) return fail('an event came before the start of the message');
    if (this.#complete) return fail('an event came after the end');
    if (type === 'message_delta') return this.#end(at(value, 'delta'), at(value, 'usage'));
    if (type !== 'message_stop') return this.#part(type, value);
    this.#complete = true;
    return ok(null);
  }

  progress(): Progress {
    const blocks = [...this.#blocks].toSorted(([a], [b]) => a - b).map(([, block]) => block);
    const output = this.#outputIsFinal ? this.#usage.output : Number.NaN;
    return {
      model: this.#model,
      usage: { ...this.#usage, output },
      blocks,
      stop: this.#stop,
      explanation: this.#explanation,
      complete: this.#complete,
      disorder: this.#disorder,
    };
  }

  /** True once a message began. */
  get begun(): boolean {
    return this.#model !== null;
  }

  /** Grows with each event that has content: a non-empty part of a block, a filled block, a stop reason. */
  get content(): number {
    return this.#content;
  }

  /** True once the last event has arrived. */
  get complete(): boolean {
    return this.#complete;
  }

  /** The most that was used so far, given the bytes sent and received. A token takes at least a byte. Reasoning arrives as a summary or
   * not at all, so with reasoning only the size of the whole response is a bound. */
  spent({ sent, came }: { readonly sent: number; readonly came: number }): Usage {
    const reasoned = [...this.#blocks.values()].some(({ block }) => /thinking/.test(block.type));
    return spentOf(this.#usage, { sent, came: reasoned ? came : this.#writtenBytes });
  }

  #begin(message: unknown): Result<null, string> {
    const model = at(message, 'model');
    if (typeof model !== 'string') return UNKNOWN;
    if (this.#model !== null) return fail('a second message started');
    this.#model = model;
    this.#usage = counted(this.#usage, at(message, 'usage'));
    return ok(null);
  }

  #part(type: Kind, value: unknown): Result<Delta | null, string> {
    const index = at(value, 'index');
    if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) return UNKNOWN;
    if (type === 'content_block_stop') return this.#close(index);
    if (type === 'content_block_start') {
      const start = blockIn(at(value, 'content_block'));
      return start === null ? UNKNOWN : this.#open(index, start);
    }
    const delta = deltaIn(at(value, 'delta'));
    return delta === null ? UNKNOWN : this.#grow(index, delta);
  }

  #open(index: number, start: BlockStart): Result<Delta | null, string> {
    if (this.#blocks.has(index)) return fail('a block started twice');
    if (this.#blocks.size >= MOST_BLOCKS) return fail('it has too many blocks');
    this.#place(index);
    if (isFilled(start)) this.#content += 1;
    const isFirstText = ![...this.#blocks.values()].some(({ block }) => block.type === 'text' && block.text !== '');
    this.#blocks.set(index, { block: start.type === 'tool_use' ? { ...start, json: '' } : { ...start }, ended: false });
    if (start.type === 'tool_use') this.#writtenBytes += bytesIn(start.name);
    if (start.type !== 'text') return ok(null);
    this.#writtenBytes += bytesIn(start.text);
    return ok(textDelta(isFirstText ? start.text : `${BETWEEN}${start.text}`));
  }

  /** Blocks must be sequential, and none may begin after the end was announced. */
  #place(index: number): void {
    const isNext = this.#last < index && (this.#blocks.get(this.#last)?.ended ?? true);
    if (!isNext || this.#stop !== null) this.#disorder = true;
    this.#last = Math.max(this.#last, index);
  }

  #grow(index: number, delta: BlockDelta): Result<Delta | null, string> {
    const at = this.#blocks.get(index);
    if (at === undefined || at.ended) return fail('a part belongs to a block that does not exist');
    const { block } = at;
    const { type, text } = delta;
    if (text !== '' || IS_MORE.has(type)) this.#content += 1;
    if (type === 'input_json_delta') return this.#growCall(block, text);
    if (type === 'other') {
      // An unknown part of a call makes the call unknown.
      if (block.type === 'tool_use') this.#disorder = true;
      return ok(null);
    }
    return type === 'text_delta' ? this.#growText(block, text) : growThought(block, type, text);
  }

  #growText(block: Block, text: string): Result<Delta | null, string> {
    if (block.type !== 'text') return NOT_ITS_KIND;
    block.text += text;
    this.#writtenBytes += bytesIn(text);
    return ok(textDelta(text));
  }

  #growCall(block: Block, json: string): Result<Delta | null, string> {
    // Calls of the provider's own tools grow in the same way.
    if (block.type === 'other') return ok(null);
    if (block.type !== 'tool_use') return NOT_ITS_KIND;
    block.json += json;
    this.#writtenBytes += bytesIn(json);
    if (this.#formed) return ok(textDelta(json));
    return ok(json === '' ? null : { is: 'call', tool: block.name, text: json });
  }

  #close(index: number): Result<null, string> {
    const at = this.#blocks.get(index);
    if (at === undefined) return fail('a block ended that never started');
    at.ended = true;
    return ok(null);
  }

  #end(delta: unknown, usage: unknown): Result<null, string> {
    const [reason, details] = [said(delta, 'stop_reason'), at(delta, 'stop_details') ?? null];
    const explanation = details === null ? null : said(details, 'explanation');
    if (reason === undefined || explanation === undefined) return UNKNOWN;
    this.#outputIsFinal ||= reportsOutput(usage);
    this.#usage = counted(this.#usage, usage);
    this.#stop = reason ?? this.#stop;
    if (reason !== null) this.#content += 1;
    this.#explanation = explanation ?? this.#explanation;
    return ok(null);
  }
}

/** Text and thinking usually begin empty. */
const isFilled = (start: BlockStart): boolean =>
  start.type === 'text' ? start.text !== '' : start.type !== 'thinking' || start.thinking !== '';

function growThought(
  block: Block,
  type: 'thinking_delta' | 'signature_delta',
  text: string,
): Result<Delta | null, string> {
  if (block.type !== 'thinking') return NOT_ITS_KIND;
  if (type === 'thinking_delta') block.thinking += text;
  else block.signature = text;
  return ok(type === 'signature_delta' || text === '' ? null : { is: 'reasoning', text });
}

const MOST_BLOCKS = 4096;
const UNKNOWN = fail('an event has an unknown form');
const NOT_ITS_KIND = fail('a part has another kind than its block');
const textDelta = (text: string): Delta | null => (text === '' ? null : { is: 'text', text });

// Usage as Anthropic reports it: cumulative, with the input counts in the first event and the final ones in the last.

const CLASSES = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
} as const;

/** Nothing was reported; NaN makes the caller use the upper bound. */
const UNREPORTED: Usage = { input: Number.NaN, output: Number.NaN, cacheRead: 0, cacheWrite: 0 };

/** Merges `reported` into `known`; later counts replace earlier ones. Impossible values are passed on for the gate to judge. */
function counted(known: Usage, reported: unknown): Usage {
  const count = (of: keyof Usage): number => {
    const said = field(reported, CLASSES[of]);
    if (said === undefined || said === null) return known[of];
    return typeof said === 'number' ? said : Number.NaN;
  };
  return {
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
  };
}

const reportsOutput = (reported: unknown): boolean => (field(reported, CLASSES.output) ?? null) !== null;

/** The most that a failed call used: the reported input, else a token for each byte sent; for output a token for each byte received, and
 * at least the reported count. */
function spentOf(known: Usage, bytes: { readonly sent: number; readonly came: number }): Usage {
  const whole = (count: number, otherwise: number): number =>
    Number.isSafeInteger(count) && count >= 0 ? count : otherwise;
  return {
    input: whole(known.input, bytes.sent),
    output: Math.max(whole(known.output, 0), bytes.came),
    cacheRead: whole(known.cacheRead, 0),
    cacheWrite: whole(known.cacheWrite, 0),
  };
}

// Parses the documented events of Anthropic's stream. It is done by hand, because it runs for each piece of each reply, and preparing
// a schema takes longer than reading a whole first reply.

/** The kinds of events after the first; unknown kinds are ignored. */
type Kind = `content_block_${'start' | 'delta' | 'stop'}` | `message_${'delta' | 'stop'}`;
const isKind = (type: unknown): type is Kind =>
  typeof type === 'string' && /^(?:content_block_(?:start|delta|stop)|message_(?:delta|stop))$/.test(type);

/** Mutable, because `MessageReader` extends it. */
type BlockStart =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Json }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  /** A block of a server tool, which is never requested. */
  | { type: 'other' };

/** The kinds of parts, each with the field that holds its text. */
const TEXTS = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
  other: 'type',
} as const;

interface BlockDelta {
  readonly type: keyof typeof TEXTS;
  readonly text: string;
}

const isKnown = (type: string): type is BlockDelta['type'] => Object.hasOwn(TEXTS, type);
/** These kinds matter even when empty. */
const IS_MORE: ReadonlySet<string> = new Set(['signature_delta', 'other']);

function blockIn(block: unknown): BlockStart | null {
  const type = at(block, 'type');
  switch (type) {
    case 'text': {
      const text = textOr(block, 'text', '');
      return text === null ? null : { type, text };
    }
    case 'tool_use': {
      const [id, name, input] = [textOr(block, 'id'), textOr(block, 'name'), inputIn(block)];
      return id === null || name === null || !isJson(input) ? null : { type, id, name, input };
    }
    case 'thinking': {
      const [thinking, signature] = [textOr(block, 'thinking', ''), textOr(block, 'signature', '')];
      return thinking === null || signature === null ? null : { type, thinking, signature };
    }
    case 'redacted_thinking': {
      const data = textOr(block, 'data');
      return data === null ? null : { type, data };
    }
    default:
      return typeof type === 'string' ? { type: 'other' } : null;
  }
}

function deltaIn(delta: unknown): BlockDelta | null {
  const kind = textOr(delta, 'type');
  if (kind === null) return null;
  const type = isKnown(kind) ? kind : 'other';
  const text = textOr(delta, TEXTS[type]);
  return text === null ? null : { type, text };
}

/** The text in the field `name`; `otherwise` if there is no such field; null if it holds something else. */
function textOr(value: unknown, name: string, otherwise: string | null = null): string | null {
  const found = at(value, name);
  return typeof found === 'string' ? found : found === undefined ? otherwise : null;
}

/** The text in the field `name`, null if it is missing or null; undefined if it is something else or `value` is not an object. */
function said(value: unknown, name: string): string | null | undefined {
  const found = isFields(value) ? (at(value, name) ?? null) : undefined;
  return found === null || typeof found === 'string' ? found : undefined;
}

/** A missing input is an empty one; null is kept as sent. */
function inputIn(block: unknown): unknown {
  const input = at(block, 'input');
  return input === undefined ? {} : input;
}
