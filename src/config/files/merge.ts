/**
 * Several layers -> one value a key. Restrictions meet on a lattice, so that no order of layers matters and none can loosen
 * another; the package's own defaults hold where nobody says anything, and bound what a project alone may say.
 */
import { type Layer as LayerName, type Reason, reasonText } from '../../domain/reason.ts';
import type { Layer } from './layer.ts';
import { type Merge, ruleOf } from '../schema/keys.ts';
import { durationMs } from '../schema/schema.ts';

/** One layer's word on a key. */
export interface Said {
  readonly layer: LayerName;
  readonly value: unknown;
  readonly from: Reason;
}

export interface Effective {
  readonly path: readonly string[];
  /** For `each` and `union` the lists put together; else the one that holds. */
  readonly value: unknown;
  readonly from: Reason;
  /** All that take part, in the order of layers. */
  readonly said: readonly Said[];
}

/** Every key that any layer names, by its dotted name, with what holds. */
export function merge(layers: readonly Layer[]): ReadonlyMap<string, Effective> {
  const byKey = new Map<string, { readonly path: readonly string[]; readonly said: Said[] }>();
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

/** From the ground up, whatever order they came in; files of one layer as an administrator counts them: deeper ones later, by name. */
export const inOrder = <L extends Pick<Layer, 'name' | 'file'>>(layers: readonly L[]): readonly L[] =>
  [...layers].sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name) || byFile(a.file ?? '', b.file ?? ''));

const byFile = (a: string, b: string): number =>
  a.split('/').length - b.split('/').length || Number(a > b) - Number(a < b);

/** The words that count: defaults only where no one with authority spoke. A project never speaks alone. */
export function binding(said: readonly Said[]): readonly Said[] {
  const authority = said.filter(({ layer }) => layer !== 'default' && layer !== 'project');
  const base = authority.length > 0 ? authority : said.filter(({ layer }) => layer === 'default');
  return [...base, ...said.filter(({ layer }) => layer === 'project')];
}

export type Holding = Omit<Effective, 'path'>;

/** What holds of several words on one key. `said` is not empty. */
export function settle(said: readonly Said[], how: Merge): Holding {
  if (how === 'union') return together(said);
  if (how === 'each') return together(binding(said));
  if (how === 'first') return holding(nearest(said), said);
  if (how === 'highest') return holding(highest(said), said);
  const all = binding(said);
  return holding(
    all.reduce((best, next) => (tighter(next.value, best.value, how) ? next : best)),
    all,
  );
}

const holding = (one: Said, said: readonly Said[]): Holding => ({ value: one.value, from: one.from, said });

/** Preferences: the person's own before the project's, which is before what an organisation suggests. */
const PRECEDENCE: readonly LayerName[] = ['command line', 'user', 'project', 'managed', 'default'];

/** Of several files of one layer, the last. */
const nearest = (said: readonly Said[]): Said =>
  said.reduce((best, next) => (PRECEDENCE.indexOf(next.layer) <= PRECEDENCE.indexOf(best.layer) ? next : best));

/** What an organisation says goes before the person's word, and that before the project's. */
export function highest<S extends Pick<Said, 'layer'>>(said: readonly S[]): S {
  const rank = ({ layer }: S): number => HIGHEST.indexOf(layer);
  return said.reduce((best, next) => (rank(next) <= rank(best) ? next : best));
}
const HIGHEST: readonly LayerName[] = ['managed', 'user', 'project', 'command line', 'default'];

function together(said: readonly Said[]): Holding {
  const value = said.flatMap((each): readonly unknown[] => (Array.isArray(each.value) ? each.value : [each.value]));
  return holding({ ...nearest(said), value: [...new Set(value)] }, said);
}

/** Is `a` strictly tighter than `b`? */
function tighter(a: unknown, b: unknown, how: 'min' | 'and' | 'or' | readonly string[]): boolean {
  if (how === 'and') return a === false && b !== false;
  if (how === 'or') return a === true && b !== true;
  if (how === 'min') return amount(a) < amount(b);
  return how.indexOf(String(a)) > how.indexOf(String(b));
}

/** Numbers as they are, durations in milliseconds; what is neither counts as nothing allowed. */
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

/** A line for each; of the layers that may only tighten, the project and the command line. */
export const withoutEffect = (values: ReadonlyMap<string, Effective>): readonly string[] =>
  [...values.values()].flatMap(({ path, value, from, said }) => {
    const { kind, merge } = ruleOf(path);
    // What an organisation says of a person's own affairs where it binds: the person's word is the one without effect.
    const bound = kind === 'grant' && merge === 'highest';
    if ((kind !== 'restriction' && !bound) || ['first', 'each', 'union'].some((whole) => whole === merge)) return [];
    const same = (other: unknown): boolean => other === value || (merge === 'min' && amount(other) === amount(value));
    return said
      .filter(({ layer, value: other }) => (bound ? layer === 'user' : LOWER.includes(layer)) && !same(other))
      .map(
        (each) =>
          `${reasonText(each.from)} has no effect: ${reasonText(from)} ${merge === 'highest' ? 'goes before it' : 'is tighter'}`,
      );
  });

const LOWER: readonly LayerName[] = ['project', 'command line'];
