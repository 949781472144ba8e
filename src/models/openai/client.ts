/**
 * The client library of OpenAI, tamed: nothing from the environment, no retries, no redirects, no logging. Loading it takes long, so this
 * file is only imported when the first call is made.
 */
import OpenAI from 'openai';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { openSwitchboard, type Switchboard } from '../http/per-request-fetch.ts';
import { headOf, type Wire } from '../http/transport.ts';

/** What a server answered: a body to be read, or that it refuses, with all that it said (the library would keep only parts of it). */
export type Answer =
  | { readonly is: 'open'; readonly response: Response }
  | { readonly is: 'refused'; readonly status: number; readonly headers: Headers; readonly text: string };

/**
 * Posts `body` as JSON to `path` below the base URL, over `wire`. Resolves with the head of the answer; rejects as the library does for a connection
 * that fails and for an aborted `signal`.
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
  readonly board: Switchboard;
}

/** One for each provider as it was set up. */
const clients = new WeakMap<object, Client>();

function clientOf(setup: Pick<ProviderSetup, 'key' | 'baseUrl'>): Client {
  const known = clients.get(setup);
  if (known !== undefined) return known;
  const board = openSwitchboard();
  const client = new OpenAI({
    // The library wants one; which one is sent, if any, is the wire's to say.
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

/** The library adds it: some write it into the base URL. */
const OWN_PATH = /\/(?:chat\/completions|responses)?\/*$/;

/** How long a call lives is its watch's to say; this only has to be longer. */
const DAY = 86_400_000;

const nothing = (): void => undefined;
const SILENT = { error: nothing, warn: nothing, info: nothing, debug: nothing };
