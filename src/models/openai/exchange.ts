/**
 * One request and what came of it: posts, watches, reads to the end, and says what failed and what it cost by then. What is asked is the wire's,
 * what to do about a refusal the caller's.
 */
import type { Usage } from '../../domain/budget.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { ModelFault } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import { connectionFault, eventFault, hostOf, pageWords, statusFault, stoppedFault } from '../http/fault.ts';
import type { Answer } from './client.ts';
import { DONE, eventsIn } from '../http/events.ts';
import { at, type Fields, fieldsAt, isFields, listAt, numberAt, parsed, textAt } from '../http/json.ts';
import { estimated, NOT_COUNTED, type Read, type Reader, type Reading } from './reading.ts';
import type { Refused, Route } from './traits.ts';
import { NOT_SAID_USED, redact } from '../http/fault.ts';
import { type Watch, watchStream } from '../http/stream-timeout.ts';
import { headOf, openWire, unanswered, type Wire } from '../http/transport.ts';

export interface Exchange {
  readonly path: Route;
  readonly body: Fields;
  readonly reader: Reader;
  /** Most tokens that may come back. */
  readonly maxOutput: number;
  /** How long this model may be silent, where it is not as the provider's others. */
  readonly times?: Pick<ProviderSetup, 'firstEventMs' | 'idleMs'>;
}

export interface Failed {
  readonly fault: ModelFault;
  /** What the server said when it refused the request before any work; null when the fault is another. */
  readonly refused: Refused | null;
}

/** Carries one exchange through. Resolves for every fault; rejects only for a bug. */
export async function exchange(
  setup: ProviderSetup,
  world: World,
  parts: Exchange,
  signal: AbortSignal,
): Promise<Result<Read, Failed>> {
  const times = { ...setup, ...parts.times };
  const watch = watchStream(times, world, signal);
  const wire = openWire(setup, bearer, watch.beat);
  const over = openEnd();
  try {
    const came = await watch.unlessStopped(outcomeOf({ setup, world, parts, watch, wire, over }));
    if (came.ok) return came.value;
    // What is whole stays whole, even if the server never closes the stream.
    const reading: Reading = came.fault === 'silent' ? parts.reader.reading(over.done) : { is: 'cut' };
    if (reading.is === 'reply') return replied({ setup, parts, wire }, reading.reply);
    return failed(stoppedFault(times, came.fault, watch), spentWhenStopped(parts, wire));
  } finally {
    watch.end();
    // Nothing to abort where the stream was read to its end: that connection is used again.
    over.abort();
  }
}

/** Input tokens of `body` by the server's own count; null where it has none, or doesn't answer within a while. */
export async function countInput(
  setup: ProviderSetup,
  world: World,
  body: Fields,
  signal: AbortSignal,
): Promise<number | null> {
  const watch = watchStream({ firstEventMs: COUNT_TIMEOUT, idleMs: COUNT_TIMEOUT }, world, signal);
  const wire = openWire(setup, bearer, watch.beat);
  const count = async (): Promise<number | null> => {
    const { post } = await import('./client.ts');
    const answer = await post(setup, wire, { path: '/responses/input_tokens', body, signal: watch.signal });
    return answer.is === 'open' ? numberAt(parsed(await headOf(answer.response)), 'input_tokens') : null;
  };
  try {
    const counted = await watch.unlessStopped(count().catch(() => null));
    const tokens = counted.ok ? counted.value : null;
    return tokens !== null && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : null;
  } finally {
    watch.end();
  }
}

/** Milliseconds that counting may take: a bound is at hand. */
const COUNT_TIMEOUT = 10_000;

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

interface Call {
  readonly setup: ProviderSetup;
  readonly world: World;
  readonly parts: Exchange;
  readonly watch: Watch;
  readonly wire: Wire;
  readonly over: End;
}

/** Of a stream. `done`: it said so itself. */
interface End {
  done: boolean;
  readonly signal: AbortSignal;
  abort(): void;
}

