/** A configured model provider: address, key, models. Kept in memory only, because it contains the key. */
import { tokensOf, type Usage } from '../budget.ts';
import { fromMicro, type Usd } from '../ids.ts';

/** The APIs that model servers speak. */
export const PROVIDER_KINDS = ['anthropic', 'openai', 'openai-compatible'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** Defaults of the servers that speak an API. `own`: for the person's own: they need an address, and their models may lack tool calls. */
export const PROVIDER_FACTS: Readonly<
  Record<ProviderKind, Pick<ProviderSetup, 'silentThinkingMs' | 'pingMs'> & { readonly own?: true }>
> = {
  // Its streams contain pings, so a stream without any data is broken.
  anthropic: { pingMs: 30_000 },
  openai: { silentThinkingMs: 300_000 },
  'openai-compatible': { silentThinkingMs: 300_000, own: true },
};

/** A server that is known without configuration. */
export interface KnownServer extends Pick<ProviderSetup, 'name' | 'kind' | 'baseUrl'> {
  readonly keyEnv: string;
  /** The environment variable from which the vendor's own clients read the address. */
  readonly baseUrlEnv: string | null;
}

export const BUILT_IN: readonly KnownServer[] = [
  {
    name: 'anthropic',
    kind: 'anthropic',
    keyEnv: 'ANTHROPIC_API_KEY',
    baseUrlEnv: 'ANTHROPIC_BASE_URL',
    baseUrl: 'https://api.anthropic.com',
  },
  {
    name: 'openai',
    kind: 'openai',
    keyEnv: 'OPENAI_API_KEY',
    baseUrlEnv: 'OPENAI_BASE_URL',
    baseUrl: 'https://api.openai.com/v1',
  },
  {
    name: 'openrouter',
    kind: 'openai-compatible',
    keyEnv: 'OPENROUTER_API_KEY',
    baseUrlEnv: null,
    baseUrl: 'https://openrouter.ai/api/v1',
  },
];

/** A model that a person configured for a provider of their own. */
export interface OwnModel {
  readonly name: string;
  readonly window?: number;
  /** US dollars per million tokens, if configured. */
  readonly price?: Price;
}

export interface ProviderSetup {
  /** The part of a canonical id before the first slash: `anthropic`, `openai`, `local`. */
  readonly name: string;
  readonly kind: ProviderKind;
  /** Always explicit: no address is taken from the environment. */
  readonly baseUrl: string;
  /** Never in a message, an event or a file. Null where none is set; servers on loopback need none. */
  readonly key: string | null;
  /** The variable that contains the key, for advice. */
  readonly keyEnv: string | null;
  readonly models: readonly OwnModel[];
  /** `text`: its models have no tool calls, and its agents use the text protocol. */
  readonly protocol?: 'text';
  /** Milliseconds until the first event with content, and between two of them. */
  readonly firstEventMs: number;
  readonly idleMs: number;
  /** Both, for models that think without streaming; absent: the same as for others. */
  readonly silentThinkingMs?: number;
  /** Milliseconds within which some data, at least a ping, must arrive after the first; absent: no pings are expected. */
  readonly pingMs?: number;
  /** Milliseconds for which failing calls are retried; absent: ten minutes. */
  readonly retryForMs?: number;
  /** Names under which models of this provider may answer, by their own names, both as in the API. */
  readonly answersAs?: Readonly<Record<string, readonly string[]>>;
  /** Sent with each request; names in lower case. Values are secret like the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Why nothing can be called here and what to do about it (no key, host not allowed); null when it works. */
  readonly unusable: string | null;
}

const hostIn = (baseUrl: string): string => (URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '');

/** Whether the host of `baseUrl` is this machine. Calls there are free unless a price is set. */
export function isLoopback(baseUrl: string): boolean {
  const host = hostIn(baseUrl);
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Milliseconds for which failing calls are retried by default. */
export const RETRY_FOR = 600_000;

/** Hosts of the vendors and known routers, which answer with the true model name. */
const KNOWN_HOSTS: ReadonlySet<string> = new Set(BUILT_IN.map(({ baseUrl }) => hostIn(baseUrl)));

/** Whether the server is the person's own: on this machine, or OpenAI-compatible at an unknown address. */
export const isOwnServer = ({ kind, baseUrl }: Pick<ProviderSetup, 'kind' | 'baseUrl'>): boolean =>
  isLoopback(baseUrl) || (PROVIDER_FACTS[kind].own === true && !KNOWN_HOSTS.has(hostIn(baseUrl)));

/** Faults that lie with the provider and not with the request or the agent, so that the same request may succeed elsewhere or later. */
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

// Prices of tokens, in US dollars per million by class, with tiers for long requests. Costs are whole micro-dollars.

/** US dollars per million tokens. A missing cache class costs as much as plain input. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface Price extends Rates {
  /** For requests with more than `above` input tokens of all classes, these rates apply to the whole request. Ascending. */
  readonly tiers?: readonly (Rates & { readonly above: number })[];
}

export const FREE: Price = { input: 0, output: 0 };

const ratesFor = ({ tiers = [], ...base }: Price, input: number): Rates =>
  tiers.findLast(({ above }) => input > above) ?? base;

/** The price of `usage`, rounded to whole micro-dollars. */
export function costOf(price: Price, usage: Usage): Usd {
  const rates = ratesFor(price, tokensOf(usage) - usage.output);
  const micro =
    usage.input * rates.input +
    usage.output * rates.output +
    usage.cacheRead * (rates.cacheRead ?? rates.input) +
    usage.cacheWrite * (rates.cacheWrite ?? rates.input);
  return fromMicro(Math.round(micro));
}

/** The highest rates that a request with at most `input` tokens can reach, in US dollars per million tokens. */
export function worstRates(price: Price, input: number): { readonly input: number; readonly output: number } {
  const { tiers = [], ...base } = price;
  const reached = [base, ...tiers.filter(({ above }) => input > above)];
  return {
    input: Math.max(...reached.flatMap((rates) => [rates.input, rates.cacheRead ?? 0, rates.cacheWrite ?? 0])),
    output: Math.max(...reached.map((rates) => rates.output)),
  };
}

/** The effort settings that every provider with such a setting knows. Pure. */
export const EFFORTS = ['low', 'medium', 'high'] as const;
export type Effort = (typeof EFFORTS)[number];

/** The lesser of `effort` and `max`; undefined stays undefined, so that the provider's default applies. */
export const cappedEffort = (effort: Effort | undefined, max: Effort | undefined): Effort | undefined =>
  effort === undefined || max === undefined || EFFORTS.indexOf(effort) <= EFFORTS.indexOf(max) ? effort : max;

/** For records in which an unset effort is absent. */
export const withEffort = (effort: Effort | undefined): { readonly effort?: Effort } =>
  effort === undefined ? {} : { effort };
