/** A request as OpenAI's Responses API takes it. The server keeps nothing: what it thought comes back to it sealed, as it was. */
import { withEffort } from '../../domain/models/effort.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { Fields } from '../http/json.ts';
import { wireSchema } from './schema.ts';
import type { Traits } from './traits.ts';
import type { Step } from './turns.ts';
import { stepsOf } from './turns.ts';

/** The body of the request. `model` as it goes on the wire; `cacheKey` is the same for all requests of one agent. */
export function responsesBody(
  request: ModelRequest,
  traits: Traits,
  { model, cacheKey }: { readonly model: string; readonly cacheKey: string },
): Fields {
  return {
    ...countedBody(request, traits, model),
    ...(traits.reasoning === 'none' ? {} : { include: ['reasoning.encrypted_content'] }),
    ...(traits.cacheKey ? { prompt_cache_key: cacheKey } : {}),
    ...(request.tools.length > 0 && request.toolChoice === 'none' && traits.noTools ? { tool_choice: 'none' } : {}),
    max_output_tokens: request.maxOutputTokens,
    store: false,
    stream: true,
    ...(traits.streamOptions ? { stream_options: { include_obfuscation: false } } : {}),
  };
}

/** The part of the body that makes its input: what counting takes. */
export function countedBody(request: ModelRequest, traits: Traits, model: string): Fields {
  const tools = request.tools.map(({ name, description, schema }) => {
    const { schema: parameters, strict } = wireSchema(schema, traits.strict);
    return { type: 'function', name, description, parameters, strict };
  });
  return {
    model,
    ...(request.system === '' ? {} : { instructions: request.system.toWellFormed() }),
    input: stepsOf(request.turns, request.model).flatMap((step) => inputOf(step, traits)),
    ...(tools.length === 0 ? {} : { tools, ...(traits.parallel ? { parallel_tool_calls: true } : {}) }),
    ...formatOf(request, traits),
    ...reasoningOf(request, traits),
  };
}

function reasoningOf({ effort }: ModelRequest, traits: Traits): Fields {
  const summary = traits.reasoning === 'summary' ? { summary: 'auto' } : {};
  const reasoning = { ...summary, ...(traits.effort ? withEffort(effort) : {}) };
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

function inputOf(step: Step, { items }: Traits): readonly Fields[] {
  if (step.is === 'user') return [{ role: 'user', content: step.text }];
  const answers = step.answers.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
  if (items && step.kept.items !== undefined) return [...step.kept.items, ...answers];
  return [
    ...(step.text === '' ? [] : [{ role: 'assistant', content: step.text }]),
    ...step.calls.map(({ id, tool, arguments: text }) => ({
      type: 'function_call',
      call_id: id,
      name: tool,
      arguments: text,
    })),
    ...answers,
  ];
}

function formatOf({ format }: ModelRequest, traits: Traits): Fields {
  if (format === null || traits.format !== 'schema') return {};
  return { text: { format: { type: 'json_schema', name: 'reply', ...wireSchema(format, traits.strict) } } };
}
