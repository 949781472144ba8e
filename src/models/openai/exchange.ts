/**
 * One request and its outcome: posts, watches, reads to the end, and reports a failure with what it cost. The adapter decides what to
 * send and how to handle a refusal.
 */
import type { Usage } from '../../domain/budget.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { ModelFault } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import * as faults from '../http/fault.ts';
import type { Answer } from './client.ts';
import * as http from '../http/transport.ts';
import { at, type Fields, fieldsAt, isFields, listAt, numberAt, parsed, textAt } from '../http/json.ts';
import { estimated, NOT_COUNTED, type Read, type Reader, type Reading } from './chat-reply.ts';
import type { Refused, Route } from './chat-wire.ts';

export interface Exchange {
  readonly path: Route;
  readonly body: Fields;
  readonly reader: Reader;
  /** The most output tokens. */
  readonly maxOutput: number;
  /** How long this model may be silent, if it differs from the provider's other models. */
  readonly times?: Pick<ProviderSetup, 'firstEventMs' | 'idleMs'>;
}

export interface Failed {
  readonly fault: ModelFault;
  /** The server's answer if it refused the request before any work; null for other faults. */
  readonly refused: Refused | null;
}

/** Performs one exchange. Resolves for every fault; rejects only for a bug. */
export async function exchange(
  setup: ProviderSetup,
  world: World,
  parts: Exchange,
  signal: AbortSignal,
): Promise<Result<Read, Failed>> {
  const times = { ...setup, ...parts.times };
  const watch = http.watchStream(times, world, signal);
  const wire = http.openWire(setup, watch.beat);
  const over = openEnd();
  try {
    const came = await watch.unlessStopped(outcomeOf({ setup, world, parts, watch, wire, over }));
    if (came.ok) return came.value;
    // A complete reply counts, even if the server never closes the stream.
    const reading: Reading = came.fault === 'silent' ? parts.reader.reading(over.done) : { is: 'cut' };
    if (reading.is === 'reply') return replied({ setup, parts, wire }, reading.reply);
    return failed(faults.stoppedFault(times, came.fault, watch), spentWhenStopped(parts, wire));
  } finally {
    watch.end();
    // A stream that was read to its end has nothing to abort, so its connection is reused.
    over.abort();
  }
}

/** Input tokens of `body` by the server's own count; null if it has none or does not answer in time. */
export const countInput = (
  setup: ProviderSetup,
  world: World,
  body: Fields,
  outside: AbortSignal,
): Promise<number | null> =>
  http.countedBy(setup, world, outside, async (wire, signal) => {
    const { post } = await import('./client.ts');
    const answer = await post(setup, wire, { path: '/responses/input_tokens', body, signal });
    return answer.is === 'open' ? numberAt(parsed(await http.headOf(answer.response)), 'input_tokens') : null;
  });

interface Call {
  readonly setup: ProviderSetup;
  readonly world: World;
  readonly parts: Exchange;
  readonly watch: http.Watch;
  readonly wire: http.Wire;
  readonly over: End;
}

/** The end of a stream. `done`: the stream announced it. */
interface End {
  done: boolean;
  readonly signal: AbortSignal;
  abort(): void;
}

/** A constant reason, because creating an error costs more than the rest of an end. */
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
    return failed(faults.connectionFault(setup, error), null);
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
    fault: faults.statusFault(setup, { status, headers, body: parsed(text) ?? text, now: world.now() }),
    refused,
  });
}

