/**
 * Puts what came instead of a reply into the words of `ModelFault`: statuses with their error bodies, error events of a stream, and
 * connections that failed. The same for all providers; which client library told it is the adapter's to know.
 */
import type { Millis } from '../../domain/ids.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { encodedForms, HIDDEN } from '../../domain/text/redact.ts';
import type { ModelFault } from '../../ports/model.ts';
import { ABORTED } from '../provider.ts';
import type { Watch, WhyStopped } from './stream-timeout.ts';

/** Why a reply is malformed: it calls tools without the usage that every such reply has. */
export const NOT_SAID_USED = 'it calls tools, but does not say what it used';
/** Why a reply is malformed: `reason` as the provider wrote it. */
export const unknownStop = (reason: string): string => `it stopped for a reason that is not known: ${reason}`;

/** Who is called, for advice. */
export type Called = Pick<ProviderSetup, 'name' | 'baseUrl' | 'key' | 'keyEnv' | 'headers'>;

/** A response that is an error. `body`: as parsed, or its text, or whatever the client library kept of it. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Headers | undefined;
  readonly body?: unknown;
  /** For a wait that is given as a date: milliseconds since the epoch. */
  readonly now: Millis;
}

type Cause = ModelFault['is'];

/** The fault that a response with an error status is. */
export function statusFault(called: Called, { status, headers, body, now }: Refusal): ModelFault {
  const said = saidIn(body);
  const is = causeOf(status, said);
  const wait = WAITED_FOR.has(is)
    ? (retryAfter(headers, now) ?? retryAfter(headersIn(body), now) ?? waitIn(said.message))
    : null;
  return {
    ...faultOf(called, is, said, `it answered ${status}`, status),
    ...(wait === null ? {} : { retryAfterMs: wait }),
  };
}

/** A router passes on in the body what the provider behind it said in headers. */
function headersIn(body: unknown): Headers | undefined {
  const said = field(field(field(body, 'error'), 'metadata'), 'headers');
  if (typeof said !== 'object' || said === null) return undefined;
  const headers = new Headers();
  for (const [name, value] of Object.entries(said))
    if (/^(?:retry-after|x-ratelimit-)/i.test(name) && /^[\w .:,+-]{1,64}$/.test(textOf(value)))
      headers.set(name, textOf(value));
  return headers;
}

/** The fault that an error event in the midst of a stream is: `error` as the provider sent it. What was spent is the caller's to add. */
export function eventFault(called: Called, error: unknown): ModelFault {
  const said = saidIn(error);
  const is = byWords(said) ?? BY_TYPE.get(said.type) ?? 'overloaded';
  return faultOf(called, is, said, 'it broke off with an error');
}

/** The fault that a call without any response is: `error` as it was thrown, with its causes. */
export function connectionFault(called: Called, error: unknown): ModelFault {
  const causes = causesOf(error);
  const known = causes.flatMap((cause) => CONNECTIONS.filter(([form]) => form.test(cause))).at(0);
  if (/redirect/i.test(causes.join(' '))) {
    const message = `${hostOf(called)} answered with a redirect to another address, which is not followed: set the final address as its base URL`;
    return { is: 'refused', message };
  }
  const why = known?.[1] ?? redact(causes.at(-1) ?? 'no reason was given', called);
  return { is: 'unreachable', message: `can't reach ${hostOf(called)}: ${why}` };
}

/** The fault of a call that was ended here: aborted from outside, or because nothing with content came for too long. */
export function stoppedFault(
  setup: Pick<ProviderSetup, 'name' | 'baseUrl' | 'firstEventMs' | 'idleMs'>,
  why: WhyStopped,
  watch: Pick<Watch, 'begun'>,
): ModelFault {
  if (why === 'aborted') return ABORTED;
  const begun = watch.begun();
  const seconds = Math.round((begun ? setup.idleMs : setup.firstEventMs) / 1000);
  const message = begun ? `${hostOf(setup)} stopped within its answer` : `${hostOf(setup)} gave no answer`;
  return { is: 'silent', message: `${message} for ${seconds} s`, ...(begun ? { begun } : {}) };
}

/** Host and port, never a user, a password or a query. */
export const hostOf = ({ name, baseUrl }: Pick<Called, 'name' | 'baseUrl'>): string =>
  URL.canParse(baseUrl) ? new URL(baseUrl).host : name;

/** What an error body says, in lower case where words are compared. */
interface Said {
  readonly type: string;
  readonly code: string;
  readonly message: string;
}

const WAITED_FOR: ReadonlySet<Cause> = new Set(['rate limited', 'overloaded']);

