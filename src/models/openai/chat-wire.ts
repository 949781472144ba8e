/** A request for Chat Completions: OpenAI's older API, which all compatible servers have. */
import type { ProviderSetup } from '../../domain/models/provider.ts';
import type { Json, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { Refused } from '../http/exchange.ts';
import { wireWord } from '../provider.ts';
import { at, type Fields, fieldsAt, isFields, jsonOf, listAt, textAt, withoutHalves } from '../http/json.ts';

/** The tool by which a model gives its reply if a server does not accept a schema. */
const REPLY_TOOL = 'reply';

/** The body of the request. `model` is the name on the wire; `cacheKey` is the same for all requests of one agent. */
export function chatBody(
  request: ModelRequest,
  traits: Traits,
  { model, cacheKey }: { readonly model: string; readonly cacheKey: string },
): Fields {
  const tools = toolsOf(request, traits);
  return {
    model,
    messages: [
      ...(request.system.trim() === '' ? [] : [{ role: 'system', content: request.system.toWellFormed() }]),
      ...joined(stepsOf(request.turns, request.model)).flatMap((step) => messagesOf(step, traits)),
    ],
    ...(tools.length === 0
      ? {}
      : { tools, ...(request.toolChoice === 'none' && traits.noTools ? { tool_choice: 'none' } : {}) }),
    ...formatOf(request, traits),
    ...(traits.effort && request.effort !== undefined ? { reasoning_effort: request.effort } : {}),
    ...(traits.cacheKey ? { prompt_cache_key: cacheKey } : {}),
    ...(traits.mark ? { cache_control: { type: 'ephemeral' } } : {}),
    [traits.limit]: request.maxOutputTokens,
    stream: true,
    ...(traits.streamOptions ? { stream_options: { include_usage: true } } : {}),
  };
}

/** Merges consecutive messages of the user, which the templates of some local models refuse. */
function joined(steps: readonly Step[]): readonly Step[] {
  const all: Step[] = [];
  for (const step of steps) {
    const last = all.at(-1);
    if (step.is === 'user' && last?.is === 'user')
      all[all.length - 1] = { is: 'user', text: `${last.text}\n\n${step.text}` };
    else all.push(step);
  }
  return all;
}

/** True if the reply is requested as the arguments of a tool. */
export const isByTool = ({ format }: ModelRequest, traits: Traits): boolean =>
  format !== null && traits.format === 'tool';

function toolsOf(request: ModelRequest, traits: Traits): readonly Fields[] {
  const reply = { name: REPLY_TOOL, description: 'Gives your whole reply.', schema: request.format ?? {} };
  return [...request.tools, ...(isByTool(request, traits) ? [reply] : [])].map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, description, ...parametersOf(schema, traits) },
  }));
}

function parametersOf(of: Json, traits: Traits): Fields {
  const { schema, strict } = wireSchema(of, traits.strict);
  return { parameters: schema, ...(strict ? { strict } : {}) };
}

function formatOf(request: ModelRequest, traits: Traits): Fields {
  if (isByTool(request, traits)) return { tool_choice: { type: 'function', function: { name: REPLY_TOOL } } };
  if (request.format === null || traits.format !== 'schema') return {};
  // Compatible servers accept any schema and enforce it in their own way; only OpenAI reads `strict`.
  const { schema, strict } = wireSchema(request.format, true);
  return {
    response_format: { type: 'json_schema', json_schema: { name: REPLY_TOOL, schema, ...(strict ? { strict } : {}) } },
  };
}

function messagesOf(step: Step, { thoughts, items }: Traits): readonly Fields[] {
  if (step.is === 'user') return [{ role: 'user', content: step.text }];
  const { text, calls, answers, kept } = step;
  if (calls.length === 0) return [{ role: 'assistant', content: text }];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(thoughts && kept.thought !== undefined ? { [kept.thought.field]: kept.thought.text } : {}),
      ...(items && kept.details !== undefined ? { reasoning_details: kept.details } : {}),
      tool_calls: calls.map(({ id, tool, arguments: text }, n) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: text },
        ...(items && kept.extras?.[n] ? { extra_content: kept.extras[n] } : {}),
      })),
    },
    ...answers.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  ];
}

// JSON Schemas for OpenAI. Strict ones are enforced during generation, but only if every property is required and no other is allowed;
// constraints that strict mode does not support are checked on the reply.

/** `schema` in strict form if it qualifies and `mayBeStrict`, else unchanged. */
export function wireSchema(schema: Json, mayBeStrict: boolean): { readonly schema: Json; readonly strict: boolean } {
  const { $schema: _, ...plain } = isFields(schema) ? schema : {};
  const whole = plain['type'] === undefined ? { type: 'object', properties: {}, ...plain } : plain;
  const strict = mayBeStrict && whole['type'] === 'object' && qualifies(whole);
  return { schema: jsonOf(strict ? strictly(whole) : whole), strict };
}

