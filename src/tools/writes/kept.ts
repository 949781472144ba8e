/**
 * Copies of files that a command may not change but could: made before it, so that each can be put back as it was. What a file
 * had become is moved away, never deleted: it may be the person's own work of that moment.
 */
import { type BigIntStats, constants, copyFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import {
  chmod,
  chown,
  copyFile,
  cp,
  lstat,
  lutimes,
  mkdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  utimes,
} from 'node:fs/promises';
import path from 'node:path';
import { freshFile } from '../process/fresh-files.ts';
import { isAlive, ownMark } from '../paths/process-mark.ts';

/** All copies together. A task whose globs leave more than that to be copied gets only the folders that are meant as a whole. */
const MOST_BYTES = 512 * 1024 * 1024;
/** Before the mark of the process that made them. */
const COPIES = 'copies.';
const PUT_BACK_MS = 30 * 86_400_000;

interface Copy {
  readonly stats: BigIntStats;
  /** The file of its content; null of what is no file. */
  readonly content: string | null;
  readonly link: string | null;
}

export interface Kept {
  /** Copies those of `files` of which there is none as they are now; false where that is too much, or the disk is full. */
  keep(files: ReadonlyMap<string, BigIntStats>): Promise<boolean>;
  /** Makes `name` what it was. */
  putBack(name: string): Promise<void>;
  /** Moves what is at `name` away; gives the folder that it is in now. */
  takeAway(name: string): Promise<string>;
}

/** `root` is a real path, `folder` one of Mimir's own for this project. */
export function keptFiles(root: string, folder: string, stateDir?: string): Kept {
  const copies = new Map<string, Copy>();
  const own = path.join(folder, `${COPIES}${ownMark()}`);
  const away = path.join(
    folder,
    `put-back.${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)}.${process.pid}`,
  );
  let bytes = 0n;
  let made = false;

  function begin(): void {
    if (made) return;
    made = true;
    sweep(folder);
    mkdirSync(own, { recursive: true, mode: 0o700 });
  }

  async function copied(name: string, stats: BigIntStats): Promise<boolean> {
    const [place, content] = [path.join(root, name), copies.get(name)?.content ?? path.join(own, String(copies.size))];
    try {
      copies.set(name, await copyOf(place, content, stats));
      return true;
    } catch {
      // Not to be read: it can't be put back, so nothing of it may be promised. What is gone by now is nobody's.
      return (await lstat(place).catch(() => null)) === null;
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

    async takeAway(name) {
      const to = path.join(away, name);
      await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
      const free = (await lstat(to).catch(() => null)) === null ? to : `${to}.${ownMark()}`;
      await moved(path.join(root, name), free);
      return away;
    },
  };
}

/** The content is copied to the file `to`. */
async function copyOf(place: string, to: string, stats: BigIntStats): Promise<Copy> {
  if (stats.isSymbolicLink()) return { stats, content: null, link: await readlink(place) };
  if (!stats.isFile()) return { stats, content: null, link: null };
  // Removed first: another may be reading it.
  rmSync(to, { force: true });
  copyFileSync(place, to, constants.COPYFILE_FICLONE);
  return { stats, content: to, link: null };
}

/** In one step, as everything that replaces a file. */
async function restored({ stats, content, link }: Copy, place: string, stateDir: string | undefined): Promise<void> {
  if (link === null && content === null) return;
  await mkdir(path.dirname(place), { recursive: true });
  const beside = freshFile(stateDir, path.dirname(place));
  const fresh = path.join(path.dirname(place), beside.base);
  const times = [Number(stats.atimeNs) / 1e9, Number(stats.mtimeNs) / 1e9] as const;
  if (link !== null) {
    await symlink(link, fresh);
    await lutimes(fresh, ...times);
  } else if (content !== null) {
    await copyFile(content, fresh, constants.COPYFILE_EXCL);
    // Only root may give files away; for others it simply becomes theirs, as with any editor.
    await chown(fresh, Number(stats.uid), Number(stats.gid)).catch(() => undefined);
    await chmod(fresh, Number(stats.mode) & 0o7777);
    await utimes(fresh, ...times);
  }
  await rename(fresh, place);
  beside.done();
}

/** The same content, owner and permissions: nobody can change a file without its times changing. */
export const isSame = (a: BigIntStats, b: BigIntStats): boolean =>
  a.ino === b.ino && a.size === b.size && a.mode === b.mode && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;

async function moved(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch {
    // Another file system.
    await cp(from, to, { recursive: true, verbatimSymlinks: true, force: false });
    await rm(from, { recursive: true, force: true });
  }
}

/** Makes folders again that are gone, are no folders any more, or have other permissions. The upper ones first. */
export async function foldersBack(root: string, kept: Kept, folders: ReadonlyMap<string, BigIntStats>): Promise<void> {
  for (const [name, stats] of [...folders].toSorted(([a], [b]) => a.length - b.length)) {
    const place = path.join(root, name);
    const now = await lstat(place, { bigint: true }).catch(() => null);
    if (now !== null && !now.isDirectory()) await kept.takeAway(name);
    if (now === null || !now.isDirectory()) await mkdir(place, { recursive: true });
    if (now === null || now.mode !== stats.mode) await chmod(place, Number(stats.mode) & 0o7777);
  }
}

/** Removes an empty folder; one with something in it stays. */
export const dropEmpty = (place: string): Promise<void> => rmdir(place).catch(() => undefined);

/** Copies of programs that are gone, and what was put back long ago. */
function sweep(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    const age = Date.now() - (statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    const isOver = name.startsWith(COPIES) ? !isAlive(name.slice(COPIES.length)) : age > PUT_BACK_MS;
    if (isOver) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}
