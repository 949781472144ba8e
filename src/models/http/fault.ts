/** Turns failures of a call into `ModelFault`: error responses with their bodies, error events of a stream, and failed connections.
 * Shared by all providers. */
import type { Millis } from '../../domain/ids.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { escaped } from '../../domain/lists.ts';
import { encodedForms, HIDDEN } from '../../domain/text/redact.ts';
import type { ModelFault } from '../../ports/model.ts';
import { ABORTED } from '../provider.ts';
import { byWord } from './json.ts';
import type { Watch, WhyStopped } from './transport.ts';

/** Why a reply is malformed: it calls tools without reporting its usage. */
export const NOT_SAID_USED = 'it has tool calls, but does not report its usage';
/** Why a reply is malformed: `reason` as the provider wrote it. */
export const unknownStop = (reason: string): string => `it stopped for an unknown reason: ${reason}`;

/** The facts about a provider that appear in advice. */
export type Called = Pick<ProviderSetup, 'name' | 'baseUrl' | 'key' | 'keyEnv' | 'headers'>;

/** An error response. `body` is parsed, or its text. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Headers | undefined;
  readonly body?: unknown;
  /** Milliseconds since the epoch, to compute a wait that is given as a date. */
  readonly now: Millis;
}

type Cause = ModelFault['is'];

/** The fault of an error response. */
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

/** Routers report the headers of the provider behind them in the body. */
function headersIn(body: unknown): Headers | undefined {
  const said = field(field(field(body, 'error'), 'metadata'), 'headers');
  if (typeof said !== 'object' || said === null) return undefined;
  const headers = new Headers();
  for (const [name, value] of Object.entries(said))
    if (/^(?:retry-after|x-ratelimit-)/i.test(name) && /^[\w .:,+-]{1,64}$/.test(textOf(value)))
      headers.set(name, textOf(value));
  return headers;
}

/** The fault of an error event within a stream: `error` as the provider sent it. The caller adds what was spent. */
export function eventFault(called: Called, error: unknown): ModelFault {
  const said = saidIn(error);
  const is = byWords(said) ?? BY_TYPE.get(said.type) ?? 'overloaded';
  return faultOf(called, is, said, 'it ended with an error');
}

/** The fault of a call without a response: `error` as thrown, with its causes. */
export function connectionFault(called: Called, error: unknown): ModelFault {
  const causes = causesOf(error);
  const known = causes.flatMap((cause) => CONNECTIONS.filter(([form]) => form.test(cause))).at(0);
  if (/redirect/i.test(causes.join(' '))) {
    const message = `${hostOf(called)} redirected to another address, which Mimir does not follow: set the final address as its base URL`;
    return { is: 'refused', message };
  }
  if (/HEADERS?_OVERFLOW/.test(causes.join(' ')))
    return { is: 'malformed', message: `${hostOf(called)} answered with headers larger than 16 KB` };
  const why = known?.[1] ?? redact(causes.at(-1) ?? 'no reason was given', called);
  return { is: 'unreachable', message: `cannot reach ${hostOf(called)}: ${why}` };
}

/** The fault of a call that was ended here: aborted from outside, or silent for too long. */
export function stoppedFault(
  setup: Pick<ProviderSetup, 'name' | 'baseUrl' | 'firstEventMs' | 'idleMs'>,
  why: WhyStopped,
  watch: Pick<Watch, 'begun'>,
): ModelFault {
  if (why === 'aborted') return ABORTED;
  const begun = watch.begun();
  const seconds = Math.round((begun ? setup.idleMs : setup.firstEventMs) / 1000);
  const message = begun ? `${hostOf(setup)} sent no more of its answer` : `${hostOf(setup)} did not answer`;
  return { is: 'silent', message: `${message} for ${seconds} s`, ...(begun ? { begun } : {}) };
}

/** Host and port, never a user, a password or a query. */
export const hostOf = ({ name, baseUrl }: Pick<Called, 'name' | 'baseUrl'>): string =>
  URL.canParse(baseUrl) ? new URL(baseUrl).host : name;

type ErrorBody = Readonly<Record<'type' | 'code' | 'message', string>>;
const WAITED_FOR: ReadonlySet<Cause> = new Set(['rate limited', 'overloaded']);

/** Error types and codes of Anthropic, OpenAI and compatible servers. */
const BY_TYPE = byWord<Cause>([
  ['overloaded', 'overloaded_error api_error timeout_error server_error internal_server_error service_unavailable'],
  ['rate limited', 'rate_limit_error rate_limit_exceeded too_many_requests'],
  ['unauthorised', 'authentication_error permission_error invalid_api_key'],
  ['no credit', 'billing_error insufficient_quota'],
  ['refused', 'invalid_request_error not_found_error invalid_prompt content_filter'],
  ['too long', 'request_too_large'],
]);

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

