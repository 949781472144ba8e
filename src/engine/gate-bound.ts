/** No more than this many tokens go in with a request: the known prefix as it was counted, and a token for each byte since. */
import type { ModelRequest } from '../ports/model.ts';
import type { PrefixBook } from './gate-tokens.ts';
import { bytesOf } from './gate-tokens.ts';

export function inputBound(prefixes: PrefixBook, { agent, model, turns, system, tools, format }: ModelRequest): number {
  const prefix = prefixes.get(agent);
  // A request for a summary goes on from the conversation as it is, or is one turn, which no prefix is (compact.ts).
  if (prefix?.model === model && prefix.turns <= turns.length)
    return prefix.tokens + bytesOf(turns.slice(prefix.turns));
  return bytesOf(system) + bytesOf(tools) + bytesOf(turns) + bytesOf(format ?? '');
}
