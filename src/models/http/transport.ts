/**
 * The transport below a client library: a `fetch` that follows no redirect, reports every chunk (also pings, which libraries swallow),
 * counts and limits what is received, and sends no header from the environment. One per call.
 */
import type { Usage } from '../../domain/budget.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, type Result } from '../../domain/result.ts';
import type { World } from '../../ports/world.ts';
import { bytesOf } from '../provider.ts';
import { parsed } from './json.ts';

const MEGABYTE = 1024 * 1024;
/** The largest unpacked response: 700 bytes for each token that is ever requested. */
const MOST_BYTES = 12 * MEGABYTE;
/** The most bytes that are read of an error response. */
const MOST_OF_AN_ERROR = 64 * 1024;

/** Reading stopped at a limit. The message says which. */
export class TooLarge extends Error {}

export interface Wire {
  /** A stream of events must be read as an async iterable; otherwise it is not counted. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Bytes of the body received so far. A token takes at least one. */
  bytes(): number;
  /** Bytes of the body sent. */
  sent(): number;
  /** Status and content type of the response; null before its headers have arrived. */
  head(): { readonly status: number; readonly type: string } | null;
}

/** The most that an unanswered request may have used: a token for each byte sent. */
export const unanswered = (wire: Pick<Wire, 'sent'>): Usage => ({
  input: wire.sent(),
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
});

/** The only headers that are sent: libraries add headers from the environment, which would otherwise reach every host. */
const SENT = /^(?:accept|content-type|content-length|user-agent|anthropic-version|anthropic-beta|idempotency-key)$/;

/** Avoids a copy if the library already made `Headers`, since a copy costs more than all other work on them. */
const headersIn = ({ headers }: RequestInit): Headers => (headers instanceof Headers ? headers : new Headers(headers));

/** The permitted headers of a library, with `own` added or replacing them. */
function headersFor(init: RequestInit, own: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of headersIn(init)) if (SENT.test(name)) headers.set(name, value);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

export function openWire({ key, headers: own }: Pick<ProviderSetup, 'key' | 'headers'>, beat: () => void): Wire {
  let bytes = 0;
  let sent = 0;
  let head: { status: number; type: string } | null = null;
  const count = (chunk: Uint8Array): void => {
    bytes += chunk.byteLength;
    beat();
    if (bytes > MOST_BYTES) throw new TooLarge(`it is larger than ${MOST_BYTES / MEGABYTE} MB`);
  };
  return {
    bytes: () => bytes,
    sent: () => sent,
    head: () => head,
    async fetch(input, init = {}) {
      const headers = headersFor(init, { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...own });
      if (typeof init.body === 'string') sent += bytesOf(init.body);
      const response = await fetch(input, { ...init, headers, redirect: 'error' });
      head = { status: response.status, type: response.headers.get('content-type') ?? '' };
      return response.body === null ? response : counting(response, response.body, count);
    },
  };
}

/**
 * Passes each chunk of the body to `count` as it is read. An event stream is read directly, because a wrapping stream would cost more
 * than all other work on an event. Libraries read other bodies in their own way, so those are wrapped.
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
    // A broken stream cannot be cancelled any more.
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

/** The beginning of a response that is not a reply, as text. */
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
    // The text so far is enough.
  }
  return text;
}

// Parses server-sent events. This is done here and not by the client library, because whether a stream ended or was cut decides what is
// executed. At most one event is held in memory.

/** The data of the final event, for servers that send one. */
export const DONE = '[DONE]';

/** The largest event. */
const LONGEST_EVENT = 4 * MEGABYTE;
const MOST_LINES = 4096;

const LINE_END = 0x0a;

/** The `data` of each event in `body`. Throws errors of reading the body, and for an event that is too large. */
export async function* eventsIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const rest = new Held();
  const event = new Lines();
  for await (const piece of body) {
    const end = piece.lastIndexOf(LINE_END) + 1;
    if (end > 0) {
      rest.add(piece.subarray(0, end));
      for (const line of linesOf(rest.take())) {
        if (line !== '') event.add(line);
        else if (!event.isEmpty) yield event.take();
      }
    }
    rest.add(piece.subarray(end));
    if (rest.length > LONGEST_EVENT) throw tooLarge();
  }
  // Some servers omit the end of the last line. An incomplete event at the end was cut off.
  event.add(rest.take().trimEnd());
  const last = event.take();
  if (isWhole(last)) yield last;
}

