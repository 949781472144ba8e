/** What OpenAI would refuse in a Chat Completions request, in its own words. */
import { at, listAt, textAt } from './json.ts';
import { openaiStrictProblem } from './schema-rules.ts';

/** Everything wrong with `body`, the first thing first. */
export function* chatProblems(body: unknown): Generator<string> {
  if (textAt(body, 'model') === '') yield 'you must provide a model parameter';
  if (!Array.isArray(at(body, 'messages'))) yield "Missing required parameter: 'messages'.";
  else if (listAt(body, 'messages').length === 0) yield "[] is too short - 'messages'";
  yield* settingProblems(body);
  yield* toolProblems(body);
  yield* formatProblems(at(body, 'response_format'));
  yield* turnProblems(listAt(body, 'messages'));
}

function* settingProblems(body: unknown): Generator<string> {
  if (at(body, 'stream_options') !== undefined && at(body, 'stream') !== true) {
    yield "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  }
  yield* limitProblems(body);
  const tools = at(body, 'tools');
  for (const name of ['parallel_tool_calls', 'tool_choice']) {
    if (tools === undefined && at(body, name) !== undefined) {
      yield `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`;
    }
  }
  if (Array.isArray(tools) && tools.length === 0) {
    yield "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.";
  }
}

function* limitProblems(body: unknown): Generator<string> {
  const [old, recent] = [at(body, 'max_tokens'), at(body, 'max_completion_tokens')];
  if (old !== undefined && recent !== undefined) {
    yield "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
  }
  if (old !== undefined && /^(?:o\d|gpt-5)/.test(textAt(body, 'model'))) {
    yield "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  }
  if ([old, recent].some((most) => typeof most === 'number' && most < 1)) {
    yield "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1.";
  }
}

function* toolProblems(body: unknown): Generator<string> {
  for (const [index, tool] of listAt(body, 'tools').entries()) {
    const named = at(tool, 'function');
    if (textAt(tool, 'type') !== 'function') yield `Missing required parameter: 'tools[${index}].type'.`;
    yield* functionProblems(named, `tools[${index}].function`);
  }
}

/** What is wrong with the function that stands at `where`: its name, and its schema where it is strict. */
export function* functionProblems(named: unknown, where: string): Generator<string> {
  const name = textAt(named, 'name');
  if (name === '') yield `Missing required parameter: '${where}.name'.`;
  else if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
    yield `Invalid '${where}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  } else if (name.length > 64) {
    yield `Invalid '${where}.name': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`;
  }
  const schema = at(named, 'parameters');
  const wrong = at(named, 'strict') === true ? openaiStrictProblem(schema) : looseProblem(schema);
  if (wrong !== null) yield `Invalid schema for function '${name}': ${wrong}`;
}

const looseProblem = (schema: unknown): string | null =>
  schema === undefined || textAt(schema, 'type') === 'object'
    ? null
    : `schema must be a JSON Schema of 'type: "object"', got 'type: "${textAt(schema, 'type')}"'.`;

function* formatProblems(format: unknown): Generator<string> {
  if (textAt(format, 'type') !== 'json_schema') return;
  const named = at(format, 'json_schema');
  if (textAt(named, 'name') === '') yield "Missing required parameter: 'response_format.json_schema.name'.";
  const wrong = at(named, 'strict') === true ? openaiStrictProblem(at(named, 'schema')) : null;
  if (wrong !== null) yield `Invalid schema for response_format '${textAt(named, 'name')}': ${wrong}`;
}

function* turnProblems(messages: readonly unknown[]): Generator<string> {
  let open: readonly string[] = [];
  let from = 0;
  for (const [index, message] of messages.entries()) {
    const role = textAt(message, 'role');
    if (role === 'tool') {
      const id = textAt(message, 'tool_call_id');
      if (!open.includes(id)) {
        yield "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    yield* openProblems(open, from);
    yield* messageProblems(message, index);
    [open, from] = [listAt(message, 'tool_calls').map((call) => textAt(call, 'id')), index];
  }
  yield* openProblems(open, from);
}

function* openProblems(open: readonly string[], at: number): Generator<string> {
  if (open.length === 0) return;
  yield `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')} (messages[${at}])`;
}

function* messageProblems(message: unknown, index: number): Generator<string> {
  const role = textAt(message, 'role');
  const content = at(message, 'content');
  if (!['system', 'developer', 'user', 'assistant'].includes(role)) {
    yield `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
  }
  const calls = at(message, 'tool_calls');
  if (Array.isArray(calls) && calls.length === 0) {
    yield `Invalid 'messages[${index}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  }
  if (calls === undefined && (content === null || content === undefined) && at(message, 'refusal') === undefined) {
    yield `Invalid value for 'content': expected a string, got null. (messages[${index}])`;
  }
  for (const call of listAt(message, 'tool_calls')) {
    if (typeof at(at(call, 'function'), 'arguments') !== 'string') {
      yield `Invalid type for 'messages[${index}].tool_calls[0].function.arguments': expected a string, but got an object instead.`;
    }
  }
}
