/** Reads a configuration file of unknown origin: regular files only, never a pipe, at most the limit plus one byte, UTF-8 only. Parsing is
 * left to others. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';

/** 64 KiB: more than any hand-written configuration, and fast to parse. */
const MAX_BYTES = 64 * 1024;

export interface FileToRead {
  readonly path: string;
  /** The path as people name it. */
  readonly shown: string;
  /** `refuse` rejects a symbolic link as the last component, for files of a project. */
  readonly links: 'follow' | 'refuse';
  /** `mine` rejects a file of another user or writable by everyone; `root` a file writable by anyone but root. */
  readonly owner: 'mine' | 'root' | 'any';
}

/** The text of the file; null if it does not exist. */
export function readText({ path, shown, links, owner }: FileToRead): Result<string | null, ConfigFault> {
  const wrong = (problem: string, remedy: string): Result<never, ConfigFault> =>
    fail(fileFault(shown, problem, remedy));
  try {
    return withOpen(path, links, (descriptor, status) => {
      if (!status.isFile()) return wrong('is not a regular file', PLAIN_FILE);
      const foreign = ownerWords(owner, status);
      if (foreign !== null) return wrong(...foreign);
      const bytes = readUpTo(descriptor, MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) return wrong('is larger than 64 KiB', 'shorten it');
      return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    });
  } catch (error) {
    if (error instanceof TypeError) return wrong('is not UTF-8 text', 'save it as UTF-8');
    return unreadable(
      codeOf(error),
      wrong,
      owner === 'root' ? `make it readable for everyone: chmod a+r ${path}` : undefined,
    );
  }
}

/** What `read` makes of the open file. Throws what the file system throws. */
export function withOpen<T>(
  file: string,
  links: FileToRead['links'],
  read: (descriptor: number, status: Stats) => T,
): T {
  const nofollow = links === 'refuse' ? constants.O_NOFOLLOW : 0;
  // Without O_NONBLOCK, opening a pipe would wait for ever.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | nofollow);
  try {
    return read(descriptor, fstatSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/** The code of a file system error, `EACCES` and the like. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';

type Owned = Pick<Stats, 'uid' | 'mode'>;

function ownerWords(owner: FileToRead['owner'], status: Owned): readonly [problem: string, remedy: string] | null {
  if (owner === 'mine' && !isMine(status))
    return ['belongs to another user, or is writable by others', 'make yourself its owner and run chmod go-w on it'];
  if (owner === 'root' && !isRoots(status))
    return ['is writable by users other than root', 'run chown root and chmod go-w on it'];
  return null;
}

/** Files of root are as trustworthy as the user's own. */
const isMine = ({ uid, mode }: Owned): boolean => (uid === process.geteuid?.() || uid === 0) && (mode & 0o002) === 0;

/** Checked again on the file that was really opened. */
const isRoots = ({ uid, mode }: Owned): boolean => uid === 0 && (mode & 0o022) === 0;

type Wrong = (problem: string, remedy: string) => Result<never, ConfigFault>;

function unreadable(code: string, wrong: Wrong, open = 'make it readable for you'): Result<string | null, ConfigFault> {
  if (code === 'ENOENT') return ok(null);
  if (code === 'ENOTDIR') return wrong('has a file in its path where a directory is expected', 'move that file');
  if (code === 'ELOOP') return wrong('is a symbolic link', 'replace it with the file itself');
  return code === 'EACCES' ? wrong(NO_PERMISSION, open) : wrong(`cannot be read (${code})`, 'check the file');
}

/** Reads at most `limit` bytes from the current position. */
export function readUpTo(descriptor: number, limit: number): Buffer {
  const bytes = Buffer.alloc(limit);
  let length = 0;
  while (length < limit) {
    const read = readSync(descriptor, bytes, length, limit - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

// What is wrong with a configuration, for the person who will mend it: where, what, and what to do. Exit code 3.

/** What is wrong, and what to do about it. */
export type FaultWords = Readonly<Record<'problem' | 'remedy', string>>;

export interface ConfigFault extends FaultWords {
  /** As people name it: relative to the project, or from `~`. */
  readonly file: string;
  /** From 1; null for the file as a whole. */
  readonly line: number | null;
  readonly column: number | null;
}

/** A fault of the file as a whole. */
export const fileFault = (file: string, problem: string, remedy: string): ConfigFault => ({
  file,
  line: null,
  column: null,
  problem,
  remedy,
});

export const NO_PERMISSION = 'cannot be read: no permission';
export const OTHER_NAME = 'is not read under this name';
export const PLAIN_FILE = 'replace it with a plain file, or remove it';
export const NOT_A_DIRECTORY = 'is a file, not a directory';
export const THE_DIRECTORY = 'replace it with the directory itself';

/** `file:line:column: what — what to do`. */
export function faultText({ file, line, column, problem, remedy }: ConfigFault): string {
  const place = [file, line, line === null ? null : column].filter((part) => part !== null).join(':');
  return `${place}: ${problem} — ${remedy}`;
}

// The user's configuration and Mimir's state by the XDG rules, and how paths are shown to people.

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Places {
  /** The home directory, as a real path if it exists. */
  readonly home: string;
  /** `$XDG_CONFIG_HOME/mimir`. */
  readonly config: string;
  /** `$XDG_STATE_HOME/mimir`: databases, audit, locks, trust. */
  readonly state: string;
  /** `$XDG_RUNTIME_DIR/mimir` for sockets; below the state without that variable. */
  readonly runtime: string;
  /** All of Mimir's own folders, including the defaults of these variables. No project may contain one or lie in one. */
  readonly own?: readonly string[];
}

/** The directories for this environment, without creating them. `fallbackHome` replaces an empty HOME. */
export function placesOf(env: Environment, fallbackHome: string): Places {
  const home = absolute(env['HOME']) ?? fallbackHome;
  const state = path.join(absolute(env['XDG_STATE_HOME']) ?? path.join(home, '.local', 'state'), 'mimir');
  const runtime = absolute(env['XDG_RUNTIME_DIR']);
  const config = path.join(absolute(env['XDG_CONFIG_HOME']) ?? path.join(home, '.config'), 'mimir');
  const places = {
    home,
    config,
    state,
    runtime: runtime === null ? path.join(state, 'run') : path.join(runtime, 'mimir'),
  };
  const cache = path.join(absolute(env['XDG_CACHE_HOME']) ?? path.join(home, '.cache'), 'mimir');
  const usual = ['.config', path.join('.local', 'state'), '.cache'].map((name) => path.join(home, name, 'mimir'));
  return { ...places, own: [...new Set([config, state, places.runtime, cache, ...usual, MANAGED])] };
}

const MANAGED = '/etc/mimir';

/** By the XDG rules a relative path counts as not set. */
const absolute = (value: string | undefined): string | null =>
  value !== undefined && path.isAbsolute(value) ? path.normalize(value) : null;

/** A path for people, with `~` for the home. */
export const shownPath = (file: string, home: string): string =>
  file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file;
