/**
 * Names of the fresh files that stand beside a file until they are renamed over it. A note of each lies in the state folder as
 * long as it may be there: what a killed process has left is removed by the next one that opens the project.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { leftByDead, ownMark } from '../paths/process-mark.ts';

export interface FreshFile {
  /** Stands nowhere yet. */
  readonly base: string;
  /** To be called when it was renamed or removed. */
  readonly done: () => void;
}

const BASE = /^\.mimir-[0-9a-f]{16}\.tmp$/;
const notesIn = (stateDir: string): string => path.join(stateDir, 'writing');

/** A name for a file in `folder`, absolute. Without a state folder there is no note. */
export function freshFile(stateDir: string | undefined, folder: string): FreshFile {
  const base = `.mimir-${randomBytes(8).toString('hex')}.tmp`;
  if (stateDir === undefined) return { base, done: () => undefined };
  const note = path.join(notesIn(stateDir), ownMark());
  try {
    mkdirSync(path.dirname(note), { recursive: true, mode: 0o700 });
    writeFileSync(note, path.join(folder, base), { mode: 0o600, flag: 'wx' });
  } catch {
    // A write is worth more than its note.
  }
  return {
    base,
    done: () => {
      rmSync(note, { force: true });
    },
  };
}

/** Removes the fresh files of processes that are gone. Never throws. */
export function sweepFreshFiles(stateDir: string): void {
  for (const name of leftByDead(notesIn(stateDir))) {
    const note = path.join(notesIn(stateDir), name);
    try {
      const left = readFileSync(note, 'utf8');
      const found = lstatSync(left, { throwIfNoEntry: false });
      if (BASE.test(path.basename(left)) && found !== undefined && !found.isDirectory()) rmSync(left);
      rmSync(note);
    } catch {
      // Another process was quicker, or it may not be removed: the next start tries again.
    }
  }
}
