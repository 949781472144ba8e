/** OpenAI's Responses wire: how a request reads, and the items and events of a reply. Items are in responses-item.ts. */
import type { Counted, Part, Read } from './asked.ts';
import type { Frame, Writing } from './frame.ts';
import type { Reply } from './reply.ts';
import { at, jsonOf, listAt, listOf, numberAt, textAt } from './json.ts';
import { itemsOf } from './responses-item.ts';

export function readResponses(body: unknown): Read {
  const input = inputOf(body);
  const system = input.filter(isSystem).map(wordsOf);
  const said = input.filter((one) => isUser(one) || textAt(one, 'type') === 'function_call_output').map(wordsOf);
  return {
    model: textAt(body, 'model'),
    stream: at(body, 'stream') === true,
    system: [textAt(body, 'instructions'), ...system].filter((text) => text !== '').join('\n'),
    first: said[0] ?? '',
    last: said.at(-1) ?? '',
    tools: listAt(body, 'tools').map((tool) => textAt(tool, 'name')),
    turn: 1 + turnsIn(input),
    limit: numberAt(body, 'max_output_tokens'),
    parts: partsOf(body, input),
    calls: input.filter((one) => textAt(one, 'type') === 'function_call').map((one) => textAt(one, 'call_id')),
    key: textAt(body, 'prompt_cache_key'),
  };
}

/** The items of the input; text alone is short for one message of the user. */
export function inputOf(body: unknown): readonly unknown[] {
  const input = at(body, 'input');
  return typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input);
}

const isSystem = (one: unknown): boolean => ['system', 'developer'].includes(textAt(one, 'role'));
const isUser = (one: unknown): boolean => textAt(one, 'role') === 'user';

function wordsOf(one: unknown): string {
  const content = at(one, 'content') ?? at(one, 'output');
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => textAt(part, 'text'))
    .join('\n');
}

/** Replies of the model in `input`: each is a run of its items. */
function turnsIn(input: readonly unknown[]): number {
  const byModel = input.map(
    (one) => textAt(one, 'role') === 'assistant' || ['function_call', 'reasoning'].includes(textAt(one, 'type')),
  );
  return byModel.filter((is, index) => is && byModel[index - 1] !== true).length;
}

const partsOf = (body: unknown, input: readonly unknown[]): readonly Part[] => [
  { of: 'model', json: jsonOf(at(body, 'model')), marked: false },
  ...listAt(body, 'tools').map((tool) => ({ of: 'tools' as const, json: jsonOf(tool), marked: false })),
  ...[at(body, 'instructions') ?? []]
    .flat()
    .map((one) => ({ of: 'system' as const, json: jsonOf(one), marked: false })),
  ...input.map((one) => ({
    of: isSystem(one) ? ('system' as const) : ('turn' as const),
    json: jsonOf(one),
    marked: false,
  })),
];

interface Event {
  readonly type: string;
  readonly tokens?: number;
  readonly fields: object;
}

/** The events of a streamed reply. */
export function responseFrames(reply: Reply, counted: Counted, writing: Writing): readonly Frame[] {
  const items = itemsOf(reply, writing.body);
  const opening = { ...headOf(reply, writing), status: 'in_progress', completed_at: null, output: [], usage: null };
  const whole = wholeResponse(reply, counted, writing);
  const end = reply.stop === 'output limit' || isFiltered(reply) ? 'response.incomplete' : 'response.completed';
  const events: readonly Event[] = [
    { type: 'response.created', fields: { response: opening } },
    { type: 'response.in_progress', fields: { response: opening } },
    ...items.flatMap(({ events }, output_index) =>
      events.map((event) => ({ ...event, fields: { ...event.fields, output_index } })),
    ),
    { type: end, fields: { response: whole } },
  ];
  return events.map(({ type, tokens = 0, fields }, sequence_number) =>
    responseEvent(type, { ...fields, sequence_number }, tokens),
  );
}

/** One event on the wire. */
export const responseEvent = (type: string, fields: object, tokens = 0): Frame => ({
  data: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`,
  tokens,
});

/** What `response.failed` carries. */
export const failedResponse = (reply: Reply, writing: Writing, error: { code: string; message: string }): object => ({
  ...headOf(reply, writing),
  status: 'failed',
  error,
  completed_at: null,
  output: [],
  usage: null,
});

/** The whole reply, for a request that wants no stream and as the last event of one that does. */
export function wholeResponse(reply: Reply, counted: Counted, writing: Writing): object {
  const limited = reply.stop === 'output limit';
  const usage = writing.usage === undefined ? usageOf(counted, reply) : writing.usage;
  return {
    ...headOf(reply, writing),
    status: limited || isFiltered(reply) ? 'incomplete' : 'completed',
    completed_at: limited ? null : writing.created,
    incomplete_details: limited
      ? { reason: 'max_output_tokens' }
      : isFiltered(reply)
        ? { reason: 'content_filter' }
        : null,
    output: itemsOf(reply, writing.body).map(({ item }) => item),
    ...(usage === null ? {} : { usage }),
  };
}

/** Refused without a word: the filter's doing, not the model's. */
const isFiltered = ({ stop, text }: Reply): boolean => stop === 'refused' && text === '';

const headOf = (reply: Reply, { body, created }: Writing) => ({
  id: `resp_${reply.id}`,
  object: 'response',
  created_at: created,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: at(body, 'instructions') ?? null,
  max_output_tokens: at(body, 'max_output_tokens') ?? null,
  max_tool_calls: null,
  model: reply.model,
  parallel_tool_calls: at(body, 'parallel_tool_calls') ?? true,
  previous_response_id: null,
  prompt_cache_key: at(body, 'prompt_cache_key') ?? null,
  reasoning: at(body, 'reasoning') ?? { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: at(body, 'store') ?? true,
  temperature: 1,
  text: at(body, 'text') ?? { format: { type: 'text' } },
  tool_choice: at(body, 'tool_choice') ?? 'auto',
  tools: listAt(body, 'tools'),
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
  metadata: {},
});

function usageOf({ input, output, cacheRead, cacheWrite }: Counted, reply: Reply) {
  const all = input + cacheRead + cacheWrite;
  return {
    input_tokens: all,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reply.reasoningTokens },
    total_tokens: all + output,
  };
}
