/** Reads what servers of all makes send as JSON: nothing is believed, what isn't there or is something else reads as absent. */
import type { Json } from '../../domain/turn.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The field `name` of `value`; undefined where there is none. */
export const at = (value: unknown, name: string): unknown =>
  isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The text in the field `name`; empty where there is none. */
export function textAt(value: unknown, name: string): string {
  const found = at(value, name);
  return typeof found === 'string' ? found : '';
}

/** The number in the field `name`; null where there is none. */
export function numberAt(value: unknown, name: string): number | null {
  const found = at(value, name);
  return typeof found === 'number' ? found : null;
}

/** The list in the field `name`; empty where there is none. */
export function listAt(value: unknown, name: string): readonly unknown[] {
  const found = at(value, name);
  return Array.isArray(found) ? found.map((one: unknown) => one) : [];
}

/** The object in the field `name`; null where there is none. */
export function fieldsAt(value: unknown, name: string): Fields | null {
  const found = at(value, name);
  return isFields(found) ? found : null;
}

/** What `text` says as JSON; undefined where it is none. For the frame of an event: arguments of tools have a stricter reader. */
export function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Levels of what anybody sends for a reason: what is deeper is not followed, since a stack has an end. */
export const DEEPEST = 100;

/** Parsed JSON as `Json`, key by key in its order; what has no JSON, or is too deep, becomes null. */
export function jsonOf(value: unknown, depth = 0): Json {
  if (depth > DEEPEST) return null;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map((part) => jsonOf(part, depth + 1));
  if (!isFields(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonOf(part, depth + 1)]));
}
