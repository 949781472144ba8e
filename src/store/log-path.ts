/**
 * Where the log of a project lies, and that nobody else can reach it: folders 0700, files 0600, owned by the user. Decides names and rights only; what is in the files is the database's.
 */
import { hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { LogFault } from '../ports/log.ts';

export interface Place {
  /** Mimir's folder in the user's state directory: `$XDG_STATE_HOME/mimir`. */
  readonly stateDir: string;
  /** Root of the project; two ways to write the same folder are the same project. */
  readonly project: string;
}

/** The folder of a project's log: a readable name, and a hash that tells projects of the same name apart. */
export function folderOf({ stateDir, project }: Place): string {
  const real = realOf(project);
  const name = basename(real)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 40);
  return join(stateDir, 'projects', `${name}-${hash('sha256', real).slice(0, 12)}`);
}

/** The database's path. */
export const databaseOf = (place: Place): string => join(folderOf(place), 'log.db');

/** Makes folders and an empty file where there are none, and checks those there are. Throws `LogFault`. */
export function prepare(place: Place): string {
  const folder = folderOf(place);
  const file = join(folder, 'log.db');
  try {
    for (const own of [place.stateDir, join(place.stateDir, 'projects'), folder]) {
      mkdirSync(own, { recursive: true, mode: 0o700 });
      // Before anything is made in it: it may be somebody else's, or lead elsewhere.
      keepPrivate(own, 0o700);
    }
    create(file);
    keepPrivate(file, 0o600);
  } catch (error) {
    if (error instanceof LogFault) throw error;
    throw new LogFault(
      `the log can't be written: ${wordsOf(error)}\n  ${folder} must be a folder that you may write to (XDG_STATE_HOME moves it)`,
      { cause: error },
    );
  }
  return file;
}

/** Is there a database? Throws `LogFault` when there is one of somebody else's. */
export function exists(file: string): boolean {
  const found = statOf(file);
  if (found === undefined) return false;
  if (!found.isFile()) throw new LogFault(`${file} is not a plain file: move it away, Mimir makes a new one`);
  checkOwner(file, found.uid);
  return true;
}

/** Remembers which file `file` is; the function throws `LogFault` when that one was deleted or another stands in its place. */
export function stillThere(file: string): () => void {
  const [opened, folder] = [statOf(file), dirname(file)];
  return () => {
    const now = lstatSync(file, { throwIfNoEntry: false });
    if (now !== undefined && now.ino === opened?.ino && now.dev === opened.dev) return;
    const what = now === undefined ? 'was deleted' : 'was replaced by another';
    throw new LogFault(
      `the log ${file} ${what} while it was written: nothing more is done\n  put the folder ${folder} back as it was, then go on with "mimir resume"; without it this session can't be resumed`,
    );
  };
}

function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new LogFault(`the log can't be read: ${wordsOf(error)}\n  check that folder (XDG_STATE_HOME moves it)`, {
      cause: error,
    });
  }
}

function create(file: string): void {
  if (exists(file)) return;
  try {
    closeSync(openSync(file, constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_RDWR, 0o600));
  } catch (error) {
    // Another process was quicker: it is as good as ours.
    if (!isCode(error, 'EEXIST') || !exists(file)) throw error;
  }
}

function keepPrivate(path: string, mode: number): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) {
    throw new LogFault(`${path} is a symbolic link: put a folder of your own there, or set XDG_STATE_HOME to another`);
  }
  checkOwner(path, found.uid);
  if ((found.mode & 0o077) !== 0) chmodSync(path, mode);
}

function checkOwner(path: string, owner: number): void {
  const own = process.getuid?.();
  if (own === undefined || own === owner) return;
  throw new LogFault(
    `${path} belongs to another user (${owner}, you are ${own}): Mimir keeps its log to itself\n  set XDG_STATE_HOME to a folder of your own`,
  );
}

function realOf(project: string): string {
  try {
    return realpathSync(project);
  } catch {
    return project;
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