/** Types and codes of errors as Anthropic, OpenAI and those who speak like them write them. */
const BY_TYPE: ReadonlyMap<string, Cause> = new Map(
  Object.entries({
    overloaded_error: 'overloaded',
    api_error: 'overloaded',
    timeout_error: 'overloaded',
    server_error: 'overloaded',
    internal_server_error: 'overloaded',
    service_unavailable: 'overloaded',
    rate_limit_error: 'rate limited',
    rate_limit_exceeded: 'rate limited',
    too_many_requests: 'rate limited',
    authentication_error: 'unauthorised',
    permission_error: 'unauthorised',
    invalid_api_key: 'unauthorised',
    billing_error: 'no credit',
    insufficient_quota: 'no credit',
    invalid_request_error: 'refused',
    not_found_error: 'refused',
    invalid_prompt: 'refused',
    content_filter: 'refused',
    request_too_large: 'too long',
  } as const),
);

const BY_STATUS: Readonly<Record<number, Cause>> = {
  401: 'unauthorised',
  402: 'no credit',
  403: 'unauthorised',
  408: 'overloaded',
  409: 'overloaded',
  413: 'too long',
  425: 'overloaded',
  429: 'rate limited',
};

function causeOf(status: number, said: Said): Cause {
  const words = byWords(said);
  if (words !== null && status >= 400 && status < 500) return words;
  const byStatus = BY_STATUS[status];
  if (byStatus !== undefined) return byStatus;
  if (status >= 500) return 'overloaded';
  return 'refused';
}

const NO_CREDIT =
  /insufficient_quota|exceeded your current quota|credit balance is too low|insufficient (?:credits|balance|funds)|billing hard limit|spend(?:ing)?[ _]limit|requires more credits|payment required/;
