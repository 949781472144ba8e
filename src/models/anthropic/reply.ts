/**
 * Takes the events of a stream one by one and knows how far the message came. Fails closed: what can't be understood is no part of
 * a reply. What the reply then is, is anthropic-result.ts's to say.
 */
import type { Usage } from '../../domain/budget.ts';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import type { Json } from '../../domain/turn.ts';
import type { Delta } from '../../ports/model.ts';
import { field } from '../http/fault.ts';
import { at, DEEPEST, isFields } from '../http/json.ts';
import { bytesOf } from '../provider.ts';
import { BETWEEN } from './opaque.ts';

/** A block as it grows; `json` is what came of a call's arguments. */
export type Block =
  | Exclude<BlockStart, { type: 'tool_use' }>
  | (Extract<BlockStart, { type: 'tool_use' }> & { json: string });

/** How far a message came. */
export interface Progress {
  /** As the provider said it; null before the message began. */
  readonly model: string | null;
  readonly usage: Usage;
  readonly blocks: readonly { readonly block: Block; readonly ended: boolean }[];
  readonly stop: string | null;
  /** Why it was refused, where that was said. */
  readonly explanation: string;
  /** The last event came. */
  readonly complete: boolean;
  /** A block began before the one before it had ended, out of its place, or after the end was told. */
  readonly disorder: boolean;
}

/** Reads one stream. `formed`: the reply is the input of a tool, which is shown as text then. */
export class MessageReader {
  readonly #formed: boolean;
  readonly #blocks = new Map<number, { block: Block; ended: boolean }>();
  #model: string | null = null;
  #usage: Usage = UNREPORTED;
  /** The count of the first event is of no more than that event. */
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

