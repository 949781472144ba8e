/** The body of a request to Anthropic's Messages API, with reasoning, the form of the reply, and marks for the prompt cache. Between two
 * requests of one conversation only the marks move. */
import type Anthropic from '@anthropic-ai/sdk';
import type { AgentId } from '../../domain/ids.ts';
import { withEffort } from '../../domain/models/provider.ts';
import { unreachable } from '../../domain/result.ts';
import type { Json } from '../../domain/turn.ts';
import type { ModelRequest, ToolSpec } from '../../ports/model.ts';
import { isObject } from '../http/json.ts';
import { wireName } from '../provider.ts';
import { type Block, type Message, messagesOf } from './turns.ts';

/** The part of the body that is also sent to count its tokens. */
export type Body = Omit<Anthropic.MessageCreateParamsStreaming, 'stream' | 'max_tokens'>;

export interface Asked {
  readonly body: Body;
  /** The reply is the input of `FORM_TOOL`, not text. */
  readonly formed: boolean;
  /** An effort was requested, but the model does not support one. */
  readonly withoutEffort: boolean;
}

/** The tool that a model is made to call if its replies cannot follow a schema. */
export const FORM_TOOL = 'give_reply';

/** The reasoning budget in tokens for models that need one, and the least output limit for using it. */
const THINKING_BUDGET = 4096;
const LEAST_FOR_THINKING = 2 * THINKING_BUDGET;
const CACHED = { cache_control: { type: 'ephemeral' } } as const;

export function askedOf(request: ModelRequest, allowed: Allowed = ALL_ALLOWED): Asked {
  const model = wireName(request.model);
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
  return { body, formed: form.is === 'tool', withoutEffort: request.effort !== undefined && !traits.effort };
}

/** The known traits of the model, without what its server refused. */
const within = ({ thinking, schema, forced, effort }: Traits, allowed: Allowed): Traits => ({
  thinking: allowed.thinking ? thinking : 'own',
  schema: schema && allowed.schema,
  forced: forced && allowed.forced,
  effort: effort && allowed.effort,
});

/** A conversation with calls must declare their tools, even if none may be called any more. */
function toolsUsed(messages: readonly Message[]): readonly ToolSpec[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
  );
  return [...new Set(names)].map((name) => ({ name, description: 'Do not call this any more.', schema: {} }));
}

type Form =
  | { readonly is: 'none' }
  | { readonly is: 'schema'; readonly schema: { [key: string]: unknown } }
  | { readonly is: 'tool'; readonly tool: Anthropic.Tool };

/** Uses a schema if the model supports it, else a forced tool call, else only the prompt. */
function formOf(format: Json | null, traits: Traits): Form {
  if (format === null) return { is: 'none' };
  const schema = traits.schema ? allowedSchema(format) : null;
  if (isObject(schema)) return { is: 'schema', schema: { ...schema } };
  if (!traits.forced) return { is: 'none' };
  const description = 'Gives the whole reply in the requested form. Call it exactly once.';
  return { is: 'tool', tool: toolOf({ name: FORM_TOOL, description, schema: format }) };
}

function outputOf(form: Form, traits: Traits, request: ModelRequest): Pick<Body, 'output_config'> {
  const effort = traits.effort ? request.effort : undefined;
  if (form.is !== 'schema' && effort === undefined) return {};
  const format = form.is === 'schema' ? { format: { type: 'json_schema' as const, schema: form.schema } } : {};
  return { output_config: { ...format, ...withEffort(effort) } };
}

/** With `none`, tools are declared for earlier calls, but none may be called now. */
function choiceOf(form: Form, none: boolean): Pick<Body, 'tool_choice'> {
  if (form.is === 'tool') return { tool_choice: { type: 'tool', name: FORM_TOOL, disable_parallel_tool_use: true } };
  return none ? { tool_choice: { type: 'none' } } : {};
}

const toolOf = ({ name, description, schema }: ToolSpec): Anthropic.Tool => ({
  name,
  description,
  input_schema: { ...(isObject(schema) ? schema : {}), type: 'object' },
});

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

/** With a reasoning budget, answered calls must come with the reasoning that led to them. */
function mayThink(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const called = last?.content.some(({ type }) => type === 'tool_use') ?? false;
  return !called || last?.content[0]?.type === 'thinking' || last?.content[0]?.type === 'redacted_thinking';
}

/** Marks the newest message and the last one of the previous request: the cache searches only some blocks before a mark, and a reply with
 * many calls is longer. With the marks on tools and system prompt there are four, the maximum. */
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
  /** `adaptive`: the model decides how much to reason. `adaptive, shown`: also, and it returns its reasoning only on request. `budget`:
   * up to a number of tokens. `own`: no setting is sent. */
  readonly thinking: 'adaptive' | 'adaptive, shown' | 'budget' | 'own';
  /** Supports a JSON Schema for its reply. */
  readonly schema: boolean;
  /** Can be forced to call one tool. */
  readonly forced: boolean;
  /** Supports a reasoning effort. Assumed for an unknown model, which may refuse it. */
  readonly effort: boolean;
}

/** A fast model is chosen for its speed, so it is not made to reason. */
const KNOWN: readonly (readonly [RegExp, Traits['thinking']])[] = [
  [/^claude-haiku-4-5$/, 'own'],
  [/^claude-(?:opus|sonnet)-4(?:-[015])?$/, 'budget'],
  [/^claude-(?:opus|sonnet)-4-6$/, 'adaptive'],
  [/^claude-opus-4-[78]$/, 'adaptive, shown'],
  [/^claude-mythos-preview$/, 'adaptive, shown'],
  [/^claude-(?:opus|sonnet|haiku|fable|mythos)-5(?:-[125])?$/, 'adaptive, shown'],
];

