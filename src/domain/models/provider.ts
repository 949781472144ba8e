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
  /** `text`: its models take no tool calls; agents work with them by words. */
  readonly protocol?: 'text';
  /** Milliseconds until the first event with content, and between two of them. */
  readonly firstEventMs: number;
  readonly idleMs: number;
  /** Both, for models that think without streaming it; missing: as for the others. */
  readonly silentThinkingMs?: number;
  /** Milliseconds in which something has to come, be it only a ping, once anything came; missing: pings are not expected. */
  readonly pingMs?: number;
  /** Milliseconds for which a failing call is tried again; missing: ten minutes. */
  readonly retryForMs?: number;
  /** Names under which models of this provider may answer, by their own names; names as they go on the wire. */
  readonly answersAs?: Readonly<Record<string, readonly string[]>>;
  /** Sent with each request: names in lower case. Values are kept from all eyes like the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why nothing can be called here, in words for a person with what to do (no key, host not allowed); null when it can. */
  readonly unusable: string | null;
}

/** Is the host of `baseUrl` this machine itself? Calls there cost nothing unless a price is set. */
export function isLoopback(baseUrl: string): boolean {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Milliseconds for which a failing call is tried again where nothing else is said. */
export const RETRY_FOR = 600_000;

/** Where a model's maker, or a router that is known here, serves it: such a server says by which name it answers. */
const KNOWN_HOSTS: ReadonlySet<string> = new Set(['api.anthropic.com', 'api.openai.com', 'openrouter.ai']);

/** A server of the person's own: on this machine, or one that speaks as OpenAI does at an address of theirs. */
export function isOwnServer({ kind, baseUrl }: Pick<ProviderSetup, 'kind' | 'baseUrl'>): boolean {
  if (isLoopback(baseUrl)) return true;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return kind === 'openai-compatible' && !KNOWN_HOSTS.has(host);
}

/** Which ends of a model call lie with the provider, not with the request or the agent: the same request may do elsewhere, or later. */
export const PROVIDERS_FAULTS: ReadonlySet<string> = new Set([
  'rate limited',
  'overloaded',
  'unreachable',
  'cut',
  'silent',
  'malformed',
  'unauthorised',
  'no credit',
]);
