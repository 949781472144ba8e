/**
 * How many tokens a request can be at most: what the provider counted for the known prefix, and one token for each byte
 * that was added since (no tokenizer makes more). Forgetting is safe: then every byte counts.
 */
import type { AgentId, ModelId } from '../../../domain/ids.ts';
import { tokensOf, type Usage } from '../../../domain/budget.ts';
import type { Turn } from '../../../domain/turn.ts';
import type { ModelRequest } from '../../../ports/model.ts';

export interface Prefix {
  /** Who counted: another model counts otherwise. */
  readonly model: ModelId;
  /** Turns of the conversation that the count covers, the reply included. */
  readonly turns: number;
  readonly tokens: number;
  /** Part of them that the provider read from its cache or wrote into it: the next request probably reads it. */
  readonly cached: number;
}

/** Bytes of anything as JSON in UTF-8; of a string, its own. */
export const bytesOf = (value: unknown): number =>
  Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

export interface PrefixBook {
  /** What is known of the beginning of `turns`; nothing when they are another conversation, or another model counted. */
  of(agent: AgentId, model: ModelId, turns: readonly Turn[]): Prefix | undefined;
  /** What is known last of the conversation of `agent`. */
  last(agent: AgentId): Prefix | undefined;
  learn(agent: AgentId, model: ModelId, turnsAsked: number, usage: Usage): void;
  /** The conversation was shortened: nothing of it is known any more. */
  forget(agent: AgentId): void;
}

export function openPrefixBook(): PrefixBook {
  const prefixes = new Map<AgentId, Prefix>();
  return {
    of: (agent, model, turns) => {
      const prefix = prefixes.get(agent);
      // A prefix ends with the reply that was counted. Where there is none, the conversation is another one: ROOT's plan
      // and its report, an agent that was begun anew.
      return prefix?.model === model && turns[prefix.turns - 1]?.by === 'model' ? prefix : undefined;
    },
    learn: (agent, model, turnsAsked, usage) => {
      const cached = usage.cacheRead + usage.cacheWrite;
      prefixes.set(agent, { model, turns: turnsAsked + 1, tokens: tokensOf(usage), cached });
    },
    last: (agent) => prefixes.get(agent),
    forget: (agent) => void prefixes.delete(agent),
  };
}

/** No more than this many tokens go in with a request: the known prefix as it was counted, and a token for each byte since. */
export function inputBound(prefixes: PrefixBook, { agent, model, turns, system, tools, format }: ModelRequest): number {
  const prefix = prefixes.of(agent, model, turns);
  if (prefix !== undefined) return prefix.tokens + bytesOf(turns.slice(prefix.turns));
  return bytesOf(system) + bytesOf(tools) + bytesOf(turns) + bytesOf(format ?? '');
}
