/** Prepares texts for a model: bounded in bytes, and without characters that a person would not see. */
import type { z } from 'zod';
import { tried } from '../result.ts';

/** UTF-8 bytes. */
export const bytesIn = (text: string): number => Buffer.byteLength(text);

const CUT = '… (cut)';

/** At most `bytes` of UTF-8, `marker` included: the head of the text, up to a line's end where one is near. A text that
 * fits is given back as it is, half surrogate pairs mended. */
export function headOf(text: string, bytes: number, marker = CUT): string {
  const whole = text.toWellFormed();
  if (bytesIn(whole) <= bytes) return whole;
  const room = bytes - bytesIn(marker) - 1;
  if (room <= 0) return '';
  const head = withinBytes(whole, room);
  const line = head.lastIndexOf('\n');
  return `${(line > head.length * 0.8 ? head.slice(0, line) : head).trimEnd()}\n${marker}`;
}

/** The longest head of `text` within `bytes` of UTF-8, no character cut in two. */
export function withinBytes(text: string, bytes: number): string {
  if (bytesIn(text) <= bytes) return text;
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD+$/, '');
}

/** At most about `bytes`: two thirds from the head, one from the tail, whole lines where it can be, and `marker` between. */
export function headAndTail(text: string, bytes: number, marker: (left: number) => string): string {
  const whole = Buffer.from(text.toWellFormed());
  if (whole.length <= bytes) return whole.toString();
  const room = Math.max(0, bytes - bytesIn(marker(whole.length)) - 2);
  const tailBytes = Math.floor(room / 3);
  const rest = whole
    .subarray(whole.length - tailBytes)
    .toString()
    .replace(/^\uFFFD+/, '');
  const line = rest.indexOf('\n');
  const tail = line !== -1 && line < rest.length * 0.2 ? rest.slice(line + 1) : rest;
  const head = headOf(whole.toString(), room - tailBytes, '').trimEnd();
  return `${head}\n${marker(whole.length - bytesIn(head) - bytesIn(tail))}\n${tail}`;
}

/** Line ends are `\n`; every other control, format or private character is left out: orders could hide in them. */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(/[[\p{Cc}\p{Cf}\p{Co}]--[\n\t]]/gv, '');

/** What a person can see of a text: as `plainText`, and without all that shows nothing, but with the joiners and variants that
 * letters and emoji are made with. */
export const seenText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
    .replaceAll(
      /[[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]--[\n\t\p{Join_Control}]--[\ufe0e-\ufe0f]]/gv,
      '',
    );

/** A name as somebody wrote it, for a message that it is not known: what nobody sees stands as `\u{200b}`. */
export const writtenName = (name: string): string =>
  name.replaceAll(
    /[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gv,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );

/** One line of plain text, at most `length` characters; `clean` takes out what nobody sees. */
export function plainLine(text: string, length: number, clean = plainText): string {
  const line = clean(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).toWellFormed()}…`;
}

/** The first line that is not blank, as it is; empty where there is none. */
export const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';

/** Those that are not empty, with an empty line between them. */
export const paragraphs = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n');

/** The greatest size that all of `sizes` may have at most so that their sum is no more than `total`: small ones keep
 * theirs, the room that is left is shared by the others. */
export function fairShare(sizes: readonly number[], total: number): number {
  let [left, count] = [total, sizes.length];
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size > left / count) return Math.floor(left / count);
    left -= size;
    count -= 1;
  }
  return Math.max(0, ...sizes);
}

/** `5000`, `5,000`, `2.50` and `2,50`: a comma before three digits separates thousands, any other one the fraction. Null for anything else. */
export function typedNumber(text: string): number | null {
  if (/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text)) return Number(text.replaceAll(',', ''));
  return /^\d+(?:[.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : null;
}

// The one JSON object that a model's answer is meant to be: bare, or with a fence, prose or thoughts around it.

const LONGEST = 1_000_000;
const TRIES = 50;

/** Of several objects that which has `key`. Undefined when there is none, or more than one. */
export function objectIn(answer: string, key: string): object | undefined {
  if (answer.length > LONGEST) return undefined;
  const whole = parsed(answer);
  if (isObject(whole)) return whole;
  const objects = objectsIn(withoutThoughts(answer));
  const meant = objects.filter((one) => Object.hasOwn(one, key));
  return meant.length > 1 ? undefined : (meant[0] ?? objects[0]);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own property of data that came as JSON; undefined if it has none of that name. */
export const ownField = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, name) ? Reflect.get(data, name) : undefined;

/** Some servers leave the thoughts in the text, some of them without the opening tag. */
function withoutThoughts(answer: string): string {
  const end = /^[\s\S]*<\/think(?:ing)?>/i.exec(answer)?.[0].length ?? 0;
  return answer.slice(end).replace(/<think(?:ing)?>[\s\S]*$/i, ' ');
}

const parsed = (text: string): unknown => tried((): unknown => JSON.parse(text), undefined);

/** The JSON objects that stand in a text one after the other. */
function objectsIn(text: string): readonly object[] {
  const found: object[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1 && tries < TRIES; tries += 1) {
    const end = endOfObject(text, at);
    const json = end === -1 ? undefined : parsed(text.slice(at, end));
    if (isObject(json)) found.push(json);
    at = text.indexOf('{', isObject(json) ? end : at + 1);
  }
  return found;
}

/** Behind the brace that closes the one at `start`; -1 when none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

// "Did you mean": finds the known word that was probably meant, by edits of one letter and swaps of two neighbours.

/** The closest of `known` within a third of the word's length (at least one edit), or null. Case does not count; among equals the most equal length wins. */
export function nearest(word: string, known: readonly string[]): string | null {
  if (word.length > 100) return null;
  const reach = Math.max(1, Math.floor(word.length / 3));
  const otherLength = (candidate: string): number => Math.abs(candidate.length - word.length);
  const ranked = known
    .map((candidate) => ({ candidate, edits: edits(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= reach)
    .sort((a, b) => a.edits - b.edits || otherLength(a.candidate) - otherLength(b.candidate));
  return ranked[0]?.candidate ?? null;
}

/** `did you mean "x"?` if a known word is near, otherwise the known words, shortened. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  if (near !== null) return `did you mean "${near}"?`;
  const some = known.slice(0, 12).join(', ');
  return known.length === 0 ? 'remove it' : `use one of: ${some}${known.length > 12 ? ', …' : ''}`;
}

/** Damerau-Levenshtein with neighbours swapped at most once (optimal string alignment). */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, changed, swap));
    }
    before = last;
    last = row;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

// Patterns of ids without the schemas of ids.ts, for programs that have to start fast.

type Id<Name extends string> = string & z.core.$brand<Name>;
export const AGENT_ID = /^ROOT(::S[1-9][0-9]*)*$/;
export const SESSION_ID = /^[0-9a-z-]{4,64}$/;
export const isAgentId = (value: unknown): value is Id<'AgentId'> => typeof value === 'string' && AGENT_ID.test(value);
export const isSessionId = (value: unknown): value is Id<'SessionId'> =>
  typeof value === 'string' && SESSION_ID.test(value);

/** Valid names of plan templates and their files. */
export const TEMPLATE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Valid names of the arguments of a template, as typed after `--set`. */
export const ARGUMENT_NAME = /^[a-z][a-z0-9_-]{0,39}$/;
