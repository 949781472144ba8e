/**
 * A request as Anthropic's Messages take it: the body, with reasoning and the form of the reply as the model has them, and marks for
 * the prompt cache. Only the marks move between two requests of one conversation.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { AgentId } from '../../domain/ids.ts';
import { withEffort } from '../../domain/models/effort.ts';
import { unreachable } from '../../domain/result.ts';
import type { Json } from '../../domain/turn.ts';
import type { ModelRequest, ToolSpec } from '../../ports/model.ts';
import { isObject } from '../http/strict-json.ts';
import { type Block, type Message, messagesOf } from './turns.ts';

/** What is common to a request and to the question how long it is. */
export type Body = Omit<Anthropic.MessageCreateParamsStreaming, 'stream' | 'max_tokens'>;

export interface Asked {
  readonly body: Body;
  /** The reply is the input of `FORM_TOOL`, not text. */
  readonly formed: boolean;
  /** An effort was asked for, and the model takes no such setting. */
  readonly withoutEffort: boolean;
}

/** The tool that a model is made to call where its replies can't be given a schema. */
export const FORM_TOOL = 'give_reply';

/** Tokens of reasoning where a number must be given, and how many there must be in all for it. */
const THINKING_BUDGET = 4096;
const LEAST_FOR_THINKING = 2 * THINKING_BUDGET;

const CACHED = { cache_control: { type: 'ephemeral' } } as const;

/** The part of a canonical id that goes on the wire. */
const wireModel = (model: string): string => model.slice(model.indexOf('/') + 1);

export function askedOf(request: ModelRequest, allowed: Allowed = ALL_ALLOWED): Asked {
  const model = wireModel(request.model);
  const traits = within(traitsOf(model), allowed);
  const messages = messagesOf(request.model, request.turns, allowed.reasonedFrom);
  const form = formOf(request.format, traits);
  const named = request.tools.length === 0 ? toolsUsed(messages) : request.tools;
  const tools = [...named.map(toolOf), ...(form.is === 'tool' ? [form.tool] : [])];
  const thinking = form.is === 'tool' ? {} : thinkingOf(traits, messages, request.maxOutputTokens);
  const body: Body = {
    model,
    ...(tools.length === 0 ? {} : { tools: tools.map((tool, at) => marked(tool, at === tools.length - 1)) }),
    ...(request.system.trim() === ''
      ? {}
      : { system: [{ type: 'text', text: request.system.toWellFormed(), ...CACHED }] }),
    ...thinking,
    ...outputOf(form, traits, request),
    ...choiceOf(form, tools.length > 0 && (request.tools.length === 0 || request.toolChoice === 'none')),
    messages: withMarks(messages),
  };
  return { body, formed: form.is === 'tool', withoutEffort: isWithoutEffort(traits, request) };
}

/** What the model is known to take, without what its server refused. */
const within = ({ thinking, schema, forced, effort }: Traits, allowed: Allowed): Traits => ({
  thinking: allowed.thinking ? thinking : 'own',
  schema: schema && allowed.schema,
  forced: forced && allowed.forced,
  effort: effort && allowed.effort,
});

/** A conversation with calls in it must name their tools, also where none may be called any more. */
function toolsUsed(messages: readonly Message[]): readonly ToolSpec[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
  );
  return [...new Set(names)].map((name) => ({ name, description: 'Not to be called any more.', schema: {} }));
}

type Form =
  | { readonly is: 'none' }
  | { readonly is: 'schema'; readonly schema: { [key: string]: unknown } }
  | { readonly is: 'tool'; readonly tool: Anthropic.Tool };

/** A schema that the model keeps to, else a tool that it must call; where it takes neither, its words are all there is. */
function formOf(format: Json | null, traits: Traits): Form {
  if (format === null) return { is: 'none' };
  const schema = traits.schema ? allowedSchema(format) : null;
  if (isObject(schema)) return { is: 'schema', schema: { ...schema } };
  if (!traits.forced) return { is: 'none' };
  const description = 'Gives the whole reply, in the form that is asked for. Call it exactly once.';
  return { is: 'tool', tool: toolOf({ name: FORM_TOOL, description, schema: format }) };
}

const isWithoutEffort = (traits: Traits, { effort }: ModelRequest): boolean => effort !== undefined && !traits.effort;

