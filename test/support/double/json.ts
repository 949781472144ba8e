/** Reading JSON that nobody has checked: what isn't there, or is something else, reads as nothing. */

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The field `name` of `value`; undefined where there is none. */
export const at = (value: unknown, name: string): unknown => (isFields(value) ? value[name] : undefined);

export const textAt = (value: unknown, name: string): string => {
  const found = at(value, name);
  return typeof found === 'string' ? found : '';
};

export const numberAt = (value: unknown, name: string): number | null => {
  const found = at(value, name);
  return typeof found === 'number' ? found : null;
};

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.map((one: unknown) => one) : [];
}

export const listAt = (value: unknown, name: string): readonly unknown[] => listOf(at(value, name));

/** What `text` says as JSON; undefined when it is none. */
export function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** As `JSON.stringify`, and `null` for what has no JSON. */
export const jsonOf = (value: unknown): string => JSON.stringify(value ?? null);
