/** Anthropic's Messages wire: how a request reads, and what a reply looks like, streamed and whole. Event order as documented. */
import { unreachable } from '../../../src/domain/result.ts';
import type { Counted, Part, Read } from './asked.ts';
import type { Frame, Writing } from './frame.ts';
import type { Reply } from './reply.ts';
import { at, isFields, jsonOf, listAt, listOf, numberAt, parsed, textAt } from './json.ts';
import { named } from './frame.ts';
import { signatureOf } from './seal.ts';
import { piecesOf, tokensIn } from './tokens.ts';

export function readMessages(body: unknown): Read {
  const messages = listAt(body, 'messages');
  const said = messages.filter((message) => textAt(message, 'role') === 'user').map(wordsOf);
  return {
    model: textAt(body, 'model'),
    stream: at(body, 'stream') === true,
    system: blocksOf(at(body, 'system'))
      .map((block) => textAt(block, 'text'))
      .join('\n'),
    first: said[0] ?? '',
    last: said.at(-1) ?? '',
    tools: listAt(body, 'tools').map((tool) => textAt(tool, 'name')),
    turn: 1 + messages.filter((message) => textAt(message, 'role') === 'assistant').length,
    limit: numberAt(body, 'max_tokens'),
    parts: partsOf(body, messages),
    calls: messages
      .flatMap((message) => blocksOf(at(message, 'content')))
      .filter((block) => textAt(block, 'type') === 'tool_use')
      .map((block) => textAt(block, 'id')),
    key: textAt(at(body, 'metadata'), 'user_id'),
  };
}

/** Text alone is short for one block of it. */
export const blocksOf = (content: unknown): readonly unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);

const wordsOf = (message: unknown): string =>
  blocksOf(at(message, 'content'))
    .flatMap((block) => (textAt(block, 'type') === 'tool_result' ? blocksOf(at(block, 'content')) : [block]))
    .map((block) => textAt(block, 'text'))
    .join('\n');

function partsOf(body: unknown, messages: readonly unknown[]): readonly Part[] {
  const part = (of: Part['of'], value: unknown): Part => {
    if (!isFields(value)) return { of, json: jsonOf(value), marked: false };
    const { cache_control: mark, ...rest } = value;
    return { of, json: jsonOf(rest), marked: mark !== undefined && mark !== null };
  };
  const settings = ['tool_choice', 'thinking'].flatMap((name) => at(body, name) ?? []);
  const parts = [
    part('model', at(body, 'model')),
    ...listAt(body, 'tools').map((tool) => part('tools', tool)),
    ...listOf(at(at(body, 'output_config'), 'format') ? [at(body, 'output_config')] : []).map((one) =>
      part('tools', one),
    ),
    ...blocksOf(at(body, 'system')).map((block) => part('system', block)),
    ...settings.map((one) => part('settings', one)),
    ...messages.flatMap((message) =>
      blocksOf(at(message, 'content')).map((block) => {
        const { json, marked } = part('turn', block);
        return { of: 'turn' as const, json: `${textAt(message, 'role')} ${json}`, marked };
      }),
    ),
  ];
  // A mark on the request itself stands for one on its last block.
  const whole = isFields(at(body, 'cache_control'));
  return parts.map((one, index) => (whole && index === parts.length - 1 ? { ...one, marked: true } : one));
}

/** The events of a streamed reply. */
export function messageFrames(reply: Reply, counted: Counted, writing: Writing): readonly Frame[] {
  const said = usageOf(counted, writing);
  const open = said === null ? {} : { usage: writing.usage === undefined ? { ...said, output_tokens: 1 } : said };
  const message = {
    ...headOf(reply),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    ...open,
  };
  const blocks = blocksOfReply(reply, writing).map((block, index) => blockFrames(block, index));
  return [
    named({ type: 'message_start', message }),
    ...(blocks[0]?.slice(0, 1) ?? []),
    named({ type: 'ping' }),
    ...(blocks[0]?.slice(1) ?? []),
    ...blocks.slice(1).flat(),
    named({
      type: 'message_delta',
      delta: { ...endOf(reply), container: null },
      ...(said === null ? {} : { usage: deltaUsage(counted, reply, writing) }),
    }),
    named({ type: 'message_stop' }),
  ];
}

