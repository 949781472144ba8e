/** Checkpoints of the log: number and hash of the last record, written to a second file at intervals, before each effect and at the end of a
 * session. They reveal a removed tail of the database. Anyone who can write both files can still change both. */
import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LogFault } from '../ports/log.ts';
import { codeOf, messageOf, tried } from '../domain/result.ts';

/** The last record of a session at some moment. */
export interface Head {
  readonly session: string;
  readonly seq: number;
  readonly hash: string;
  /** When a person accepted that later records are missing or earlier ones differ. ISO, UTC. */
  readonly accepted?: string;
}

export interface Reached {
  /** The number of the last record before the new ones. */
  readonly from: number;
  readonly to: Head;
  /** They begin an effect or end the session, so they need a checkpoint. */
  readonly matters: boolean;
  /** They are on disk. A checkpoint of a record that a power cut removes would look like damage. */
  readonly onDisk: boolean;
}

export interface Checkpoints {
  /** Call this after records were written; adds a checkpoint if one is needed. */
  reached(reached: Reached): void;
  /** Throws `LogFault` if an earlier checkpoint could not be written. */
  check(): void;
}

/** The default number of records between two checkpoints. */
export const USUAL_CHECKPOINT = 100;

const fileOf = (database: string): string => join(dirname(database), 'heads.jsonl');

/** The checkpoints beside `database`, at least one for every `every` records of a session. */
export function checkpointsBeside(database: string, every: number): Checkpoints {
  const file = fileOf(database);
  let fault: unknown = null;
  /** Sessions whose checkpoint waits until their records are on disk. */
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
        `the checkpoints of the log cannot be written: ${words}\n  ${file} must be a file that you own`,
        { cause: fault },
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
    if (!found.isFile() || (own !== undefined && own !== found.uid)) throw new Error('it is not a file that you own');
    if ((found.mode & 0o077) !== 0) fchmodSync(handle, 0o600);
    // A single write, so that lines of several processes do not mix.
    writeSync(handle, line);
  } finally {
    closeSync(handle);
  }
}

/** Makes `head` the last record of its session, whatever earlier checkpoints say. Throws `LogFault`. */
export function acceptHead(database: string, head: Head, now: string): void {
  const heads = checkpointsBeside(database, 1);
  heads.reached({ from: head.seq, to: { ...head, accepted: now }, matters: true, onDisk: true });
  heads.check();
}

/** The checkpoints beside `database`, of all sessions or of one; empty without a file. An incomplete last line is ignored. `damaged`: numbers of lines. */
export function readCheckpoints(database: string, session?: string) {
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
    if (codeOf(error) === 'ENOENT') return '';
    throw new LogFault(`the checkpoints of the log cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const headIn = (line: string): Head | null =>
  tried((): Head | null => {
    const read = new Object(JSON.parse(line));
    return isHead(read) ? read : null;
  }, null);

const isHead = (read: object): read is Head =>
  typeof Reflect.get(read, 'session') === 'string' &&
  typeof Reflect.get(read, 'seq') === 'number' &&
  typeof Reflect.get(read, 'hash') === 'string';