const TOO_LONG =
  /context_length_exceeded|prompt is too long|maximum context length|context (?:length|window|size)|exceeds? the (?:model'?s )?(?:maximum )?(?:context|input)|input length and `?max_tokens`? exceed|too many (?:input )?tokens|request_too_large|input is too long|prompt too long|longer than the model/;

/** Some say it in words only: a used up quota is a 429, a prompt beyond the window a 400. */
function byWords({ type, code, message }: Said): Cause | null {
  const all = `${type} ${code} ${message}`.toLowerCase();
  if (NO_CREDIT.test(all)) return 'no credit';
  return TOO_LONG.test(all) ? 'too long' : null;
}

/** What providers say with a 403 when it is the key that they do not know; otherwise they know it and forbid the request. */
const WRONG_KEY = /\b(?:invalid|incorrect|wrong|unknown|expired|revoked|missing|not valid)\b/i;

function faultOf(called: Called, is: Cause, said: Said, otherwise: string, status?: number): ModelFault {
  const words = redact(said.message, called) || otherwise;
  const host = hostOf(called);
  const key = called.keyEnv === null ? 'its key' : called.keyEnv;
  switch (is) {
    case 'unauthorised':
      if (status === 403 && !WRONG_KEY.test(said.message)) {
        const why = 'the account may not use this model, or not from this region';
        return {
          is,
          message: `${host} does not allow it: ${words}. It is not the key itself: ${why}. Check the account of ${key}`,
        };
      }
      return {
        is,
        message: `${host} does not accept the key: ${words}. Check ${key}${called.key === null ? ' (none is set)' : ''}`,
      };
    case 'no credit':
      return {
        is,
        message: `${host} asks for credit: ${words}. Add credit or raise the limit of the account that ${key} belongs to`,
      };
    case 'rate limited':
      return { is, message: `${host} limits how fast it may be asked: ${words}` };
    case 'overloaded':
      return { is, message: `${host} is overloaded or has a fault of its own: ${words}` };
    case 'too long':
      return { is, message: `more than the model can read at once: ${words}` };
    default:
      return { is, message: `${host} refused the request: ${words}` };
  }
}

/**
 * Bodies are `{error: {type, message}}`, `{error: "…"}`, `{errors: [{message}]}`, `{message}`, `{detail}`, `{title}`, a list of one of them, or
 * a text; some nest the real one once more. What has none of these forms is told as it is.
 */
function saidIn(body: unknown): Said {
  if (typeof body === 'string') return { type: '', code: '', message: pageWords(body) };
  const first = Array.isArray(body) ? (body[0] as unknown) : body;
  const inner = field(first, 'error') ?? field(field(first, 'errors'), '0');
  if (typeof inner === 'string') return { type: '', code: '', message: inner };
  const error = inner ?? first;
  const raw = field(field(error, 'metadata'), 'raw');
  const said = MESSAGES.map((name) => field(error, name) ?? field(first, name)).find(isSaid);
  const message = [said, raw].filter(isSaid);
  return {
    type: textOf(field(error, 'type')) || textOf(field(error, 'code')),
    code: `${textOf(field(error, 'code'))} ${textOf(field(field(error, 'details'), 'error_code'))}`.trim(),
    message: (message.length === 0 && !isBare(error) ? [error] : message).map(textOf).join(': '),
  };
}

const MESSAGES = ['message', 'detail', 'Message', 'msg', 'error_description', 'reason', 'title'] as const;
const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
/** Nothing but its kind, or nothing at all. */
const isBare = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Object.keys(value).every((name) => /^(?:type|code|status|param)$/.test(name));

/** What a text says to a person: a page of a proxy is markup, its title and its first words say the most. */
export function pageWords(text: string): string {
  if (!/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return text;
  const title = /<title>([^<]*)<\/title>/i.exec(text)?.[1]?.trim() ?? '';
  const body = text
    .slice(0, LONGEST_PAGE)
    .replaceAll(/<(script|style|head|title)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const words = [title, body === title ? '' : body].filter((part) => part !== '').join(': ');
  return words === '' ? 'a web page instead of an answer' : words;
}

const LONGEST_PAGE = 8000;

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** A field of anything, of errors too (theirs can't be enumerated); undefined where there is none. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;

/** From what is known of a failed connection to words with what to do. */
const CONNECTIONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there. Is the server running, and is its address right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'its name is not known here. Is the machine online, and is the address right?'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO|wrong version number/,
    'no safe connection (TLS). Is there a proxy in between, and is the address right (https or http)?',
  ],
  [
    /ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|[Tt]imed out/,
    'it does not answer. Is the machine online, and is the address right?',
  ],
  [/ENETUNREACH|EHOSTUNREACH|ENETDOWN/, 'there is no network to it. Is the machine online?'],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|terminated/, 'the connection broke'],
  [/bad port|ERR_INVALID_URL|Invalid URL|unknown scheme/, 'the address can not be called. Check its base URL'],
];

/** Code and words of an error and of all that caused it, the outermost first. */
export function causesOf(error: unknown): readonly string[] {
  const causes: string[] = [];
  for (let at = error, deep = 0; at !== undefined && at !== null && deep < 8; at = field(at, 'cause'), deep += 1) {
    causes.push(`${textOf(field(at, 'code'))} ${textOf(field(at, 'message'))}`.trim());
  }
  return causes.filter((cause) => cause !== '');
}

// Makes what a provider said fit for a person's eyes: without the key or parts of it, on one line, not too long.

const LONGEST = 400;
/** A run of this many characters of the key is a part of it; shorter ones are found only where stars or dots stand for the rest. */
const PART = 6;
const SHOWN = HIDDEN;

/** What of a provider's setup is secret. */
type Secrets = Pick<ProviderSetup, 'key' | 'headers'>;

/** `text` without the key in any form or the value of a header, without control characters, at most 400 characters. */
export function redact(text: string, { key, headers = {} }: Secrets): string {
  // Cut before the search too, since a provider may send megabytes; the margin keeps a key from being cut in two.
  const plain = oneLine(text.slice(0, LONGEST * 20));
  const whole = Object.values(headers).flatMap(formsOf).reduce(hideWhole, plain);
  const hidden = hideMasked(formsOf(key).reduce(hideParts, whole));
  return hidden.length <= LONGEST ? hidden : `${hidden.slice(0, LONGEST - 1).trimEnd()}…`;
}

/** Control characters, and those that change the direction or can't be seen, would reach a terminal. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();

/** The key as it is, as it is in a URL, and as base64 carries it. */
function formsOf(key: string | null): readonly string[] {
  if (key === null || key === '') return [];
  return [...new Set([oneLine(key), ...encodedForms(key)])].filter((form) => form !== '');
}

/** Short values of headers are words, such as the name of a team. */
const hideWhole = (text: string, value: string): string =>
  value.length < PART + 2 ? text : text.replaceAll(value, SHOWN);

/** A short "key" such as `none` or `ollama` is a word: only hidden where it stands alone. */
function hideParts(text: string, key: string): string {
  if (key.length < PART + 2) return text.replaceAll(new RegExp(`(?<!\\w)${escaped(key)}(?!\\w)`, 'g'), SHOWN);
  const parts = new Set(Array.from({ length: key.length - PART + 1 }, (_, at) => key.slice(at, at + PART)));
  let shown = '';
  for (let at = 0; at < text.length; ) {
    let end = at;
    // Parts overlap: as long as the next six characters are one, the key goes on.
    while (parts.has(text.slice(end, end + PART))) end += 1;
    if (end === at) {
      shown += text[at] ?? '';
      at += 1;
    } else {
      shown += SHOWN;
      at = end + PART - 1;
    }
  }
  return shown;
}

/** What looks like a key, whosever it is, and what providers show of one: `sk-…abcd`, `sk-ab****cdef`. */
const hideMasked = (text: string): string =>
  text
    .replace(/[\w-]*(?:\*{3,}|…|\.{3,}|•{3,})[\w-]{1,12}(?!\w)/g, (found) =>
      /^(?:sk|pk|rk)-|\*|•/.test(found) ? SHOWN : found,
    )
    .replace(/[\w-]+\*{3,}/g, SHOWN)
    .replace(/\b(?:sk|pk|rk)-[\w-]{8,}/g, SHOWN)
    .replace(/\[key\](?:[\s*…•.]*\[key\])+/g, SHOWN);

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);

