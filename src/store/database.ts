/** The SQLite database of a project's log: its private path, opening, transactions, and plain words for SQLite's error codes. log.ts defines the
 * meaning of the tables. */
import { messageOf, tried } from '../domain/result.ts';
import { hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LogFault } from '../ports/log.ts';

/** The version of the tables; a higher one was made by a newer Mimir. */
const FORM = 1;
/** How long to wait for another writing process, in milliseconds. */
const PATIENCE = 5000;
const SQLITE_CONSTRAINT_UNIQUE = 2067;

const TABLES = `
  CREATE TABLE IF NOT EXISTS events (
    session TEXT NOT NULL, seq INTEGER NOT NULL, time TEXT NOT NULL, type TEXT NOT NULL, agent TEXT,
    data TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL,
    UNIQUE (session, seq)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS starts ON events (session) WHERE seq = 1;
  CREATE INDEX IF NOT EXISTS ends ON events (session, seq) WHERE type IN ('session.finished', 'session.resumed');
  CREATE TABLE IF NOT EXISTS texts (hash TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS claims (
    session TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL, boot TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${FORM};
`;

/** Opens the existing `file` for writing. Throws `LogFault`. */
export const openToWrite = (file: string, patience: number = PATIENCE): DatabaseSync =>
  inWords(file, () => {
    const database = new DatabaseSync(file, { timeout: patience });
    return orClose(database, () => {
      // When two processes open a new database, both switch it to WAL, for which SQLite does not wait.
      untilFree(() => database.exec('PRAGMA journal_mode = WAL'));
      database.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
      if (formOf(database, file) < FORM) transactionsIn(database).onDisk(() => database.exec(TABLES));
      return database;
    });
  });

/** Opens the existing `file` for reading, even without write permission; null if it is empty. Throws `LogFault`. */
export const openToRead = (file: string): DatabaseSync | null =>
  inWords(file, () => {
    try {
      return openAt(file, file);
    } catch (error) {
      // SQLite creates an index of the WAL. If it may not, and the WAL is empty, the file alone is enough.
      const code = sqliteCode(error) ?? 0;
      if (![8, 14].includes(code & 0xff) || sizeOf(`${file}-wal`) > 0) throw error;
      return openAt(`file:${file.split('/').map(encodeURIComponent).join('/')}?immutable=1`, file);
    }
  });

function openAt(place: string, file: string): DatabaseSync | null {
  const database = new DatabaseSync(place, { readOnly: true, timeout: PATIENCE });
  if (orClose(database, () => formOf(database, file)) > 0) return database;
  database.close();
  return null;
}

/** The result of `act` on the database `file`; null if it does not exist or is empty. Throws `LogFault`. */
export function readFrom<T>(file: string, act: (database: DatabaseSync) => T): T | null {
  const database = exists(file) ? openToRead(file) : null;
  if (database === null) return null;
  try {
    return inWords(file, () => act(database));
  } finally {
    database.close();
  }
}

/** Runs `act` on the existing database `file` atomically; its changes are on disk when this returns. Throws `LogFault`. */
export function writeTo<T>(file: string, act: (database: DatabaseSync) => T, patience?: number): T {
  const database = openToWrite(file, patience);
  try {
    return inWords(file, () => transactionsIn(database).onDisk(() => act(database)));
  } finally {
    database.close();
  }
}

export type Transaction = <T>(act: () => T) => T;

/** Both run `act` atomically with the exclusive right to write from its start. `onDisk`: on disk when it returns, with everything before it,
 * since SQLite syncs the whole WAL. `inSystem`: survives the death of this process, but perhaps not a power cut. */
