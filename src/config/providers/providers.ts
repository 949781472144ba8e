/** The providers that can be used: the built-in ones with keys from the environment, and those of the user's file. Keys are read here and kept
 * in memory only. Policy decides what is allowed, and is asked here. */
import { defined } from '../../domain/result.ts';
import type { Millis } from '../../domain/ids.ts';
import type { KnownServer, OwnModel, Price, ProviderKind, ProviderSetup } from '../../domain/models/provider.ts';
import { BUILT_IN, isLoopback, PROVIDER_FACTS, RETRY_FOR } from '../../domain/models/provider.ts';
import { reasonText } from '../../domain/reason.ts';
import { endpointProblem, resolveModel, type Rules } from '../../policy/index.ts';
import type { Layer } from '../files/layer.ts';
import type { ConfigFault, Environment } from '../files/read-text.ts';
import { durationMs, type Settings } from '../schema/schema.ts';

export interface ConfiguredProvider extends ProviderSetup {
  /** True if the person set it up with a key, an address or an entry; built-in ones are listed without, too. */
  readonly configured: boolean;
  /** A rule forbids its host, so no setting would help. */
  readonly forbidden?: true;
}

type Base = Omit<KnownServer, 'keyEnv'> & { readonly keyEnv: string | null };

/** How long a call may last before its first content, and between two pieces of content. */
const FIRST_EVENT_MS: Millis = 120_000;
const IDLE_MS: Millis = 120_000;

/** Every provider that can be named, usable or not: the built-in ones first, then the user's in file order. */
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

/** The defaults of an entry of its own: without an address, the vendor's address and key variable for its kind; else none. */
function ownBase(name: string, { kind, baseUrl }: ProviderEntry): Base {
  const maker = baseUrl === undefined ? BUILT_IN.find((one) => one.kind === kind) : undefined;
  // A key is sent only to its vendor's own address, or where the person's entry says.
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

const givenBy = (
  name: string,
  entry: ProviderEntry | undefined,
  headers: NonNullable<ProviderSetup['headers']>,
): Pick<ProviderSetup, 'protocol' | 'headers' | 'answersAs'> =>
  defined({
    protocol: entry?.protocol,
    headers: entry?.headers && headers,
    answersAs: entry?.answersAs && namesOf(name, entry),
  });

type Times = Pick<ProviderSetup, 'firstEventMs' | 'idleMs' | 'silentThinkingMs' | 'pingMs' | 'retryForMs'>;

/** Configured timeouts apply to all models of the provider. */
function patience(
  kind: ProviderKind,
  { firstTokenTimeout, idleTimeout, retryFor }: Partial<ProviderEntry> = {},
): Times {
  const ms = (written: string | number | undefined, usual: Millis): Millis =>
    written === undefined ? usual : (durationMs(written) ?? usual);
  const { silentThinkingMs, own: _own, ...pings } = PROVIDER_FACTS[kind];
  const said = firstTokenTimeout !== undefined || idleTimeout !== undefined;
  return {
    firstEventMs: ms(firstTokenTimeout, FIRST_EVENT_MS),
    idleMs: ms(idleTimeout, IDLE_MS),
    ...pings,
    ...(said || silentThinkingMs === undefined ? {} : { silentThinkingMs }),
    retryForMs: ms(retryFor, RETRY_FOR),
  };
}

/** The value of a variable; an empty one counts as not set. */
function valueOf(env: Environment, name: string): string | null {
  const value = (env[name] ?? '').trim();
  return value === '' ? null : value;
}

/** The address of a built-in provider from the environment, or null. */
export const addressIn = (env: Environment, { baseUrlEnv }: Pick<Base, 'baseUrlEnv'>): string | null =>
  baseUrlEnv === null ? null : valueOf(env, baseUrlEnv);

/** `obstacle` is what its headers lack. */
function usability(
  setup: Pick<ProviderSetup, 'baseUrl' | 'key' | 'keyEnv'> & { readonly obstacle: string | null },
  rules: Rules,
): Pick<ConfiguredProvider, 'unusable' | 'forbidden'> {
  const rule = ruleAgainst(setup, rules);
  return rule === null ? { unusable: obstacleTo(setup) ?? setup.obstacle } : { unusable: rule, forbidden: true };
}

/** The rule that forbids its host, as text. It comes first, because a forbidden host gets no key in any case. */
function ruleAgainst({ baseUrl }: Pick<ProviderSetup, 'baseUrl'>, rules: Rules): string | null {
  const { hostname, host } = new URL(baseUrl);
  const rule = endpointProblem(hostname, rules) === null ? null : endpointProblem(host, rules);
  return rule === null ? null : `${host} is not allowed: ${reasonText(rule)}`;
}

function obstacleTo(setup: Pick<ProviderSetup, 'baseUrl' | 'key' | 'keyEnv'>): string | null {
  if (setup.key !== null && !/^[\x21-\x7e]+$/.test(setup.key))
    return `${setup.keyEnv} contains characters that are invalid in a key: set it again`;
  const needed = setup.key === null && setup.keyEnv !== null && !isLoopback(setup.baseUrl);
  return needed ? `no ${setup.keyEnv}` : null;
}

const namesOf = (
  provider: string,
  { answersAs = {}, models = [] }: ProviderEntry,
): NonNullable<ProviderSetup['answersAs']> =>
  Object.fromEntries(
    Object.entries(answersAs).map(([model, names]) => [wireNameOf(provider, model, models) ?? model, names]),
  );

function modelsOf(provider: string, entry: ProviderEntry | undefined): readonly OwnModel[] {
  const { models = [], prices = {}, windows = {} } = entry ?? {};
  const said = [...Object.keys(prices), ...Object.keys(windows)];
  const names = new Set([...models, ...said.map((name) => wireNameOf(provider, name, models) ?? name)]);
  const of = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
    Object.entries(map).find(([key]) => (wireNameOf(provider, key, models) ?? key) === name)?.[1];
  return [...names].map((name) => {
    const price = of(prices, name);
    return { name, ...defined({ window: of(windows, name), price: price && priceFrom(price) }) };
  });
}

/** The wire name of a model that the entry lists or the catalogue knows; null for any other. */
export function wireNameOf(provider: string, name: string, models: readonly string[]): string | null {
  if (models.includes(name)) return name;
  const id = resolveModel(name, []);
  return id?.startsWith(`${provider}/`) ? id.slice(provider.length + 1) : null;
}

const priceFrom = ({ input, output, cacheRead, cacheWrite }: NonNullable<ProviderEntry['prices']>[string]): Price => ({
  input,
  output,
  ...defined({ cacheRead, cacheWrite }),
});

type Written = NonNullable<Settings['providers']>;
export type ProviderEntry = Written[string];

/** Headers of the connection and the body's encoding: another value would break or redirect the request. */
const OF_THE_CONNECTION =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|expect|via|date|accept|accept-(?:encoding|charset)|content-.*|transfer-encoding|proxy-.*|sec-.*|x-mimir-.*)$/;