/** A reason at hand: making one costs more than all the rest of an end. */
const LEFT = 'read to its end';

function openEnd(): End {
  const left = new AbortController();
  return { done: false, signal: left.signal, abort: () => left.abort(LEFT) };
}

async function outcomeOf(call: Call): Promise<Result<Read, Failed>> {
  const { setup, parts, wire } = call;
  const { post } = await import('./client.ts');
  const signal = AbortSignal.any([call.watch.signal, call.over.signal]);
  let answer: Answer;
  try {
    answer = await post(setup, wire, { path: parts.path, body: parts.body, signal });
  } catch (error) {
    return failed(connectionFault(setup, error), null);
  }
  if (answer.is === 'refused') {
    const { status, headers, text } = answer;
    return refusedAs(call, { status, text }, headers);
  }
  const type = answer.response.headers.get('content-type') ?? '';
  if (!type.includes('text/event-stream')) return notAStream(call, answer.response, type);
  const broke = await readAll(call, answer.response);
  return settled(call, parts.reader.reading(call.over.done), broke);
}

function refusedAs({ setup, world }: Call, refused: Refused, headers?: Headers): Result<Read, Failed> {
  const { status, text } = refused;
  return fail({
    fault: statusFault(setup, { status, headers, body: parsed(text) ?? text, now: world.now() }),
    refused,
  });
}

/** Gives the reader all events. Null at the end of the stream, else what broke it. */
async function readAll(call: Call, { body }: Response): Promise<{ readonly error: unknown } | null> {
  if (body === null) return null;
  try {
    const events = eventsIn(body);
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      if (call.watch.why() !== null) return null;
      const json = next.value === DONE ? DONE : parsed(next.value);
      if (json !== DONE && !isFields(json)) return { error: new Unreadable('an event came that is no JSON') };
      if (isTheEnd(call, json)) {
        await closed(call, events);
        return null;
      }
    }
    return null;
  } catch (error) {
    return { error };
  }
}

function isTheEnd({ parts, watch, over }: Call, event: Fields | typeof DONE): boolean {
  over.done = event === DONE;
  if (event === DONE) return true;
  if (says(event)) watch.said();
  return parts.reader.take(event);
}

/** Some keep a stream alive with events, or with chunks in which nothing is said; and that an answer has begun is no part of it. */
function says(event: Fields): boolean {
  const type = textAt(event, 'type');
  if (type.startsWith('response.')) return type.endsWith('.delta') ? textAt(event, 'delta') !== '' : SAID.test(type);
  const choice = listAt(event, 'choices')[0];
  if (textAt(choice, 'finish_reason') !== '') return true;
  const delta = fieldsAt(choice, 'delta') ?? fieldsAt(choice, 'message') ?? {};
  return Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
}

const SAID = /\.(?:done|completed|incomplete|failed)$/;

/** Numbers say where something belongs, not what. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'string' ? value === '' : !isList(value) || Object.values(value).every(isEmpty);

const isList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A connection can be used again if its stream is read to the end, which mostly comes at once; a server that keeps it open is left. */
async function closed({ world }: Call, events: AsyncGenerator<string>): Promise<void> {
  const waited = new AbortController();
  const ended = (async (): Promise<void> => {
    while ((await events.next()).done !== true);
  })().catch(() => undefined);
  await Promise.race([ended, world.sleep(GRACE, waited.signal)]);
  waited.abort('over');
}

const GRACE = 100;

/** Of what came, not of how it came. */
class Unreadable extends Error {}

/** A reply of those who always say what they used: without it, no tool that it calls is run. Of others it is estimated. */
function replied({ setup, parts, wire }: Pick<Call, 'setup' | 'parts' | 'wire'>, reply: Read): Result<Read, Failed> {
  if (setup.kind === 'openai-compatible')
    return ok(estimated(reply, { sent: wire.sent(), thought: parts.reader.thought() }));
  if (reply.calls.length === 0 || reply.usage !== NOT_COUNTED) return ok(reply);
  return failed(malformed(setup, NOT_SAID_USED), spentOn(parts, wire));
}