function outputOf(form: Form, traits: Traits, request: ModelRequest): Pick<Body, 'output_config'> {
  const effort = traits.effort ? request.effort : undefined;
  if (form.is !== 'schema' && effort === undefined) return {};
  const format = form.is === 'schema' ? { format: { type: 'json_schema' as const, schema: form.schema } } : {};
  return { output_config: { ...format, ...withEffort(effort) } };
}

/** `none`: tools are named, for what was called before, and none may be called now. */
function choiceOf(form: Form, none: boolean): Pick<Body, 'tool_choice'> {
  if (form.is === 'tool') return { tool_choice: { type: 'tool', name: FORM_TOOL, disable_parallel_tool_use: true } };
  return none ? { tool_choice: { type: 'none' } } : {};
}

const toolOf = ({ name, description, schema }: ToolSpec): Anthropic.Tool => ({
  name,
  description,
  input_schema: { ...objectOf(schema), type: 'object' },
});

const objectOf = (value: Json): { readonly [key: string]: Json } => (isObject(value) ? value : {});

function thinkingOf(traits: Traits, messages: readonly Message[], maxTokens: number): Pick<Body, 'thinking'> {
  switch (traits.thinking) {
    case 'adaptive':
      return { thinking: { type: 'adaptive' } };
    case 'adaptive, shown':
      return { thinking: { type: 'adaptive', display: 'summarized' } };
    case 'budget':
      return maxTokens >= LEAST_FOR_THINKING && mayThink(messages)
        ? { thinking: { type: 'enabled', budget_tokens: THINKING_BUDGET } }
        : {};
    case 'own':
      return {};
    default:
      return unreachable(traits.thinking);
  }
}

/** With a budget, calls that are being answered must come with the reasoning that led to them. */
function mayThink(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const called = last?.content.some(({ type }) => type === 'tool_use') ?? false;
  return !called || last?.content[0]?.type === 'thinking' || last?.content[0]?.type === 'redacted_thinking';
}

/**
 * Marks on the newest message and on the last one of the request before it: the cache looks back only some blocks from a mark, and a
 * reply with many calls is longer than that. With those on tools and system prompt they are four, as many as there may be.
 */
function withMarks(messages: readonly Message[]): Anthropic.MessageParam[] {
  const before = messages.findLastIndex(({ role }) => role === 'assistant') - 1;
  return messages.map(({ role, content }, at) => ({
    role,
    content: content.map((block, index) =>
      markedBlock(block, index === content.length - 1 && (at === before || at === messages.length - 1)),
    ),
  }));
}

const marked = <T extends object>(value: T, yes: boolean): T => (yes ? { ...value, ...CACHED } : value);

const markedBlock = (block: Block, yes: boolean): Block =>
  block.type === 'thinking' || block.type === 'redacted_thinking' ? block : marked(block, yes);

// What Claude models are documented to take, by family and version: how they are told to reason, and how a reply gets its form.
// How much they reason is left to each model's own default. A model that is not known here is asked for nothing special.

interface Traits {
  /**
   * `adaptive`: the model decides how much. `adaptive, shown`: as well, and it returns its reasoning only when it is asked to.
   * `budget`: up to a number of tokens. `own`: nothing is said.
   */
  readonly thinking: 'adaptive' | 'adaptive, shown' | 'budget' | 'own';
  /** Takes a JSON Schema for its reply. */
  readonly schema: boolean;
  /** May be forced to call one tool. */
  readonly forced: boolean;
  /** Takes a setting of how much it is to think. A model that is not known here is asked, and may refuse. */
  readonly effort: boolean;
}

/** A fast model that is chosen for its speed is not told to reason where it would not by itself. */
const KNOWN: readonly (readonly [RegExp, Traits['thinking']])[] = [
  [/^claude-haiku-4-5$/, 'own'],
  [/^claude-(?:opus|sonnet)-4(?:-[015])?$/, 'budget'],
  [/^claude-(?:opus|sonnet)-4-6$/, 'adaptive'],
  [/^claude-opus-4-[78]$/, 'adaptive, shown'],
  [/^claude-mythos-preview$/, 'adaptive, shown'],
  [/^claude-(?:opus|sonnet|haiku|fable|mythos)-5(?:-[125])?$/, 'adaptive, shown'],
];

/** Traits of a model by its id on the wire, with or without a date at its end. */
export function traitsOf(id: string): Traits {
  const name = id.replace(/-20\d{6}$/, '');
  const version = versionOf(name);
  return {
    thinking: KNOWN.find(([form]) => form.test(name))?.[1] ?? 'own',
    schema: version >= 4.05,
    // From 5.1 on, forcing a tool is an error.
    forced: version < 5.01,
    effort: version === 0 || version >= leastForEffort(name),
  };
}

