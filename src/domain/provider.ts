/** A provider of models as it was set up: where it is called, with which key, what it serves. Held in memory only: it carries the key. */
import type { Price } from './price.ts';

export type ProviderKind = 'anthropic' | 'openai' | 'openai-compatible';

/** A model that a person named for a provider of their own. */
export interface OwnModel {
  /** As it goes on the wire. */
  readonly name: string;
  /** Context window in tokens, where it was said. */
  readonly window?: number;
  /** US dollars per million tokens, where it was said. */
  readonly price?: Price;
}

export interface ProviderSetup {
  /** The part of a canonical id before the first slash: `anthropic`, `openai`, `local`. */
  readonly name: string;
  readonly kind: ProviderKind;
  /** Explicit, always: no client library may take one from the environment. */
  readonly baseUrl: string;
  /** Never in a message, an event or a file. Null where none is set: servers on loopback need none. */
  readonly key: string | null;
  /** The variable that the key comes from, for advice. */
  readonly keyEnv: string | null;
  readonly models: readonly OwnModel[];
  /** `text`: its models take no tool calls; agents work with them by words (CONTRACT D23). */
  readonly protocol?: 'text';
  /** Milliseconds that a call may be silent before its first event, and between two events. */
  readonly firstEventMs: number;
  readonly idleMs: number;
  /** Why nothing can be called here, in words for a person with what to do (no key, host not allowed); null when it can. */
  readonly unusable: string | null;
}

/** Is the host of `baseUrl` this machine itself? Calls there cost nothing unless a price is set (CONTRACT D10). */
export function isLoopback(baseUrl: string): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
