/** The transport of one call, by a provider's client library: a request that follows no redirect and sends only what is given here, and a
 * response of which every chunk is reported (also pings), counted and limited. */
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, type Result } from '../../domain/result.ts';
import { ByteLines } from '../../domain/text/byte-lines.ts';
import { bytesIn } from '../../domain/text/text.ts';
import type { World } from '../../ports/world.ts';
import { numberAt, parsed } from './json.ts';

const MEGABYTE = 1024 * 1024;
/** The largest unpacked response: 700 bytes for each token that is ever requested. */
const MOST_BYTES = 12 * MEGABYTE;
const MOST_OF_AN_ERROR = 64 * 1024;

/** Reading stopped at a limit. The message says which. */
export class TooLarge extends Error {}

export interface Post {
  readonly url: string;
  readonly body: object;
}

export interface Wire {
  /** Resolves when the headers of the answer have arrived; rejects for a failed connection and an aborted `signal`. */
  post(request: Post, signal: AbortSignal): Promise<Answer>;
  /** Bytes of the body received so far. A token takes at least one. */
  bytes(): number;
  sent(): number;
  /** Status of the response; null before its headers have arrived. */
  status(): number | null;
}

export interface Answer extends Pick<Response, 'status' | 'ok' | 'headers'> {
  /** The body, unpacked; to be read once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The part of a client library that sends. Options that it can not be given here come from whoever creates it. */
export interface Library {
  post(
    url: string,
    options: { body: string; headers: Record<string, string>; signal: AbortSignal; stream: true },
  ): { asResponse(): Promise<Response> };
}

/** A provider, and the library that reaches it; kept for the whole run, since a library is expensive to create. */
export interface Server extends ProviderSetup {
  readonly library: Library;
}

/** The server of `setup`. `open` creates the library, with this `fetch` and with a day as its own time limit. */
export function serverOf(setup: ProviderSetup, open: (options: LibraryOptions) => Library): Server {
  const apiKey = setup.key ?? 'none';
  return { ...setup, library: open({ apiKey, maxRetries: 0, timeout: 86_400_000, fetch: fetchFor(setup) }) };
}

interface LibraryOptions {
  /** Libraries require one; `fetch` decides what is sent. */
  readonly apiKey: string;
  readonly maxRetries: 0;
  readonly timeout: number;
  readonly fetch: Fetch;
}

/** The only headers that are sent: libraries add headers from the environment, which would otherwise reach every host. */
const SENT = /^(?:accept|content-type|content-length|user-agent|anthropic-version|anthropic-beta|idempotency-key)$/;
/** The true status of a response. A library reads a refusal itself and keeps only parts of it, so it is told 200. */
const STATUS = 'x-mimir-status';

const fetchFor =
  ({ key, headers: own }: Pick<ProviderSetup, 'key' | 'headers'>): Fetch =>
  async (input, init = {}) => {
    const headers = new Headers(key === null ? {} : { authorization: `Bearer ${key}` });
    for (const [name, value] of new Headers(init.headers)) if (SENT.test(name)) headers.set(name, value);
    for (const [name, value] of Object.entries(own ?? {})) headers.set(name, value);
    const response = await fetch(input, { ...init, headers, redirect: 'error' });
    if (response.status === 200) return response;
    const told = new Headers(response.headers);
    told.set(STATUS, String(response.status));
    return new Response(response.body, { headers: told });
  };

export function openWire({ library }: Pick<Server, 'library'>, beat: () => void): Wire {
  let bytes = 0;
  let sent = 0;
  let status: number | null = null;
  async function* counted({ body }: Response): AsyncGenerator<Uint8Array> {
    const chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[] = body ?? [];
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      beat();
      if (bytes > MOST_BYTES) throw new TooLarge(`it is larger than ${MOST_BYTES / MEGABYTE} MB`);
      yield chunk;
    }
  }
  return {
    bytes: () => bytes,
    sent: () => sent,
    status: () => status,
    async post({ url, body: fields }, signal) {
      signal.throwIfAborted();
      // As text, so that the library sends it as it was counted.
      const body = JSON.stringify(fields);
      sent += bytesIn(body);
      const headers = { 'content-type': 'application/json' };
      const response = await library.post(url, { body, headers, signal, stream: true }).asResponse();
      status = Number(response.headers.get(STATUS) ?? response.status);
      return { status, ok: status >= 200 && status <= 299, headers: response.headers, chunks: counted(response) };
    },
  };
}

/** The beginning of a response that is not a reply, as text. */
export async function headOf({ chunks }: Answer): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of chunks) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > MOST_OF_AN_ERROR) break;
    }
  } catch {
    // The text so far is enough.
  }
  return text;
}

// Parses server-sent events. Whether a stream ended or was cut decides what is executed. At most one event is held in memory.

/** The data of the final event, for servers that send one. */
export const DONE = '[DONE]';

const LONGEST_EVENT = 4 * MEGABYTE;
const MOST_LINES = 4096;

