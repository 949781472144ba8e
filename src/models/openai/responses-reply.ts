/** Reads the events of OpenAI's Responses API. Only `response.completed` makes calls that may be executed. */
import type { Usage } from '../../domain/budget.ts';
import type { Delta, ModelRequest, Words } from '../../ports/model.ts';
import { at, isFields, listAt, numberAt, textAt } from '../http/json.ts';
import type { Fields } from '../http/json.ts';
import type { Read, Reader, Reading } from './reading.ts';
import { callsOf, NOT_COUNTED, usageOf, withoutCalls } from './reading.ts';

const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** A reader of the reply to `request`. What streams goes to `onDelta`. */
export function readResponses(request: ModelRequest, onDelta: (delta: Delta) => void): Reader {
  const done = new Map<number, Fields>();
  const order = openOrder();
  let end: Fields | null = null;
  let model = '';
  /** Where what is being told belongs: text of another item or part begins a paragraph. */
  const places: Record<Words['is'], string> = { text: '', reasoning: '' };

  const tell = (is: Words['is'], event: Fields): void => {
    const text = textAt(event, 'delta');
    if (text === '') return;
    const place = `${numberAt(event, 'output_index') ?? ''}.${numberAt(event, 'summary_index') ?? ''}`;
    const paragraph = places[is] !== '' && places[is] !== place;
    places[is] = place;
    onDelta({ is, text: paragraph ? `\n\n${text}` : text });
  };
  /** Which tool is called is said once, before its arguments. */
  const tools = new Map<number, string>();
  const tellCall = (type: string, event: Fields): void => {
    if (type === 'response.output_item.added') tools.set(placeOf(event), textAt(at(event, 'item'), 'name'));
    const text = type === 'response.function_call_arguments.delta' ? textAt(event, 'delta') : '';
    if (text !== '') onDelta({ is: 'call', tool: tools.get(placeOf(event)) ?? '', text });
  };
  const told: ReadonlyMap<string, Words['is']> = new Map(
    Object.entries({
      'response.output_text.delta': 'text',
      'response.refusal.delta': 'text',
      'response.reasoning_summary_text.delta': 'reasoning',
      'response.reasoning_text.delta': 'reasoning',
    } as const),
  );
  const usage = (): Usage | null => {
    const counted = at(at(end, 'response'), 'usage');
    return isFields(counted) ? usageOf(counted, { all: 'input_tokens', output: 'output_tokens' }) : null;
  };

  return {
    usage,
    thought: () => 0,
    take(event) {
      if (end !== null || !isFields(event)) return end !== null;
      const type = textAt(event, 'type');
      const delta = told.get(type);
      if (delta !== undefined) tell(delta, event);
      model = textAt(at(event, 'response'), 'model') || model;
      tellCall(type, event);
      order.take(type, event);
      if (type === 'response.output_item.done') keepItem(done, event);
      // Servers in between put an error in a frame of their own.
      if (ENDS.has(type) || (type === '' && at(event, 'error'))) end = event;
      return end !== null;
    },
    reading() {
      if (end === null) return { is: 'cut' };
      const whole = listAt(at(end, 'response'), 'output').filter(isFields);
      // Some servers leave the output of the last event empty.
      const items = whole.length > 0 ? whole : [...done].sort(([a], [b]) => a - b).map(([, item]) => item);
      const reading = readingOf(request, end, { items, model, usage: usage() ?? NOT_COUNTED });
      const calls = reading.is === 'reply' ? reading.reply.calls.length : 0;
      const why = calls === 0 ? null : againstCalls(items, done, order.broken());
      return why === null ? reading : { is: 'malformed', why };
    },
  };
}

/** Items as they are asked for; any other is a tool of the server's own, which is never asked for. */
const KINDS: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call']);