/** Passes all events to the reader. Null at the end of the stream, else the error that broke it. */
async function readAll(call: Call, { body }: Response): Promise<{ readonly error: unknown } | null> {
  if (body === null) return null;
  try {
    const events = http.eventsIn(body);
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      if (call.watch.why() !== null) return null;
      const json = next.value === http.DONE ? http.DONE : parsed(next.value);
      if (json !== http.DONE && !isFields(json)) return { error: new Unreadable('an event came that is no JSON') };
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

function isTheEnd({ parts, watch, over }: Call, event: Fields | typeof http.DONE): boolean {
  over.done = event === http.DONE;
  if (event === http.DONE) return true;
  if (says(event)) watch.said();
  return parts.reader.take(event);
}

/** False for events and empty chunks that only keep a stream alive, and for the beginning of an answer. */
function says(event: Fields): boolean {
  const type = textAt(event, 'type');
  if (type.startsWith('response.')) return type.endsWith('.delta') ? textAt(event, 'delta') !== '' : SAID.test(type);
  const choice = listAt(event, 'choices')[0];
  if (textAt(choice, 'finish_reason') !== '') return true;
  const delta = fieldsAt(choice, 'delta') ?? fieldsAt(choice, 'message') ?? {};
  return Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
}

const SAID = /\.(?:done|completed|incomplete|failed)$/;

/** Numbers are indexes, not content. */
const isEmpty = (value: unknown): boolean =>
  typeof value === 'string' ? value === '' : !isList(value) || Object.values(value).every(isEmpty);

const isList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Reads a stream to its end, usually at once, so that the connection can be reused; a server that keeps it open is left. */
async function closed({ world }: Call, events: AsyncGenerator<string>): Promise<void> {
  const waited = new AbortController();
  const ended = (async (): Promise<void> => {
    while ((await events.next()).done !== true);
  })().catch(() => undefined);
  await Promise.race([ended, world.sleep(GRACE, waited.signal)]);
  waited.abort('over');
}

const GRACE = 100;

/** The content was invalid, not the connection. */
class Unreadable extends Error {}

/** Providers that always report usage must do so, or no tool call is run; for compatible servers it is estimated. */
function replied({ setup, parts, wire }: Pick<Call, 'setup' | 'parts' | 'wire'>, reply: Read): Result<Read, Failed> {
  if (setup.kind === 'openai-compatible')
    return ok(estimated(reply, { sent: wire.sent(), thought: parts.reader.thought() }));
  if (reply.calls.length === 0 || reply.usage !== NOT_COUNTED) return ok(reply);
  return failed(malformed(setup, faults.NOT_SAID_USED), spentOn(parts, wire));
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
      return failed({ is: 'cut', message: `the answer of ${faults.hostOf(setup)} broke off before its end` }, spent);
  }
}

/** An error within a stream. Routers put the status of the server behind them into its code. */
function errorFault({ setup, world }: Call, error: unknown): ModelFault {
  const status = numberAt(error, 'code') ?? numberAt(error, 'status') ?? Number(textAt(error, 'code') || 0);
  if (!(status >= 400 && status <= 599)) return faults.eventFault(setup, error);
  return faults.statusFault(setup, { status, body: { error }, now: world.now() });
}

/** True if the connection broke; false if the content was invalid. */
const isCut = (error: unknown): boolean =>
  !(error instanceof Unreadable || error instanceof http.TooLarge) && !codeOf(error).startsWith('Z_');

const codeOf = (error: unknown): string => textAt(error, 'code') || textAt(at(error, 'cause'), 'code');
const wordsOf = (error: unknown): string => textAt(error, 'message') || 'what it sent can not be read';

/** A response that is not a stream of events. Some servers report errors in this way. */
async function notAStream(call: Call, response: Response, type: string): Promise<Result<Read, Failed>> {
  const { setup, parts, wire } = call;
  const text = await http.headOf(response);
  const spent = spentOn(parts, wire);
  const error = at(parsed(text), 'error');
  // LM Studio reports an unknown path in this way, with status 200.
  if (/unexpected endpoint/i.test(text)) return refusedAs(call, { status: 404, text });
  if (error) return failed(errorFault(call, error), spent);
  const what = type === '' ? 'something without a content type' : type;
  const words = faults.pageWords(text).trim();
  const said = words === '' ? '' : `, which says: ${words}`;
  return failed(malformed(setup, `it sent ${what} instead of a stream of events${said}`), spent);
}

const malformed = (setup: ProviderSetup, why: string): ModelFault => ({
  is: 'malformed',
  message: `${faults.hostOf(setup)} did not answer as it should: ${faults.redact(why, setup)}. Is its base URL right?`,
});

/** What an unfinished call used: the server's count, else one token for every byte, which no tokenizer exceeds. */
function spentOn({ reader, maxOutput }: Exchange, wire: http.Wire): Usage {
  const counted = reader.usage();
  if (counted !== null && Object.values(counted).every((count) => count >= 0)) return counted;
  const output = Math.min(maxOutput, wire.bytes());
  return { input: wire.sent(), output, cacheRead: 0, cacheWrite: 0 };
}

/** After a stop before the first event it is unknown whether work had begun, so all that was sent counts as input. */
function spentWhenStopped(parts: Exchange, wire: http.Wire): Usage | null {
  const head = wire.head();
  if (head === null) return wire.sent() === 0 ? null : http.unanswered(wire);
  return head.status === 200 ? spentOn(parts, wire) : null;
}

const failed = (fault: ModelFault, spent: Usage | null): { readonly ok: false; readonly fault: Failed } =>
  fail({ fault: spent === null ? fault : { ...fault, spent }, refused: null });
