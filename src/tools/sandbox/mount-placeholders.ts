/**
 * Names that must stay absent in a project (`.git`, `.vscode`) are covered by mounts, and a mount needs a folder to stand
 * on. These folders are made here, and removed when the last box of the project, of any process, has ended: removing one
 * earlier would take the cover from a box that still runs. The lock is a file that changes its name: renaming is atomic.
 */
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import { isAlive, ownMark } from '../paths/process-mark.ts';

const LOCK_MS = 5000;
const POLL_MS = 5;

export interface Masks {
  /**
   * Says that a box begins, and makes the folders of `wanted` (absolute) that are not there: they stay until it ends. Gives
   * its end, to be called when no process of the box is left. Fails when the state directory can't be used.
   */
  begin(wanted: readonly string[]): Promise<Result<() => Promise<void>, string>>;
  /** Removes what processes that were killed have left. */
  tidy(): Promise<void>;
}

export function masksOf(stateDir: string, root: string): Masks {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 24);
  const folder = path.join(stateDir, 'boxes', key);
  return {
    async begin(wanted) {
      try {
        makeFolder(folder);
        const entry = path.join(folder, `box.${ownMark()}`);
        const made = await locked(folder, () => {
          removeUnused(folder);
          writeFileSync(entry, '', { mode: 0o600, flag: 'wx' });
          makeMasks(folder, wanted);
          return true;
        });
        if (made === null) return fail('another process holds the lock of the boxes of this project');
        return ok(() => endBox(folder, entry));
      } catch (error) {
        return fail(error instanceof Error ? error.message : String(error));
      }
    },
    async tidy() {
      try {
        // No folder: no box was ever begun here.
        readdirSync(folder);
        await locked(folder, () => removeUnused(folder));
      } catch {
        // What can't be removed now is removed by a later one.
      }
    },
  };
}

async function endBox(folder: string, entry: string): Promise<void> {
  try {
    const done = await locked(folder, () => {
      rmSync(entry, { force: true });
      removeUnused(folder);
      return true;
    });
    // Without the lock nothing is removed but the word that this box runs.
    if (done === null) rmSync(entry, { force: true });
  } catch {
    // An empty folder that stays is removed with the next box.
  }
}

/** Under the lock. Recorded before they are made: a crash in between leaves no folder that nobody knows of. */
function makeMasks(folder: string, wanted: readonly string[]): void {
  const absent = wanted.filter((mask) => lstatSync(mask, { throwIfNoEntry: false }) === undefined);
  if (absent.length === 0) return;
  record(folder, [...new Set([...recorded(folder), ...absent])]);
  for (const mask of absent) mkdirSync(mask, { mode: 0o755 });
}

/** Under the lock. With no living box left, the folders go; one that somebody has put something in stays. */
function removeUnused(folder: string): void {
  const boxes = readdirSync(folder).filter((name) => name.startsWith('box.'));
  const dead = boxes.filter((name) => !isAlive(name.slice('box.'.length)));
  for (const name of dead) rmSync(path.join(folder, name), { force: true });
  if (boxes.length > dead.length) return;
  const masks = recorded(folder);
  if (masks.length === 0) return;
  // What lies in another one first.
  for (const mask of masks.toSorted((a, b) => b.length - a.length)) {
    try {
      rmdirSync(mask);
    } catch {
      // Not empty, or gone already.
    }
  }
  record(folder, []);
}

function recorded(folder: string): readonly string[] {
  try {
    return readFileSync(path.join(folder, 'masks'), 'utf8')
      .split('\0')
      .filter((mask) => mask !== '');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function record(folder: string, masks: readonly string[]): void {
  const fresh = path.join(folder, `masks.${ownMark()}`);
  writeFileSync(fresh, masks.join('\0'), { mode: 0o600 });
  renameSync(fresh, path.join(folder, 'masks'));
}

/** The folder with its one lock in it, made in one step: it is never there without. */
function makeFolder(folder: string): void {
  const parent = path.dirname(folder);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  try {
    readdirSync(folder);
    return;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const fresh = mkdtempSync(`${folder}.`);
  writeFileSync(path.join(fresh, FREE), '', { mode: 0o600 });
  try {
    renameSync(fresh, folder);
  } catch {
    // Another process was first.
    rmSync(fresh, { recursive: true, force: true });
  }
}

const FREE = 'lock.free';

/**
 * Does `act`, which must not wait, while no other process does. Null when the lock can't be had. Of a holder that is
 * dead the lock is taken over: its name is the dead one's own, so that only one rename of it succeeds.
 */
async function locked<T>(folder: string, act: () => T): Promise<T | null> {
  const mine = path.join(folder, `lock.${ownMark()}`);
  const end = performance.now() + LOCK_MS;
  while (!take(folder, mine)) {
    if (performance.now() >= end) return null;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  try {
    return act();
  } finally {
    renameSync(mine, path.join(folder, FREE));
  }
}

function take(folder: string, mine: string): boolean {
  const lock = readdirSync(folder).find((name) => name.startsWith('lock.'));
  if (lock === undefined) return false;
  if (lock !== FREE && isAlive(lock.slice('lock.'.length))) return false;
  try {
    renameSync(path.join(folder, lock), mine);
    return true;
  } catch {
    return false;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