const isWhole = (event: string): boolean => event !== '' && (event === DONE || parsed(event) !== undefined);

/** The lines of `text`, which ends with a line end. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
    yield text.slice(from, to > from && text[to - 1] === '\r' ? to - 1 : to);
    from = to + 1;
  }
}

const tooLarge = (): TooLarge =>
  new TooLarge(`an event is larger than ${LONGEST_EVENT / MEGABYTE} MB or ${MOST_LINES} lines`);

/** The data of one event, line by line. */
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

/** Bytes of an incomplete line in one buffer: thousands of small pieces would take many times their size. */
class Held {
  #bytes = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    if (length > this.#bytes.byteLength) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.byteLength));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = length;
  }

  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length);
    this.#length = 0;
    return text;
  }
}

// Watches one streaming call and ends it when it is aborted from outside or silent for too long, whether or not the client library
// settles. It uses two periodic checks instead of a timer for each event. The gate interprets a silence.

export type WhyStopped = 'aborted' | 'silent';

export interface Watch {
  /** For the client library: aborted as soon as the call is over, from outside or by silence. */
  readonly signal: AbortSignal;
  /** Reports any received data, even a sign of life. */
  readonly beat: () => void;
  /** Reports received content. */
  readonly said: () => void;
  /** True once content was received. */
  begun(): boolean;
  /** Why the call was stopped; null while it is not. */
  why(): WhyStopped | null;
  /** The result of `work`, or why the call was stopped as soon as it is. Later results and rejections of `work` are ignored. */
  unlessStopped<T>(work: Promise<T>): Promise<Result<T, WhyStopped>>;
  /** Ends the watch without aborting anything; call it once, when the call has ended. */
  readonly end: () => void;
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

/**
 * Watches a call that starts now. It is silent if no content arrives within `firstEventMs`, or later for `idleMs`; signs of life do not
 * count. With `pingMs`, also if nothing at all arrives for so long, once anything arrived.
 */
export function watchStream(
  setup: Pick<ProviderSetup, 'firstEventMs' | 'idleMs' | 'pingMs'>,
  world: Pick<World, 'sleep'>,
  outside: AbortSignal,
): Watch {
  const inner = new AbortController();
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
    inner.abort();
    end();
  };
  const onAbort = (): void => stop('aborted');
  const end = (): void => {
    outside.removeEventListener('abort', onAbort);
    // With a reason: without one, each abort creates an error with a stack.
    first.abort(OVER);
    ended.abort(OVER);
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
    signal: inner.signal,
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

/** The number of tokens that a server reports for the request of `ask`; null if it does not answer with one in time. */
export async function countedBy(
  setup: Pick<ProviderSetup, 'key' | 'headers'>,
  world: Pick<World, 'sleep'>,
  outside: AbortSignal,
  ask: (wire: Wire, signal: AbortSignal) => Promise<unknown>,
): Promise<number | null> {
  const watch = watchStream({ firstEventMs: COUNT_TIMEOUT, idleMs: COUNT_TIMEOUT }, world, outside);
  try {
    const told = await watch.unlessStopped(ask(openWire(setup, watch.beat), watch.signal).catch(() => null));
    const tokens = told.ok ? told.value : null;
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  } finally {
    watch.end();
  }
}

// Lets one client library, which is expensive to create, serve calls that each have a wire of their own. The wire is named in a header
// that is never sent.

const NAME = 'x-mimir-wire';

export interface RequestRouter {
  /** For the client library. */
  readonly fetch: Wire['fetch'];
  /** Runs `call` with the headers that route its request to `wire`. */
  over<T>(wire: Wire['fetch'], call: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T>;
}

export function openRequestRouter(): RequestRouter {
  const wires = new Map<string, Wire['fetch']>();
  let calls = 0;
  return {
    fetch(input, init = {}) {
      const wire = wires.get(headersIn(init).get(NAME) ?? '');
      if (wire === undefined) throw new Error('a request without a wire');
      return wire(input, init);
    },
    async over(wire, call) {
      const name = String((calls += 1));
      wires.set(name, wire);
      try {
        return await call({ [NAME]: name });
      } finally {
        wires.delete(name);
      }
    },
  };
}
