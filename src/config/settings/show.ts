/** The configuration in force for `mimir config show`: every key, what holds, and which file and line say so. */
import type { Reason } from '../../domain/reason.ts';
import { ruleOf } from '../schema/keys.ts';
import { words } from '../files/layer.ts';
import type { Loaded } from './load.ts';
import type { Effective } from '../files/merge.ts';

/** One line a key (a list in several layers: one each), in columns: name, value, layer with its place. Notes come below, after an empty line. */
export function showConfig({ values, notes }: Pick<Loaded, 'values' | 'notes'>): readonly string[] {
  const rows = [...values].flatMap(rowsOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  const nameWidth = Math.max(0, ...rows.map(({ name }) => name.length));
  const valueWidth = Math.min(40, Math.max(0, ...rows.map(({ value }) => value.length)));
  const lines = rows.map(
    ({ name, value, place }) => `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${place}`,
  );
  return notes.length === 0 ? lines : [...lines, '', ...notes];
}

interface Row {
  readonly name: string;
  readonly value: string;
  readonly place: string;
}

/** Lists of several layers that something must be in stand apart: put together they would look like more than holds. */
function rowsOf([name, { path, value, from, said }]: readonly [string, Effective]): readonly Row[] {
  const isHeader =
    path[0] === 'providers' && path[2] === 'headers' && typeof value === 'string' && path[4] === undefined;
  if (isHeader) return [{ name, value: '(not shown)', place: placeText(from) }];
  if (ruleOf(path).merge !== 'each') return [{ name, value: words(value), place: placeText(from) }];
  return said.map((one) => ({ name, value: words(one.value), place: placeText(one.from) }));
}

function placeText({ layer, file, line, rule }: Reason): string {
  if (layer === 'default') return 'default';
  if (file === null) return `${layer} (${rule})`;
  return `${layer} (${file}${line === null ? '' : `:${line}`})`;
}
