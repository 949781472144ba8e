/**
 * OpenAI's client library without its defaults: nothing from the environment, no retries, no redirects, no logging. It is slow to load, so
 * this module is imported at the first call only.
 */
import OpenAI from 'openai';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { headOf, openRequestRouter, type RequestRouter, type Wire } from '../http/transport.ts';

/** A server's answer: a body to read, or a refusal with its whole text, of which the library would keep only parts. */
export type Answer =
  | { readonly is: 'open'; readonly response: Response }
  | { readonly is: 'refused'; readonly status: number; readonly headers: Headers; readonly text: string };

/**
 * Posts `body` as JSON to `path` below the base URL, over `wire`. Resolves when the headers have arrived; rejects with the library's error
 * for a failed connection and an aborted `signal`.
 */
export async function post(
  setup: Pick<ProviderSetup, 'key' | 'baseUrl'>,
  wire: Wire,
  { path, body, signal }: { readonly path: string; readonly body: object; readonly signal: AbortSignal },
): Promise<Answer> {
  const seen: { refused: Answer | null } = { refused: null };
  const { client, board } = clientOf(setup);
  const fetch: Wire['fetch'] = async (url, init) => {
    const response = await wire.fetch(url, init);
    if (response.ok) return response;
    const { status, headers } = response;
    const text = await headOf(response);
    seen.refused = { is: 'refused', status, headers, text };
    return new Response(text === '' ? null : text, { status, headers });
  };
  try {
    const response = await board.over(fetch, (headers) =>
      client.post(path, { body, stream: true, signal, headers }).asResponse(),
    );
    return { is: 'open', response };
  } catch (error) {
    if (seen.refused !== null) return seen.refused;
    throw error;
  }
}

interface Client {
  readonly client: OpenAI;
  readonly board: RequestRouter;
}

/** One client for each configured provider. */
const clients = new WeakMap<object, Client>();

function clientOf(setup: Pick<ProviderSetup, 'key' | 'baseUrl'>): Client {
  const known = clients.get(setup);
  if (known !== undefined) return known;
  const board = openRequestRouter();
  const client = new OpenAI({
    // The library requires a key; the wire decides what is sent.
    apiKey: setup.key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: setup.baseUrl.replace(OWN_PATH, ''),
    maxRetries: 0,
    timeout: DAY,
    logLevel: 'off',
    logger: SILENT,
    fetch: board.fetch,
  });
  const made = { client, board };
  clients.set(setup, made);
  return made;
}

/** The library appends this path, but some people include it in the base URL. */
const OWN_PATH = /\/(?:chat\/completions|responses)?\/*$/;

/** Longer than any call: the watch decides how long a call may last. */
const DAY = 86_400_000;

const nothing = (): void => undefined;
const SILENT = { error: nothing, warn: nothing, info: nothing, debug: nothing };
