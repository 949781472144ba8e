/** One request to a model server and its outcome: posts, watches, reads the events to the end, and reports a failure with what it cost. An
 * adapter decides what to send, how to read a reply, and how to handle a refusal. */
import type { Usage } from '../../domain/budget.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import type { ModelFault } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import * as faults from './fault.ts';
import { at, type Fields, isFields, numberAt, parsed, textAt } from './json.ts';
import * as http from './transport.ts';

export interface Exchange<Reply> extends http.Post {
  readonly reader: Reader<Reply>;
  /** How long this model may be silent, if it differs from the provider's other models. */
  readonly times?: Pick<ProviderSetup, 'firstEventMs' | 'idleMs'>;
}

export interface Reader<Reply> {
  /** Takes one event: with content of the reply, the end (nothing more can come), or neither. */
  take(event: Fields): 'content' | 'end' | 'nothing';
  reading(end: StreamEnd, bytes: Bytes): Reading<Reply>;
  /** What an unfinished reply used: the server's count, else an upper bound; null while nothing is billed. */
  spent(bytes: Bytes): Usage | null;
}

/** How a stream ended: by the event that announces it, by an error of the connection, or by neither. */
export type StreamEnd = Readonly<Record<'announced' | 'broke', boolean>>;

/** Bytes of the request and of the answer. A token takes at least one. */
export type Bytes = Readonly<Record<'sent' | 'came', number>>;

export type Reading<Reply> =
  | { readonly is: 'reply'; readonly reply: Reply }
  /** The end is missing: no call of it may be executed. */
  | { readonly is: 'cut'; readonly why?: string }
  | { readonly is: 'malformed'; readonly why: string }
  | { readonly is: 'error'; readonly error: unknown };

export interface Failed {
  readonly fault: ModelFault;
  /** The server's answer if it refused the request before any work; null for other faults. */
  readonly refused: Refused | null;
}

/** A request that was refused before any work began. `text` is the whole answer. */
export interface Refused {
  readonly status: number;
  readonly text: string;
}

/** Performs one exchange. Resolves for every fault; rejects only for a bug. */
export async function exchange<Reply>(
  setup: http.Server,
  world: World,
  parts: Exchange<Reply>,
  signal: AbortSignal,
): Promise<Result<Reply, Failed>> {
  const times = { ...setup, ...parts.times };
  const watch = http.watchStream(times, world, signal);
  const wire = http.openWire(setup, watch.beat);
  const call: Call<Reply> = { setup, world, parts, watch, wire, end: { announced: false, broke: false }, rest: null };
  try {
    const outcome = await watch.unlessStopped(outcomeOf(call));
    if (outcome.ok) return outcome.value;
    // A complete reply counts, even if the server never closes the stream.
    const reading: Reading<Reply> = outcome.fault === 'silent' ? readingOf(call) : { is: 'cut' };
    if (reading.is === 'reply') return ok(reading.reply);
    return failed(faults.stoppedFault(times, outcome.fault, watch), spentWhenStopped(call));
  } finally {
    void Promise.resolve(call.rest ?? false).then(watch.end);
  }
}

interface Call<Reply> {
  readonly setup: ProviderSetup;
  readonly world: World;
  readonly parts: Exchange<Reply>;
  readonly watch: http.Watch;
  readonly wire: http.Wire;
  readonly end: { announced: boolean; broke: boolean };
  /** Whether the stream ended soon after the end of the reply. */
  rest: Promise<boolean> | null;
}

async function outcomeOf<Reply>(call: Call<Reply>): Promise<Result<Reply, Failed>> {
  const { setup, parts, wire, watch } = call;
  let answer: http.Answer;
  try {
    answer = await wire.post(parts, watch.signal);
  } catch (error) {
    return failed(faults.connectionFault(setup, error), null);
  }
  const { status, ok: isTaken, headers } = answer;
  if (!isTaken) return refusedAs(call, { status, text: await http.headOf(answer) }, headers);
  const type = headers.get('content-type') ?? '';
  if (!/\btext\/event-stream\b/i.test(type)) return notAStream(call, await http.headOf(answer), type);
  const unreadable = await readAll(call, http.eventsIn(answer.chunks));
  const reading: Reading<Reply> = unreadable === null ? readingOf(call) : { is: 'malformed', why: unreadable };
  return settled(call, reading);
}

const bytesOf = ({ wire }: Call<unknown>): Bytes => ({ sent: wire.sent(), came: wire.bytes() });
const readingOf = <Reply>(call: Call<Reply>): Reading<Reply> => call.parts.reader.reading(call.end, bytesOf(call));
const spentOn = (call: Call<unknown>): Usage | null => call.parts.reader.spent(bytesOf(call));