/** The first version of each family that takes a setting of its effort. */
const leastForEffort = (name: string): number =>
  name.startsWith('claude-haiku-') ? 5.05 : name.startsWith('claude-opus-') ? 4.05 : 4.06;

/** 4.5 is 4.05, so that versions compare as numbers; 0 for what is no Claude model. */
function versionOf(name: string): number {
  if (name === 'claude-mythos-preview') return 4.07;
  const [, major, minor = '0'] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?$/.exec(name) ?? [];
  return major === undefined ? 0 : Number(major) + Number(minor) / 100;
}

// What a server of Anthropic's language turned out not to take, learned from its refusals, each of them once: nothing is billed for those,
// so the request is made again at once without it. Held for as long as the provider is.

/** What may be asked of a model, as far as it is known by now. */
interface Allowed {
  /** A schema for its reply, where the model is known to take one. */
  readonly schema: boolean;
  /** To be forced to call a tool. */
  readonly forced: boolean;
  /** Anything said of how it should reason. */
  readonly thinking: boolean;
  /** To be told how much to think. */
  readonly effort: boolean;
  /** Reasoning goes back from this turn on: that of earlier ones is not taken any more. */
  readonly reasonedFrom: number;
}

export interface Learned {
  allowed(request: ModelRequest): Allowed;
  /** Takes a refusal of `body` by its words; false when it says nothing that could be left out. */
  take(request: ModelRequest, body: Body, words: string): boolean;
}

/** All of it. */
const ALL_ALLOWED: Allowed = { schema: true, forced: true, thinking: true, effort: true, reasonedFrom: 0 };

type OfModel = Omit<Allowed, 'reasonedFrom'>;

export function openLearned(): Learned {
  const models = new Map<string, OfModel>();
  const agents = new Map<AgentId, number>();
  const allowed = (request: ModelRequest): Allowed => ({
    ...ALL_ALLOWED,
    ...models.get(request.model),
    reasonedFrom: agents.get(request.agent) ?? 0,
  });
  return {
    allowed,
    take(request, body, words) {
      if (hasReasoning(body) && OF_REASONING.test(words)) {
        // What is sealed is bound to all that stood before it, so what comes from now on may go back again.
        agents.set(request.agent, request.turns.length);
        return true;
      }
      const less = lessFor(body, words);
      if (less === null) return false;
      const { schema, forced, thinking, effort } = allowed(request);
      models.set(request.model, { schema, forced, thinking, effort, ...less });
      return true;
    },
  };
}

/** Of sealed reasoning that was changed, moved, left out, or made before something else. */
const OF_REASONING = /signature|different conversation|redacted_thinking|thinking.{0,3} blocks?/i;

/** A server that does not know `output_config` at all may name only that. */
const OF_EFFORT = /effort|output_config(?![.'"`\]\s]*(?:format|schema))/i;

/** What is asked for in a body, by which words a refusal names it, and what is left out then. The first that fits counts. */
const LESSONS: readonly {
  readonly asked: (body: Body) => boolean;
  readonly named: RegExp;
  readonly less: Partial<OfModel>;
}[] = [
  { asked: ({ output_config }) => output_config?.effort !== undefined, named: OF_EFFORT, less: { effort: false } },
  {
    asked: ({ tool_choice }) => tool_choice?.type === 'tool',
    named: /tool_choice|forces? tool/i,
    less: { forced: false },
  },
  { asked: ({ thinking }) => thinking !== undefined, named: /thinking|adaptive/i, less: { thinking: false } },
  {
    asked: ({ output_config }) => output_config?.format !== undefined,
    named: /format|output_config|schema|grammar|structured/i,
    less: { schema: false },
  },
];

const lessFor = (body: Body, words: string): Partial<OfModel> | null =>
  LESSONS.find(({ asked, named }) => asked(body) && named.test(words))?.less ?? null;

const hasReasoning = ({ messages }: Body): boolean =>
  messages.some(
    ({ content }) =>
      typeof content !== 'string' && content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking'),
  );

// JSON Schema as structured output takes it: no ranges, lengths or patterns (they become words in the description), objects closed.
// What a reply must hold beyond that is checked by whoever asked for it.

type Fields = { readonly [key: string]: Json };

/** Kept as they are. */
const KEPT: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'description', 'title', 'required', '$ref']);
const FORMATS: ReadonlySet<Json> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** Says nothing that a reply could be held to, or is said for all objects alike. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', 'additionalProperties', 'default']);

