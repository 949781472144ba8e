/** What is neither a rule nor a role: providers, appearance, keys, retention. Plain values for whoever needs them. */
import type { z } from 'zod';
import type { Effective } from '../files/merge.ts';
import { Settings } from '../schema/schema.ts';

const Preferences = Settings.pick({
  providers: true,
  trust: true,
  ui: true,
  keys: true,
  notifications: true,
  childAgents: true,
  audit: true,
  retention: true,
});
export type Preferences = z.infer<typeof Preferences>;

/** The merged values of these sections. They were checked layer by layer, so a fault here is a bug and thrown. */
export function preferencesOf(values: ReadonlyMap<string, Effective>): Preferences {
  const sections = Object.keys(Preferences.shape);
  const picked = [...values.values()].filter(({ path }) => sections.includes(path[0] ?? ''));
  return Preferences.parse(nested(picked.map(({ path, value }) => ({ path, value }))));
}

interface Value {
  readonly path: readonly string[];
  readonly value: unknown;
}

function nested(values: readonly Value[]): unknown {
  const [only] = values;
  if (values.length === 1 && only?.path.length === 0) return only.value;
  const keys = [...new Set(values.map(({ path }) => path[0] ?? ''))];
  return Object.fromEntries(
    keys.map((key) => [
      key,
      nested(values.filter(({ path }) => path[0] === key).map(({ path, value }) => ({ path: path.slice(1), value }))),
    ]),
  );
}