/** Keywords of strict mode. Other constraints are dropped; any other keyword makes a schema not strict. */
const KNOWN: ReadonlySet<string> = new Set(
  'type properties required additionalProperties items enum const anyOf $ref $defs description title pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(
    ' ',
  ),
);
const ONLY_LIMITS: ReadonlySet<string> = new Set('minLength maxLength uniqueItems examples $comment id $id'.split(' '));
/** Keywords whose value maps names to schemas. */
const TABLES: ReadonlySet<string> = new Set(['properties', '$defs']);
const LITERAL: ReadonlySet<string> = new Set(['enum', 'const', 'required']);

function qualifies(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(qualifies);
  if (!isFields(schema)) return true;
  if (!Object.keys(schema).every((key) => KNOWN.has(key) || ONLY_LIMITS.has(key))) return false;
  if (schema['type'] === 'object' && !isClosed(schema)) return false;
  return Object.entries(schema).every(([key, value]) => {
    if (LITERAL.has(key)) return true;
    return TABLES.has(key) && isFields(value) ? Object.values(value).every(qualifies) : qualifies(value);
  });
}

function isClosed(schema: unknown): boolean {
  if (!isFields(schema) || schema['additionalProperties'] !== false) return false;
  const required = new Set(listAt(schema, 'required'));
  return isFields(schema['properties']) && Object.keys(schema['properties']).every((name) => required.has(name));
}

function strictly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictly);
  if (!isFields(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => KNOWN.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (LITERAL.has(key)) return [key, value];
      if (!TABLES.has(key) || !isFields(value)) return [key, strictly(value)];
      return [key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, strictly(part)]))];
    }),
  );
}

// A conversation for OpenAI's APIs: answers directly after their calls, ids that any server accepts, and content that the server wants
// back unchanged. The steps of a turn do not depend on later turns, so that prompt caches stay valid.

export type Step =
  | { readonly is: 'user'; readonly text: string }
  | {
      readonly is: 'model';
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly tool: string; readonly arguments: string }[];
      readonly answers: readonly { readonly id: string; readonly text: string }[];
      readonly kept: KeptReply;
    };

/** The content of a reply to send back, stored in `opaque.openai`. */
export interface KeptReply {
  readonly ids?: readonly string[];
  /** All items of a Responses reply, in order; only for the model that made them, because they contain encrypted reasoning. */
  readonly items?: readonly Fields[];
  /** The reasoning of a Chat Completions reply with calls, and its field. */
  readonly thought?: { readonly field: string; readonly text: string };
  /** A router's details of the reasoning, and the extra content of each call; only for the model that made them. */
  readonly details?: readonly Fields[];
  readonly extras?: readonly (Fields | null)[];
}

/** The steps of `turns` for `model` (canonical id): the last one is the user's, or answers to calls. Empty turns are dropped. */
export function stepsOf(turns: readonly Turn[], model: string): readonly Step[] {
  const steps = turns.flatMap((turn, index): readonly Step[] => {
    if (turn.by === 'user') return isBlank(turn.text) ? [] : [{ is: 'user', text: turn.text.toWellFormed() }];
    // Answers belong to the step with their calls.
    return turn.by === 'tools' ? [] : modelStep(turn, turns[index + 1], model);
  });
  const last = steps.at(-1);
  const isAsked = last?.is === 'user' || (last !== undefined && last.answers.length > 0);
  return isAsked ? steps : [...steps, { is: 'user', text: GO_ON }];
}

/** Many servers refuse a conversation that ends with the model's own message or has none of the user. */
const GO_ON = 'Go on.';
const isBlank = (text: string): boolean => text.trim() === '';

function modelStep(
  turn: Extract<Turn, { readonly by: 'model' }>,
  next: Turn | undefined,
  model: string,
): readonly Step[] {
  const kept = keptIn(turn.opaque, model);
  // Claude and Mistral refuse an empty message on any server.
  if (isBlank(turn.text) && turn.calls.length === 0 && kept.items === undefined) return [];
  const ids = idsOf(turn.calls, kept);
  return [
    {
      is: 'model',
      text: isBlank(turn.text) ? '' : turn.text.toWellFormed(),
      calls: turn.calls.map(({ tool, input }, n) => ({
        id: ids[n] ?? '',
        tool: wireWord(tool, 64),
        arguments: argumentsOf(input),
      })),
      answers: turn.calls.map((call, n) => ({
        id: ids[n] ?? '',
        text: answerTo(call, next?.by === 'tools' ? next.results : []),
      })),
      kept,
    },
  ];
}

