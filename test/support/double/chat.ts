/** The Chat Completions wire, of OpenAI and of the many servers that speak it: how a request reads, what a reply looks like. */
import type { Counted, Part, Read } from './asked.ts';
import type { Frame, Writing } from './frame.ts';
import type { Reply, WireCall } from './reply.ts';
import { at, jsonOf, listAt, listOf, numberAt, textAt } from './json.ts';
import { nameless } from './frame.ts';
import { piecesOf, tokensIn } from './tokens.ts';

export function readChat(body: unknown): Read {
  const messages = listAt(body, 'messages');
  const by = (...roles: readonly string[]): readonly unknown[] =>
    messages.filter((message) => roles.includes(textAt(message, 'role')));
  const said = by('user', 'tool').map(wordsOf);
  return {
    model: textAt(body, 'model'),
    stream: at(body, 'stream') === true,
    system: by('system', 'developer').map(wordsOf).join('\n'),
    first: said[0] ?? '',
    last: said.at(-1) ?? '',
    tools: listAt(body, 'tools').map((tool) => textAt(at(tool, 'function'), 'name')),
    turn: 1 + by('assistant').length,
    limit: numberAt(body, 'max_completion_tokens') ?? numberAt(body, 'max_tokens'),
    parts: partsOf(body, messages),
    calls: messages.flatMap((message) => listAt(message, 'tool_calls').map((call) => textAt(call, 'id'))),
    key: textAt(body, 'prompt_cache_key'),
  };
}

/** The text of a message, whether it is text or parts of it. */
function wordsOf(message: unknown): string {
  const content = at(message, 'content');
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textAt(part, 'text'))
    .join('\n');
}

const partsOf = (body: unknown, messages: readonly unknown[]): readonly Part[] => [
  { of: 'model', json: jsonOf(at(body, 'model')), marked: false },
  ...listAt(body, 'tools').map((tool) => ({ of: 'tools' as const, json: jsonOf(tool), marked: false })),
  ...messages.map((message) => ({
    of:
      textAt(message, 'role') === 'system' || textAt(message, 'role') === 'developer'
        ? ('system' as const)
        : ('turn' as const),
    json: jsonOf(message),
    marked: false,
  })),
];

/** Does a stream end with what it used? Only when the request says so. */
export const wantsUsage = (body: unknown): boolean => at(at(body, 'stream_options'), 'include_usage') === true;

/** The chunks of a streamed reply, `[DONE]` last. */
export function chatFrames(reply: Reply, counted: Counted, writing: Writing): readonly Frame[] {
  const usage = wantsUsage(writing.body) ? usageOf(counted, reply, writing) : null;
  const head = { ...headOf(reply, writing), object: 'chat.completion.chunk' };
  const chunk = (delta: object, finish: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(usage === null ? {} : { usage: null }),
  });
  const piece = (text: string, delta: object): Frame => nameless(chunk(delta), tokensIn(text));
  const refused = reply.stop === 'refused';
  return [
    nameless(
      chunk({ role: 'assistant', content: reply.calls.length > 0 && reply.text === '' ? null : '', refusal: null }),
    ),
    ...piecesOf(reply.reasoning).map((text) => piece(text, { [reasoningField(writing)]: text })),
    ...piecesOf(reply.text).map((text) => piece(text, refused ? { refusal: text } : { content: text })),
    ...reply.calls.flatMap((call, index) =>
      callDeltas(call, index, writing).map(({ text, delta }) => piece(text, { tool_calls: [delta] })),
    ),
    nameless(chunk({}, finishOf(reply))),
    ...(usage === null ? [] : [nameless({ ...head, choices: [], usage })]),
    { data: 'data: [DONE]\n\n', tokens: 0 },
  ];
}

/** OpenAI itself tells no reasoning here; of the others some have it in one field, some in the other. */
const reasoningField = ({ quirks }: Writing): string =>
  quirks.includes('reasoning field') ? 'reasoning' : 'reasoning_content';

function callDeltas({ id, tool, json }: WireCall, index: number, { quirks }: Writing) {
  const head = (args: string) => ({ id, type: 'function', function: { name: tool, arguments: args } });
  if (quirks.includes('whole calls')) return [{ text: tool + json, delta: { index: 0, ...head(json) } }];
  return [
    { text: tool, delta: { index, ...head('') } },
    ...piecesOf(json).map((text) => ({ text, delta: { index, function: { arguments: text } } })),
  ];
}

/** The whole reply, for a request that wants no stream. */
export function wholeChat(reply: Reply, counted: Counted, writing: Writing): unknown {
  const refused = reply.stop === 'refused';
  const usage = usageOf(counted, reply, writing);
  const message = {
    role: 'assistant',
    content: refused || (reply.text === '' && reply.calls.length > 0) ? null : reply.text,
    refusal: refused ? reply.text : null,
    annotations: [],
    ...(reply.reasoning === '' ? {} : { [reasoningField(writing)]: reply.reasoning }),
    ...(reply.calls.length === 0
      ? {}
      : {
          tool_calls: reply.calls.map(({ id, tool, json }) => ({
            id,
            type: 'function',
            function: { name: tool, arguments: json },
          })),
        }),
  };
  return {
    ...headOf(reply, writing),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(reply) }],
    ...(usage === null ? {} : { usage }),
  };
}

const headOf = (reply: Reply, { created }: Writing) => ({
  id: `chatcmpl-${reply.id}`,
  created,
  model: reply.model,
  service_tier: 'default',
  system_fingerprint: 'fp_double',
});

/** A model that refuses stops as usual and says so in `refusal`; without a word of its own it is the filter's doing. */
function finishOf({ stop, text }: Reply): string {
  if (stop === 'refused') return text === '' ? 'content_filter' : 'stop';
  return { end: 'stop', 'tool use': 'tool_calls', 'output limit': 'length' }[stop];
}

function usageOf({ input, output, cacheRead, cacheWrite }: Counted, reply: Reply, { usage }: Writing) {
  if (usage !== undefined) return usage;
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0, cache_write_tokens: cacheWrite },
    completion_tokens_details: {
      reasoning_tokens: reply.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
