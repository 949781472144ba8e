/** What Anthropic would refuse around the turns of a Messages request: fields, limits, tools, cache marks. */
import { at, isFields, listAt, listOf, numberAt, textAt } from './json.ts';
import { blocksOf } from './messages.ts';
import { anthropicSchemaProblem } from './schema-rules.ts';

const KNOWN = new Set(
  (
    'model max_tokens messages cache_control container diagnostics inference_geo metadata output_config service_tier speed ' +
    'stop_sequences stream system temperature thinking tool_choice tools top_k top_p'
  ).split(' '),
);

/** Fields that are missing, empty or unknown. */
export function* fieldProblems(body: unknown): Generator<string> {
  if (textAt(body, 'model') === '') yield 'model: Field required';
  if (!Array.isArray(at(body, 'messages'))) yield 'messages: Field required';
  for (const name of Object.keys(body ?? {})) if (!KNOWN.has(name)) yield `${name}: Extra inputs are not permitted`;
  if (blocksOf(at(body, 'system')).some((block) => textAt(block, 'text') === '')) {
    yield 'system: text content blocks must be non-empty';
  }
  const format = at(at(body, 'output_config'), 'format');
  const wrong = isFields(format) ? anthropicSchemaProblem(at(format, 'schema')) : null;
  if (wrong !== null) yield `output_config.format.schema: ${wrong}`;
}

/** `counting`: a request that only counts has no limit. */
export function* limitProblems(body: unknown, counting: boolean): Generator<string> {
  const most = at(body, 'max_tokens');
  if (most === undefined) {
    if (!counting) yield 'max_tokens: Field required';
  } else if (!Number.isInteger(most)) {
    yield 'max_tokens: Input should be a valid integer';
  } else if ((numberAt(body, 'max_tokens') ?? 0) < 1) {
    yield 'max_tokens: Input should be greater than or equal to 1';
  }
}

/** Tools that can't be offered. */
export function* toolProblems(body: unknown): Generator<string> {
  const names = listAt(body, 'tools').map((tool) => textAt(tool, 'name'));
  for (const [index, tool] of listAt(body, 'tools').entries()) {
    const where = `tools.${index}.custom`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(textAt(tool, 'name'))) {
      yield `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
    }
    const schema = at(tool, 'input_schema');
    const wrong = inputProblem(schema) ?? (at(tool, 'strict') === true ? anthropicSchemaProblem(schema) : null);
    if (wrong !== null) yield `${where}.input_schema: ${wrong}`;
  }
  if (new Set(names).size < names.length) yield 'tools: Tool names must be unique.';
  const wanted = textAt(at(body, 'tool_choice'), 'name');
  if (wanted !== '' && !names.includes(wanted)) yield `Tool '${wanted}' not found in provided tools`;
}

function inputProblem(schema: unknown): string | null {
  if (!isFields(schema)) return 'Field required';
  if (schema['type'] !== 'object') return "type: Input should be 'object'";
  const isTopless = ['oneOf', 'allOf', 'anyOf'].every((word) => !(word in schema));
  return isTopless ? null : 'input_schema does not support oneOf, allOf, or anyOf at the top level';
}

/** Cache marks: how many, of which kind, and where none can stand. `blocks`: of all turns. */
export function* markProblems(body: unknown, blocks: readonly unknown[]): Generator<string> {
  const inResults = blocks.flatMap((block) => listOf(at(block, 'content')));
  const places = [body, ...listAt(body, 'tools'), ...blocksOf(at(body, 'system')), ...blocks, ...inResults];
  const marked = places.filter((place) => isFields(at(place, 'cache_control')));
  if (marked.length > MOST_MARKS) {
    yield `A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marked.length}.`;
  }
  if (marked.some((place) => textAt(at(place, 'cache_control'), 'type') !== 'ephemeral')) {
    yield "cache_control.type: Input should be 'ephemeral'";
  }
  if (marked.some((place) => textAt(place, 'type') === 'thinking'))
    yield 'cache_control: Extra inputs are not permitted';
}

const MOST_MARKS = 4;
