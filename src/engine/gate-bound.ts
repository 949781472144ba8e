/** No more than this many tokens go in with a request: the known prefix as it was counted, and a token for each byte since. */
import type { ModelRequest } from '../ports/model.ts';
import type { PrefixBook } from './gate-tokens.ts';
import { bytesOf } from './gate-tokens.ts';

export function inputBound(
  prefixes: PrefixBook,
  { agent, model, purpose, turns, system, tools, format }: ModelRequest,
): number {
  const prefix = prefixes.get(agent);
  // A request for a summary is a conversation of its own.
  if (purpose.is !== 'compact' && prefix?.model === model && prefix.turns <= turns.length)
    return prefix.tokens + bytesOf(turns.slice(prefix.turns));
  return bytesOf(system) + bytesOf(tools) + bytesOf(turns) + bytesOf(format ?? '');
}