/** `kept` as the opaque part of a reply by `model`; undefined if it is empty. */
export const opaqueOf = (kept: KeptReply, model: string): Json | undefined =>
  Object.keys(kept).length === 0 ? undefined : { openai: jsonOf({ model, ...kept }) };

export const wireId = (id: string): string => wireWord(id, 40);

function keptIn(opaque: Json | undefined, model: string): KeptReply {
  const kept = at(opaque, 'openai');
  const isSame = textAt(kept, 'model') === model;
  const ids = listAt(kept, 'ids').filter((id) => typeof id === 'string');
  const own = (name: string): readonly unknown[] => (isSame ? listAt(kept, name) : []);
  const [items, details] = [own('items').filter(isFields), own('details').filter(isFields)];
  const extras = own('extras').map((extra) => (isFields(extra) ? extra : null));
  const thought = fieldsAt(kept, 'thought');
  return {
    ...(ids.length === 0 ? {} : { ids }),
    ...(items.length === 0 ? {} : { items }),
    ...(details.length === 0 ? {} : { details }),
    ...(extras.length === 0 ? {} : { extras }),
    ...(thought === null ? {} : { thought: { field: textAt(thought, 'field'), text: textAt(thought, 'text') } }),
  };
}

const idsOf = (calls: readonly ToolCall[], { ids }: KeptReply): readonly string[] =>
  ids?.length === calls.length ? ids : calls.map(({ id }) => wireId(id));

/** Servers parse the arguments as an object, so anything else is wrapped in one. */
const argumentsOf = (input: Json): string =>
  withoutHalves(JSON.stringify(isFields(input) ? input : { unreadable_arguments: input }));

const NO_OUTPUT = '(no output)';

function answerTo(call: ToolCall, results: readonly ToolResult[]): string {
  const result = results.find(({ call: id }) => id === call.id);
  if (result === undefined) return 'Error: not run';
  const text = isBlank(result.text) ? NO_OUTPUT : result.text.toWellFormed();
  return result.ok || text.startsWith('Error') ? text : `Error: ${text}`;
}

// What a server accepts for each model: guessed first, then learned from refusals that name a parameter. Refused requests are not billed,
// so the request is repeated at once in the learned form.

export interface Traits {
  /** `stream_options`: usage in the stream of Chat Completions, no padding in that of Responses. */
  readonly streamOptions: boolean;
  readonly limit: 'max_completion_tokens' | 'max_tokens';
  readonly limitLearned: boolean;
  /** How the form of a reply is requested: by schema, by a forced tool, or only in the prompt. */
  readonly format: 'schema' | 'tool' | 'words';
  readonly cacheKey: boolean;
  /** Chat Completions: requests caching of the beginning, which Claude behind a router does not do by itself. */
  readonly mark: boolean;
  /** Responses: with a summary of the reasoning, only encrypted, or none. */
  readonly reasoning: 'summary' | 'sealed' | 'none';
  readonly effort: boolean;
  readonly parallel: boolean;
  readonly strict: boolean;
  /** Supports `tool_choice: none`; otherwise only the prompt forbids tools. */
  readonly noTools: boolean;
  /** Encrypted content of earlier replies goes back unchanged; otherwise only text and calls. */
  readonly items: boolean;
  /** Chat Completions: reasoning goes back with the calls it led to. */
  readonly thoughts: boolean;
}

export type Route = '/responses' | '/chat/completions';

/** The assumed traits of a server of this kind at this address, before the first request for `model` (its name on the wire). */
export const firstTraits = ({ kind, baseUrl }: Pick<ProviderSetup, 'kind' | 'baseUrl'>, model: string): Traits => ({
  streamOptions: true,
  // OpenAI's reasoning models, on any server, accept only the newer name; many compatible servers only the older one.
  limit: kind === 'openai' || thinksSilently(model) ? 'max_completion_tokens' : 'max_tokens',
  limitLearned: false,
  format: 'schema',
  cacheKey: kind === 'openai',
  mark: MARKED.test(baseUrl) && /^~?anthropic\//.test(model),
  reasoning: WITHOUT_REASONING.test(plain(model)) ? 'none' : 'summary',
  effort: !WITHOUT_REASONING.test(plain(model)),
  parallel: true,
  strict: kind === 'openai',
  noTools: true,
  items: true,
  thoughts: false,
});

const MARKED = /^https:\/\/(?:[a-z]+\.)?openrouter\.ai\//;

/** The name without the vendor that routers put before it. */
const plain = (model: string): string => model.slice(model.lastIndexOf('/') + 1);

/** OpenAI's reasoning models, on any server, show their reasoning only in a summary afterwards, if at all. */
export const thinksSilently = (model: string): boolean => /^(?:o\d|gpt-[5-9])/.test(plain(model));

/** OpenAI's models without reasoning. A wrong guess costs one refused request. */
const WITHOUT_REASONING = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt|davinci|babbage)|chat-latest/;