function causeOf(status: number, said: ErrorBody): Cause {
  const words = byWords(said);
  if (words !== null && status >= 400 && status < 500) return words;
  const byStatus = BY_STATUS[status];
  if (byStatus !== undefined) return byStatus;
  return status >= 500 ? 'overloaded' : 'refused';
}

const NO_CREDIT =
  /insufficient_quota|exceeded your current quota|credit balance is too low|insufficient (?:credits|balance|funds)|billing hard limit|spend(?:ing)?[ _]limit|requires more credits|payment required/;
const TOO_LONG =
  /context_length_exceeded|prompt is too long|maximum context length|context (?:length|window|size)|exceeds? the (?:model'?s )?(?:maximum )?(?:context|input)|input length and `?max_tokens`? exceed|too many (?:input )?tokens|request_too_large|input is too long|prompt too long|longer than the model/;

/** Some causes are only in the text: an exhausted quota is a 429, a prompt beyond the window a 400. */
function byWords({ type, code, message }: ErrorBody): Cause | null {
  const all = `${type} ${code} ${message}`.toLowerCase();
  if (NO_CREDIT.test(all)) return 'no credit';
  return TOO_LONG.test(all) ? 'too long' : null;
}

/** Words of a 403 for an invalid key; otherwise the key is valid, and the request is forbidden. */
const WRONG_KEY = /\b(?:invalid|incorrect|wrong|unknown|expired|revoked|missing|not valid)\b/i;

const faultOf = (called: Called, is: Cause, said: ErrorBody, otherwise: string, status?: number): ModelFault => ({
  is,
  message: wordsOf(called, is, said, otherwise, status),
});

function wordsOf(called: Called, is: Cause, said: ErrorBody, otherwise: string, status: number | undefined): string {
  const words = (redact(said.message, called) || otherwise).replace(/\.+$/, '');
  const host = hostOf(called);
  const key = called.keyEnv === null ? 'its key' : called.keyEnv;
  switch (is) {
    case 'unauthorised':
      if (status === 403 && !WRONG_KEY.test(said.message)) {
        const why = 'the account may not use this model, or not from this region';
        return `${host} denied access: ${words}. The key is valid, but ${why}. Check the account of ${key}`;
      }
      return `${host} rejected the API key: ${words}. ${keyAdvice(called)}`;
    case 'no credit':
      return `${host} reports no credit: ${words}. Add credit to the account of ${key} or raise its limit`;
    case 'rate limited':
      return `${host} rate-limits requests: ${words}`;
    case 'overloaded':
      return `${host} returned a server error${status === undefined ? '' : ` (${status})`}: ${words}`;
    case 'too long':
      return `the input is longer than the model's context: ${words}`;
    default:
      return `${host} refused the request: ${words}`;
  }
}

const keyAdvice = ({ key, keyEnv }: Called): string =>
  keyEnv === null
    ? 'Name the variable with the key as `apiKeyEnv` of this provider'
    : `Check ${keyEnv}${key === null ? ' (not set)' : ''}`;

/** Error bodies are `{error: {type, message}}`, `{error: "…"}`, `{errors: [{message}]}`, `{message}`, `{detail}`, `{title}`, a list of one
 * of them, or a text; some nest the real one again. Any other form is shown as it is. */
function saidIn(body: unknown): ErrorBody {
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
/** True if there is nothing but a kind. */
const isBare = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Object.keys(value).every((name) => /^(?:type|code|status|param)$/.test(name));

/** The readable text of a response: of a web page, its title and the beginning of its text. */
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

/** A field of any value, also of errors, whose fields are not enumerable; undefined if missing. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;

/** Known connection errors, with an explanation and advice. */
const CONNECTIONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'connection refused. Check that the server runs and that its address is right'],
  [/ENOTFOUND|EAI_AGAIN/, 'host name not found. Check the network and the address'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO|wrong version number/,
    'no secure connection (TLS). Check for a proxy, and that the address is right (https or http)',
  ],
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|[Tt]imed out/, 'no answer. Check the network and the address'],
  [/ENETUNREACH|EHOSTUNREACH|ENETDOWN/, 'no route to it. Check the network'],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|terminated/, 'the connection broke'],
  [/bad port|ERR_INVALID_URL|Invalid URL|unknown scheme/, 'the address is not valid. Check the base URL'],
];

