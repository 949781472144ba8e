/**
 * Where commands of a task with `writes` may write: the longest literal folder of each glob, and folders of build output that git
 * ignores. Folders in those that no glob reaches into are kept read-only; what is left to be looked at is said.
 */
import type { BigIntStats } from 'node:fs';
import { lstatSync, realpathSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { coversFolder, literalFolders, literalNames, matchesGlob, reachesInto } from '../../domain/text/glob.ts';
import { forbidden } from '../paths/path-rules.ts';

/** Folders that are kept read-only one by one: each is a mount, which costs time. More of them are looked at instead. */
const MOST_CLOSED = 150;
/** Files that are looked at before and after a command. With more of them only folders are writable that are meant as a whole. */
const MOST_LOOKED_AT = 20_000;

/** Names are relative to the root, with `/`. */
export interface Scope {
  readonly globs: readonly string[];
  /** Folders that may be written, besides those of build output. */
  readonly tops: readonly string[];
  /** Folders to be made first, since a glob means what is to be in them. Upper ones first. */
  readonly absent: readonly string[];
  /** Folders in those that stay read-only. */
  readonly closed: ReadonlySet<string>;
  /** Folders of build output. */
  readonly build: ReadonlySet<string>;
  /** Globs that no folder was opened for, since there is too much beside what they mean. */
  readonly tooWide: readonly string[];
}

/** What is there outside of the globs, in folders that a command may write. */
export interface Looked {
  readonly files: ReadonlyMap<string, BigIntStats>;
  readonly folders: ReadonlyMap<string, BigIntStats>;
}

/** `root` is a real path; `build` are folders that git ignores. Nothing is changed. */
export async function scopeOf(
  root: string,
  globs: readonly string[],
  build: ReadonlySet<string>,
): Promise<{ readonly scope: Scope; readonly before: Looked }> {
  const wanted = outermost(globs.flatMap((glob) => folderOf(root, glob)));
  const tops = wanted.filter((folder) => isPlainFolder(root, folder));
  const coming = wanted.filter((folder) => !tops.includes(folder) && missingOf(root, folder) !== null);
  const absent = coming.flatMap((folder) => missingOf(root, folder) ?? []);
  const closed = new Set<string>();
  const scope = { globs, tops: [...tops, ...coming], absent: [...new Set(absent)], closed, build, tooWide: [] };
  const isClosed = (folder: string): boolean => {
    const close = closed.size < MOST_CLOSED && isOutside(globs, folder);
    if (close) closed.add(folder);
    return close;
  };
  const before = await look(root, scope, isClosed);
  if (before !== null) return { scope, before };
  const exact = scope.tops.filter((folder) => coversFolder(globs, folder));
  const tooWide = globs.filter((glob) => !folderOf(root, glob).some((folder) => exact.includes(folder)));
  return {
    scope: { ...scope, tops: exact, closed: new Set(), tooWide },
    before: { files: new Map(), folders: new Map() },
  };
}

/** What is there now; null where it is too much. Of folders that have come nothing is passed over. */
export const lookAgain = (root: string, scope: Scope): Promise<Looked | null> =>
  look(root, scope, (folder) => scope.closed.has(folder));

const isOutside = (globs: readonly string[], folder: string): boolean =>
  !reachesInto(globs, folder) || forbidden(folder, 'write') !== null;

async function look(root: string, scope: Scope, passedOver: (folder: string) => boolean): Promise<Looked | null> {
  const files = new Map<string, BigIntStats>();
  const open = scope.tops.filter((folder) => !coversFolder(scope.globs, folder));
  const folders = new Map(await statsOf(root, open));
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const [name, stats] of await entriesOf(root, folder)) {
      if (!stats.isDirectory()) {
        if (!matchesGlob(scope.globs, name)) files.set(name, stats);
      } else if (!scope.build.has(name) && !coversFolder(scope.globs, name) && !passedOver(name)) {
        folders.set(name, stats);
        open.push(name);
      }
    }
    if (files.size + folders.size > MOST_LOOKED_AT) return null;
  }
  return { files, folders };
}

async function entriesOf(root: string, folder: string): Promise<readonly (readonly [string, BigIntStats])[]> {
  const place = path.join(root, folder);
  const names = await readdir(place).catch(() => []);
  return statsOf(
    root,
    names.map((name) => (folder === '' ? name : `${folder}/${name}`)),
  );
}

/** Of those that are there. */
async function statsOf(root: string, names: readonly string[]): Promise<readonly (readonly [string, BigIntStats])[]> {
  const all = await Promise.all(
    names.map(async (name) => {
      const stats = await lstat(path.join(root, name), { bigint: true }).catch(() => null);
      return stats === null ? [] : [[name, stats] as const];
    }),
  );
  return all.flat();
}

/** The folders that everything of a glob lies in. One that is named without a wild card is meant as a whole. */
function folderOf(root: string, glob: string): readonly string[] {
  const named = new Map(literalNames(glob).map((name) => [path.posix.dirname(name), name]));
  return literalFolders(glob).map((folder) => {
    const name = named.get(folder === '' ? '.' : folder);
    return name !== undefined && isPlainFolder(root, name) ? name : folder;
  });
}

const outermost = (folders: readonly string[]): readonly string[] => {
  const all = [...new Set(folders)];
  return all.filter((one) => !all.some((other) => other !== one && (other === '' || one.startsWith(`${other}/`))));
};

/** A folder that is reached without a link: a link would open another place than the one that was named. */
export function isPlainFolder(root: string, name: string): boolean {
  if (name !== '' && forbidden(name, 'write') !== null) return false;
  const place = path.join(root, name);
  try {
    return realpathSync(place) === place && lstatSync(place).isDirectory();
  } catch {
    return false;
  }
}

/** The folders on the way to `name` that are not there; null where a link or a file stands in the way. */
export function missingOf(root: string, name: string): readonly string[] | null {
  if (forbidden(name, 'write') !== null) return null;
  const steps = name.split('/');
  const ways = steps.map((_, index) => steps.slice(0, index + 1).join('/'));
  const first = ways.findIndex((way) => lstatSync(path.join(root, way), { throwIfNoEntry: false }) === undefined);
  if (first === -1 || !isPlainFolder(root, ways[first - 1] ?? '')) return null;
  return ways.slice(first);
}
