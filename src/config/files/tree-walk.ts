/** Walks over a tree of a configuration file: its plain value, the place of a path, keys taken out or written another way. */
import { OTHER_SPELLINGS, type Path } from '../schema/keys.ts';
import type { Entry, Place, Tree } from './tree.ts';

/** The value as plain JSON. */
export function plainOf(tree: Tree): unknown {
  if (tree.is === 'scalar') return tree.value;
  if (tree.is === 'list') return tree.items.map(plainOf);
  return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainOf(value)]));
}

/** Where a path is written: the key itself, or the item of a list; for what is not there, the nearest part above. */
export function placeOf(tree: Tree, path: Path): Place {
  let at = tree.at;
  let here: Tree | undefined = tree;
  for (const part of path) {
    if (here === undefined) return at;
    const next: { readonly at: Place; readonly value: Tree } | undefined = below(here, part);
    if (next === undefined) return at;
    at = next.at;
    here = next.value;
  }
  return at;
}

function below(tree: Tree, part: string | number): { readonly at: Place; readonly value: Tree } | undefined {
  if (tree.is === 'map') return tree.entries.find(({ key }) => key === part);
  const item = tree.is === 'list' && typeof part === 'number' ? tree.items[part] : undefined;
  return item === undefined ? undefined : { at: item.at, value: item };
}

/** The tree without the key at `path`. */
export function without(tree: Tree, path: readonly string[]): Tree {
  const [key, ...rest] = path;
  if (tree.is !== 'map' || key === undefined) return tree;
  if (rest.length === 0) return { ...tree, entries: tree.entries.filter((entry) => entry.key !== key) };
  const entries = tree.entries.map((entry) =>
    entry.key === key ? { ...entry, value: without(entry.value, rest) } : entry,
  );
  return { ...tree, entries };
}

/** Paths of all values that are no maps with keys, in the order of the file. */
export function leavesOf(tree: Tree, above: readonly string[] = []): readonly (readonly string[])[] {
  if (tree.is !== 'map') return [above];
  return tree.entries.flatMap(({ key, value }) => leavesOf(value, [...above, key]));
}

const OTHER_SECTIONS = new Set([...OTHER_SPELLINGS.keys()].map((spelling) => spelling.split('.')[0] ?? ''));

/** Keys as other programs spell them, put under Mimir's own names. What the table doesn't know stays, to be refused. */
export function respelled(tree: Tree): Tree {
  if (tree.is !== 'map' || !tree.entries.some(({ key }) => OTHER_SECTIONS.has(key))) return tree;
  return leavesOf(tree)
    .filter(([section = '']) => OTHER_SECTIONS.has(section))
    .reduce<Tree>((soFar, path) => {
      const own = OTHER_SPELLINGS.get(path.join('.'))?.split('.');
      const entry = entryAt(tree, path);
      if (own === undefined || entry === null) return soFar;
      return pruned(inserted(without(soFar, path), own, entry), path[0] ?? '');
    }, tree);
}

function entryAt(tree: Tree, path: readonly string[]): Entry | null {
  const [key, ...rest] = path;
  const entry = tree.is === 'map' ? tree.entries.find((each) => each.key === key) : undefined;
  if (entry === undefined) return null;
  return rest.length === 0 ? entry : entryAt(entry.value, rest);
}

/** Mimir's own spelling wins when both are written. */
function inserted(tree: Tree, path: readonly string[], entry: Entry): Tree {
  const [key = '', ...rest] = path;
  if (tree.is !== 'map') return tree;
  const found = tree.entries.find((each) => each.key === key);
  if (rest.length === 0) {
    return found === undefined ? { ...tree, entries: [...tree.entries, { ...entry, key }] } : tree;
  }
  const empty: Tree = { is: 'map', at: entry.at, entries: [] };
  const value = inserted(found?.value ?? empty, rest, entry);
  const others = tree.entries.filter((each) => each.key !== key);
  return { ...tree, entries: [...others, { key, at: found?.at ?? entry.at, value }] };
}

/** Without a section in which nothing is left. */
function pruned(tree: Tree, section: string): Tree {
  const entry = entryAt(tree, [section]);
  return entry !== null && leavesOf(entry.value).length === 0 ? without(tree, [section]) : tree;
}
