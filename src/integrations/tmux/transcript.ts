/** Reads the lines of a transcript (`.jsonl`) that a coding agent writes: what it says, which tools it uses, the tokens it used, and whether its
 * turn is over. Knows the lines of Claude Code (`type: assistant | user`) and of Codex (`type: response_item | event_msg`); others are ignored. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget.ts';
import { headOf } from '../../domain/text/text.ts';
import { tried } from '../../domain/result.ts';
import type { Told } from './detection.ts';

const count = z.number().int().min(0).catch(0);
const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  is_error: z.boolean().nullish(),
});
const ClaudeLine = z.looseObject({
  type: z.enum(['assistant', 'user']),
  message: z.looseObject({
    id: z.string().optional(),
    content: z.union([z.string(), z.array(Block)]),
    stop_reason: z.string().nullish(),
    usage: z
      .looseObject({
        input_tokens: count,
        output_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count,
      })
      .optional(),
  }),
});
const CodexLine = z.looseObject({
  type: z.enum(['response_item', 'event_msg']),
  payload: z.looseObject({
    type: z.string(),
    role: z.string().optional(),
    content: z.array(Block).catch([]),
    name: z.string().optional(),
    arguments: z.string().optional(),
    call_id: z.string().optional(),
    last_agent_message: z.string().nullish(),
    info: z
      .looseObject({
        total_token_usage: z.looseObject({ input_tokens: count, cached_input_tokens: count, output_tokens: count }),
      })
      .nullish(),
  }),
});

/** The state of a transcript: lines are added as they are written. */
export class Transcript {
  #text = '';
  #isOver = false;
  /** Whether a line was understood: without one the terminal alone tells. */
  #isKnown = false;
  #used: Usage = NO_USAGE;
  /** The calls that have begun and not ended. */
  readonly #open = new Set<string>();
  /** Of each message, which one program writes on several lines with the same usage. */
  readonly #messages = new Map<string, Usage>();

  /** What the lines tell for the screen, in order: tools that begin and end, and todos. Lines that are none of a transcript are ignored. */
  add(lines: readonly string[]): readonly SessionUpdate[] {
    return lines.flatMap((line) => {
      const value: unknown = tried(() => JSON.parse(line) as unknown, null);
      const claude = ClaudeLine.safeParse(value);
      if (claude.success) return this.#claude(claude.data);
      const codex = CodexLine.safeParse(value);
      return codex.success ? this.#codex(codex.data.payload) : [];
    });
  }

  /** What it says of the present turn; null if it wrote none that is understood. */
  told(): Told | null {
    return this.#isKnown ? { text: this.#text, isOver: this.#isOver } : null;
  }

  /** A new turn begins. */
  next(): void {
    [this.#text, this.#isOver] = ['', false];
  }

  /** Of the whole transcript. */
  get used(): Usage {
    return this.#used;
  }

  #claude({ type, message }: z.output<typeof ClaudeLine>): readonly SessionUpdate[] {
    this.#isKnown = true;
    const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    if (type === 'user') {
      this.#isOver = false;
      return blocks.flatMap(({ tool_use_id: id = '', is_error }) => this.#end(id, is_error === true));
    }
    const { usage, id = '' } = message;
    if (usage !== undefined) {
      this.#messages.set(id, {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cacheRead: usage.cache_read_input_tokens,
        cacheWrite: usage.cache_creation_input_tokens,
      });
      this.#used = [...this.#messages.values()].reduce(addUsage, NO_USAGE);
    }
    this.#said(blocks);
    const calls = blocks.filter((block) => block.type === 'tool_use');
    this.#isOver =
      calls.length === 0 && ['end_turn', 'stop_sequence', 'max_tokens'].includes(message.stop_reason ?? '');
    return calls.flatMap(({ id: call = '', name = 'tool', input }) =>
      name === 'TodoWrite' ? todosIn(input) : [this.#begin(call, titleOf(name, input))],
    );
  }

  #codex(payload: z.output<typeof CodexLine>['payload']): readonly SessionUpdate[] {
    this.#isKnown = true;
    const { type, role, content, name = 'tool', call_id: call = '', info, last_agent_message: last } = payload;
    const used = info?.total_token_usage;
    switch (type) {
      case 'message':
        if (role === 'assistant') this.#said(content);
        return [];
      case 'task_started':
        this.#isOver = false;
        return [];
      case 'task_complete':
        [this.#isOver, this.#text] = [true, last ?? this.#text];
        return [];
      case 'token_count':
        if (used !== undefined) this.#used = codexUsage(used);
        return [];
      case 'function_call': {
        const input: unknown = tried(() => JSON.parse(payload.arguments ?? '') as unknown, null);
        return [this.#begin(call, titleOf(name, input))];
      }
      case 'function_call_output':
        return this.#end(call, false);
      default:
        return [];
    }
  }

  #begin(toolCallId: string, title: string): SessionUpdate {
    this.#open.add(toolCallId);
    return { sessionUpdate: 'tool_call', toolCallId, title, status: 'in_progress' };
  }

  #end(toolCallId: string, isError: boolean): readonly SessionUpdate[] {
    const status = isError ? 'failed' : 'completed';
    return this.#open.delete(toolCallId) ? [{ sessionUpdate: 'tool_call_update', toolCallId, status }] : [];
  }

  #said(blocks: readonly z.output<typeof Block>[]): void {
    const text = blocks
      .map((block) => block.text ?? '')
      .join('')
      .trim();
    if (text !== '') this.#text = text;
  }
}

const codexUsage = (
  used: Readonly<Record<'input_tokens' | 'cached_input_tokens' | 'output_tokens', number>>,
): Usage => ({
  input: Math.max(0, used.input_tokens - used.cached_input_tokens),
  output: used.output_tokens,
  cacheRead: used.cached_input_tokens,
  cacheWrite: 0,
});

/** `Bash(npm test)`: the tool with the first text of its input. */
function titleOf(name: string, input: unknown): string {
  const values: readonly unknown[] = typeof input === 'object' && input !== null ? Object.values(input) : [];
  const first = values.find((value) => typeof value === 'string' || Array.isArray(value));
  const text = Array.isArray(first) ? first.join(' ') : first;
  return typeof text === 'string' ? `${name}(${headOf(text.split('\n')[0] ?? '', 200)})` : name;
}

const Todos = z.object({
  todos: z.array(z.object({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) })),
});

function todosIn(input: unknown): readonly SessionUpdate[] {
  const read = Todos.safeParse(input);
  if (!read.success) return [];
  const entries = read.data.todos.map(({ content, status }) => ({ content, status, priority: 'medium' as const }));
  return [{ sessionUpdate: 'plan', entries }];
}
