/** A request as Chat Completions takes it: OpenAI's older wire, and the one that all other servers speak. */
import type { Json, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import type { ModelRequest } from '../../ports/model.ts';
import { at, type Fields, fieldsAt, isFields, jsonOf, listAt, textAt } from '../http/json.ts';
import type { Traits } from './traits.ts';

/** The tool that a reply is given by where a server takes no schema for it. */
const REPLY_TOOL = 'reply';

/** The body of the request. `model` as it goes on the wire; `cacheKey` is the same for all requests of one agent. */
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

/** The templates of some local models refuse two messages of the user in a row. */
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

/** Is the reply asked for as the arguments of a tool? */
export const isByTool = ({ format }: ModelRequest, traits: Traits): boolean =>
  format !== null && traits.format === 'tool';

function toolsOf(request: ModelRequest, traits: Traits): readonly Fields[] {
  const tools = request.tools.map(({ name, description, schema }) => ({
    name,
    description,
    ...parametersOf(schema, traits),
  }));
  const reply = {
    name: REPLY_TOOL,
    description: 'Gives your whole reply.',
    ...parametersOf(request.format ?? {}, traits),
  };
  return (isByTool(request, traits) ? [...tools, reply] : tools).map((tool) => ({ type: 'function', function: tool }));
}

function parametersOf(of: Json, traits: Traits): Fields {
  const { schema, strict } = wireSchema(of, traits.strict);
  return { parameters: schema, ...(strict ? { strict } : {}) };
}

function formatOf(request: ModelRequest, traits: Traits): Fields {
  if (isByTool(request, traits)) return { tool_choice: { type: 'function', function: { name: REPLY_TOOL } } };
  if (request.format === null || traits.format !== 'schema') return {};
  // Compatible servers enforce a schema in their own way and take any: `strict` is what OpenAI reads there.
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
        ...(items ? besideOf(kept.extras?.[n]) : {}),
      })),
    },
    ...answers.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  ];
}

const besideOf = (extra: Fields | null | undefined): Fields =>
  extra === null || extra === undefined ? {} : { extra_content: extra };

// JSON Schemas as OpenAI takes them. Strict ones are enforced while the model writes, but only if every property is required and no
// other may come; limits that strict mode doesn't know are left to our own check of the reply.

interface WireSchema {
  readonly schema: Json;
  readonly strict: boolean;
}

/** `schema` in strict form where it qualifies and `mayBeStrict`, else as it is. */
export function wireSchema(schema: Json, mayBeStrict: boolean): WireSchema {
  const { $schema: _, ...plain } = isFields(schema) ? schema : {};
  const whole = plain['type'] === undefined ? { type: 'object', properties: {}, ...plain } : plain;
  const strict = mayBeStrict && whole['type'] === 'object' && qualifies(whole);
  return { schema: jsonOf(strict ? strictly(whole) : whole), strict };
}

/** Keywords that strict mode knows; limits outside of it are dropped, anything else that matters makes a schema not strict. */
const KNOWN: ReadonlySet<string> = new Set(
  'type properties required additionalProperties items enum const anyOf $ref $defs description title pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(
    ' ',
  ),
);
const ONLY_LIMITS: ReadonlySet<string> = new Set('minLength maxLength uniqueItems examples $comment id $id'.split(' '));
/** Keywords whose value is a table of names to schemas. */
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

// A conversation as OpenAI's wires need it: every call with its answer right behind it, ids that any server takes, and what the server
// wants back unchanged. The same turns give the same steps whatever follows them, so that prompt caches hold.

export type Step =
  | { readonly is: 'user'; readonly text: string }
  | {
      readonly is: 'model';
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly tool: string; readonly arguments: string }[];
      readonly answers: readonly { readonly id: string; readonly text: string }[];
      readonly kept: Kept;
    };

/** What a reply left to be sent back, in `opaque.openai`. */
export interface Kept {
  /** The server's own ids of the calls, in order. */
  readonly ids?: readonly string[];
  /** All items of a Responses reply, in order; only for the model that made them: its reasoning is sealed in them. */
  readonly items?: readonly Fields[];
  /** The reasoning of a Chat Completions reply with calls, and the field it came in. */
  readonly thought?: { readonly field: string; readonly text: string };
  /** Details of its reasoning as a router sent them, and what stood beside each call: for the model that made them. */
  readonly details?: readonly Fields[];
  readonly extras?: readonly (Fields | null)[];
}