/** The traits after the refusal of `request`; null if it teaches nothing new. */
export function learn(traits: Traits, { status, text }: Refused, request: ModelRequest, route: Route): Traits | null {
  if (status !== 400 && status !== 404 && status !== 422) return null;
  for (const lesson of LESSONS) {
    const isMeant = lesson.names.test(text) && (lesson.only ?? route) === route;
    const learned = isMeant ? lesson.teaches(traits, request, text) : null;
    if (learned !== null) return learned;
  }
  return null;
}

/** Words of "unknown parameter", as opposed to "invalid value". */
const UNKNOWN =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra (?:inputs|fields)|instead|invalid (?:parameter|argument|field)/i;

interface Lesson {
  readonly names: RegExp;
  readonly only?: Route;
  teaches(traits: Traits, request: ModelRequest, text: string): Traits | null;
}

/** Switches a trait off; null if it was off already. */
const off =
  (what: 'streamOptions' | 'cacheKey' | 'mark' | 'parallel' | 'items' | 'strict'): Lesson['teaches'] =>
  (traits) =>
    traits[what] ? { ...traits, [what]: false } : null;

const CHAT = '/chat/completions';

const LESSONS: readonly Lesson[] = [
  { names: /stream_options|include_usage|include_obfuscation/i, teaches: off('streamOptions') },
  {
    names: /max_(?:completion_)?tokens/i,
    teaches: (traits, _, text) => {
      if (traits.limitLearned || !UNKNOWN.test(text)) return null;
      const limit = traits.limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
      return { ...traits, limit, limitLearned: true };
    },
  },
  { names: /prompt_cache_key/i, teaches: off('cacheKey') },
  { names: /cache_control/i, only: CHAT, teaches: off('mark') },
  { names: /parallel[_ ]tool/i, only: '/responses', teaches: off('parallel') },
  {
    names: /tool_choice/i,
    teaches: (traits, { toolChoice }) =>
      toolChoice === 'none' && traits.noTools ? { ...traits, noTools: false } : null,
  },
  {
    names: /invalid_encrypted_content|encrypted content (?:could not|for item)|item .*not found|without its required/i,
    only: '/responses',
    teaches: off('items'),
  },
  {
    names: /reasoning[._ ]?effort|['"`.]effort/i,
    teaches: (traits, { effort }) => (traits.effort && effort !== undefined ? { ...traits, effort: false } : null),
  },
  {
    names: /reasoning[._ ]summar|reasoning summar/i,
    only: '/responses',
    teaches: (traits) => (traits.reasoning === 'summary' ? { ...traits, reasoning: 'sealed' } : null),
  },
  {
    names: /encrypted|['"`]include['"`]|include\[|['"`]reasoning['"`]/i,
    only: '/responses',
    teaches: (traits) => (traits.reasoning === 'none' ? null : { ...traits, reasoning: 'none', effort: false }),
  },
  { names: /reasoning_details|extra_content/i, only: CHAT, teaches: off('items') },
  {
    names: /reasoning_content/i,
    only: CHAT,
    teaches: (traits) => (traits.thoughts ? null : { ...traits, thoughts: true }),
  },
  { names: /\bstrict\b|invalid schema|invalid_function_parameters|invalid_json_schema/i, teaches: off('strict') },
  {
    names: /response_format|json_schema|text\.format|structured[_ ]output|json mode|grammar/i,
    teaches: (traits, { format, tools }) => {
      if (format === null || traits.format === 'words') return null;
      // Beside other tools, a forced one would keep the model from using them.
      return { ...traits, format: traits.format === 'schema' && tools.length === 0 ? 'tool' : 'words' };
    },
  },
  {
    names: /tool/i,
    teaches: (traits, { format }) =>
      format !== null && traits.format === 'tool' ? { ...traits, format: 'words' } : null,
  },
];

/** True if the answer means a missing route, not a missing model. */
export function noSuchRoute({ status, text }: Refused): boolean {
  if (status === 405 || status === 501) return true;
  if (status === 400) return /(?:unknown|invalid|unsupported) (?:request )?(?:url|path|route|endpoint)/i.test(text);
  return status === 404 && !/model|not_found_error/i.test(text);
}

/** True if the answer means that the model cannot use tools. */
export const refusesTools = ({ status, text }: Refused): boolean =>
  [400, 404, 422, 501].includes(status) &&
  /support(?:s|ing)? (?:for )?(?:the )?(?:use of )?(?:tool|function)|tool[_ ](?:use|call(?:ing|s)?) (?:is|are) not|tools? (?:is|are) not (?:supported|allowed)|enable-auto-tool-choice|no tool (?:use|support)|does not (?:take|accept) tools/i.test(
    text,
  );