/** The `data` of each event in `body`. Throws errors of reading the body, and for an event that is too large. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const lines = new ByteLines(LONGEST_EVENT);
  const event = new Lines();
  for await (const piece of body) {
    for (const { bytes } of lines.add(piece)) {
      const line = bytes.toString('utf8').replace(/\r$/, '');
      if (line !== '') event.add(line);
      else if (!event.isEmpty) yield event.take();
    }
    if (lines.unfinished > LONGEST_EVENT) throw tooLarge();
  }
  // Some servers omit the end of the last line. An incomplete event at the end was cut off.
  event.add(lines.rest().bytes.toString('utf8').trimEnd());
  const last = event.take();
  if (isWhole(last)) yield last;
}

const isWhole = (event: string): boolean => event !== '' && (event === DONE || parsed(event) !== undefined);

const tooLarge = (): TooLarge =>
  new TooLarge(`an event is larger than ${LONGEST_EVENT / MEGABYTE} MB or ${MOST_LINES} lines`);

class Lines {
  #lines: string[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(line: string): void {
    if (!line.startsWith('data:')) return;
    const data = line.startsWith('data: ') ? line.slice(6) : line.slice(5);
    this.#length += data.length + 1;
    if (this.#length > LONGEST_EVENT || this.#lines.length >= MOST_LINES) throw tooLarge();
    this.#lines.push(data);
  }

  take(): string {
    const event = this.#lines.join('\n');
    this.#lines = [];
    this.#length = 0;
    return event;
  }
}

// Watches one streaming call and ends it when it is aborted from outside or silent for too long, whether or not the request
// settles. It uses two periodic checks instead of a timer for each event. The gate interprets a silence.

export type WhyStopped = 'aborted' | 'silent';

export interface Watch {
  /** For the request: aborted when the call is stopped, or ends before its stream was read. */
  readonly signal: AbortSignal;
  /** Reports any received data, even a sign of life. */
  readonly beat: () => void;
  readonly said: () => void;
  /** True once content was received. */
  begun(): boolean;
  why(): WhyStopped | null;
  /** The result of `work`, or why the call was stopped as soon as it is. Later results and rejections of `work` are ignored. */
  unlessStopped<T>(work: Promise<T>): Promise<Result<T, WhyStopped>>;
  /** Ends the watch and, unless its stream was read to the end, the request. */
  readonly end: (isRead?: boolean) => void;
}

const OVER = 'over';
/** The number of checks within a time limit: a silence is detected at most this fraction too late, and never early. */
const LOOKS = 8;

/** Resolves when `count` has not changed for `bound`, or `ended` is aborted. */
async function quietFor(
  bound: number,
  count: () => number,
  world: Pick<World, 'sleep'>,
  ended: AbortSignal,
): Promise<void> {
  for (let quiet = 0; quiet < LOOKS && !ended.aborted; ) {
    const seen = count();
    await world.sleep(bound / LOOKS, ended);
    quiet = count() === seen ? quiet + 1 : 0;
  }
}

/** Watches a call that starts now. It is silent if no content arrives within `firstEventMs`, or later for `idleMs`; signs of life do not
 * count. With `pingMs`, also if nothing at all arrives for so long, once anything arrived. */
export function watchStream(
  setup: Pick<ProviderSetup, 'firstEventMs' | 'idleMs' | 'pingMs'>,
  world: Pick<World, 'sleep'>,
  outside: AbortSignal,
): Watch {
  const request = new AbortController();
  const ended = new AbortController();
  const first = new AbortController();
  const stopped = Promise.withResolvers<WhyStopped>();
  let why: WhyStopped | null = null;
  let beats = 0;
  let words = 0;

  const stop = (because: WhyStopped): void => {
    if (why !== null || ended.signal.aborted) return;
    why = because;
    stopped.resolve(because);
    end();
  };
  const onAbort = (): void => stop('aborted');
  const end = (isRead = false): void => {
    outside.removeEventListener('abort', onAbort);
    // With a reason: without one, each abort creates an error with a stack. The SDKs give none, so a request that is over is left alone.
    first.abort(OVER);
    ended.abort(OVER);
    if (!isRead) request.abort(OVER);
  };
  const stopWhenQuiet = async (count: () => number, bound: number): Promise<void> => {
    await quietFor(bound, count, world, ended.signal);
    stop('silent');
  };
  const lookForWords = async (): Promise<void> => {
    await world.sleep(setup.firstEventMs, first.signal);
    if (words === 0) stop('silent');
    await stopWhenQuiet(() => words, setup.idleMs);
  };

  if (outside.aborted) stop('aborted');
  else outside.addEventListener('abort', onAbort, { once: true });
  if (why === null) void lookForWords();
  return {
    signal: request.signal,
    beat: () => {
      beats += 1;
      if (beats === 1 && setup.pingMs !== undefined) void stopWhenQuiet(() => beats, setup.pingMs);
    },
    said: () => {
      words += 1;
      if (words === 1) first.abort(OVER);
    },
    begun: () => words > 0,
    why: () => why,
    unlessStopped: (work) =>
      Promise.race([
        work.then((value) => ({ ok: true as const, value })),
        stopped.promise.then((because) => fail(because)),
      ]),
    end,
  };
}

/** Time limit for counting tokens; an estimate is available. */
const COUNT_TIMEOUT = 10_000;

/** The number of input tokens that a server reports for `request`; null if it does not answer with one in time. */
export async function countInput(
  server: Pick<Server, 'library'>,
  world: Pick<World, 'sleep'>,
  request: Post,
  outside: AbortSignal,
): Promise<number | null> {
  const watch = watchStream({ firstEventMs: COUNT_TIMEOUT, idleMs: COUNT_TIMEOUT }, world, outside);
  const told = async (): Promise<number | null> => {
    const answer = await openWire(server, watch.beat).post(request, watch.signal);
    return answer.ok ? numberAt(parsed(await headOf(answer)), 'input_tokens') : null;
  };
  try {
    const counted = await watch.unlessStopped(told().catch(() => null));
    const tokens = counted.ok ? counted.value : null;
    return tokens !== null && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  } finally {
    watch.end();
  }
}
