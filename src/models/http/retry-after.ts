/** How long a provider asks to wait, from the headers of its refusal. Not capped: how long is waited is the gate's to say. */
import type { Millis } from '../../domain/ids.ts';

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
export function waitIn(words: string): Millis | null {
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
