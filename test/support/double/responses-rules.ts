/** What OpenAI would refuse in a Responses request, in its own words. */
import { functionProblems } from './chat-rules.ts';
import { at, isFields, listAt, numberAt, textAt } from './json.ts';
import { inputOf } from './responses.ts';
import { openaiStrictProblem } from './schema-rules.ts';
import { isSealed } from './seal.ts';
import type { Reasoned } from './thinking-rules.ts';

/** Everything wrong with `body`, the first thing first. */
export function* responsesProblems(body: unknown, reasoned: Reasoned): Generator<string> {
  if (textAt(body, 'model') === '') yield "Missing required parameter: 'model'.";
  const input = inputOf(body);
  if (input.length === 0) yield "Missing required parameter: 'input'.";
  yield* settingProblems(body);
  for (const [index, tool] of listAt(body, 'tools').entries()) {
    if (textAt(tool, 'type') === 'function') yield* functionProblems(tool, `tools[${index}]`);
  }
  yield* formatProblems(at(at(body, 'text'), 'format'));
  for (const [index, item] of input.entries()) yield* itemProblems(item, index);
  yield* callProblems(input);
  yield* reasoningProblems(body, input, reasoned);
}

function* settingProblems(body: unknown): Generator<string> {
  for (const strange of ['messages', 'max_tokens', 'max_completion_tokens', 'response_format']) {
    if (at(body, strange) !== undefined) yield `Unknown parameter: '${strange}'.`;
  }
  const most = numberAt(body, 'max_output_tokens');
  if (most !== null && most < 16) {
    yield `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${most} instead.`;
  }
  if (textAt(body, 'prompt_cache_key').length > 64) {
    yield "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.";
  }
}

function* formatProblems(format: unknown): Generator<string> {
  if (textAt(format, 'type') !== 'json_schema') return;
  const name = textAt(format, 'name');
  if (name === '') yield "Missing required parameter: 'text.format.name'.";
  if (!isFields(at(format, 'schema'))) yield "Missing required parameter: 'text.format.schema'.";
  const wrong = at(format, 'strict') === true ? openaiStrictProblem(at(format, 'schema')) : null;
  if (wrong !== null) yield `Invalid schema for response_format '${name}': ${wrong}`;
}

const PREFIXES: Readonly<Record<string, string>> = { reasoning: 'rs', function_call: 'fc', message: 'msg' };

function* itemProblems(item: unknown, index: number): Generator<string> {
  const id = textAt(item, 'id');
  const prefix = PREFIXES[textAt(item, 'type')];
  if (id !== '' && prefix !== undefined && !id.startsWith(prefix)) {
    yield `Invalid 'input[${index}].id': '${id}'. Expected an ID that begins with '${prefix}'.`;
  }
  if (textAt(item, 'call_id').length > 64) {
    yield `Invalid 'input[${index}].call_id': string too long. Expected a string with maximum length 64.`;
  }
  const allowed =
    textAt(item, 'role') === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  const parts = listAt(item, 'content').map((part) => textAt(part, 'type'));
  const wrong = textAt(item, 'type') === 'reasoning' ? undefined : parts.find((type) => !allowed.includes(type));
  if (wrong !== undefined) {
    yield `Invalid value: '${wrong}'. Supported values are: ${allowed.map((one) => `'${one}'`).join(' and ')}.`;
  }
}

function* callProblems(input: readonly unknown[]): Generator<string> {
  const ids = (type: string): readonly string[] =>
    input.filter((item) => textAt(item, 'type') === type).map((item) => textAt(item, 'call_id'));
  const [calls, outputs] = [ids('function_call'), ids('function_call_output')];
  const open = calls.find((id) => !outputs.includes(id));
  if (open !== undefined) yield `No tool output found for function call ${open}.`;
  const stray = outputs.find((id) => !calls.includes(id));
  if (stray !== undefined) yield `No tool call found for function call output with call_id ${stray}.`;
}

function* reasoningProblems(body: unknown, input: readonly unknown[], reasoned: Reasoned): Generator<string> {
  const isReasoning = (item: unknown): boolean => textAt(item, 'type') === 'reasoning';
  const isByModel = (item: unknown): boolean =>
    textAt(item, 'role') === 'assistant' || ['function_call', 'reasoning'].includes(textAt(item, 'type'));
  for (const [index, item] of input.entries()) {
    if (isReasoning(item)) yield* sealProblems(body, item);
    const id = textAt(item, 'id');
    if (isReasoning(item) && !isByModel(input[index + 1])) {
      yield `Item '${id}' of type 'reasoning' was provided without its required following item.`;
    }
    // Only a call that comes back under the id of its item is held to the reasoning that went with it.
    const needs = id === '' ? null : reasoned(textAt(item, 'call_id'));
    if (
      textAt(item, 'type') === 'function_call' &&
      needs !== null &&
      !input.some((one) => textAt(one, 'id') === needs)
    ) {
      yield `Item '${id}' of type 'function_call' was provided without its required 'reasoning' item: '${needs}'.`;
    }
  }
}

function* sealProblems(body: unknown, item: unknown): Generator<string> {
  const content = textAt(item, 'encrypted_content');
  if (content !== '' && !isSealed(content)) {
    yield `The encrypted content ${content.slice(0, 8)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
  }
  if (content === '' && at(body, 'store') === false) {
    yield `Item with id '${textAt(item, 'id')}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  }
}
