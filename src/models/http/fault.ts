/**
 * Puts what came instead of a reply into the words of `ModelFault`: statuses with their error bodies, error events of a stream, and
 * connections that failed. The same for all providers; which client library told it is the adapter's to know.
 */
import type { ProviderSetup } from '../../domain/models/provider.ts';
import type { Millis } from '../../domain/ids.ts';
import type { ModelFault } from '../../ports/model.ts';
import { ABORTED } from '../provider.ts';
import { redact } from './redact.ts';
import { retryAfter, waitIn } from './retry-after.ts';
import type { Watch, WhyStopped } from './stream-timeout.ts';

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
