/** The configuration in force for `mimir config show`: every key, what holds, and which file and line say so. */
import type { Reason } from '../domain/reason.ts';
import { words } from './layer.ts';
import type { Loaded } from './load.ts';

/** One line a key, in columns: name, value, layer with its place. Notes come below, after an empty line. */
export function showConfig({ values, notes }: Pick<Loaded, 'values' | 'notes'>): readonly string[] {
  const rows = [...values]
    .map(([name, { value, from }]) => ({ name, value: words(value), place: placeText(from) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const nameWidth = Math.max(0, ...rows.map(({ name }) => name.length));
  const valueWidth = Math.min(40, Math.max(0, ...rows.map(({ value }) => value.length)));
  const lines = rows.map(
    ({ name, value, place }) => `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${place}`,
  );
  return notes.length === 0 ? lines : [...lines, '', ...notes];
}

function placeText({ layer, file, line, rule }: Reason): string {
  if (layer === 'default') return 'default';
  if (file === null) return `${layer} (${rule})`;
  return `${layer} (${file}${line === null ? '' : `:${line}`})`;
}
