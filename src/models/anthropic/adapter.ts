/**
 * Calls Anthropic's Messages by their own client library, which brings requests there and decides nothing: retries, silences,
 * redirects, credentials, events and the end of a reply are ours to say. Never prints. Load it lazily: the library is large.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Result } from '../../domain/result.ts';
import type { Usage } from '../../domain/budget.ts';
import type { ModelReply } from '../../domain/turn.ts';
import type { Delta, ModelFault, ModelRequest } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import { isStream, malformedFault, noReplyFault, thrownFault, typeFault } from './fault.ts';
import { openLearned } from './learned.ts';
import type { Learned } from './learned.ts';
import { MessageReader } from './reply.ts';
import { replyOf } from './result.ts';
import { askedOf } from './wire.ts';
import type { Asked } from './wire.ts';
import { eventFault, field, stoppedFault } from '../http/fault.ts';
import { eventsIn } from '../http/events.ts';
import { parsed } from '../http/json.ts';
import type { Caller } from '../provider.ts';
import { watchStream } from '../http/stream-timeout.ts';
import type { Switchboard } from '../http/per-request-fetch.ts';
import { openSwitchboard } from '../http/per-request-fetch.ts';
import type { Watch } from '../http/stream-timeout.ts';
import { headOf, openWire, unanswered } from '../http/transport.ts';
import type { Wire } from '../http/transport.ts';

/** Longer than any call of ours: how long one may be silent is the watch's to say. */
const CLIENT_TIMEOUT = 24 * 60 * 60_000;
/** The library adds it: many write it into the base URL, as other makers want it. */
const OWN_PATH = /\/v1(?:\/messages)?\/*$/;
/** Milliseconds that counting may take: an estimate is at hand. */
const COUNT_TIMEOUT = 10_000;
/** Milliseconds that a connection gets to close in order after the last event, to be used again. */
const CLOSING = 250;

/** Calls of one provider as it was set up. Holds nothing between two calls but what its server turned out not to take. */
export function anthropicCaller(setup: ProviderSetup, world: World): Caller {
  const board = openSwitchboard();
  const parts: Parts = { setup, world, learned: openLearned(), board, client: clientOf(setup, board) };
  return {
    async call(request, signal, onDelta) {
      for (;;) {
        const asked = askedOf(request, parts.learned.allowed(request));
        const came = await oneCall(parts, { request, ...asked }, signal, onDelta);
        if (came.ok) return asked.withoutEffort ? ok({ ...came.value, withoutEffort: true }) : came;
        if (came.fault.is !== 'refused') return came;
        if (!parts.learned.take(request, asked.body, came.fault.message)) return came;
      }
    },
    count: (request, signal) => count(parts, request, signal),
  };
}

interface Parts {
  readonly setup: ProviderSetup;
  readonly world: World;
  readonly learned: Learned;
  readonly board: Switchboard;
  readonly client: Anthropic;
}

interface Call extends Asked {
  readonly request: ModelRequest;
}

async function oneCall(
  parts: Parts,
  { request, body, formed }: Call,
  signal: AbortSignal,
  onDelta: (delta: Delta) => void,
): Promise<Result<ModelReply, ModelFault>> {
  const { setup, world } = parts;
  const watch = watchStream(setup, world, signal);
  const wire = openWire(setup, bearer, watch.beat);
  const reader = new MessageReader(formed);
  const spent = (): Pick<ModelFault, 'spent'> => spentSoFar(reader, wire);
  try {
    const answer = parts.board.over(wire.fetch, (headers) =>
      parts.client
        .post('/v1/messages', {
          body: { ...body, max_tokens: request.maxOutputTokens, stream: true },
          stream: true,
          signal: watch.signal,
          headers,
        })
        .asResponse(),
    );
    const read = await watch.unlessStopped(readAll(parts, { answer, reader, wire, watch, onDelta }));
    if (!read.ok) return fail({ ...stoppedFault(setup, read.fault, watch), ...spentWhenStopped(reader, wire) });
    if (read.value !== null) return fail({ ...read.value, ...spent() });
    const reply = replyOf(reader.progress(), request, { provider: setup.name, formed });
    if (reply.ok) return reply;
    return fail({ ...noReplyFault(setup, wire, reply.fault), ...spent() });
  } finally {
    watch.end();
  }
}

