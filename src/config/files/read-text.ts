/**
 * Reads a configuration file that a stranger may have written: regular files only, never a pipe, never more than the cap
 * plus one byte, UTF-8 or nothing. What stands in it is for others.
 */
import { type Stats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Result, fail, ok } from '../../domain/result.ts';
import { type ConfigFault, NO_PERMISSION, PLAIN_FILE } from './fault.ts';

/** 64 KiB: more than any hand-written configuration, little enough to parse at once. */
const MAX_BYTES = 64 * 1024;

export interface FileToRead {
  readonly path: string;
  /** How people would name it. */
  readonly shown: string;
  /** Refuse a symbolic link as the last component: for files of a project. */
  readonly links: 'follow' | 'refuse';
  /** `mine`: refuse a file of another user, or one that anybody may write; `root`: one that anybody but root may. */
  readonly owner: 'mine' | 'root' | 'any';
}

/** The text of the file; null when there is none. */
export function readText({ path, shown, links, owner }: FileToRead): Result<string | null, ConfigFault> {
  const wrong = (problem: string, remedy: string): Result<never, ConfigFault> =>
    fail({ file: shown, line: null, column: null, problem, remedy });
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer for ever.
    const nofollow = links === 'refuse' ? constants.O_NOFOLLOW : 0;
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | nofollow);
  } catch (error) {
    return opening(codeOf(error), wrong, owner === 'root' ? `let everybody read it: chmod a+r ${path}` : undefined);
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) return wrong('is not a regular file', PLAIN_FILE);
    const foreign = ownerWords(owner, status);
    if (foreign !== null) return wrong(...foreign);
    const bytes = readUpTo(descriptor, MAX_BYTES + 1);
    if (bytes.length > MAX_BYTES) return wrong('is larger than 64 KiB', 'shorten it');
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return wrong('is not UTF-8 text', 'save it as UTF-8');
    return wrong(`can't be read (${codeOf(error)})`, 'check the file');
  } finally {
    closeSync(descriptor);
  }
}

/** The code of a file system error, `EACCES` and the like. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';

type Owned = Pick<Stats, 'uid' | 'mode'>;

function ownerWords(owner: FileToRead['owner'], status: Owned): readonly [problem: string, remedy: string] | null {
  if (owner === 'mine' && !isMine(status)) {
    return ['belongs to another user, or anybody may write it', 'take it over and run chmod go-w on it'];
  }
  if (owner === 'root' && !isRoots(status)) return ["is not root's alone to write", 'run: chown root, chmod go-w'];
  return null;
}

/** Files of root are as good as one's own. */
const isMine = ({ uid, mode }: Owned): boolean => (uid === process.geteuid?.() || uid === 0) && (mode & 0o002) === 0;

/** Looked at once more on what was really opened. */
const isRoots = ({ uid, mode }: Owned): boolean => uid === 0 && (mode & 0o022) === 0;

type Wrong = (problem: string, remedy: string) => Result<never, ConfigFault>;

function opening(code: string, wrong: Wrong, open = 'make it readable for you'): Result<string | null, ConfigFault> {
  if (code === 'ENOENT') return ok(null);
  if (code === 'ENOTDIR') return wrong('is below a file where a directory is expected', 'move that file away');
  if (code === 'ELOOP') return wrong('is a symbolic link', 'put the file itself there');
  if (code === 'EACCES') return wrong(NO_PERMISSION, open);
  return wrong(`can't be read (${code})`, 'check the file');
}

function readUpTo(descriptor: number, limit: number): Buffer {
  const bytes = Buffer.alloc(limit);
  let length = 0;
  while (length < limit) {
    const read = readSync(descriptor, bytes, length, limit - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
