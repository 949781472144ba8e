/**
 * Checkpoints of the log: after every so many records of a session, before each effect and at its end, its number and hash go
 * to a second file. A tail that is taken out of the database is missed there. Whoever can write both can still change both.
 */
import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LogFault } from '../ports/log.ts';

/** The last record of a session at some moment. */
export interface Head {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
  /** When a person accepted that records behind this one are missing, or that others stand before it. ISO, UTC. */
  readonly accepted?: string;
}

export interface Reached {
  /** The number of the last record before those that were just written. */
  readonly from: number;
  readonly to: Head;
  /** An effect begins with them, or the session ends: what must not be forgotten. */
  readonly matters: boolean;
  /** They are on the disk. A checkpoint of a record that a power cut took back would be taken for damage. */
  readonly onDisk: boolean;
}

export interface Heads {
  /** Records are in the log: writes a checkpoint where one is due. */
  reached(reached: Reached): void;
  /** Throws `LogFault` when an earlier checkpoint could not be written: what is not checked is not promised. */
  check(): void;
}

/** Records between two checkpoints, where nothing else is said. */
export const USUAL_CHECKPOINT = 100;

const fileOf = (database: string): string => join(dirname(database), 'heads.jsonl');

/** The checkpoints beside `database`, one after every `every` records of a session. */
export function headsBeside(database: string, every: number): Heads {
  const file = fileOf(database);
  let fault: unknown = null;
  /** Sessions whose next checkpoint waits for the disk. */
  const due = new Set<string>();
  return {
    reached({ from, to, matters, onDisk }) {
      if (matters || Math.floor(from / every) !== Math.floor(to.seq / every)) due.add(to.session);
      if (!onDisk || !due.delete(to.session)) return;
      try {
        append(file, `${JSON.stringify(to)}\n`);
      } catch (error) {
        fault = error;
      }
    },
    check() {
      if (fault === null) return;
      const words = fault instanceof Error ? fault.message : 'unknown';
      throw new LogFault(
        `the checkpoints of the log can't be written: ${words}\n  ${file} must be a file of your own`,
        {
          cause: fault,
        },
      );
    },
  };
}

function append(file: string, line: string): void {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const found = fstatSync(handle);
    const own = process.getuid?.();
    if (!found.isFile() || (own !== undefined && own !== found.uid)) throw new Error('it is not a file of your own');
    if ((found.mode & 0o077) !== 0) fchmodSync(handle, 0o600);
    // One write: lines of several processes don't mix.
    writeSync(handle, line);
  } finally {
    closeSync(handle);
  }
}

export interface KnownHeads {
  readonly heads: readonly Head[];
  /** Numbers of lines that are none. */
  readonly damaged: readonly number[];
}

/** From now on `head` is the last record of its session, whatever was checkpointed before. Throws `LogFault`. */
export function acceptHead(database: string, head: Head, now: string): void {
  const heads = headsBeside(database, 1);
  heads.reached({ from: head.seq, to: { ...head, accepted: now }, matters: true, onDisk: true });
  heads.check();
}

/**
 * The checkpoints beside `database`, of all sessions or of one; none where there is no file. A last line that was cut off while it
 * was written is none.
 */
export function readHeads(database: string, session?: string): KnownHeads {
  const lines = textOf(fileOf(database)).split('\n').slice(0, -1);
  if (session !== undefined) {
    const own = lines.filter((line) => line.includes(session)).flatMap((line) => headIn(line) ?? []);
    return { heads: own.filter((head) => head.session === session), damaged: [] };
  }
  const read = lines.map(headIn);
  return {
    heads: read.filter((head) => head !== null),
    damaged: read.flatMap((head, index) => (head === null ? [index + 1] : [])),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    const words = error instanceof Error ? error.message : String(error);
    throw new LogFault(`the checkpoints of the log can't be read: ${words}`, { cause: error });
  }
}

function headIn(line: string): Head | null {
  try {
    const read: unknown = JSON.parse(line);
    return isHead(read) ? read : null;
  } catch {
    return null;
  }
}

const isHead = (read: unknown): read is Head =>
  typeof read === 'object' &&
  read !== null &&
  'session' in read &&
  'seq' in read &&
  'hash' in read &&
  typeof read.session === 'string' &&
  typeof read.seq === 'number' &&
  typeof read.hash === 'string';