// How long a provider asks to wait, from the headers of its refusal. Not capped: how long is waited is the gate's to say.

/** OpenAI says when each of its limits is free again: the one that is used up counts. */
const RESETS = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;

/** Milliseconds from `now` that the headers ask for, never negative; null where they say nothing that can be understood. */
export function retryAfter(headers: Headers | undefined, now: Millis): Millis | null {
  if (headers === undefined) return null;
  const millis = decimal(headers.get('retry-after-ms'));
  if (millis !== null) return millis;
  const said = headers.get('retry-after');
  if (said !== null) return secondsOrDate(said, now);
  const waits = [...RESETS.map((limit) => resetOf(headers, limit, now)), resetAt(headers, now)].filter(
    (wait) => wait !== null,
  );
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Milliseconds to wait as an error's words say it: `Please try again in 6m0s`, `Retry after 20 seconds`; null where they don't. */
function waitIn(words: string): Millis | null {
  const said = /(?:try again|retry) (?:in|after) (\d[\d.a-z]{0,24})(?: (second|minute|hour)s?)?\b/i.exec(words);
  if (said === null) return null;
  const [, count = '', unit] = said;
  const number = decimal(count.replace(/\.$/, ''));
  if (unit !== undefined) return number === null ? null : number * (UNITS[unit.charAt(0).toLowerCase()] ?? 0);
  return number === null ? duration(count.replace(/\.$/, '')) : number * 1000;
}

/** OpenRouter says one moment for all of its limits, in milliseconds since the epoch; others in seconds, since then or from now. */
function resetAt(headers: Headers, now: Millis): Millis | null {
  const reset = decimal(headers.get('x-ratelimit-reset'));
  if (reset === null || headers.get('x-ratelimit-remaining') !== '0') return null;
  if (reset > 1e11) return Math.max(0, reset - now);
  return reset > 1e9 ? Math.max(0, reset * 1000 - now) : reset * 1000;
}

function secondsOrDate(said: string, now: Millis): Millis | null {
  const seconds = decimal(said);
  if (seconds !== null) return seconds * 1000;
  // Only what looks like an HTTP date: `Date.parse` takes `-1` for a year.
  if (!/^[A-Za-z]{3,9},? \S/.test(said)) return null;
  const then = Date.parse(said);
  return Number.isNaN(then) ? null : Math.max(0, then - now);
}

function resetOf(headers: Headers, limit: string, now: Millis): Millis | null {
  if (headers.get(`x-ratelimit-remaining-${limit}`) === '0') {
    const reset = headers.get(`x-ratelimit-reset-${limit}`);
    const seconds = decimal(reset);
    return seconds === null ? duration(reset) : seconds * 1000;
  }
  if (headers.get(`anthropic-ratelimit-${limit}-remaining`) !== '0') return null;
  const then = Date.parse(headers.get(`anthropic-ratelimit-${limit}-reset`) ?? '');
  return Number.isNaN(then) ? null : Math.max(0, then - now);
}

const decimal = (text: string | null): number | null =>
  text !== null && /^\d{1,15}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : null;

const UNITS: Readonly<Record<string, Millis>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `1s`, `6m0s`, `20ms`, `1h2m3.5s`. */
function duration(text: string | null): Millis | null {
  if (text === null || !/^(?:\d{1,12}(?:\.\d{1,9})?(?:ms|[smhd]))+$/.test(text)) return null;
  const parts = [...text.matchAll(/([\d.]+)(ms|[smhd])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}