/** Traits of a model by its id on the wire, with or without a date suffix. */
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

/** The first version of each family that supports an effort. */
const leastForEffort = (name: string): number =>
  name.startsWith('claude-haiku-') ? 5.05 : name.startsWith('claude-opus-') ? 4.05 : 4.06;

/** The version as a number, 4.05 for 4.5, for comparison; 0 for other models. */
function versionOf(name: string): number {
  if (name === 'claude-mythos-preview') return 4.07;
  const [, major, minor = '0'] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?$/.exec(name) ?? [];
  return major === undefined ? 0 : Number(major) + Number(minor) / 100;
}

// What a server of Anthropic's language turned out not to take, learned from its refusals, each of them once: nothing is billed for those,
// so the request is made again at once without it. Held for as long as the provider is.

/** What may be requested of a model, as far as known: the fields of `Traits`. */
interface Allowed extends Readonly<Record<keyof Traits, boolean>> {
  /** Reasoning is sent back from this turn on; that of earlier turns was refused. */
  readonly reasonedFrom: number;
}

const ALL_ALLOWED: Allowed = { schema: true, forced: true, thinking: true, effort: true, reasonedFrom: 0 };
type OfModel = Omit<Allowed, 'reasonedFrom'>;

export function openLearned() {
  const models = new Map<string, OfModel>();
  const agents = new Map<AgentId, number>();
  const allowed = (request: ModelRequest): Allowed => ({
    ...ALL_ALLOWED,
    ...models.get(request.model),
    reasonedFrom: agents.get(request.agent) ?? 0,
  });
  return {
    allowed,
    /** Takes a refusal of `body` by its words; false when it says nothing that could be left out. */
    take(request: ModelRequest, body: Body, words: string): boolean {
      if (hasReasoning(body) && OF_REASONING.test(words)) {
        // Reasoning is bound to everything before it, so future reasoning can be sent back again.
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

/** Refusals of reasoning that was changed, moved, omitted, or made in another context. */
const OF_REASONING = /signature|different conversation|redacted_thinking|thinking.{0,3} blocks?/i;

/** A server that does not support `output_config` at all may name only that. */
const OF_EFFORT = /effort|output_config(?![.'"`\]\s]*(?:format|schema))/i;

/** What a body requests, the words by which a refusal names it, and what is then left out. The first match counts. */
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

// JSON Schema as structured output takes it: no ranges, lengths or patterns (they become words in the description), closed objects. The
// caller checks a reply against the rest.

type Fields = { readonly [key: string]: Json };
const KEPT: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'description', 'title', 'required', '$ref']);
const FORMATS: ReadonlySet<Json> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** Keywords that do not constrain a reply, or that are the same for all objects. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', 'additionalProperties', 'default']);

/** `schema` in the subset of structured output; null if it cannot be expressed (open maps, arbitrary values). A schema that is too complex is
 * refused by the server, which is learned. */
export function allowedSchema(schema: Json): Json | null {
  if (!isObject(schema) || !isExpressible(schema)) return null;
  const kept: Record<string, Json> = {};
  const said: string[] = [];
  for (const [key, value] of Object.entries(schema).filter(([key]) => !DROPPED.has(key))) {
    const within = WITHIN.get(key)?.(value);
    if (within === null) return null;
    if (within !== undefined) kept[key === 'oneOf' ? 'anyOf' : key] = within;
    else if (stays(key, value)) kept[key] = value;
    else said.push(`${key}: ${JSON.stringify(value)}`);
  }
  const closed = schema['type'] === 'object' ? { additionalProperties: false } : {};
  return { ...kept, ...described(schema, said), ...closed };
}

function described({ description }: Fields, said: readonly string[]): Fields {
  const told = typeof description === 'string' ? [description] : [];
  const text = [...told, ...(said.length === 0 ? [] : [`{${said.join(', ')}}`])].join('\n\n');
  return text === '' ? {} : { description: text };
}

/** Without a type or alternatives any value is valid; a map with free keys cannot be closed. */
function isExpressible(schema: Fields): boolean {
  if (isObject(schema['additionalProperties']) || schema['propertyNames'] !== undefined) return false;
  if (schema['type'] === 'object') return isObject(schema['properties']);
  return ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref'].some((key) => schema[key] !== undefined);
}

/** How to translate the schemas within a schema, by keyword. */
const WITHIN: ReadonlyMap<string, (value: Json) => Json | null> = new Map([
  ...['properties', '$defs'].map((name) => [name, allowedMap] as const),
  ['items', allowedSchema],
  ...['anyOf', 'oneOf', 'allOf'].map((name) => [name, allowedList] as const),
]);

const stays = (key: string, value: Json): boolean =>
  KEPT.has(key) || (key === 'format' && FORMATS.has(value)) || (key === 'minItems' && (value === 0 || value === 1));

function allowedMap(value: Json): Json | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).map(([key, schema]) => [key, allowedSchema(schema)] as const);
  return entries.some(([, schema]) => schema === null) ? null : Object.fromEntries(entries);
}

function allowedList(value: Json): Json | null {
  if (!Array.isArray(value)) return null;
  const all = value.map((schema: Json) => allowedSchema(schema));
  return all.includes(null) ? null : all;
}