/** Why no call of a whole reply may be carried out. `done`: items as they streamed. */
function againstCalls(items: readonly Fields[], done: ReadonlyMap<number, Fields>, disorder: boolean): string | null {
  if (!items.every((item) => KINDS.has(textAt(item, 'type'))))
    return 'beside its tool calls stands an item of an unknown kind';
  const called = (some: readonly Fields[]): string =>
    some
      .filter((item) => textAt(item, 'type') === 'function_call')
      .map((item) => textAt(item, 'call_id'))
      .join(' ');
  const streamed = [...done].sort(([a], [b]) => a - b).map(([, item]) => item);
  if (disorder || (streamed.length > 0 && called(streamed) !== called(items))) return 'its items came out of order';
  return null;
}

/** Notices an item that begins before one that has begun or in its place, where the server says places. */
function openOrder() {
  let last = -1;
  let broken = false;
  return {
    take(type: string, event: Fields): void {
      const place = type === 'response.output_item.added' ? numberAt(event, 'output_index') : null;
      if (place === null) return;
      broken ||= place <= last;
      last = Math.max(last, place);
    },
    broken: () => broken,
  };
}

const placeOf = (event: Fields): number => numberAt(event, 'output_index') ?? 0;

interface Came {
  readonly items: readonly Fields[];
  readonly model: string;
  readonly usage: Usage;
}

function readingOf(request: ModelRequest, end: Fields, { items, model, usage }: Came): Reading {
  const type = textAt(end, 'type');
  const response = at(end, 'response');
  if (type === 'response.failed') return { is: 'error', error: at(response, 'error') };
  if (type === 'error' || type === '') return { is: 'error', error: at(end, 'error') ?? end };
  const refusal = wordsIn(items, 'refusal');
  const read = { text: refusal || wordsIn(items, 'output_text'), usage, model };
  if (type === 'response.incomplete') return incomplete(read, textAt(at(response, 'incomplete_details'), 'reason'));
  if (refusal !== '') return withoutCalls(read, 'refused');
  return { is: 'reply', reply: wholeReply(request, items, read) };
}

function keepItem(done: Map<number, Fields>, event: Fields): void {
  const item = at(event, 'item');
  if (isFields(item)) done.set(numberAt(event, 'output_index') ?? done.size, item);
}

function incomplete(read: Pick<Read, 'text' | 'usage' | 'model'>, reason: string): Reading {
  if (reason === 'max_output_tokens') return withoutCalls(read, 'output limit');
  if (reason === 'content_filter') return withoutCalls(read, 'refused');
  return { is: 'malformed', why: `it stopped for a reason that is not known: ${reason || 'none was given'}` };
}

function wholeReply(
  request: ModelRequest,
  items: readonly Fields[],
  read: Pick<Read, 'text' | 'usage' | 'model'>,
): Read {
  const raw = items
    .filter((item) => textAt(item, 'type') === 'function_call')
    .map((item) => ({
      id: textAt(item, 'call_id'),
      tool: textAt(item, 'name'),
      arguments: textAt(item, 'arguments'),
      extra: null,
    }));
  const { calls, kept } = callsOf(request, raw);
  // Reasoning is only taken back with what followed it, in the same order; words and calls alone can be written anew.
  const isMore = items.some((item) => textAt(item, 'type') === 'reasoning' || textAt(item, 'phase') !== '');
  // Items whose calls can't be told apart would not be taken, nor reasoning that nothing follows.
  const isTaken = (raw.length === 0 || kept.ids !== undefined) && textAt(items.at(-1), 'type') !== 'reasoning';
  return {
    ...read,
    calls,
    stopReason: calls.length > 0 ? 'tool use' : 'end',
    kept: isMore && isTaken ? { ...kept, items } : kept,
  };
}

/** All words of one kind, each message a paragraph. */
const wordsIn = (items: readonly Fields[], type: 'output_text' | 'refusal'): string =>
  items
    .filter((item) => textAt(item, 'type') === 'message')
    .map((item) =>
      listAt(item, 'content')
        .filter((part) => textAt(part, 'type') === type)
        .map((part) => textAt(part, type === 'refusal' ? 'refusal' : 'text'))
        .join(''),
    )
    .filter((text) => text !== '')
    .join('\n\n');
