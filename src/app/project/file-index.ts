/** Finds project files for `@` mentions: keeps an index that is refreshed in the background, and ranks the names. The tools list the files. */
import type { World } from '../../ports/world.ts';

export interface ProjectFiles {
  /** Starts listing; a failure gives an empty list. */
  load(): void;
  /** The best `most` matches; folders end with a slash. Waits for the first list, never for a refresh. */
  find(query: string, most: number): Promise<readonly string[]>;
}

/** Milliseconds after which a search refreshes the list. */
const FRESH_MS = 10_000;

/** `list` returns the paths of all files relative to the project. */
export function openProjectFiles(list: () => Promise<readonly string[]>, world: Pick<World, 'elapsed'>): ProjectFiles {
  let known: { readonly index: FileIndex; readonly since: number } | null = null;
  let loading: Promise<FileIndex> | null = null;
  const load = (): Promise<FileIndex> => {
    loading ??= list()
      .catch(() => [])
      .then(indexOf)
      .then((index) => {
        known = { index, since: world.elapsed() };
        loading = null;
        return index;
      });
    return loading;
  };
  return {
    load: () => void load(),
    async find(query, most) {
      if (known === null) return (await load()).find(query, most);
      if (world.elapsed() - known.since > FRESH_MS) void load();
      return known.index.find(query, most);
    },
  };
}

export interface FileIndex {
  find(query: string, most: number): readonly string[];
}

interface Entry {
  readonly path: string;
  readonly name: string;
}

/** Names prepared between two turns of the event loop. */
const BATCH = 2000;
/** Lower scores are matches of scattered letters. */
const LEAST = 0.3;

/** Prepares the names, so that a search takes milliseconds for any number of files. */
export async function indexOf(files: readonly string[]): Promise<FileIndex> {
  const { go, prepare, snapshot } = await import('fuzzysort');
  const shown = files.filter((file) => !UNSHOWN.test(file));
  const entries = [...foldersOf(shown), ...shown].map((path): Entry => ({ path, name: nameOf(path) }));
  const lower = entries.map(({ path }) => path.toLowerCase());
  const names = new Map<Entry, ReturnType<typeof prepare>>();
  const paths = new Map<Entry, ReturnType<typeof prepare>>();
  for (let at = 0; at < entries.length; at += BATCH) {
    for (const entry of entries.slice(at, at + BATCH)) {
      names.set(entry, prepare(entry.name));
      paths.set(entry, prepare(entry.path));
    }
    // Lets the screen draw between batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const byName = snapshot(entries, { key: (entry) => names.get(entry) });
  const byPath = snapshot(entries, { key: (entry) => paths.get(entry) });
  const matches = (query: string, among: typeof byName, most: number): readonly string[] =>
    go(query, among, { limit: most, threshold: LEAST }).map(({ obj }) => obj.path);
  return {
    find(query, most) {
      if (most < 1) return [];
      const inside = within(entries, query);
      if (inside.length > 0) return inside.slice(0, most);
      const named = query.includes('/') ? [] : matches(query, byName, most);
      if (named.length >= most) return named;
      const literal = holding(entries, lower, query);
      if (named.length + literal.length >= most) return [...new Set([...named, ...literal])].slice(0, most);
      return [...new Set([...named, ...matches(query, byPath, most)])].slice(0, most);
    },
  };
}

/** Names that cannot be shown cannot be written into a task either. */
const UNSHOWN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/u;

function foldersOf(files: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const file of files) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return [...folders].sort();
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/', path.length - 2) + 1);
const MOST_LITERAL = 400;

/** Paths that contain the query literally, shortest first; much cheaper than a fuzzy search. */
function holding(entries: readonly Entry[], lower: readonly string[], query: string): readonly string[] {
  const wanted = query.toLowerCase();
  const found: string[] = [];
  for (const [at, path] of lower.entries()) {
    if (path.includes(wanted)) found.push(entries[at]?.path ?? path);
    if (found.length === MOST_LITERAL) break;
  }
  return found.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** The entries of the folder that the query names (`src/`), or of the root for an empty query, folders first. */
function within(entries: readonly Entry[], query: string): readonly string[] {
  if (query !== '' && !query.endsWith('/')) return [];
  return entries
    .filter(({ path, name }) => path.length === query.length + name.length && path.startsWith(query))
    .map(({ path }) => path);
}
