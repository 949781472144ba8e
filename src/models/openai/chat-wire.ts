/** A request as Chat Completions takes it: OpenAI's older wire, and the one that all other servers speak. */
import type { Json } from '../../domain/turn.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { Fields } from '../http/json.ts';
import { wireSchema } from './schema.ts';
import type { Traits } from './traits.ts';
import type { Step } from './turns.ts';
import { stepsOf } from './turns.ts';

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
