/** Which keys the schema knows at a path, read off its own JSON form: for "did you mean". */
import type { Path } from './keys.ts';

/** Names of the keys that may stand at `path`; none where any name may. */
export function knownKeys(schema: unknown, path: Path): readonly string[] {
  const here = path.reduce<unknown>((node, part) => step(node, String(part)), schema);
  const properties = member(here, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function step(node: unknown, part: string): unknown {
  return member(member(node, 'properties'), part) ?? member(node, 'additionalProperties') ?? member(node, 'items');
}

/** An own member of an object, or undefined. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  const found: unknown = Reflect.get(value, key);
  return found;
}
