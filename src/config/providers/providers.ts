/**
 * Who can be asked for models: the built-in providers by their keys in the environment, and those that the user's file
 * names or changes. Keys are read here and kept in memory alone. What is allowed of it is policy's to say, and asked here.
 */
import type { Millis } from '../../domain/ids.ts';
import type { Price } from '../../domain/models/price.ts';
import {
  isLoopback,
  type OwnModel,
  type ProviderKind,
  type ProviderSetup,
  RETRY_FOR,
} from '../../domain/models/provider.ts';
import { reasonText } from '../../domain/reason.ts';
import { endpointProblem, resolveModel } from '../../policy/models.ts';
import type { Rules } from '../../policy/rules.ts';
import type { Environment } from '../files/paths.ts';
import { durationMs, type Settings } from '../schema/schema.ts';
import { headersOf, type ProviderEntry } from './headers.ts';

export interface ConfiguredProvider extends ProviderSetup {
  /** Did somebody set it up: a key, an address, an entry? The built-in ones are listed without, too. */
  readonly configured: boolean;
  /** A rule forbids its host: nothing that could be set would help. */
  readonly forbidden?: true;
}

interface Base {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly keyEnv: string | null;
  /** The variable that the makers' own clients read an address from. */
  readonly baseUrlEnv: string | null;
  readonly baseUrl: string;
}