export function transactionsIn(database: DatabaseSync): Readonly<Record<'onDisk' | 'inSystem', Transaction>> {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const onDisk: Transaction = (act) => {
    begin.run();
    try {
      const value = act();
      commit.run();
      return value;
    } catch (error) {
      // SQLite has already rolled back if the disk is full.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    onDisk,
    inSystem: (act) => {
      // Takes a microsecond. Not a prepared statement, because SQLite applies this pragma when it is parsed, not when it runs. Unsynced
      // changes are synced before a checkpoint, so a cut log still ends at a commit.
      database.exec('PRAGMA synchronous = NORMAL');
      try {
        return onDisk(act);
      } finally {
        database.exec('PRAGMA synchronous = FULL');
      }
    },
  };
}

/** The result of `act`; an SQLite error becomes a `LogFault` with the problem and advice. */
export function inWords<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const code = sqliteCode(error);
    if (code === null) throw error;
    throw new LogFault(WORDS[code & 0xff]?.(file) ?? `the log ${file} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

const WORDS: Readonly<Record<number, (file: string) => string>> = {
  5: (file) =>
    `the log ${file} has been locked by another process for more than ${PATIENCE / 1000} s: try again when that process has ended`,
  8: (file) =>
    `the log ${file} cannot be written: it is read-only; make it writable, or set XDG_STATE_HOME to another folder`,
  10: (file) => `the log ${file} cannot be written: the disk reports an error (is it full, or a quota reached?)`,
  11: (file) =>
    `the log ${file} is damaged (not a complete SQLite database): move it away, and Mimir creates a new one`,
  13: (file) =>
    `the log ${file} cannot be written: the disk is full; free some space, then continue with "mimir resume"`,
  14: (file) =>
    `the log ${file} cannot be opened: check the permissions of its folder, or set XDG_STATE_HOME to another folder`,
  26: (file) => `the log ${file} is damaged (not a SQLite database): move it away, and Mimir creates a new one`,
};

function formOf(database: DatabaseSync, file: string): number {
  const form = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (form > FORM)
    throw new LogFault(`the log ${file} was written by a newer version of Mimir: use that version, or update this one`);
  return form;
}

/** The result of `act`; closes `database` if it throws. */
export function orClose<T>(database: DatabaseSync, act: () => T): T {
  try {
    return act();
  } catch (error) {
    database.close();
    throw error;
  }
}

function untilFree(act: () => void): void {
  for (let tries = PATIENCE / 10; ; tries -= 1) {
    try {
      act();
      return;
    } catch (error) {
      if (sqliteCode(error) !== 5 || tries <= 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** True for SQLite's error about a duplicate key. */
export const isTaken = (error: unknown): boolean => sqliteCode(error) === SQLITE_CONSTRAINT_UNIQUE;

const sqliteCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;

// The log's folder and files, private to the user: folders 0700, files 0600.

export interface Place {
  /** Mimir's folder in the user's state directory: `$XDG_STATE_HOME/mimir`. */
  readonly stateDir: string;
  /** Root of the project; different paths of the same folder are the same project. */
  readonly project: string;
}

/** The folder of a project's log: a readable name with a hash that makes it unique. */
export function folderOf({ stateDir, project }: Place): string {
  const real = tried(() => realpathSync(project), project);
  const name = basename(real)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 40);
  return join(stateDir, 'projects', `${name}-${hash('sha256', real).slice(0, 12)}`);
}

/** The database's path. */
export const databaseOf = (place: Place): string => join(folderOf(place), 'log.db');

/** Creates missing folders and an empty file, and checks existing ones. Throws `LogFault`. */
export function prepare(place: Place): string {
  const folder = folderOf(place);
  const file = join(folder, 'log.db');
  try {
    for (const own of [place.stateDir, join(place.stateDir, 'projects'), folder]) {
      mkdirSync(own, { recursive: true, mode: 0o700 });
      // Checked before anything is created in it, since it may belong to another user or be a link.
      keepPrivate(own, 0o700);
    }
    create(file);
    keepPrivate(file, 0o600);
  } catch (error) {
    if (error instanceof LogFault) throw error;
    throw new LogFault(
      `the log cannot be written: ${messageOf(error)}\n  ${folder} must be a folder that you can write to (XDG_STATE_HOME moves it)`,
      { cause: error },
    );
  }
  return file;
}

/** True if the database exists. Throws `LogFault` if it belongs to another user or is not a file. */
export function exists(file: string): boolean {
  const found = statOf(file);
  if (found === undefined) return false;
  if (!found.isFile()) throw new LogFault(`${file} is not a regular file: move it away, and Mimir creates a new one`);
  checkOwner(file, found.uid);
  return true;
}

/** Remembers the present file; the returned function throws `LogFault` if it was deleted or replaced since. */
export function stillThere(file: string): () => void {
  const [opened, folder] = [statOf(file), dirname(file)];
  return () => {
    const now = lstatSync(file, { throwIfNoEntry: false });
    if (now !== undefined && now.ino === opened?.ino && now.dev === opened.dev) return;
    const what = now === undefined ? 'was deleted' : 'was replaced';
    throw new LogFault(
      `the log ${file} ${what} while it was in use: Mimir stopped\n  restore the folder ${folder}, then continue with "mimir resume"; without it this session cannot be resumed`,
    );
  };
}

function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new LogFault(`the log cannot be read: ${messageOf(error)}\n  check the folder (XDG_STATE_HOME moves it)`, {
      cause: error,
    });
  }
}

/** Another process may create it at the same moment, which is equally good. */
function create(file: string): void {
  if (exists(file)) return;
  closeSync(openSync(file, constants.O_CREAT | constants.O_NOFOLLOW | constants.O_RDWR, 0o600));
}

function keepPrivate(path: string, mode: number): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink())
    throw new LogFault(
      `${path} is a symbolic link: replace it with a folder of your own, or set XDG_STATE_HOME to another`,
    );
  checkOwner(path, found.uid);
  if ((found.mode & 0o077) !== 0) chmodSync(path, mode);
}

function checkOwner(path: string, owner: number): void {
  const own = process.getuid?.();
  if (own === undefined || own === owner) return;
  throw new LogFault(
    `${path} belongs to another user (${owner}, you are ${own}): the log must be private to you\n  set XDG_STATE_HOME to a folder of your own`,
  );
}