  /**
   * The next event: what there is to show of it, if anything; `other` for one that is no part of a reply, such as a ping; or in words why
   * it can't be one.
   */
  take(value: unknown): Result<Delta | 'other' | null, string> {
    const event = eventOf(value);
    if (event === null) return fail('an event has a form that is not known');
    if (event === 'other') return ok('other');
    if (event.type === 'message_start') return this.#begin(event);
    if (this.#model === null) return fail('an event came before the message began');
    if (this.#complete) return fail('an event came after the end');
    switch (event.type) {
      case 'content_block_start':
        return this.#open(event.index, event.content_block);
      case 'content_block_delta':
        return this.#grow(event.index, event.delta);
      case 'content_block_stop':
        return this.#close(event.index);
      case 'message_delta':
        return this.#end(event);
      case 'message_stop':
        this.#complete = true;
        return ok(null);
      default:
        return unreachable(event);
    }
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

  /** Did a message begin? */
  get begun(): boolean {
    return this.#model !== null;
  }

  /** Grows with each event that has content: a part of a block that is not empty, a block that holds something, why it stopped. */
  get content(): number {
    return this.#content;
  }

  /** Did the last event come? */
  get complete(): boolean {
    return this.#complete;
  }

  /**
   * What was used up at most so far, of a request and a response of so many bytes. A token writes at least a byte; but reasoning comes
   * as a summary or not at all, so that only the whole response bounds it.
   */
  spent({ sent, came }: { readonly sent: number; readonly came: number }): Usage {
    const reasoned = [...this.#blocks.values()].some(({ block }) => /thinking/.test(block.type));
    return spentOf(this.#usage, { sent, came: reasoned ? came : this.#writtenBytes });
  }

  #begin({ message }: Extract<Event, { type: 'message_start' }>): Result<null, string> {
    if (this.#model !== null) return fail('a second message began');
    this.#model = message.model;
    this.#usage = counted(this.#usage, message.usage);
    return ok(null);
  }

  #open(index: number, start: BlockStart): Result<Delta | null, string> {
    if (this.#blocks.has(index)) return fail('a block began twice');
    if (this.#blocks.size >= MOST_BLOCKS) return fail('it has more blocks than any reply');
    this.#place(index);
    if (isFilled(start)) this.#content += 1;
    const isFirstText = ![...this.#blocks.values()].some(({ block }) => block.type === 'text' && block.text !== '');
    this.#blocks.set(index, { block: start.type === 'tool_use' ? { ...start, json: '' } : { ...start }, ended: false });
    if (start.type === 'tool_use') this.#writtenBytes += bytesOf(start.name);
    if (start.type !== 'text') return ok(null);
    this.#writtenBytes += bytesOf(start.text);
    return ok(textDelta(isFirstText ? start.text : `${BETWEEN}${start.text}`));
  }

  /** Blocks come one after the other, and none after the end was told. */
  #place(index: number): void {
    const isNext = this.#last < index && (this.#blocks.get(this.#last)?.ended ?? true);
    if (!isNext || this.#stop !== null) this.#disorder = true;
    this.#last = Math.max(this.#last, index);
  }

  #grow(index: number, delta: BlockDelta): Result<Delta | null, string> {
    const at = this.#blocks.get(index);
    if (at === undefined || at.ended) return fail('a part came of a block that is not there');
    const { block } = at;
    if (!isEmpty(delta)) this.#content += 1;
    switch (delta.type) {
      case 'text_delta':
        if (block.type !== 'text') return NOT_ITS_KIND;
        block.text += delta.text;
        this.#writtenBytes += bytesOf(delta.text);
        return ok(textDelta(delta.text));
      case 'input_json_delta':
        return this.#growCall(block, delta.partial_json);
      case 'thinking_delta':
        if (block.type !== 'thinking') return NOT_ITS_KIND;
        block.thinking += delta.thinking;
        return ok(delta.thinking === '' ? null : { is: 'reasoning', text: delta.thinking });
      case 'signature_delta':
        if (block.type !== 'thinking') return NOT_ITS_KIND;
        block.signature = delta.signature;
        return ok(null);
      case 'other':
        // What it adds to a call is not known, so that the call is not either.
        if (block.type === 'tool_use') this.#disorder = true;
        return ok(null);
      default:
        return unreachable(delta);
    }
  }

  #growCall(block: Block, json: string): Result<Delta | null, string> {
    // Calls of the provider's own tools grow in the same way.
    if (block.type === 'other') return ok(null);
    if (block.type !== 'tool_use') return NOT_ITS_KIND;
    block.json += json;
    this.#writtenBytes += bytesOf(json);
    if (this.#formed) return ok(textDelta(json));
    return ok(json === '' ? null : { is: 'call', tool: block.name, text: json });
  }

  #close(index: number): Result<null, string> {
    const at = this.#blocks.get(index);
    if (at === undefined) return fail('a block ended that never began');
    at.ended = true;
    return ok(null);
  }

  #end({ delta, usage }: Extract<Event, { type: 'message_delta' }>): Result<null, string> {
    this.#outputIsFinal ||= reportsOutput(usage);
    this.#usage = counted(this.#usage, usage);
    this.#stop = delta.stop_reason ?? this.#stop;
    if (delta.stop_reason !== null) this.#content += 1;
    this.#explanation = delta.stop_details?.explanation ?? this.#explanation;
    return ok(null);
  }
}

/** Text and thinking mostly begin empty. */
const isFilled = (start: BlockStart): boolean =>
  start.type === 'text' ? start.text !== '' : start.type !== 'thinking' || start.thinking !== '';

function isEmpty(delta: BlockDelta): boolean {
  switch (delta.type) {
    case 'text_delta':
      return delta.text === '';
    case 'input_json_delta':
      return delta.partial_json === '';
    case 'thinking_delta':
      return delta.thinking === '';
    default:
      return false;
  }
}

const MOST_BLOCKS = 4096;

const NOT_ITS_KIND = fail('a part came of another kind than its block');

const textDelta = (text: string): Delta | null => (text === '' ? null : { is: 'text', text });

// Usage as Anthropic reports it: counts of the input with the first event, the final ones with the last, cumulative.

const CLASSES = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
} as const;

/** Nothing was reported: no number, so that whoever settles takes the bound. */
const UNREPORTED: Usage = { input: Number.NaN, output: Number.NaN, cacheRead: 0, cacheWrite: 0 };

/** `known` with what `reported` adds: later counts hold instead of earlier ones. What can't be true is passed on as it is. */
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

/** Is there a count of the output in it? */
const reportsOutput = (reported: unknown): boolean => (field(reported, CLASSES.output) ?? null) !== null;

/**
 * What a call that failed used up at most: input as it was reported, or a token for each byte that was sent; output a token for each
 * byte that came, and no less than was reported.
 */
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

// The events of Anthropic's stream as they are documented, and nothing trusted: what has another form is no event. Read by hand, since
// this is done for each piece of each reply: a schema takes longer to be made ready than a whole first reply to be read.

type Event =
  | { readonly type: 'message_start'; readonly message: { readonly model: string; readonly usage: unknown } }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: BlockStart }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_delta'; readonly delta: Ending; readonly usage: unknown }
  | { readonly type: 'message_stop' };

/** Whoever reads the stream lets it grow. */
type BlockStart =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Json }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  /** Of a server tool, which is never asked for. */
  | { type: 'other' };

type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'other' };

