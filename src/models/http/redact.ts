/** Makes what a provider said fit for a person's eyes: without the key or parts of it, on one line, not too long. */
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { encodedForms, HIDDEN } from '../../domain/text/redact.ts';

const LONGEST = 400;
/** A run of this many characters of the key is a part of it; shorter ones are found only where stars or dots stand for the rest. */
const PART = 6;
const SHOWN = HIDDEN;

/** What of a provider's setup is secret. */
export type Secrets = Pick<ProviderSetup, 'key' | 'headers'>;

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