/** After a stop before the first event it is unknown whether work had begun, so all that was sent counts as input. */
function spentWhenStopped(call: Call<unknown>): Usage | null {
  const { wire } = call;
  if (wire.status() === null)
    return wire.sent() === 0 ? null : { input: wire.sent(), output: 0, cacheRead: 0, cacheWrite: 0 };
  return wire.status() === 200 ? spentOn(call) : null;
}

function refusedAs<Reply>({ setup, world }: Call<Reply>, refused: Refused, headers?: Headers): Result<Reply, Failed> {
  const { status, text } = refused;
  const fault = faults.statusFault(setup, { status, headers, body: parsed(text) ?? text, now: world.now() });
  return fail({ fault, refused });
}

/** Passes all events to the reader. Returns why the stream can not be read, or null. */
async function readAll(call: Call<unknown>, events: AsyncGenerator<string>): Promise<string | null> {
  try {
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      if (call.watch.why() !== null) return null;
      const taken = next.value === '' ? 'nothing' : takenFrom(call, next.value);
      if (taken === null) return 'an event is not JSON';
      if (taken === 'content') call.watch.said();
      if (taken !== 'end') continue;
      call.rest = readOut(call.world, events);
      return null;
    }
    return null;
  } catch (error) {
    const why = unreadableBy(error);
    call.end.broke = why === null;
    return why;
  }
}

/** What an event holds; null if it is not one. */
function takenFrom({ parts, end }: Call<unknown>, text: string): ReturnType<Reader<unknown>['take']> | null {
  end.announced = text === http.DONE;
  if (end.announced) return 'end';
  const event = parsed(text);
  return isFields(event) ? parts.reader.take(event) : null;
}

const UNREADABLE = /\bZ_|ERR_ZLIB|incorrect (?:header|data)|invalid (?:block|code|distance|stored)/;

/** Why the content can not be read; null if the connection broke. */
function unreadableBy(error: unknown): string | null {
  if (error instanceof http.TooLarge) return error.message;
  return UNREADABLE.test(faults.causesOf(error).join(' ')) ? 'its content cannot be decoded' : null;
}

/** How long, in milliseconds, a connection may take to close after the last event, so that it can be reused. */
const CLOSING = 250;

async function readOut(world: World, events: AsyncGenerator<string>): Promise<boolean> {
  const closed = new AbortController();
  const ended = async (): Promise<boolean> => {
    while ((await events.next()).done !== true);
    return true;
  };
  const tooLong = world.sleep(CLOSING, closed.signal).then(() => false);
  const isRead = await Promise.race([ended().catch(() => false), tooLong]);
  closed.abort('over');
  return isRead;
}

function settled<Reply>(call: Call<Reply>, reading: Reading<Reply>): Result<Reply, Failed> {
  const { setup, wire, end } = call;
  switch (reading.is) {
    case 'reply':
      return ok(reading.reply);
    case 'error':
      return failed(errorFault(call, reading.error), spentOn(call));
    case 'malformed':
      return failed(malformed(setup, reading.why), spentOn(call));
    default: {
      if (wire.bytes() === 0 && !end.broke) return failed(malformed(setup, 'it is empty'), spentOn(call));
      const why = end.broke ? 'the connection ended' : (reading.why ?? 'it ended early');
      return failed({ is: 'cut', message: `${faults.hostOf(setup)} broke off its reply: ${why}` }, spentOn(call));
    }
  }
}

/** An error within a stream. Routers put the status of the server behind them into its code. */
function errorFault({ setup, world }: Call<unknown>, error: unknown): ModelFault {
  const status = numberAt(error, 'code') ?? numberAt(error, 'status') ?? Number(textAt(error, 'code') || 0);
  if (!(status >= 400 && status <= 599)) return faults.eventFault(setup, error);
  return faults.statusFault(setup, { status, body: { error }, now: world.now() });
}

/** A response that is not a stream of events: a proxy's page, or an error, which some servers report with a status of success. */
function notAStream<Reply>(call: Call<Reply>, text: string, type: string): Result<Reply, Failed> {
  const error = at(parsed(text), 'error');
  // LM Studio reports an unknown path in this way, with status 200.
  if (/unexpected endpoint/i.test(text)) return refusedAs(call, { status: 404, text });
  if (error) return settled(call, { is: 'error', error });
  const words = faults.pageWords(text).trim();
  const said = words === '' ? '' : ` It says: ${words}`;
  const what = type === '' ? 'unknown' : type;
  return settled(call, {
    is: 'malformed',
    why: `its type is ${what}, not text/event-stream. Is the base URL right?${said}`,
  });
}

const malformed = (setup: ProviderSetup, why: string): ModelFault => ({
  is: 'malformed',
  message: `${faults.hostOf(setup)} sent an invalid reply: ${faults.redact(why, setup)}`,
});

const failed = (fault: ModelFault, spent: Usage | null): { readonly ok: false; readonly fault: Failed } =>
  fail({ fault: { ...fault, ...defined({ spent: spent ?? undefined }) }, refused: null });