export const BUILT_IN: readonly (Base & { readonly keyEnv: string })[] = [
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

/** So long may a call last before its first word, and stop between two. */
const FIRST_EVENT_MS: Millis = 120_000;
const IDLE_MS: Millis = 120_000;
/** So long a model may think that does not stream it. */
const SILENT_THINKING_MS: Millis = 300_000;
/** Anthropic's streams carry pings, so that a stream in which nothing at all comes is broken. */
const PING_MS: Millis = 30_000;

/** Every provider that can be named, usable or not: the built-in ones first, then the user's in the order of their file. */
export function providersOf(
  entries: Settings['providers'],
  env: Environment,
  rules: Rules,
): readonly ConfiguredProvider[] {
  const written = Object.entries(entries ?? {});
  const builtIn = BUILT_IN.map((base) => setupOf(base, written.find(([name]) => name === base.name)?.[1], env, rules));
  const own = written.filter(([name]) => !BUILT_IN.some((one) => one.name === name));
  return [...builtIn, ...own.map(([name, entry]) => setupOf(ownBase(name, entry), entry, env, rules))];
}

/** What an entry of its own stands on: without an address, that of the kind's maker with its key; else nothing but the entry. */
function ownBase(name: string, { kind, baseUrl }: ProviderEntry): Base {
  const maker = baseUrl === undefined ? BUILT_IN.find((one) => one.kind === kind) : undefined;
  // A key goes to its maker's own address, or where the person's entry says; never to another address by itself.
  return { name, kind, keyEnv: maker?.keyEnv ?? null, baseUrlEnv: null, baseUrl: maker?.baseUrl ?? '' };
}

function setupOf(base: Base, entry: ProviderEntry | undefined, env: Environment, rules: Rules): ConfiguredProvider {
  const { name } = base;
  const { kind, apiKeyEnv: keyEnv = base.keyEnv } = entry ?? { kind: base.kind };
  const { headers, obstacle } = headersOf(entry ?? {}, env);
  const address = entry?.baseUrl ?? addressIn(env, base);
  const setup = {
    name,
    kind,
    baseUrl: (address ?? base.baseUrl).replace(/\/+$/, ''),
    key: keyEnv === null ? null : valueOf(env, keyEnv),
    keyEnv,
    models: modelsOf(name, entry),
    ...givenBy(name, entry, headers),
    ...patience(kind, entry),
  };
  const configured = entry !== undefined || address !== null || setup.key !== null;
  return { ...setup, ...usability({ ...setup, obstacle }, rules), configured };
}

/** What only an entry says. */
const givenBy = (
  name: string,
  entry: ProviderEntry | undefined,
  headers: NonNullable<ProviderSetup['headers']>,
): Pick<ProviderSetup, 'protocol' | 'headers' | 'answersAs'> => ({
  ...(entry?.protocol === undefined ? {} : { protocol: entry.protocol }),
  ...(entry?.headers === undefined ? {} : { headers }),
  ...(entry?.answersAs === undefined ? {} : { answersAs: namesOf(name, entry) }),
});

type Times = Pick<ProviderSetup, 'firstEventMs' | 'idleMs' | 'silentThinkingMs' | 'pingMs' | 'retryForMs'>;

/** What somebody wrote holds for all models of the provider. */
function patience(
  kind: ProviderKind,
  { firstTokenTimeout, idleTimeout, retryFor }: Partial<ProviderEntry> = {},
): Times {
  const ms = (written: string | number | undefined, usual: Millis): Millis =>
    written === undefined ? usual : (durationMs(written) ?? usual);
  const said = firstTokenTimeout !== undefined || idleTimeout !== undefined;
  return {
    firstEventMs: ms(firstTokenTimeout, FIRST_EVENT_MS),
    idleMs: ms(idleTimeout, IDLE_MS),
    ...(said || kind === 'anthropic' ? {} : { silentThinkingMs: SILENT_THINKING_MS }),
    ...(kind === 'anthropic' ? { pingMs: PING_MS } : {}),
    retryForMs: ms(retryFor, RETRY_FOR),
  };
}

/** An empty variable counts as not set. */
function valueOf(env: Environment, name: string): string | null {
  const value = (env[name] ?? '').trim();
  return value === '' ? null : value;
}

/** The address that the environment says for a built-in provider, or null. */
export const addressIn = (env: Environment, { baseUrlEnv }: Pick<Base, 'baseUrlEnv'>): string | null =>
  baseUrlEnv === null ? null : valueOf(env, baseUrlEnv);

/** `obstacle`: what its headers lack. */
function usability(
  setup: Pick<ProviderSetup, 'baseUrl' | 'key' | 'keyEnv'> & { readonly obstacle: string | null },
  rules: Rules,
): Pick<ConfiguredProvider, 'unusable' | 'forbidden'> {
  const rule = ruleAgainst(setup, rules);
  return rule === null ? { unusable: obstacleTo(setup) ?? setup.obstacle } : { unusable: rule, forbidden: true };
}

/** The rule that forbids its host, in words; asked first: a host that is not allowed gets no key, whatever is set. */
function ruleAgainst({ baseUrl }: Pick<ProviderSetup, 'baseUrl'>, rules: Rules): string | null {
  const { hostname, host } = new URL(baseUrl);
  const rule = endpointProblem(hostname, rules) === null ? null : endpointProblem(host, rules);
  return rule === null ? null : `${host} may not be called: ${reasonText(rule)}`;
}

/** What is missing to call it, or null. */
function obstacleTo(setup: Pick<ProviderSetup, 'baseUrl' | 'key' | 'keyEnv'>): string | null {
  if (setup.key !== null && !/^[\x21-\x7e]+$/.test(setup.key)) {
    return `${setup.keyEnv} holds characters that no key has: set it again`;
  }
  const needed = setup.key === null && setup.keyEnv !== null && !isLoopback(setup.baseUrl);
  return needed ? `no ${setup.keyEnv}` : null;
}

/** Other names of models, by the names of these on the wire. */
const namesOf = (
  provider: string,
  { answersAs = {}, models = [] }: ProviderEntry,
): NonNullable<ProviderSetup['answersAs']> =>
  Object.fromEntries(
    Object.entries(answersAs).map(([model, names]) => [wireNameOf(provider, model, models) ?? model, names]),
  );

/** Models that the entry names, and known ones of which it says a price or a window. */
function modelsOf(provider: string, entry: ProviderEntry | undefined): readonly OwnModel[] {
  const { models = [], prices = {}, windows = {} } = entry ?? {};
  const said = [...Object.keys(prices), ...Object.keys(windows)];
  const names = new Set([...models, ...said.map((name) => wireNameOf(provider, name, models) ?? name)]);
  const of = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
    Object.entries(map).find(([key]) => (wireNameOf(provider, key, models) ?? key) === name)?.[1];
  return [...names].map((name) => {
    const [window, price] = [of(windows, name), of(prices, name)];
    return {
      name,
      ...(window === undefined ? {} : { window }),
      ...(price === undefined ? {} : { price: priceFrom(price) }),
    };
  });
}

/** The name on the wire of a model that the entry lists or the catalogue knows; null for any other. */
export function wireNameOf(provider: string, name: string, models: readonly string[]): string | null {
  if (models.includes(name)) return name;
  const id = resolveModel(name, []);
  return id?.startsWith(`${provider}/`) ? id.slice(provider.length + 1) : null;
}

const priceFrom = ({ input, output, cacheRead, cacheWrite }: NonNullable<ProviderEntry['prices']>[string]): Price => ({
  input,
  output,
  ...(cacheRead === undefined ? {} : { cacheRead }),
  ...(cacheWrite === undefined ? {} : { cacheWrite }),
});
