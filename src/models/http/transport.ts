/**
 * One call's way to a provider, under the client library: a `fetch` that follows no redirect, beats at every chunk (pings too, which
 * libraries swallow), counts and caps what comes, and sends no header that the environment put in. One per call.
 */
import type { Usage } from '../../domain/budget.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { bytesOf } from '../provider.ts';

/** More of one response, unpacked, than this is no reply: 700 bytes for each token that is ever asked for. */
const MOST_BYTES = 12 * 1024 * 1024;
/** Of a response that is an error its beginning says enough. */
const MOST_OF_AN_ERROR = 64 * 1024;

export interface Wire {
  /** A stream of events is to be read as an async iterable, or it is not counted. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Bytes of the body that have come; 0 before the first. A token takes at least one. */
  bytes(): number;
  /** Bytes of the body that was sent. */
  sent(): number;
  /** Status and content type of the response; null before its head has come. */
  head(): { readonly status: number; readonly type: string } | null;
}

/** What a request may have used up that nobody waited for: a token for each byte that was sent. */
export const unanswered = (wire: Pick<Wire, 'sent'>): Usage => ({
  input: wire.sent(),
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
});

/** What goes out and nothing else: libraries read header lines from the environment, and a machine's would go to every host. */
const SENT = /^(?:accept|content-type|content-length|user-agent|anthropic-version|anthropic-beta|idempotency-key)$/;

/** As libraries give them: mostly made already, and a copy costs more than all else that is done with them. */
export const headersIn = ({ headers }: RequestInit): Headers =>
  headers instanceof Headers ? headers : new Headers(headers);

/** The headers that carry a key, by kind of provider. */
export type KeyHeaders = (key: string) => Readonly<Record<string, string>>;

/** Of a library's headers those that may go out, and `own` beside or instead of them. */
function headersFor(init: RequestInit, own: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of headersIn(init)) if (SENT.test(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

export function openWire(
  setup: Pick<ProviderSetup, 'key' | 'headers'>,
  keyHeaders: KeyHeaders,
  beat: () => void,
): Wire {
  let bytes = 0;
  let sent = 0;
  let head: { status: number; type: string } | null = null;
  const count = (chunk: Uint8Array): void => {
    bytes += chunk.byteLength;
    beat();
    if (bytes > MOST_BYTES) throw new Error('the response is too large');
  };
  return {
    bytes: () => bytes,
    sent: () => sent,
    head: () => head,
    async fetch(input, init = {}) {
      const headers = headersFor(init, { ...(setup.key === null ? {} : keyHeaders(setup.key)), ...setup.headers });
      if (typeof init.body === 'string') sent += bytesOf(init.body);
      const response = await fetch(input, { ...init, headers, redirect: 'error' });
      head = { status: response.status, type: response.headers.get('content-type') ?? '' };
      return response.body === null ? response : counting(response, response.body, count);
    },
  };
}

/**
 * `response`, each chunk of its body given to `count` as it is read. One that streams is read as it is: a stream around it would cost more
 * than all the rest of an event. Libraries read others by ways of their own, so those get one.
 */
function counting(response: Response, body: ReadableStream<Uint8Array>, count: (chunk: Uint8Array) => void): Response {
  if (response.ok && /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    Object.defineProperty(body, Symbol.asyncIterator, { value: () => chunksOf(body, count) });
    return response;
  }
  let came = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, stream) {
      count(chunk);
      stream.enqueue(chunk);
      came += chunk.byteLength;
      if (!response.ok && came > MOST_OF_AN_ERROR) stream.terminate();
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body.pipeThrough(counted), { status, statusText, headers });
}

function chunksOf(
  body: ReadableStream<Uint8Array>,
  count: (chunk: Uint8Array) => void,
): AsyncIterableIterator<Uint8Array> {
  const reader = body.getReader();
  const left = async (): Promise<void> => {
    // A stream that broke can't be left any more.
    await reader.cancel().catch(() => undefined);
  };
  return {
    async next() {
      const { done, value } = await reader.read();
      if (done) return { done, value: undefined };
      try {
        count(value);
      } catch (error) {
        await left();
        throw error;
      }
      return { done, value };
    },
    async return() {
      await left();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The beginning of a response that is no reply, as text. */
export async function headOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  const pieces: AsyncIterable<Uint8Array> = body;
  let text = '';
  try {
    for await (const piece of pieces) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > MOST_OF_AN_ERROR) break;
    }
  } catch {
    // What came until then says what it is.
  }
  return text;
}
