/** How a row of the configuration schema is written: the type of a key with its rule, sections of keys, maps of sections. */
import { z } from 'zod';

/** `restriction`: any layer may tighten it. `preference`: the nearest layer's value. `grant`: never set by a project. */
export type Kind = 'restriction' | 'preference' | 'grant' | 'managed only';

/** How values of several layers are merged. `each`: all lists are kept, and a value must be in every one. `highest`: the value of the layer with
 * the most authority. A list: the values from loose to strict; the strictest counts. Restrictions do not depend on the order of layers. */
export type Merge = 'first' | 'highest' | 'min' | 'and' | 'or' | 'each' | 'union' | readonly string[];

export interface KeyRule {
  readonly kind: Kind;
  readonly merge: Merge;
}

/** The metadata of a type: the rule of its key, the keys of a section, the value type of a map. */
export interface Row {
  readonly rule?: KeyRule;
  readonly keys?: Readonly<Record<string, z.ZodType>>;
  readonly each?: z.ZodType;
}

export const ROWS = new WeakMap<z.ZodType, Row>();

/** A row. It inherits the rule of its section, and the description of its type or section, unless given. */
export function key<T extends z.ZodType>(type: T, what?: string, rule?: KeyRule): z.ZodOptional<T> {
  const written = (what === undefined ? type : type.describe(what)).optional();
  ROWS.set(written, { ...ROWS.get(type), ...(rule === undefined ? {} : { rule }) });
  return written;
}

export const tightest = <T extends z.ZodType>(type: T, merge: Merge, what?: string): z.ZodOptional<T> =>
  key(type, what, { kind: 'restriction', merge });
export const preferred = <T extends z.ZodType>(type: T, what?: string): z.ZodOptional<T> =>
  key(type, what, { kind: 'preference', merge: 'first' });
export const granted = <T extends z.ZodType>(type: T, what?: string, merge: Merge = 'first'): z.ZodOptional<T> =>
  key(type, what, { kind: 'grant', merge });
export const managed = <T extends z.ZodType>(type: T, what: string): z.ZodOptional<T> =>
  key(type, what, { kind: 'managed only', merge: 'first' });

export function section<S extends Readonly<Record<string, z.ZodType>>>(keys: S): z.ZodObject<S, z.core.$strict> {
  const type = z.strictObject(keys);
  ROWS.set(type, { keys });
  return type;
}

export const name = z.string().min(1).max(200);
export const names = z.array(name).max(500);

// The text beside a pattern is the advice in a fault.
export const variables = z
  .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'use a variable name such as JAVA_HOME'))
  .max(500);
/** In the form of `new URL`: a name or an address, optionally with a port. A list of others would silently allow no call at all. */
export const host = z
  .string()
  .regex(
    /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i,
    'use a host or host:port, such as api.anthropic.com',
  );
export const childName = name.regex(
  /^(?:\{(?:friendly_name|role|short_id|id)\}|[\p{L}\p{N} ._-])*$/u,
  'use {friendly_name}, {role}, {short_id}, {id}, letters, digits, "-" or "_"',
);

export function map<T extends z.ZodType>(each: T, key: z.ZodString = name): z.ZodRecord<z.ZodString, T> {
  const type = z.record(key, each);
  ROWS.set(type, { each });
  return type;
}
