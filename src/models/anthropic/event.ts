/**
 * The events of Anthropic's stream as they are documented, and nothing trusted: what has another form is no event. Read by hand, since
 * this is done for each piece of each reply: a schema takes longer to be made ready than a whole first reply to be read.
 */
import type { Json } from '../../domain/turn.ts';
import { at, DEEPEST, isFields } from '../http/json.ts';

export type Event =
  | { readonly type: 'message_start'; readonly message: { readonly model: string; readonly usage: unknown } }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: BlockStart }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | { readonly type: 'message_delta'; readonly delta: Ending; readonly usage: unknown }
  | { readonly type: 'message_stop' };

/** Whoever reads the stream lets it grow. */
export type BlockStart =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Json }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }
  /** Of a server tool, which is never asked for. */
  | { type: 'other' };

export type BlockDelta =
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
export function eventOf(value: unknown): Event | 'other' | null {
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
