/** What Anthropic would refuse in a Messages request, in its own words. Reasoning has rules of its own: thinking-rules.ts. */
import { at, listAt, textAt } from './json.ts';
import { blocksOf } from './messages.ts';
import { fieldProblems, limitProblems, markProblems, toolProblems } from './messages-fields.ts';
import type { Reasoned } from './thinking-rules.ts';
import { thinkingProblems } from './thinking-rules.ts';

/** Everything wrong with `body`, the first thing first. `counting`: only tokens are asked for. */
export function* messagesProblems(body: unknown, counting: boolean, reasoned: Reasoned): Generator<string> {
  yield* fieldProblems(body);
  yield* limitProblems(body, counting);
  yield* toolProblems(body);
  const turns = turnsOf(body);
  yield* turnProblems(turns);
  yield* resultProblems(turns);
  if (listAt(body, 'tools').length === 0 && turns.some(({ blocks }) => blocks.some(isOfTools))) {
    yield 'Requests which include `tool_use` or `tool_result` blocks must define tools';
  }
  yield* markProblems(
    body,
    turns.flatMap(({ blocks }) => blocks),
  );
  yield* thinkingProblems(body, turns, reasoned);
}

/** Messages of the same side in a row are one turn. `at`: the index of the first. */
export interface SaidTurn {
  readonly at: number;
  readonly role: string;
  readonly blocks: readonly unknown[];
}

function turnsOf(body: unknown): readonly SaidTurn[] {
  const turns: { at: number; role: string; blocks: unknown[] }[] = [];
  for (const [index, message] of listAt(body, 'messages').entries()) {
    const role = textAt(message, 'role');
    const last = turns.at(-1);
    const blocks = blocksOf(at(message, 'content'));
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ at: index, role, blocks: [...blocks] });
  }
  return turns;
}

function* turnProblems(turns: readonly SaidTurn[]): Generator<string> {
  if (turns.length === 0) yield 'messages: at least one message is required';
  for (const { at, role, blocks } of turns) {
    yield* roleProblems(role, at);
    if (blocks.length === 0) yield `messages.${at}: all messages must have non-empty content`;
    if (blocks.some((block) => isOf(block, 'text') && textAt(block, 'text').trim() === '')) {
      yield 'messages: text content blocks must contain non-whitespace text';
    }
  }
  if (turns[0]?.role === 'assistant') yield 'messages: first message must use the "user" role';
  if (turns.at(-1)?.role === 'assistant') {
    yield 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
}

function* roleProblems(role: string, at: number): Generator<string> {
  if (role === 'system') {
    yield 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.';
  } else if (role !== 'user' && role !== 'assistant') {
    yield `messages.${at}.role: Input should be 'user' or 'assistant'`;
  }
}

const isOf = (block: unknown, type: string): boolean => textAt(block, 'type') === type;
const isOfTools = (block: unknown): boolean => isOf(block, 'tool_use') || isOf(block, 'tool_result');

function* resultProblems(turns: readonly SaidTurn[]): Generator<string> {
  for (const [index, turn] of turns.entries()) {
    const uses = usesOf(turn);
    const bad = uses.find((id) => !/^[a-zA-Z0-9_-]+$/.test(id));
    if (bad !== undefined) yield `messages.${turn.at}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    if (new Set(uses).size < uses.length) yield 'messages: `tool_use` ids must be unique';
    // Results stand before anything else that the user says.
    const next = turns[index + 1]?.blocks ?? [];
    const end = next.findIndex((block) => !isOf(block, 'tool_result'));
    const answered = next.slice(0, end === -1 ? undefined : end).map(resultOf);
    const open = uses.filter((id) => !answered.includes(id));
    if (open.length > 0) {
      yield `messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
    yield* strayProblems(turn, index === 0 ? [] : usesOf(turns[index - 1]));
  }
}

function* strayProblems({ at, blocks }: SaidTurn, uses: readonly string[]): Generator<string> {
  const results = blocks.filter((block) => isOf(block, 'tool_result')).map(resultOf);
  const stray = results.find((id) => !uses.includes(id));
  if (stray !== undefined) {
    yield `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  const twice = results.find((id, index) => results.indexOf(id) !== index);
  if (twice !== undefined) {
    yield `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`;
  }
}

const usesOf = (turn: SaidTurn | undefined): readonly string[] =>
  turn?.role === 'assistant'
    ? turn.blocks.filter((block) => isOf(block, 'tool_use')).map((block) => textAt(block, 'id'))
    : [];
const resultOf = (block: unknown): string => textAt(block, 'tool_use_id');
