/** Anthropic's rules of reasoning: what a request may ask for, and that a block comes back as it was sent when tools follow. */
import { at, numberAt, textAt } from './json.ts';
import { signatureOf } from './seal.ts';

/** What the double made together with a call: the signature of its reasoning, or the id of its item; null where it had none. */
export type Reasoned = (call: string) => string | null;

interface SaidTurn {
  readonly at: number;
  readonly role: string;
  readonly blocks: readonly unknown[];
}

export function* thinkingProblems(body: unknown, turns: readonly SaidTurn[], reasoned: Reasoned): Generator<string> {
  yield* settingProblems(body);
  for (const turn of turns) yield* signatureProblems(turn);
  // Only the reply that the last results answer must still have its reasoning; older ones may have lost it.
  const last = turns.findLast(({ role }) => role === 'assistant');
  if (last !== undefined && isAsked(body)) yield* missingProblems(last, reasoned);
}

const typeOf = (body: unknown): string => textAt(at(body, 'thinking'), 'type');
const isAsked = (body: unknown): boolean => ['enabled', 'adaptive'].includes(typeOf(body));

function* settingProblems(body: unknown): Generator<string> {
  if (typeOf(body) === 'enabled') {
    const budget = numberAt(at(body, 'thinking'), 'budget_tokens') ?? 0;
    if (budget < 1024) yield 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
    if (budget >= (numberAt(body, 'max_tokens') ?? Infinity)) {
      yield '`max_tokens` must be greater than `thinking.budget_tokens`.';
    }
  }
  const choice = textAt(at(body, 'tool_choice'), 'type');
  if (isAsked(body) && (choice === 'any' || choice === 'tool')) {
    yield 'Thinking may not be enabled when tool_choice forces tool use.';
  }
}

function* signatureProblems({ at, blocks }: SaidTurn): Generator<string> {
  for (const [index, block] of blocks.entries()) {
    if (textAt(block, 'type') !== 'thinking') continue;
    if (textAt(block, 'signature') !== signatureOf(textAt(block, 'thinking'))) {
      yield `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
}

function* missingProblems({ at, blocks }: SaidTurn, reasoned: Reasoned): Generator<string> {
  const calls = blocks.filter((block) => textAt(block, 'type') === 'tool_use');
  const signature = calls.map((block) => reasoned(textAt(block, 'id'))).find((one) => one !== null);
  if (signature === undefined) return;
  const first = textAt(blocks[0], 'type');
  if (first !== 'thinking') {
    yield `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
  } else if (textAt(blocks[0], 'signature') !== signature) {
    yield `messages.${at}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
  }
}
