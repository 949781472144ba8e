/** Reads JSON from servers of any kind without trusting it: a missing field and one of another type read as absent. */
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Json } from '../../domain/turn.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Inverts a table of meanings and their words. */
export const byWord = <Meaning extends string>(
  table: readonly (readonly [Meaning, string])[],
): ReadonlyMap<string, Meaning> =>
  new Map(table.flatMap(([meaning, words]) => words.split(' ').map((word) => [word, meaning] as const)));

/** The field `name` of `value`; undefined if there is none. */
export const at = (value: unknown, name: string): unknown =>
  isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The text in the field `name`; empty if there is none. */
export function textAt(value: unknown, name: string): string {
  const found = at(value, name);
  return typeof found === 'string' ? found : '';
}

/** The number in the field `name`; null if there is none. */
export function numberAt(value: unknown, name: string): number | null {
  const found = at(value, name);
  return typeof found === 'number' ? found : null;
}

/** The list in the field `name`; empty if there is none. */
export function listAt(value: unknown, name: string): readonly unknown[] {
  const found = at(value, name);
  return Array.isArray(found) ? found.map((one: unknown) => one) : [];
}

/** The object in the field `name`; null if there is none. */
export function fieldsAt(value: unknown, name: string): Fields | null {
  const found = at(value, name);
  return isFields(found) ? found : null;
}

/** Parses JSON; undefined if it is invalid. For event frames: arguments of tools have a stricter parser. */
export function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The deepest nesting that is followed, since the stack is limited. */
export const DEEPEST = 100;

/** A parsed value as `Json`, keys in their order; what JSON cannot express, or what is too deep, becomes null. */
export function jsonOf(value: unknown, depth = 0): Json {
  if (depth > DEEPEST) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map((part) => jsonOf(part, depth + 1));
  if (!isFields(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonOf(part, depth + 1)]));
}

// A strict parser for JSON from models. Tool arguments decide what is executed, so anything that two parsers could read differently is
// refused: duplicate keys, `__proto__`, numbers out of range. The reason is worded for the model.

const MOST_CHARACTERS = 1_000_000;

/**
 * The arguments of a tool call: one JSON object, at most a million characters and 100 levels deep; an empty text is a call without
 * arguments. Otherwise the reason.
 */
export function parseArguments(text: string): Result<Json, string> {
  if (text.trim() === '') return ok({});
  const parsed = parseStrictly(text);
  if (!parsed.ok || isObject(parsed.value)) return parsed;
  return fail(`the arguments must be a JSON object, not ${kindOf(parsed.value)}`);
}

/** Any JSON value, parsed as strictly; the result is that of `JSON.parse`. Otherwise the reason. */
export function parseStrictly(text: string): Result<Json, string> {
  if (text.length > MOST_CHARACTERS) return fail(`longer than ${MOST_CHARACTERS} characters`);
  const reader = new Reader(text);
  try {
    return ok(reader.whole());
  } catch (error) {
    if (error instanceof Unreadable) return fail(error.message);
    throw error;
  }
}

export const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const kindOf = (value: Json): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;

/** True if the text has escapes or forbidden control characters. */
const needsReading = (text: string): boolean => /[\\\p{Cc}]/u.test(text);

/** Thrown and caught in this file only. */
class Unreadable extends Error {}

/** The only white space in JSON: space, tab, line feed, carriage return. */
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#wrong('there is more after the end of the value');
    return value;
  }

  #value(depth: number): Json {
    if (depth > DEEPEST) this.#wrong(`more than ${DEEPEST} levels deep`);
    this.#space();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return this.#string();
      default:
        return this.#plain();
    }
  }

  #object(depth: number): Json {
    const object: Record<string, Json> = {};
    this.#at += 1;
    if (this.#take('}')) return object;
    do {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#wrong('a key in quotes is missing');
      const key = this.#string();
      if (key === '__proto__') this.#wrong('the key "__proto__" is not allowed');
      if (Object.hasOwn(object, key)) this.#wrong(`the key ${JSON.stringify(key.slice(0, 60))} is there twice`);
      if (!this.#take(':')) this.#wrong('a ":" is missing');
      object[key] = this.#value(depth + 1);
    } while (this.#take(','));
    if (!this.#take('}')) this.#wrong('an object has no end');
    return object;
  }

  #list(depth: number): Json {
    const list: Json[] = [];
    this.#at += 1;
    if (this.#take(']')) return list;
    do list.push(this.#value(depth + 1));
    while (this.#take(','));
    if (!this.#take(']')) this.#wrong('a list has no end');
    return list;
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    for (; end < this.#text.length && this.#text.charCodeAt(end) !== QUOTE; end += 1) {
      if (this.#text.charCodeAt(end) === BACKSLASH) end += 1;
    }
    if (end >= this.#text.length) this.#wrong('a text has no end');
    this.#at = end + 1;
    const inner = this.#text.slice(start + 1, end);
    if (!needsReading(inner)) return inner;
    try {
      // JSON.parse decodes the escapes; between quotes it cannot find anything else.
      return String(JSON.parse(`"${inner}"`));
    } catch {
      this.#at = start;
      return this.#wrong('a text holds a control character or an escape that JSON does not have');
    }
  }

  #plain(): Json {
    const word = this.#match(WORD);
    if (word !== null) return word === 'null' ? null : word === 'true';
    const number = this.#match(NUMBER);
    if (number === null) return this.#wrong(this.#at < this.#text.length ? 'not JSON' : 'it ends too early');
    const value = Number(number);
    return Number.isFinite(value) ? value : this.#wrong('a number is too large');
  }

  #match(form: RegExp): string | null {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0] ?? null;
    this.#at += found?.length ?? 0;
    return found;
  }

  #take(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (SPACES.has(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }

  #wrong(what: string): never {
    throw new Unreadable(`${what} (at character ${this.#at + 1})`);
  }
}
