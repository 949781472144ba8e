/** Merges layers into one value per key. Restrictions are combined on a lattice, so that the order of layers does not matter and
 * none can loosen another; the package's defaults apply where no layer sets a key, and bound what a project alone may set. */
import { type Layer as LayerName, type Reason, reasonText } from '../../domain/reason.ts';
import type { Layer } from './layer.ts';
import type { Merge } from '../schema/rows.ts';
import { durationMs, ruleOf, Settings } from '../schema/schema.ts';

/** One layer's value of a key. */
export interface LayerValue {
  readonly layer: LayerName;
  readonly value: unknown;
  readonly from: Reason;
}

export interface Effective {
  readonly path: readonly string[];
  /** For `each` and `union` the combined lists; else the value in force. */
  readonly value: unknown;
  readonly from: Reason;
  readonly said: readonly LayerValue[];
}

/** Every key that any layer sets, by its dotted name, with the value in force. */
export function merge(layers: readonly Layer[]): ReadonlyMap<string, Effective> {
  const byKey = new Map<string, { readonly path: readonly string[]; readonly said: LayerValue[] }>();
  for (const layer of inOrder(layers)) {
    for (const { path, value } of valuesOf(layer.settings)) {
      const name = path.join('.');
      const known = byKey.get(name) ?? { path, said: [] };
      known.said.push({ layer: layer.name, value, from: layer.reason(path) });
      byKey.set(name, known);
    }
  }
  return new Map([...byKey].map(([name, { path, said }]) => [name, { path, ...settle(said, ruleOf(path).merge) }]));
}

const ORDER: readonly LayerName[] = ['default', 'managed', 'user', 'project', 'command line'];

/** Layers from the weakest to the strongest; files of one layer by depth, then by name, as an administrator orders them. */
export const inOrder = <L extends Pick<Layer, 'name' | 'file'>>(layers: readonly L[]): readonly L[] =>
  [...layers].sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name) || byFile(a.file ?? '', b.file ?? ''));

const byFile = (a: string, b: string): number =>
  a.split('/').length - b.split('/').length || Number(a > b) - Number(a < b);

/** The values that count: defaults only if no layer with authority sets the key. A project never has authority alone. */
export function binding(said: readonly LayerValue[]): readonly LayerValue[] {
  const authority = said.filter(({ layer }) => layer !== 'default' && layer !== 'project');
  const base = authority.length > 0 ? authority : said.filter(({ layer }) => layer === 'default');
  return [...base, ...said.filter(({ layer }) => layer === 'project')];
}

export type Holding = Omit<Effective, 'path'>;

/** The value in force among `values`, which is not empty. */
export function settle(said: readonly LayerValue[], how: Merge): Holding {
  if (how === 'union') return together(said);
  if (how === 'each') return together(binding(said));
  if (how === 'first') return holding(nearest(said), said);
  if (how === 'highest') return holding(highestFirst(said)[0] ?? nearest(said), said);
  const all = binding(said);
  return holding(
    all.reduce((best, next) => (tighter(next.value, best.value, how) ? next : best)),
    all,
  );
}

const holding = (one: LayerValue, said: readonly LayerValue[]): Holding => ({ value: one.value, from: one.from, said });

/** The precedence of preferences: the person's own, then the project's, then an organisation's suggestions. */
const PRECEDENCE: readonly LayerName[] = ['command line', 'user', 'project', 'managed', 'default'];

const nearest = (said: readonly LayerValue[]): LayerValue =>
  said.reduce((best, next) => (PRECEDENCE.indexOf(next.layer) <= PRECEDENCE.indexOf(best.layer) ? next : best));

/** The values with the most authority first: an organisation's before the person's, and that before the project's; of one layer the last. */
export const highestFirst = <S extends Pick<LayerValue, 'layer'>>(said: readonly S[]): readonly S[] =>
  said.toReversed().sort((a, b) => HIGHEST.indexOf(a.layer) - HIGHEST.indexOf(b.layer));
const HIGHEST: readonly LayerName[] = ['managed', 'user', 'project', 'command line', 'default'];

function together(said: readonly LayerValue[]): Holding {
  const value = said.flatMap((each): readonly unknown[] => (Array.isArray(each.value) ? each.value : [each.value]));
  return holding({ ...nearest(said), value: [...new Set(value)] }, said);
}

function tighter(a: unknown, b: unknown, how: 'min' | 'and' | 'or' | readonly string[]): boolean {
  if (how === 'and') return a === false && b !== false;
  if (how === 'or') return a === true && b !== true;
  return how === 'min' ? amount(a) < amount(b) : how.indexOf(String(a)) > how.indexOf(String(b));
}

/** Numbers unchanged, durations in milliseconds; anything else is 0. */
export function amount(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? (durationMs(value) ?? 0) : 0;
}

interface Value {
  readonly path: readonly string[];
  readonly value: unknown;
}

function valuesOf(value: unknown, path: readonly string[] = []): readonly Value[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, value }];
  return Object.entries(value)
    .filter(([, below]) => below !== undefined)
    .flatMap(([key, below]) => valuesOf(below, [...path, key]));
}

/** Merged values as settings. They were validated by layer, so a failure here is a bug and throws. */
export const settingsFrom = (values: readonly Value[]): Settings =>
  Settings.parse(nested(values.map(({ path, value }) => ({ path, value }))));

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

/** One line for each value of a project or the command line that has no effect, because another layer is tighter. */
export const withoutEffect = (values: ReadonlyMap<string, Effective>): readonly string[] =>
  [...values.values()].flatMap(({ path, value, from, said }) => {
    const { kind, merge } = ruleOf(path);
    // Here the organisation's value binds the person, whose value is then the one without effect.
    const bound = kind === 'grant' && merge === 'highest';
    if ((kind !== 'restriction' && !bound) || ['first', 'each', 'union'].some((whole) => whole === merge)) return [];
    const same = (other: unknown): boolean => other === value || (merge === 'min' && amount(other) === amount(value));
    return said
      .filter(({ layer, value: other }) => (bound ? layer === 'user' : LOWER.includes(layer)) && !same(other))
      .map(
        (each) =>
          `${reasonText(each.from)} has no effect: ${reasonText(from)} ${merge === 'highest' ? 'overrides it' : 'is tighter'}`,
      );
  });

const LOWER: readonly LayerName[] = ['project', 'command line'];

/** The texts in a list that a file gives; none where it is no list. */
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
