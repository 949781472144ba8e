/**
 * Opens the SQLite database of a log and says in plain words what SQLite says in codes. What the tables mean is
 * log.ts's and claims.ts's.
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { LogFault } from '../ports/log.ts';

/** Form of the tables; a database with a larger one was made by a newer Mimir. */
const FORM = 1;
/** Milliseconds to wait for another process that is writing. */
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

/** Opens `file`, which exists, for writing. Throws `LogFault`. */
export function openToWrite(file: string): DatabaseSync {
  return inWords(file, () => {
    const database = new DatabaseSync(file, { timeout: PATIENCE });
    return orClose(database, () => {
      // Two processes that open a new database at once both want to turn it to WAL, and SQLite makes neither wait.
      untilFree(() => database.exec('PRAGMA journal_mode = WAL'));
      database.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
      if (formOf(database, file) < FORM) {
        transactionsIn(database).onDisk(() => {
          database.exec(TABLES);
        });
      }
      return database;
    });
  });
}

/** Opens `file`, which exists, for reading, even where nothing may be written; null when it is empty. Throws `LogFault`. */
export function openToRead(file: string): DatabaseSync | null {
  return inWords(file, () => {
    try {
      return openAt(file, file);
    } catch (error) {
      // SQLite wants to make its index of what is not yet merged. Where it may not, and nothing is, the file is enough.
      const code = codeOf(error) ?? 0;
      if (![8, 14].includes(code & 0xff) || sizeOf(`${file}-wal`) > 0) throw error;
      return openAt(`file:${file.split('/').map(encodeURIComponent).join('/')}?immutable=1`, file);
    }
  });
}

function openAt(place: string, file: string): DatabaseSync | null {
  const database = new DatabaseSync(place, { readOnly: true, timeout: PATIENCE });
  if (orClose(database, () => formOf(database, file)) > 0) return database;
  database.close();
  return null;
}

type Transaction = <T>(act: () => T) => T;

/** Each runs `act` whole or not at all, holding the only right to write from its start. */
export interface Transactions {
  /** On the disk when it returns, and everything before it as well: SQLite syncs the whole of what is not yet merged. */
  readonly onDisk: Transaction;
  /** With the operating system when it returns: no death of this process takes it back, a power cut may. */
  readonly inSystem: Transaction;
}

export function transactionsIn(database: DatabaseSync): Transactions {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const onDisk: Transaction = (act) => {
    begin.run();
    try {
      const value = act();
      commit.run();
      return value;
    } catch (error) {
      // A full disk has already undone it.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    onDisk,
    inSystem: (act) => {
      // Takes a microsecond. Never prepared: SQLite obeys this one while it is read, and not again when it is run. What is
      // not synced here is synced before it is merged, so a cut log still ends at a commit.
      database.exec('PRAGMA synchronous = NORMAL');
      try {
        return onDisk(act);
      } finally {
        database.exec('PRAGMA synchronous = FULL');
      }
    },
  };
}

/** What `act` returns; an error of SQLite's as a `LogFault` that says what is wrong and what to do. */
export function inWords<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    throw new LogFault(WORDS[code & 0xff]?.(file) ?? `the log ${file} can't be used: ${wordsOf(error)}`, {
      cause: error,
    });
  }
}

/** By SQLite's result codes. */
const WORDS: Readonly<Record<number, (file: string) => string>> = {
  5: (file) =>
    `the log ${file} is being written by another process for more than ${PATIENCE / 1000} s: try again when that has ended`,
  8: (file) => `the log ${file} can't be written: it is read-only; make it writable, or set XDG_STATE_HOME elsewhere`,
  10: (file) => `the log ${file} can't be written: the disk reports an error (is it full, or a quota reached?)`,
  11: (file) => `the log ${file} is damaged (not a whole SQLite database): move it away, Mimir makes a new one`,
  13: (file) => `the log ${file} can't be written: the disk is full; free some space and go on with "mimir resume"`,
  14: (file) => `the log ${file} can't be opened: check the rights of its folder, or set XDG_STATE_HOME elsewhere`,
  26: (file) => `the log ${file} is damaged (not a SQLite database): move it away, Mimir makes a new one`,
};

function formOf(database: DatabaseSync, file: string): number {
  const form = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (form > FORM) throw new LogFault(`the log ${file} was written by a newer Mimir: use that one, or update this one`);
  return form;
}

/** What `act` returns; closes `database` when it throws. */
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
      if (codeOf(error) !== 5 || tries <= 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Is it SQLite's refusal of a row because another one has its key? */
export const isTaken = (error: unknown): boolean => codeOf(error) === SQLITE_CONSTRAINT_UNIQUE;

const codeOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null;

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