/** The client library with everything said that it would look for in the environment or on the disk. */
const clientOf = (setup: ProviderSetup, { fetch }: Switchboard): Anthropic =>
  new Anthropic({
    // Some word: without one it looks elsewhere. What is sent is the wire's to say.
    apiKey: setup.key ?? 'none',
    authToken: null,
    webhookKey: null,
    baseURL: setup.baseUrl.replace(OWN_PATH, ''),
    maxRetries: 0,
    timeout: CLIENT_TIMEOUT,
    logLevel: 'off',
    openTelemetry: false,
    fetch,
    fetchOptions: { redirect: 'error' },
  });

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

interface Streaming {
  readonly answer: Promise<Response>;
  readonly reader: MessageReader;
  readonly wire: Wire;
  readonly watch: Watch;
  readonly onDelta: (delta: Delta) => void;
}

/** Reads the answer to its end; the fault that it ended with, or null. */
async function readAll({ setup, world }: Parts, streaming: Streaming): Promise<ModelFault | null> {
  const { wire } = streaming;
  const response = await caught(streaming.answer);
  if (!response.ok) return thrownFault({ setup, world, wire }, response.fault);
  const { body } = response.value;
  if (!isStream(wire)) return typeFault(setup, wire, await headOf(response.value));
  return body === null ? null : readEvents({ setup, world }, streaming, eventsIn(body));
}

async function readEvents(
  { setup, world }: Pick<Parts, 'setup' | 'world'>,
  streaming: Streaming,
  events: AsyncGenerator<string>,
): Promise<ModelFault | null> {
  const { reader, wire, watch } = streaming;
  while (!reader.complete) {
    const next = await caught(events.next());
    // Nobody listens any more.
    if (watch.why() !== null) return null;
    if (!next.ok) return thrownFault({ setup, world, wire }, next.fault);
    if (next.value.done === true) return null;
    const fault = takeEvent(setup, streaming, next.value.value);
    if (fault !== null) {
      void closeStream(events);
      return fault;
    }
  }
  void readOut(world, events);
  return null;
}

/** One event, as text. The fault that it is, or null. */
function takeEvent(setup: ProviderSetup, { reader, watch, onDelta }: Streaming, text: string): ModelFault | null {
  if (text === '') return null;
  const event = parsed(text);
  if (event === undefined) return malformedFault(setup, 'an event is no JSON');
  if (field(event, 'type') === 'error') return eventFault(setup, event);
  const before = reader.content;
  const taken = reader.take(event);
  if (!taken.ok) return malformedFault(setup, taken.fault);
  if (reader.content > before) watch.said();
  if (taken.value !== null && taken.value !== 'other') onDelta(taken.value);
  return null;
}

/** Nobody waits for it: a connection that is read to its end can be used again, and one that stays open is closed. */
async function readOut(world: World, iterator: AsyncIterator<unknown>): Promise<void> {
  const closed = new AbortController();
  await Promise.race([caught(iterator.next()), world.sleep(CLOSING, closed.signal)]);
  closed.abort('over');
  void closeStream(iterator);
}

const closeStream = (iterator: AsyncIterator<unknown>): Promise<unknown> =>
  caught(Promise.resolve(iterator.return?.()));

/** What the library throws is the way it tells of faults. */
const caught = async <T>(work: Promise<T>): Promise<Result<T, unknown>> => {
  try {
    return ok(await work);
  } catch (error) {
    return fail(error);
  }
};

/** Nothing is billed before a message began. */
function spentSoFar(reader: MessageReader, wire: Wire): { readonly spent?: Usage } {
  return reader.begun ? { spent: reader.spent({ sent: wire.sent(), came: wire.bytes() }) } : {};
}

/** Whoever hangs up before the first word doesn't know whether the work had begun: what was sent counts as read. */
function spentWhenStopped(reader: MessageReader, wire: Wire): { readonly spent?: Usage } {
  if (wire.head() !== null || wire.sent() === 0) return spentSoFar(reader, wire);
  return { spent: unanswered(wire) };
}

async function count(
  { setup, world, learned, board, client }: Parts,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<number | null> {
  const times = { firstEventMs: COUNT_TIMEOUT, idleMs: COUNT_TIMEOUT };
  const watch = watchStream(times, world, signal);
  const wire = openWire(setup, bearer, watch.beat);
  try {
    const { body } = askedOf(request, learned.allowed(request));
    const asked = board.over(wire.fetch, async (headers) =>
      client.post<unknown>('/v1/messages/count_tokens', { body, signal: watch.signal, headers }),
    );
    const told = await watch.unlessStopped(caught(asked));
    const tokens = told.ok && told.value.ok ? field(told.value.value, 'input_tokens') : null;
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  } finally {
    watch.end();
  }
}