/** More than that in one schema is refused as too complex. */
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;

/**
 * `schema` in the subset that structured output takes; null where it can't say what it should (open maps, anything goes) or is more
 * than would be taken.
 */
export function allowedSchema(schema: Json): Json | null {
  const subset = allowed(schema);
  const { optional, unions } = countIn(subset);
  return optional > MOST_OPTIONAL || unions > MOST_UNIONS ? null : subset;
}

/** Fields that may be missing, and values of several types, in all schemas within `schema`. */
function countIn(schema: Json): { readonly optional: number; readonly unions: number } {
  if (typeof schema !== 'object' || schema === null) return { optional: 0, unions: 0 };
  const within = Object.values(schema).map(countIn);
  const fields = isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']).length : 0;
  const required = isObject(schema) && Array.isArray(schema['required']) ? schema['required'].length : 0;
  const isUnion = isObject(schema) && (Array.isArray(schema['anyOf']) || Array.isArray(schema['type']));
  return {
    optional: within.reduce((sum, one) => sum + one.optional, Math.max(0, fields - required)),
    unions: within.reduce((sum, one) => sum + one.unions, isUnion ? 1 : 0),
  };
}

function allowed(schema: Json): Json | null {
  if (!isObject(schema) || !isExpressible(schema)) return null;
  const fields = Object.entries(schema).filter(([key]) => !DROPPED.has(key));
  const each = fields.map(([key, value]) => [key, value, allowedField(key, value)] as const);
  if (each.some(([, , field]) => field === null)) return null;
  const kept = each.flatMap(([key, , field]) =>
    field === null || field === 'said' ? [] : [[key, field.value] as const],
  );
  const said = each.flatMap(([key, value, field]) => (field === 'said' ? [[key, value] as const] : []));
  const closed = schema['type'] === 'object' ? { additionalProperties: false } : {};
  return withWords({ ...Object.fromEntries(kept), ...closed }, said);
}

/** Without a type or alternatives anything goes; a map from any key is an object that can't be closed. */
function isExpressible(schema: Fields): boolean {
  if (isObject(schema['additionalProperties']) || schema['propertyNames'] !== undefined) return false;
  if (schema['type'] === 'object') return isObject(schema['properties']);
  return ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref'].some((key) => schema[key] !== undefined);
}

/** How the schemas within a schema are found. */
const WITHIN: ReadonlyMap<string, (value: Json) => Json | null> = new Map([
  ['properties', (value: Json) => allowedMap(value)],
  ['$defs', (value: Json) => allowedMap(value)],
  ['items', (value: Json) => allowed(value)],
  ['anyOf', (value: Json) => allowedList(value)],
  ['oneOf', (value: Json) => allowedList(value)],
  ['allOf', (value: Json) => allowedList(value)],
]);

/** The field as it may stay, `said` when it can only be said in words, null when the whole can't be expressed. */
function allowedField(key: string, value: Json): { readonly value: Json } | 'said' | null {
  const within = WITHIN.get(key);
  if (within !== undefined) return wrapped(within(value));
  const stays =
    KEPT.has(key) || (key === 'format' && FORMATS.has(value)) || (key === 'minItems' && (value === 0 || value === 1));
  return stays ? { value } : 'said';
}

const wrapped = (value: Json | null): { readonly value: Json } | null => (value === null ? null : { value });

function allowedMap(value: Json): Json | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).map(([key, schema]) => [key, allowed(schema)] as const);
  return entries.some(([, schema]) => schema === null) ? null : Object.fromEntries(entries);
}

function allowedList(value: Json): Json | null {
  if (!Array.isArray(value)) return null;
  const all = value.map((schema: Json) => allowed(schema));
  return all.includes(null) ? null : all;
}

function withWords(schema: Fields, rest: readonly (readonly [string, Json])[]): Json {
  const { oneOf, ...others } = schema;
  const plain = oneOf === undefined ? others : { ...others, anyOf: oneOf };
  if (rest.length === 0) return plain;
  const words = `{${rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`;
  const said = typeof schema['description'] === 'string' ? `${schema['description']}\n\n${words}` : words;
  return { ...plain, description: said };
}