interface Ending {
  readonly stop_reason: string | null;
  readonly stop_details: { readonly explanation: string | null } | null;
}

/** The event, `other` for a kind that is not known here (new ones may be added), or null for what is none. */
function eventOf(value: unknown): Event | 'other' | null {
  const type = at(value, 'type');
  switch (type) {
    case 'message_start':
      return startIn(value);
    case 'content_block_start':
    case 'content_block_delta':
    case 'content_block_stop':
      return ofBlock(value, type);
    case 'message_delta':
      return endIn(value);
    case 'message_stop':
      return { type };
    default:
      return typeof type === 'string' ? 'other' : null;
  }
}

function startIn(value: unknown): Event | null {
  const message = at(value, 'message');
  const model = at(message, 'model');
  return typeof model === 'string' ? { type: 'message_start', message: { model, usage: at(message, 'usage') } } : null;
}

function ofBlock(
  value: unknown,
  type: 'content_block_start' | 'content_block_delta' | 'content_block_stop',
): Event | null {
  const index = at(value, 'index');
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) return null;
  if (type === 'content_block_stop') return { type, index };
  if (type === 'content_block_start') {
    const content_block = blockIn(at(value, 'content_block'));
    return content_block === null ? null : { type, index, content_block };
  }
  const delta = deltaIn(at(value, 'delta'));
  return delta === null ? null : { type, index, delta };
}

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
  const type = at(delta, 'type');
  switch (type) {
    case 'text_delta': {
      const text = textOr(delta, 'text');
      return text === null ? null : { type, text };
    }
    case 'input_json_delta': {
      const partial_json = textOr(delta, 'partial_json');
      return partial_json === null ? null : { type, partial_json };
    }
    case 'thinking_delta': {
      const thinking = textOr(delta, 'thinking');
      return thinking === null ? null : { type, thinking };
    }
    case 'signature_delta': {
      const signature = textOr(delta, 'signature');
      return signature === null ? null : { type, signature };
    }
    default:
      return typeof type === 'string' ? { type: 'other' } : null;
  }
}

function endIn(value: unknown): Event | null {
  const delta = at(value, 'delta');
  const [reason, details] = [at(delta, 'stop_reason') ?? null, detailsIn(at(delta, 'stop_details') ?? null)];
  return !isFields(delta) || !isTextOrNull(reason) || details === undefined
    ? null
    : { type: 'message_delta', delta: { stop_reason: reason, stop_details: details }, usage: at(value, 'usage') };
}

/** Undefined: they have another form. */
function detailsIn(details: unknown): Ending['stop_details'] | undefined {
  const explanation = at(details, 'explanation') ?? null;
  if (details === null) return null;
  return isFields(details) && isTextOrNull(explanation) ? { explanation } : undefined;
}

/** The text in the field `name`, `otherwise` where there is no such field; null where there is something else. */
function textOr(value: unknown, name: string, otherwise: string | null = null): string | null {
  const found = at(value, name);
  return typeof found === 'string' ? found : found === undefined ? otherwise : null;
}

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';

/** Null is an input that was sent. */
function inputIn(block: unknown): unknown {
  const input = at(block, 'input');
  return input === undefined ? {} : input;
}

/** A number that is too large to be one has no JSON; nor does anybody ask for an input that is so deep. */
function isJson(value: unknown, depth = 0): value is Json {
  if (depth > DEEPEST) return false;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every((part) => isJson(part, depth + 1));
  return isFields(value) ? Object.values(value).every((part) => isJson(part, depth + 1)) : value !== undefined;
}