/** The steps of `turns`, asked of `model` (canonical): the last one is the user's, or answers to calls. What says nothing is left out. */
export function stepsOf(turns: readonly Turn[], model: string): readonly Step[] {
  const steps = turns.flatMap((turn, index): readonly Step[] => {
    if (turn.by === 'user') return isBlank(turn.text) ? [] : [{ is: 'user', text: turn.text.toWellFormed() }];
    // Answers go with the calls that asked for them.
    return turn.by === 'tools' ? [] : modelStep(turn, turns[index + 1], model);
  });
  const last = steps.at(-1);
  const isAsked = last?.is === 'user' || (last !== undefined && last.answers.length > 0);
  return isAsked ? steps : [...steps, { is: 'user', text: GO_ON }];
}

/** Many servers refuse a conversation that ends with the model's own words, or has none. */
const GO_ON = 'Go on.';
const isBlank = (text: string): boolean => text.trim() === '';

function modelStep(
  turn: Extract<Turn, { readonly by: 'model' }>,
  next: Turn | undefined,
  model: string,
): readonly Step[] {
  const kept = keptIn(turn.opaque, model);
  // Claude and Mistral take no message without a word, on whichever server.
  if (isBlank(turn.text) && turn.calls.length === 0 && kept.items === undefined) return [];
  const ids = idsOf(turn.calls, kept);
  return [
    {
      is: 'model',
      text: isBlank(turn.text) ? '' : turn.text.toWellFormed(),
      calls: turn.calls.map(({ tool, input }, n) => ({
        id: ids[n] ?? '',
        tool: wireTool(tool),
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

/** `kept` as the opaque part of a reply by `model`; undefined when there is nothing to keep. */
export function opaqueOf(kept: Kept, model: string): Json | undefined {
  if (Object.keys(kept).length === 0) return undefined;
  return { openai: jsonOf({ model, ...kept }) };
}

/** An id that every server takes, the same for the same `id`: itself where it is plain and short. */
export function wireId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(id)) return id;
  return `${id.replace(/[^A-Za-z0-9_-]/g, '_').slice(-24)}_${hash(id)}`;
}

/** What a model called for that can't be a tool's name can't be sent back as one. */
function wireTool(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  return `${name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}_${hash(name)}`;
}

function keptIn(opaque: Json | undefined, model: string): Kept {
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

const idsOf = (calls: readonly ToolCall[], { ids }: Kept): readonly string[] =>
  ids?.length === calls.length ? ids : calls.map(({ id }) => wireId(id));

/** Servers read the arguments as an object again: what the model sent as something else comes back inside of one. */
const argumentsOf = (input: Json): string =>
  withoutHalves(JSON.stringify(isFields(input) ? input : { unreadable_arguments: input }));

/** Half a character, which a model can write as an escape, would make the request unreadable. Written JSON escapes only those so. */
const withoutHalves = (json: string): string =>
  json.replace(/(\\\\)|\\ud[89a-f][0-9a-f]{2}/g, (_, slash: string | undefined) => slash ?? '\ufffd');

const NO_OUTPUT = '(no output)';

function answerTo(call: ToolCall, results: readonly ToolResult[]): string {
  const result = results.find(({ call: id }) => id === call.id);
  if (result === undefined) return 'Error: not run';
  const text = isBlank(result.text) ? NO_OUTPUT : result.text.toWellFormed();
  return result.ok || text.startsWith('Error') ? text : `Error: ${text}`;
}

/** FNV-1a over UTF-16 units, twice with different seeds: 64 bits in 13 characters. */
function hash(text: string): string {
  const half = (seed: number): string => {
    let sum = seed;
    for (let n = 0; n < text.length; n += 1) sum = Math.imul(sum ^ text.charCodeAt(n), 0x01000193);
    return (sum >>> 0).toString(36);
  };
  return `${half(0x811c9dc5)}${half(0x2f0b4a77)}`;
}
