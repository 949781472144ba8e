/**
 * Where the sockets of a run lie: short names in a folder of this user alone, found again by every process of the same user
 * whatever its environment. Decides names, owners and rights; what is said on a socket is not its business.
 */
import { hash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentId, SessionId } from '../domain/ids.ts';
import { ControlFault } from '../ports/control.ts';

/** What the path of a socket may be long, in bytes: one less than the kernel's field. */
const LONGEST = process.platform === 'linux' ? 107 : 103;
/** Of a name in a socket's folder, with a hash of its agent. */
const LONGEST_NAME = 24;

/** Where a run's sockets may be. Plain strings: what lies there is looked at when it is used. */
export interface Where {
  readonly session: SessionId;
  /** Of the person's socket. Those of agents begin with it. */
  readonly name: string;
  /** Folders that are tried, best first. */
  readonly folders: readonly string[];
  /** In the state folder: a link that names the socket for who has another runtime folder. */
  readonly note: string;
}

/** The place of `session` in `project`; nothing is made. `runtimeDir` is `$XDG_RUNTIME_DIR/mimir`, or anything below the state. */
export function whereOf(of: {
  readonly stateDir: string;
  readonly runtimeDir: string;
  readonly project: string;
  readonly session: SessionId;
}): Where {
  const name = hash('sha256', `${of.stateDir}\0${realOf(of.project)}\0${of.session}`).slice(0, 16);
  const below = join(of.stateDir, 'run');
  const folders = [of.runtimeDir, below, join(tmpdir(), `mimir-${process.getuid?.() ?? 0}`)];
  return {
    session: of.session,
    name,
    folders: [...new Set(folders)].filter((folder) => Buffer.byteLength(folder) + 1 + LONGEST_NAME <= LONGEST),
    note: join(below, `${name}.at`),
  };
}

/** The name of an agent's door in the folder of the person's socket. */
export const doorName = (where: Where, agent: AgentId): string => `${where.name}-${hash('sha256', agent).slice(0, 7)}`;

/** Where somebody may listen, likeliest first: sockets of ours in folders of ours. Nothing else is ever knocked at. */
export function knownPaths(where: Where): readonly string[] {
  const own = where.folders.map((folder) => join(folder, where.name));
  const noted = linkOf(where.note);
  const all = noted === null || !noted.endsWith(`/${where.name}`) ? own : [...own, noted];
  return [...new Set(all)].filter((path) => isOurSocket(path));
}

/**
 * A path to listen at, in the first folder that is private; what is left of a process that is gone is taken away. Null when
 * somebody listens there; throws `ControlFault` when no folder will do.
 */
export async function placeFor(where: Where, name: string): Promise<string | null> {
  const path = join(folderFor(where), name);
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSocket() === true && (await isAnswered(path))) return null;
    if (found?.isDirectory() !== true) {
      rmSync(path, { force: true });
      return path;
    }
  } catch (error) {
    throw new ControlFault(`${path} can't be a socket: ${wordsOf(error)}`);
  }
  throw new ControlFault(`${path} can't be a socket: a folder is in its place\n  move it away`);
}

/** Notes in the state folder where the person's socket is. What can't be noted is found by the folders alone. */
export function noteDown(where: Where, path: string): void {
  if (dirname(path) === dirname(where.note)) return;
  if (privateIn(dirname(where.note)) !== null) return;
  try {
    rmSync(where.note, { force: true });
    symlinkSync(path, where.note);
  } catch {
    // A full disk, or two at once: the folders are looked into all the same.
  }
}

/** The socket's own file goes when it is closed; this is the note's. */
export function forget(where: Where): void {
  try {
    rmSync(where.note, { force: true });
  } catch {
    // It leads to a socket that is gone, where nobody knocks.
  }
}

/** Only its owner may knock, whatever the umask was. */
export const keepToOwner = (path: string): void => chmodSync(path, 0o600);

function folderFor(where: Where): string {
  const faults: string[] = [];
  for (const folder of where.folders) {
    const fault = folder === dirname(where.note) ? privateIn(folder) : whyNot(folder);
    if (fault === null) return folder;
    faults.push(fault);
  }
  const why = faults.length === 0 ? 'every path would be too long for a socket' : faults.join('; ');
  throw new ControlFault(`no folder for the run's socket: ${why}\n  set XDG_RUNTIME_DIR to a folder of your own`);
}

/** Makes `folder` below the state folder, and says why it is not private, or null when it is. */
export function privateIn(folder: string): string | null {
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  } catch (error) {
    return wordsOf(error);
  }
  return whyNot(folder);
}

/** The same where what is above is the system's: a runtime folder of a session that has ended is not made again. */
function whyNot(folder: string): string | null {
  try {
    const parent = statSync(dirname(folder), { throwIfNoEntry: false });
    if (parent === undefined) return `${dirname(folder)} is not there`;
    if (!isSafeParent(parent)) return `${dirname(folder)} can be changed by other users`;
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (found.isSymbolicLink()) return `${folder} is a symbolic link`;
    if (!found.isDirectory()) return `${folder} is not a folder`;
    if (!isOurs(found)) return `${folder} belongs to another user`;
    if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return null;
  } catch (error) {
    return wordsOf(error);
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Nobody but its owner, or the system, can put another folder in the place of ours. */
const isSafeParent = ({ uid, mode }: Stats): boolean =>
  (uid === 0 || uid === process.getuid?.()) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0);

const isOurs = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

/** A socket of ours in a folder that only we change. */
export function isOurSocket(path: string): boolean {
  try {
    const [folder, found] = [lstatSync(dirname(path)), lstatSync(path)];
    if (!folder.isDirectory() || !isOurs(folder) || (folder.mode & 0o022) !== 0) return false;
    return found.isSocket() && isOurs(found);
  } catch {
    return false;
  }
}

/** Does anybody take a knock at the socket? */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Refused: nobody holds it. Anything else may be somebody who is busy, and is left alone.
    socket.once('error', (error) => {
      resolve(!('code' in error && (error.code === 'ECONNREFUSED' || error.code === 'ENOENT')));
    });
  });
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function realOf(project: string): string {
  try {
    return realpathSync(project);
  } catch {
    return project;
  }
}
