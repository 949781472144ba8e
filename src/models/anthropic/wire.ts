/**
 * A request as Anthropic's Messages take it: the body, with reasoning and the form of the reply as the model has them, and marks for
 * the prompt cache. Only the marks move between two requests of one conversation.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { withEffort } from '../../domain/models/effort.ts';
import { unreachable } from '../../domain/result.ts';
import type { Json } from '../../domain/turn.ts';
import type { ModelRequest, ToolSpec } from '../../ports/model.ts';
import { ALL_ALLOWED } from './learned.ts';
import type { Allowed } from './learned.ts';
import { allowedSchema } from './schema.ts';
import { traitsOf } from './traits.ts';
import type { Traits } from './traits.ts';
import { messagesOf } from './turns.ts';
import type { Block, Message } from './turns.ts';
import { isObject } from '../http/strict-json.ts';

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