/** The signature of a reply's reasoning; null where it has none. */
export function messageReasoned(reply: Reply, body: unknown): string | null {
  const thinking = thinkingOf(reply, body);
  return thinking === null ? null : signatureOf(thinking);
}

/** The whole reply, for a request that wants no stream. */
export function wholeMessage(reply: Reply, counted: Counted, writing: Writing): unknown {
  const content = blocksOfReply(reply, writing).map((block) =>
    block.type === 'tool_use'
      ? { ...block, input: parsed(block.json) ?? {}, json: undefined }
      : { ...block, hidden: undefined },
  );
  const usage = usageOf(counted, writing);
  return { ...headOf(reply), content, ...endOf(reply), ...(usage === null ? {} : { usage }) };
}

const headOf = (reply: Reply) => ({
  id: `msg_${reply.id}`,
  type: 'message',
  role: 'assistant',
  model: reply.model,
  container: null,
  diagnostics: null,
});

const STOPS = { end: 'end_turn', 'tool use': 'tool_use', 'output limit': 'max_tokens', refused: 'refusal' } as const;

const endOf = ({ stop }: Reply) => ({
  stop_reason: STOPS[stop],
  stop_sequence: null,
  stop_details: stop === 'refused' ? { type: 'refusal', category: null, explanation: null } : null,
});

function usageOf({ input, output, cacheRead, cacheWrite }: Counted, { usage }: Writing) {
  if (usage !== undefined) return usage;
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: 'not_available',
    speed: null,
  };
}

function deltaUsage({ input, output, cacheRead, cacheWrite }: Counted, reply: Reply, { usage }: Writing) {
  if (usage !== undefined) return usage;
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reply.reasoningTokens },
    server_tool_use: null,
  };
}

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string; readonly hidden: number }
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly caller: unknown;
      readonly json: string;
    };

/** Reasoning as it goes out: empty where the request wants none of it told, null where there is none. */
function thinkingOf({ reasoning }: Reply, body: unknown): string | null {
  const thinking = at(body, 'thinking');
  if (reasoning === '') return null;
  return textAt(thinking, 'display') === 'omitted' ? '' : reasoning;
}

function blocksOfReply(reply: Reply, { body }: Writing): readonly Block[] {
  const thinking = thinkingOf(reply, body);
  const hidden = thinking === '' ? reply.reasoningTokens : 0;
  return [
    ...(thinking === null ? [] : [{ type: 'thinking' as const, thinking, signature: signatureOf(thinking), hidden }]),
    ...(reply.text === '' ? [] : [{ type: 'text' as const, text: reply.text, citations: null }]),
    ...reply.calls.map(({ id, tool, json }) => ({
      type: 'tool_use' as const,
      id,
      name: tool,
      caller: { type: 'direct' },
      json,
    })),
  ];
}

function blockFrames(block: Block, index: number): readonly Frame[] {
  const delta = (part: object, text: string): Frame =>
    named({ type: 'content_block_delta', index, delta: part }, tokensIn(text));
  const start = (content_block: object, tokens = 0): Frame =>
    named({ type: 'content_block_start', index, content_block }, tokens);
  const stop = named({ type: 'content_block_stop', index });
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...piecesOf(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking }, thinking)),
        { ...delta({ type: 'signature_delta', signature: block.signature }, ''), tokens: block.hidden },
        stop,
      ];
    case 'text':
      return [
        start({ type: 'text', text: '', citations: null }),
        ...piecesOf(block.text).map((text) => delta({ type: 'text_delta', text }, text)),
        stop,
      ];
    case 'tool_use': {
      const { json, ...rest } = block;
      return [
        start({ ...rest, input: {} }, tokensIn(block.name)),
        delta({ type: 'input_json_delta', partial_json: '' }, ''),
        ...piecesOf(json).map((partial_json) => delta({ type: 'input_json_delta', partial_json }, partial_json)),
        stop,
      ];
    }
    default:
      return unreachable(block);
  }
}
