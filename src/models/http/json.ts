/** Reads JSON from servers of any kind without trusting it: a missing field and one of another type read as absent. */
import type { Json } from '../../domain/turn.ts';
import { tried } from '../../domain/result.ts';

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

/** Parses JSON; undefined if it is invalid. For event frames: arguments of tools are read more strictly. */
export const parsed = (text: string): unknown => tried((): unknown => JSON.parse(text), undefined);

/** The deepest nesting that is followed, since the stack is limited. */
const DEEPEST = 100;

/** A parsed value as `Json`, keys in their order; what JSON cannot express, or what is too deep, becomes null. */
export function jsonOf(value: unknown, depth = 0): Json {
  if (depth > DEEPEST) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map((part) => jsonOf(part, depth + 1));
  if (!isFields(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonOf(part, depth + 1)]));
}

/** Replaces lone surrogates, which a model can write as escapes: they would make a request invalid. */
export const withoutHalves = (json: string): string =>
  json.replace(/(\\\\)|\\ud[89a-f][0-9a-f]{2}/g, (_, slash: string | undefined) => slash ?? '\ufffd');

/** True for what JSON can express and is not too deep. */
export function isJson(value: unknown, depth = 0): value is Json {
  if (depth > DEEPEST) return false;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every((part) => isJson(part, depth + 1));
  return isFields(value) ? Object.values(value).every((part) => isJson(part, depth + 1)) : value !== undefined;
}

export const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// Tool arguments decide what is executed, so what two parsers could read differently is refused: duplicate keys, `__proto__`, numbers out
// of range.

const MOST_CHARACTERS = 1_000_000;

/** The arguments of a tool call: one JSON object, at most a million characters and 100 levels deep; an empty text is a call without
 * arguments. Null for anything else, and where a key is there twice or is `__proto__`. */
export function parseArguments(text: string): Json | null {
  if (text.trim() === '') return {};
  const value = text.length <= MOST_CHARACTERS ? parsed(text) : undefined;
  return isJson(value) && isObject(value) && keysIn(value) === keysWrittenIn(text) ? value : null;
}

/** The number of keys in `value`, at any depth; NaN if one of them is `__proto__`. */
function keysIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: readonly Json[] = Object.values(value);
  const inside = parts.reduce((sum: number, part) => sum + keysIn(part), 0);
  if (!isObject(value)) return inside;
  return Object.hasOwn(value, '__proto__') ? Number.NaN : inside + parts.length;
}

/** A text, and the colon after it if it is a key. */
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

/** The number of keys in valid JSON, of which a parser keeps only the last of the same. */
const keysWrittenIn = (text: string): number =>
  text.matchAll(TEXT).reduce((sum, [, colon]) => (colon === undefined ? sum : sum + 1), 0);
