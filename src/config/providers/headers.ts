/** Headers that a gateway wants with each request: which may be written, and their values from the environment. */
import type { ConfigFault } from '../files/fault.ts';
import type { Layer } from '../files/layer.ts';
import type { Environment } from '../files/paths.ts';
import type { Settings } from '../schema/schema.ts';

export type Written = NonNullable<Settings['providers']>;

export type ProviderEntry = Written[string];

/** The connection's own, and what says how a body is to be read: another value would break the request or send it elsewhere. */
const OF_THE_CONNECTION =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|expect|via|date|accept|accept-(?:encoding|charset)|content-.*|transfer-encoding|proxy-.*|sec-.*|x-mimir-.*)$/;

/** As HTTP has names of headers. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\x20-\x7e]*$/;

/** What is wrong with the headers of one entry. Values are never repeated: any may be a secret. */
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
  if (!NAME.test(name)) return ['is no name of a header', 'write letters, digits and "-": x-team'];
  if (lower === 'authorization')
    return ['is how the key is sent', 'take it out, and name the variable with the key as apiKeyEnv'];
  if (OF_THE_CONNECTION.test(lower)) return ['belongs to the connection and can not be set', 'take it out'];
  if (all.some((other) => other !== name && other.toLowerCase() === lower))
    return ['is written twice', 'leave one of them out'];
  if (typeof value === 'string' && !VALUE.test(value))
    return ['has a value with characters that no header can carry', 'write visible ASCII characters only'];
  return null;
}

export interface SentHeaders {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is missing or can't be sent, in words that repeat no value; null when all can be sent. */
  readonly obstacle: string | null;
}

/** The headers of an entry with their values. */
export function headersOf({ headers = {} }: Pick<ProviderEntry, 'headers'>, env: Environment): SentHeaders {
  const sent: Record<string, string> = {};
  let obstacle: string | null = null;
  for (const [name, said] of Object.entries(headers)) {
    const value = typeof said === 'string' ? said : (env[said.env] ?? '').trim();
    if (typeof said !== 'string' && value === '') obstacle ??= `no ${said.env} (for the header ${name})`;
    else if (VALUE.test(value)) sent[name.toLowerCase()] = value;
    else obstacle ??= `the value of the header ${name} holds characters that no header can carry: set it again`;
  }
  return { headers: sent, obstacle };
}
