/**
 * JSON Schema as structured output takes it: no ranges, lengths or patterns (they become words in the description), objects closed.
 * What a reply must hold beyond that is checked by whoever asked for it.
 */
import type { Json } from '../../domain/turn.ts';
import { isObject } from '../http/strict-json.ts';

type Fields = { readonly [key: string]: Json };

/** Kept as they are. */
const KEPT: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'description', 'title', 'required', '$ref']);
const FORMATS: ReadonlySet<Json> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));

/** Says nothing that a reply could be held to, or is said for all objects alike. */
const DROPPED: ReadonlySet<string> = new Set(['$schema', 'additionalProperties', 'default']);

/** More than that in one schema is refused as too complex. */
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;

/**
 * `schema` in the subset that structured output takes; null where it can't say what it should (open maps, anything goes) or is more
 * than would be taken.
 */
export function allowedSchema(schema: Json): Json | null {
  const subset = allowed(schema);
  const { optional, unions } = countIn(subset);
  return optional > MOST_OPTIONAL || unions > MOST_UNIONS ? null : subset;
}

/** Fields that may be missing, and values of several types, in all schemas within `schema`. */
function countIn(schema: Json): { readonly optional: number; readonly unions: number } {
  if (typeof schema !== 'object' || schema === null) return { optional: 0, unions: 0 };
  const within = Object.values(schema).map(countIn);
  const fields = isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']).length : 0;
  const required = isObject(schema) && Array.isArray(schema['required']) ? schema['required'].length : 0;
  const isUnion = isObject(schema) && (Array.isArray(schema['anyOf']) || Array.isArray(schema['type']));
  return {
    optional: within.reduce((sum, one) => sum + one.optional, Math.max(0, fields - required)),
    unions: within.reduce((sum, one) => sum + one.unions, isUnion ? 1 : 0),
  };
}

function allowed(schema: Json): Json | null {
  if (!isObject(schema) || !isExpressible(schema)) return null;
  const fields = Object.entries(schema).filter(([key]) => !DROPPED.has(key));
  const each = fields.map(([key, value]) => [key, value, allowedField(key, value)] as const);
  if (each.some(([, , field]) => field === null)) return null;
  const kept = each.flatMap(([key, , field]) =>
    field === null || field === 'said' ? [] : [[key, field.value] as const],
  );
  const said = each.flatMap(([key, value, field]) => (field === 'said' ? [[key, value] as const] : []));
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
  ['items', (value: Json) => allowed(value)],
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
  const entries = Object.entries(value).map(([key, schema]) => [key, allowed(schema)] as const);
  return entries.some(([, schema]) => schema === null) ? null : Object.fromEntries(entries);
}

function allowedList(value: Json): Json | null {
  if (!Array.isArray(value)) return null;
  const all = value.map((schema: Json) => allowed(schema));
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
