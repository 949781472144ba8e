/**
 * Takes the events of a stream one by one and knows how far the message came. Fails closed: what can't be understood is no part of
 * a reply. What the reply then is, is anthropic-result.ts's to say.
 */
import type { Usage } from '../../domain/budget.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import type { Result } from '../../domain/result.ts';
import type { Delta } from '../../ports/model.ts';
import { eventOf } from './event.ts';
import type { BlockDelta, BlockStart, Event } from './event.ts';
import { BETWEEN } from './opaque.ts';
import { counted, reportsOutput, spentOf, UNREPORTED } from './usage.ts';
import { bytesOf } from '../provider.ts';

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
