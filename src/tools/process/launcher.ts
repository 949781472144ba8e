/**
 * The program `mimir` for commands of agents: what of Mimir's own package a box shows, and a script of that name which
 * starts it. Scripts lie in the state folder, one for each way to be started; they are made when they are first needed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Mimir itself, as it runs here. All paths are absolute and real. */
export interface OwnProgram {
  /** The Node that runs it. */
  readonly node: string;
  /** `src/main.ts` of a checkout, or the published `dist/mimir.js`. */
  readonly entry: string;
  /** Files and folders that it loads: code alone, nothing of the person's. */
  readonly parts: readonly string[];
  /** Where Node keeps what it has compiled of it (a folder of that folder is named for the version); null: nowhere. */
  readonly cache: string | null;
}

/** Its name, as commands call it. */
const NAME = 'mimir';

/**
 * The folder to put on the PATH, below `stateDir`; null where it can't be made. `cacheHome`: the folder of caches that it
 * uses, where that is not the person's own.
 */
export function launcherFolder(program: OwnProgram, stateDir: string, cacheHome: string | null): string | null {
  const text = scriptOf(program, cacheHome);
  const folder = path.join(stateDir, 'program', createHash('sha256').update(text).digest('hex').slice(0, 16));
  try {
    if (!isThere(path.join(folder, NAME), text)) write(folder, text);
    return folder;
  } catch {
    return null;
  }
}

/** Without the warnings that a Node of an early 24 gives of what Mimir uses. */
function scriptOf({ node, entry }: OwnProgram, cacheHome: string | null): string {
  const cache = cacheHome === null ? '' : `XDG_CACHE_HOME=${quoted(cacheHome)} `;
  return `#!/bin/sh\n${cache}exec ${quoted(node)} --disable-warning=ExperimentalWarning ${quoted(entry)} "$@"\n`;
}

/** As one word of a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

function isThere(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8') === text;
  } catch {
    return false;
  }
}

/** Beside its place and then there in one step: another process may be starting it. */
function write(folder: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fresh = path.join(folder, `.${randomBytes(6).toString('hex')}`);
  writeFileSync(fresh, text, { mode: 0o700, flag: 'wx' });
  renameSync(fresh, path.join(folder, NAME));
}