function settled(call: Call, reading: Reading, broke: { readonly error: unknown } | null): Result<Read, Failed> {
  const { setup, parts, wire } = call;
  const spent = spentOn(parts, wire);
  if (broke !== null && !isCut(broke.error)) return failed(malformed(setup, wordsOf(broke.error)), spent);
  switch (reading.is) {
    case 'reply':
      return replied(call, reading.reply);
    case 'error':
      return failed(errorFault(call, reading.error), spent);
    case 'malformed':
      return failed(malformed(setup, reading.why), spent);
    default:
      if (wire.bytes() === 0 && broke === null) return failed(malformed(setup, 'its answer is empty'), spent);
      return failed({ is: 'cut', message: `the answer of ${hostOf(setup)} broke off before its end` }, spent);
  }
}

/** An error in the midst of a stream. Routers put the status of the server behind them into its code. */
function errorFault({ setup, world }: Call, error: unknown): ModelFault {
  const status = numberAt(error, 'code') ?? numberAt(error, 'status') ?? Number(textAt(error, 'code') || 0);
  if (!(status >= 400 && status <= 599)) return eventFault(setup, error);
  return statusFault(setup, { status, body: { error }, now: world.now() });
}

/** Did the connection break, and not what came over it? */
const isCut = (error: unknown): boolean =>
  !(error instanceof Unreadable) && !/^Z_|too large/.test(`${codeOf(error)}${wordsOf(error)}`);

const codeOf = (error: unknown): string => textAt(error, 'code') || textAt(at(error, 'cause'), 'code');
const wordsOf = (error: unknown): string => textAt(error, 'message') || 'what it sent can not be read';

/** A response that is no stream of events. Some servers say an error so. */
async function notAStream(call: Call, response: Response, type: string): Promise<Result<Read, Failed>> {
  const { setup, parts, wire } = call;
  const text = await headOf(response);
  const spent = spentOn(parts, wire);
  const error = at(parsed(text), 'error');
  // LM Studio says so, with status 200, that a path is not known to it.
  if (/unexpected endpoint/i.test(text)) return refusedAs(call, { status: 404, text });
  if (error) return failed(errorFault(call, error), spent);
  const what = type === '' ? 'something without a content type' : type;
  const words = pageWords(text).trim();
  const said = words === '' ? '' : `, which says: ${words}`;
  return failed(malformed(setup, `it sent ${what} instead of a stream of events${said}`), spent);
}

const malformed = (setup: ProviderSetup, why: string): ModelFault => ({
  is: 'malformed',
  message: `${hostOf(setup)} did not answer as it should: ${redact(why, setup)}. Is its base URL right?`,
});

/** What a call used up that didn't come to its end: as the server counted, else one token for every byte, which no tokenizer exceeds. */
function spentOn({ reader, maxOutput }: Exchange, wire: Wire): Usage {
  const counted = reader.usage();
  if (counted !== null && Object.values(counted).every((count) => count >= 0)) return counted;
  const output = Math.min(maxOutput, wire.bytes());
  return { input: wire.sent(), output, cacheRead: 0, cacheWrite: 0 };
}

/** Whoever hangs up before the first word doesn't know whether the work had begun: what was sent counts as read. */
function spentWhenStopped(parts: Exchange, wire: Wire): Usage | null {
  const head = wire.head();
  if (head === null) return wire.sent() === 0 ? null : unanswered(wire);
  return head.status === 200 ? spentOn(parts, wire) : null;
}

const failed = (fault: ModelFault, spent: Usage | null): { readonly ok: false; readonly fault: Failed } =>
  fail({ fault: spent === null ? fault : { ...fault, spent }, refused: null });
