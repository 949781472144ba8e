/**
 * JSON Schema as structured output takes it: no ranges, lengths or patterns (they become words in the description), objects closed.
 * What a reply must hold beyond that is checked by whoever asked for it.
 */
import type { Json } from '../domain/turn.ts';
import { isObject } from './strict-json.ts';

type Fields = { readonly [key: string]: Json };

/** Kept as they are. */
const KEPT: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'description', 'title', 'required', '$ref']);
const FORMATS: ReadonlySet<Json> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** Says nothing that a reply could be held to, or is said for all objects alike. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', 'additionalProperties', 'default']);

/** `schema` in the subset that structured output takes; null where it can't say what it should (open maps, anything goes). */
export function allowedSchema(schema: Json): Json | null {
  if (!isObject(schema) || !isExpressible(schema)) return null;
  const fields = Object.entries(schema).filter(([key]) => !DROPPED.has(key));
  const allowed = fields.map(([key, value]) => [key, value, allowedField(key, value)] as const);
  if (allowed.some(([, , field]) => field === null)) return null;
  const kept = allowed.flatMap(([key, , field]) =>
    field === null || field === 'said' ? [] : [[key, field.value] as const],
  );
  const said = allowed.flatMap(([key, value, field]) => (field === 'said' ? [[key, value] as const] : []));
  const closed = schema['type'] === 'object' ? { additionalProperties: false } : {};
  return withWords({ ...Object.fromEntries(kept), ...closed }, said);
}

/** Without a type or alternatives anything goes; a map from any key is an object that can't be closed. */
function isExpressible(schema: Fields): boolean {
  if (isObject(schema['additionalProperties']) || schema['propertyNames'] !== undefined) return false;
  if (schema['type'] === 'object') return isObject(schema['properties']);
  return ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref'].some((key) => schema[key] !== undefined);
}

/** How the schemas within a schema are found. */
const WITHIN: ReadonlyMap<string, (value: Json) => Json | null> = new Map([
  ['properties', (value: Json) => allowedMap(value)],
  ['$defs', (value: Json) => allowedMap(value)],
  ['items', (value: Json) => allowedSchema(value)],
  ['anyOf', (value: Json) => allowedList(value)],
  ['oneOf', (value: Json) => allowedList(value)],
  ['allOf', (value: Json) => allowedList(value)],
]);

/** The field as it may stay, `said` when it can only be said in words, null when the whole can't be expressed. */
function allowedField(key: string, value: Json): { readonly value: Json } | 'said' | null {
  const within = WITHIN.get(key);
  if (within !== undefined) return wrapped(within(value));
  const stays =
    KEPT.has(key) || (key === 'format' && FORMATS.has(value)) || (key === 'minItems' && (value === 0 || value === 1));
  return stays ? { value } : 'said';
}

const wrapped = (value: Json | null): { readonly value: Json } | null => (value === null ? null : { value });

function allowedMap(value: Json): Json | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value).map(([key, schema]) => [key, allowedSchema(schema)] as const);
  return entries.some(([, schema]) => schema === null) ? null : Object.fromEntries(entries);
}

function allowedList(value: Json): Json | null {
  if (!Array.isArray(value)) return null;
  const all = value.map((schema: Json) => allowedSchema(schema));
  return all.includes(null) ? null : all;
}

function withWords(schema: Fields, rest: readonly (readonly [string, Json])[]): Json {
  const { oneOf, ...others } = schema;
  const plain = oneOf === undefined ? others : { ...others, anyOf: oneOf };
  if (rest.length === 0) return plain;
  const words = `{${rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`;
  const said = typeof schema['description'] === 'string' ? `${schema['description']}\n\n${words}` : words;
  return { ...plain, description: said };
}
