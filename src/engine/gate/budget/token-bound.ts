/** No more than this many tokens go in with a request: the known prefix as it was counted, and a token for each byte since. */
import type { ModelRequest } from '../../../ports/model.ts';
import type { PrefixBook } from './tokens.ts';
import { bytesOf } from './tokens.ts';

export function inputBound(prefixes: PrefixBook, { agent, model, turns, system, tools, format }: ModelRequest): number {
  const prefix = prefixes.of(agent, model, turns);
  if (prefix !== undefined) return prefix.tokens + bytesOf(turns.slice(prefix.turns));
  return bytesOf(system) + bytesOf(tools) + bytesOf(turns) + bytesOf(format ?? '');
}
