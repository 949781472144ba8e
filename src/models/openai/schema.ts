/**
 * JSON Schemas as OpenAI takes them. Strict ones are enforced while the model writes, but only if every property is required and no
 * other may come; limits that strict mode doesn't know are left to our own check of the reply.
 */
import type { Json } from '../../domain/turn.ts';
import { isFields, jsonOf, listAt } from '../http/json.ts';

export interface WireSchema {
  readonly schema: Json;
  readonly strict: boolean;
}

/** `schema` in strict form where it qualifies and `mayBeStrict`, else as it is. */
export function wireSchema(schema: Json, mayBeStrict: boolean): WireSchema {
  const { $schema: _, ...plain } = isFields(schema) ? schema : {};
  const whole = plain['type'] === undefined ? { type: 'object', properties: {}, ...plain } : plain;
  const strict = mayBeStrict && whole['type'] === 'object' && qualifies(whole);
  return { schema: jsonOf(strict ? strictly(whole) : whole), strict };
}

/** Keywords that strict mode knows; limits outside of it are dropped, anything else that matters makes a schema not strict. */
const KNOWN: ReadonlySet<string> = new Set(
  'type properties required additionalProperties items enum const anyOf $ref $defs description title pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'.split(
    ' ',
  ),
);
const ONLY_LIMITS: ReadonlySet<string> = new Set('minLength maxLength uniqueItems examples $comment id $id'.split(' '));
/** Keywords whose value is a table of names to schemas. */
const TABLES: ReadonlySet<string> = new Set(['properties', '$defs']);
const LITERAL: ReadonlySet<string> = new Set(['enum', 'const', 'required']);

function qualifies(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(qualifies);
  if (!isFields(schema)) return true;
  if (!Object.keys(schema).every((key) => KNOWN.has(key) || ONLY_LIMITS.has(key))) return false;
  if (schema['type'] === 'object' && !isClosed(schema)) return false;
  return Object.entries(schema).every(([key, value]) => {
    if (LITERAL.has(key)) return true;
    return TABLES.has(key) && isFields(value) ? Object.values(value).every(qualifies) : qualifies(value);
  });
}

function isClosed(schema: unknown): boolean {
  if (!isFields(schema) || schema['additionalProperties'] !== false) return false;
  const required = new Set(listAt(schema, 'required'));
  return isFields(schema['properties']) && Object.keys(schema['properties']).every((name) => required.has(name));
}

function strictly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictly);
  if (!isFields(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => KNOWN.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      if (LITERAL.has(key)) return [key, value];
      if (!TABLES.has(key) || !isFields(value)) return [key, strictly(value)];
      return [key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, strictly(part)]))];
    }),
  );
}
