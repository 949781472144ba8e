/** The index from which looks at a project start: left by one program for the next, so that only what changed is read again. */
import { copyFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';

const KEPT_MS = 7 * 86_400_000;

/** What nobody looked at for so long is forgotten: of a run that was stopped before, nothing more can be judged. */
const FORGOTTEN_MS = 90 * 86_400_000;

/** Makes `index` a copy of the one that was left in its folder; without one, everything is read once. */
export function takeIndex(index: string): void {
  sweep(path.dirname(index));
  forgetOthers(path.dirname(index));
  copyIndex(path.join(path.dirname(index), 'index'), index);
}

/** Leaves `index` for the next program. It holds no submodule: that would be stepped into. */
export function leaveIndex(index: string): void {
  const fresh = `${index}.fresh`;
  if (copyIndex(index, fresh)) renameSync(fresh, path.join(path.dirname(index), 'index'));
}

/** Ends the use of `index`. */
export function dropIndex(index: string): void {
  for (const file of [index, `${index}.excludes`, `${index}.lock`]) rmSync(file, { force: true });
}

/** What runs left behind that were cut off. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (name.startsWith('index-') && age > KEPT_MS) rmSync(file, { force: true });
  }
}

/** Contents of projects that are gone, or that no forced agent judges any more, beside those of this one. */
function forgetOthers(own: string): void {
  const all = path.dirname(own);
  for (const name of readdirSync(all)) {
    const folder = path.join(all, name);
    // Each look adds a file to it, and takes it away.
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (folder !== own && age > FORGOTTEN_MS) remove(folder);
  }
}

/** What can't be taken away stays: no look fails for it. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Tried again at the next run.
  }
}

/** A copy that is dated back: git looks again at files that may have changed in the moment it was written. */
function copyIndex(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    const written = statSync(from).mtimeMs / 1000 - 2;
    utimesSync(to, written, written);
    return true;
  } catch {
    rmSync(to, { force: true });
    return false;
  }
}
