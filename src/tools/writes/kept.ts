/** Copies files before a command that could but must not change them, and restores them afterwards. The changed version is moved
 * away, never deleted: it may be the person's own current work. */
import fs, { type BigIntStats } from 'node:fs';
import disk from 'node:fs/promises';
import path from 'node:path';
import { isAlive, ownMark, type Root } from '../paths/root.ts';
import { freshFile } from '../process/kept-folders.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { messageOf } from '../../domain/result.ts';

/** The limit for all copies together. A task whose globs need more can write only to folders that it covers as a whole. */
const MOST_BYTES = 512 * 1024 * 1024;
/** Prefix of folders of copies, followed by the mark of the process that made them. */
const COPIES = 'copies.';
const PUT_BACK_MS = 30 * 86_400_000;

export interface Copy {
  readonly stats: BigIntStats;
  /** The file with the content; null if it is not a regular file. */
  readonly content: string | null;
  readonly link: string | null;
}

export interface KeptOriginal {
  /** Copies the `files` that have no current copy; false if that is too much or the disk is full. */
  keep(files: ReadonlyMap<string, BigIntStats>): Promise<boolean>;
  putBack(name: string): Promise<void>;
  /** Moves `name` away, or with `isReplaced` keeps it there as well until it is put back; returns the folder that it is in afterwards. */
  takeAway(name: string, isReplaced?: boolean): Promise<string>;
}

/** `root` is a real path; `folder` is Mimir's own folder for this project. */
export function keptFiles(root: string, folder: string, stateDir?: string): KeptOriginal {
  const copies = new Map<string, Copy>();
  const own = path.join(folder, `${COPIES}${ownMark()}`);
  const away = path.join(
    folder,
    `put-back.${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)}.${process.pid}`,
  );
  let bytes = 0n;
  let made = 0;
  let isBegun = false;

  function begin(): void {
    if (isBegun) return;
    isBegun = true;
    sweep(folder);
    fs.mkdirSync(own, { recursive: true, mode: 0o700 });
  }

  async function copied(name: string, stats: BigIntStats): Promise<boolean> {
    const [place, content] = [path.join(root, name), copies.get(name)?.content ?? path.join(own, String((made += 1)))];
    try {
      copies.set(name, await copyOf(place, content, stats));
      return true;
    } catch {
      // An unreadable file cannot be restored, so this must fail; a file that is gone needs no copy.
      return (await disk.lstat(place).catch(() => null)) === null;
    }
  }

  return {
    async keep(files) {
      begin();
      for (const [name, stats] of files) {
        const known = copies.get(name);
        if (known !== undefined && isSame(known.stats, stats)) continue;
        bytes += stats.size - (known?.stats.size ?? 0n);
        if (bytes > MOST_BYTES || !(await copied(name, stats))) return false;
      }
      return true;
    },

    async putBack(name) {
      const copy = copies.get(name);
      if (copy !== undefined) await restored(copy, path.join(root, name), stateDir);
    },

    async takeAway(name, isReplaced = false) {
      const to = path.join(away, name);
      await disk.mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
      const free = (await disk.lstat(to).catch(() => null)) === null ? to : `${to}.${ownMark()}`;
      const place = path.join(root, name);
      // What is put back is renamed over it, so that nobody finds it missing.
      const stays = isReplaced && copies.get(name)?.stats.isFile() === true && fs.lstatSync(place).isFile();
      if (stays) await disk.copyFile(place, free, fs.constants.COPYFILE_FICLONE);
      else await moved(place, free);
      return away;
    },
  };
}

async function copyOf(place: string, to: string, stats: BigIntStats): Promise<Copy> {
  if (stats.isSymbolicLink()) return { stats, content: null, link: await disk.readlink(place) };
  if (!stats.isFile()) return { stats, content: null, link: null };
  // Removed first, because another process may be reading it.
  fs.rmSync(to, { force: true });
  fs.copyFileSync(place, to, fs.constants.COPYFILE_FICLONE);
  return { stats, content: to, link: null };
}

