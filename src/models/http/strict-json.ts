/**
 * A strict reader for what models send as JSON. Tool arguments decide what is executed, so whatever two readers could
 * understand in two ways is refused: a key twice, `__proto__`, numbers too large to be one. Why comes in words for the model.
 */
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Json } from '../../domain/turn.ts';
import { DEEPEST } from './json.ts';

const MOST_CHARACTERS = 1_000_000;

/**
 * The arguments of a tool call: one JSON object, at most a million characters and 100 levels deep. Nothing at all is a call without
 * arguments. Else why not, in words.
 */
export function parseArguments(text: string): Result<Json, string> {
  if (text.trim() === '') return ok({});
  const parsed = parseStrictly(text);
  if (!parsed.ok || isObject(parsed.value)) return parsed;
  return fail(`the arguments must be a JSON object, not ${kindOf(parsed.value)}`);
}

/** Any one JSON value, as strictly: what `JSON.parse` gives for it. Else why not, in words. */
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

/** Escapes, and control characters that may not be there. */
const needsReading = (text: string): boolean => /[\\\p{Cc}]/u.test(text);

/** Never leaves this file. */
class Unreadable extends Error {}

/** Blank, tab and the ends of lines: nothing else is space in JSON. */
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
      // The platform's own reader knows all escapes; between quotes there is nothing else that it could find.
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