/** Header names as HTTP defines them. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x20-\x7e]*$/;

/** The faults of the headers of one entry. Values are never repeated, because any may be a secret. */
export function headerFaults(layer: Layer, provider: string, { headers = {} }: ProviderEntry): readonly ConfigFault[] {
  const names = Object.keys(headers);
  return names.flatMap((name) => {
    const wrong = problemOf(name, headers[name], names);
    const path = ['providers', provider, 'headers', name];
    return wrong === null ? [] : [layer.fault(path, `header "${name.slice(0, 60)}" ${wrong[0]}`, wrong[1])];
  });
}

type Problem = readonly [problem: string, remedy: string];

function problemOf(name: string, value: unknown, all: readonly string[]): Problem | null {
  const lower = name.toLowerCase();
  if (!NAME.test(name)) return ['is not a header name', 'use letters, digits and "-", as in x-team'];
  if (lower === 'authorization')
    return ['is reserved for the key', 'remove it, and name the variable with the key in apiKeyEnv'];
  if (OF_THE_CONNECTION.test(lower)) return ['belongs to the connection and cannot be set', 'remove it'];
  if (all.some((other) => other !== name && other.toLowerCase() === lower))
    return ['is set twice', 'remove one of them'];
  if (typeof value === 'string' && !VALUE.test(value))
    return ['has a value with characters that are invalid in a header', 'use visible ASCII characters only'];
  return null;
}

interface SentHeaders {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is missing or cannot be sent, without repeating a value; null if all headers can be sent. */
  readonly obstacle: string | null;
}

function headersOf({ headers = {} }: Pick<ProviderEntry, 'headers'>, env: Environment): SentHeaders {
  const sent: Record<string, string> = {};
  let obstacle: string | null = null;
  for (const [name, said] of Object.entries(headers)) {
    const value = typeof said === 'string' ? said : (env[said.env] ?? '').trim();
    if (typeof said !== 'string' && value === '') obstacle ??= `no ${said.env} (for the header ${name})`;
    else if (VALUE.test(value)) sent[name.toLowerCase()] = value;
    else obstacle ??= `the value of the header ${name} contains invalid characters: set it again`;
  }
  return { headers: sent, obstacle };
}