/** Code and message of an error and of all its causes, the outermost first. */
export function causesOf(error: unknown): readonly string[] {
  const causes: string[] = [];
  for (let at = error, deep = 0; at !== undefined && at !== null && deep < 8; at = field(at, 'cause'), deep += 1)
    causes.push(`${textOf(field(at, 'code'))} ${textOf(field(at, 'message'))}`.trim());
  return causes.filter((cause) => cause !== '');
}

// Makes text from a provider safe to show: without the key or parts of it, on one line, of limited length.

const LONGEST = 400;
/** This many consecutive characters of the key count as a part of it; shorter parts are found only beside a mask (`***`, `…`). */
const PART = 6;
const SHOWN = HIDDEN;
type Secrets = Pick<ProviderSetup, 'key' | 'headers'>;

/** `text` without the key in any form, without values of headers and control characters, at most 400 characters. */
export function redact(text: string, { key, headers = {} }: Secrets): string {
  // Limits megabytes before the search; the margin keeps a key from being split.
  const plain = oneLine(text.slice(0, LONGEST * 20));
  const whole = Object.values(headers).flatMap(formsOf).reduce(hideWhole, plain);
  const hidden = hideMasked(formsOf(key).reduce(hideParts, whole));
  return hidden.length <= LONGEST ? hidden : `${hidden.slice(0, LONGEST - 1).trimEnd()}…`;
}

/** Removes control, bidirectional and invisible characters, which must not reach a terminal. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();

function formsOf(key: string | null): readonly string[] {
  if (key === null || key === '') return [];
  return [...new Set([oneLine(key), ...encodedForms(key)])].filter((form) => form !== '');
}

/** Short values of headers, such as a team's name, are not secret. */
const hideWhole = (text: string, value: string): string =>
  value.length < PART + 2 ? text : text.replaceAll(value, SHOWN);

/** A short "key" such as `none` or `ollama` is a normal word, so it is hidden only as a whole word. */
function hideParts(text: string, key: string): string {
  if (key.length < PART + 2) return text.replaceAll(new RegExp(`(?<!\\w)${escaped(key)}(?!\\w)`, 'g'), SHOWN);
  const parts = new Set(Array.from({ length: key.length - PART + 1 }, (_, at) => key.slice(at, at + PART)));
  let shown = '';
  for (let at = 0; at < text.length; ) {
    let end = at;
    // Parts overlap: the key continues as long as the next six characters are a part.
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

/** Hides anything like a key, and masked keys such as `sk-…abcd` or `sk-ab****cdef`. */
const hideMasked = (text: string): string =>
  text
    .replace(/[\w-]*(?:\*{3,}|…|\.{3,}|•{3,})[\w-]{1,12}(?!\w)/g, (found) =>
      /^(?:sk|pk|rk)-|\*|•/.test(found) ? SHOWN : found,
    )
    .replace(/[\w-]+\*{3,}/g, SHOWN)
    .replace(/\b(?:sk|pk|rk)-[\w-]{8,}/g, SHOWN)
    .replace(/\[key\](?:[\s*…•.]*\[key\])+/g, SHOWN);

// How long a provider asks to wait, from its headers. The value is not capped; the gate decides how long to wait.

/** OpenAI reports when each of its limits resets; the exhausted one counts. */
const RESETS = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;

/** The wait in milliseconds from `now` that the headers request, never negative; null if there is none. */
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

/** The wait in milliseconds that an error's text requests: `Please try again in 6m0s`, `Retry after 20 seconds`; else null. */
function waitIn(words: string): Millis | null {
  const said = /(?:try again|retry) (?:in|after) (\d[\d.a-z]{0,24})(?: (second|minute|hour)s?)?\b/i.exec(words);
  if (said === null) return null;
  const [, count = '', unit] = said;
  const number = decimal(count.replace(/\.$/, ''));
  if (unit !== undefined) return number === null ? null : number * (UNITS[unit.charAt(0).toLowerCase()] ?? 0);
  return number === null ? duration(count.replace(/\.$/, '')) : number * 1000;
}

/** OpenRouter gives one time for all limits, in milliseconds since the epoch; others in seconds since the epoch or from now. */
function resetAt(headers: Headers, now: Millis): Millis | null {
  const reset = decimal(headers.get('x-ratelimit-reset'));
  if (reset === null || headers.get('x-ratelimit-remaining') !== '0') return null;
  if (reset > 1e11) return Math.max(0, reset - now);
  return reset > 1e9 ? Math.max(0, reset * 1000 - now) : reset * 1000;
}

function secondsOrDate(said: string, now: Millis): Millis | null {
  const seconds = decimal(said);
  if (seconds !== null) return seconds * 1000;
  // Only text like an HTTP date: `Date.parse` reads `-1` as a year.
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