/** Restores the file by a single rename. `at`: the path by which `place` is reached. */
export async function restored(
  { stats, content, link }: Copy,
  place: string,
  stateDir: string | undefined,
  at = place,
): Promise<void> {
  if (link === null && content === null) return;
  await disk.mkdir(path.dirname(place), { recursive: true });
  const beside = freshFile(stateDir, path.dirname(place));
  const fresh = path.join(path.dirname(at), beside.base);
  const times = [Number(stats.atimeNs) / 1e9, Number(stats.mtimeNs) / 1e9] as const;
  if (link !== null) {
    await disk.symlink(link, fresh);
    await disk.lutimes(fresh, ...times);
  } else if (content !== null) {
    await disk.copyFile(content, fresh, fs.constants.COPYFILE_EXCL);
    // Only root may change the owner; otherwise the file belongs to the current user, as with any editor.
    await disk.chown(fresh, Number(stats.uid), Number(stats.gid)).catch(() => undefined);
    await disk.chmod(fresh, Number(stats.mode) & 0o7777);
    await disk.utimes(fresh, ...times);
  }
  await disk.rename(fresh, at);
  beside.done();
}

/** True for the same content, owner and permissions: a change of a file always changes its times. */
export const isSame = (a: BigIntStats, b: BigIntStats): boolean =>
  a.ino === b.ino && a.size === b.size && a.mode === b.mode && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;

async function moved(from: string, to: string): Promise<void> {
  try {
    await disk.rename(from, to);
  } catch {
    // The target is on another file system.
    await disk.cp(from, to, { recursive: true, verbatimSymlinks: true, force: false });
    await disk.rm(from, { recursive: true, force: true });
  }
}

/** Restores folders that are missing, replaced or have other permissions; parents first. */
export async function foldersBack(
  root: string,
  kept: KeptOriginal,
  folders: ReadonlyMap<string, BigIntStats>,
): Promise<void> {
  for (const [name, stats] of [...folders].toSorted(([a], [b]) => a.length - b.length)) {
    const place = path.join(root, name);
    const now = await disk.lstat(place, { bigint: true }).catch(() => null);
    if (now !== null && !now.isDirectory()) await kept.takeAway(name);
    if (now === null || !now.isDirectory()) await disk.mkdir(place, { recursive: true });
    if (now === null || now.mode !== stats.mode) await disk.chmod(place, Number(stats.mode) & 0o7777);
  }
}

/** Removes an empty folder; one with something in it stays. */
export const dropEmpty = (place: string): Promise<void> => disk.rmdir(place).catch(() => undefined);

/** Removes the folders above this file, a name in the root, that are empty without it. */
export async function dropEmptyAbove(root: string, name: string): Promise<void> {
  for (let parent = path.dirname(name); parent !== '.'; parent = path.dirname(parent))
    await dropEmpty(path.join(root, parent));
}

/** The permissions `now`, changed for a new mode of git: to execute is for those who may read. */
export const permissions = (now: number, git: string | undefined): number =>
  git === undefined ? now : git === '100755' ? now | ((now & 0o444) >> 2) : now & ~0o111;

/** Removes copies of ended processes, and old files that were moved away. */
function sweep(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of fs.readdirSync(folder)) {
    const age = Date.now() - (fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    const isOver = name.startsWith(COPIES) ? !isAlive(name.slice(COPIES.length)) : age > PUT_BACK_MS;
    if (isOver) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

// Repositories that a command created inside the project. Mounts cover only what exists before a command, and the next git or
// Mimir started there would obey what an agent wrote. So they are renamed when the command has ended.

/** Records the present repositories. The returned function renames new ones after a command and reports that; empty if none. */
export async function watchNested(root: Root, sandbox: Sandbox): Promise<() => Promise<string>> {
  const before = new Set((await sandbox.walk()).nested);
  return async () => {
    const made = (await sandbox.walk()).nested.filter((place) => !before.has(place));
    return made.map((place) => setAside(root.path, place)).join('\n');
  };
}

function setAside(root: string, place: string): string {
  const name = path.relative(root, place);
  const named = (count: number): string =>
    path.join(
      path.dirname(place),
      `${count === 0 ? '' : `${count}-`}set-aside-${path.basename(place).replace(/^\.+/, '')}`,
    );
  let count = 0;
  while (fs.lstatSync(named(count), { throwIfNoEntry: false }) !== undefined) count += 1;
  try {
    fs.renameSync(place, named(count));
    return `${name} was created by this command, but agents may not create a repository or .mimir in the project: it was renamed to ${path.relative(root, named(count))}`;
  } catch (error) {
    return `${name} was created by this command, which agents may not do, and could not be renamed: ${messageOf(error)}`;
  }
}
