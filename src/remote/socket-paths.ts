/** The paths of a run's sockets: short names in a private folder, which every process of the same user finds whatever its environment. Also checks
 * owners and permissions. */
import { codeOf, messageOf, tried } from '../domain/result.ts';
import { hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmodSync, lstatSync, mkdirSync, readlinkSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentId, SessionId } from '../domain/ids.ts';
import { ControlFault } from '../ports/control.ts';

/** The longest path of a socket in bytes: one less than the kernel's field. */
const LONGEST = process.platform === 'linux' ? 107 : 103;
const LONGEST_NAME = 24;

/** Candidate places of a run's sockets. They are checked when they are used. */
export interface Where {
  readonly session: SessionId;
  /** The name of the person's socket; agents' names begin with it. */
  readonly name: string;
  /** Candidate folders, best first. */
  readonly folders: readonly string[];
  /** A link in the state folder to the socket, for processes with another runtime folder. */
  readonly note: string;
}

/** The places for `session` of `project`, without creating anything. `runtimeDir` is `$XDG_RUNTIME_DIR/mimir`, or a folder below the state. */
export function whereOf(of: {
  readonly stateDir: string;
  readonly runtimeDir: string;
  readonly project: string;
  readonly session: SessionId;
}): Where {
  const real = tried(() => realpathSync(of.project), of.project);
  const name = hash('sha256', `${of.stateDir}\0${real}\0${of.session}`).slice(0, 16);
  const below = join(of.stateDir, 'run');
  const folders = [of.runtimeDir, below, join(tmpdir(), `mimir-${process.getuid?.() ?? 0}`)];
  return {
    session: of.session,
    name,
    folders: [...new Set(folders)].filter((folder) => Buffer.byteLength(folder) + 1 + LONGEST_NAME <= LONGEST),
    note: join(below, `${name}.at`),
  };
}

/** The name of an agent's socket in the folder of the person's. */
export const socketName = (where: Where, agent: AgentId): string =>
  `${where.name}-${hash('sha256', agent).slice(0, 7)}`;

/** The existing sockets of this user at the candidate places, likeliest first. No other path is ever connected to. */
export function knownPaths(where: Where): readonly string[] {
  const own = where.folders.map((folder) => join(folder, where.name));
  const noted = tried(() => readlinkSync(where.note), null);
  const all = noted === null || !noted.endsWith(`/${where.name}`) ? own : [...own, noted];
  return [...new Set(all)].filter((path) => isOurSocket(path));
}

/** A path to listen at in the first private folder, after removing the remains of an ended process. Null if a process listens there; throws
 * `ControlFault` if no folder is usable. */
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
    throw new ControlFault(`cannot create a socket at ${path}: ${messageOf(error)}`);
  }
  throw new ControlFault(`cannot create a socket at ${path}: a folder is in its place\n  move the folder away`);
}

/** Links the person's socket in the state folder. If that fails, it is found through the folders alone. */
export function noteDown(where: Where, path: string): void {
  if (dirname(path) === dirname(where.note) || privateIn(dirname(where.note)) !== null) return;
  try {
    rmSync(where.note, { force: true });
    symlinkSync(path, where.note);
  } catch {
    // For example a full disk or a concurrent change; the folders are searched anyway.
  }
}

/** Removes the link; the socket's own file is removed when it is closed. */
export function forget(where: Where): void {
  try {
    rmSync(where.note, { force: true });
  } catch {
    // The link points to a missing socket, which is ignored.
  }
}

/** Limits access to the owner, whatever the umask. */
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

/** Creates `folder` below the state folder; returns why it is not private, or null. */
export function privateIn(folder: string): string | null {
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  } catch (error) {
    return messageOf(error);
  }
  return whyNot(folder);
}

/** As `privateIn`, but does not create the parent: the runtime folder of an ended login session must not be recreated. */
function whyNot(folder: string): string | null {
  try {
    const parent = statSync(dirname(folder), { throwIfNoEntry: false });
    if (parent === undefined) return `${dirname(folder)} does not exist`;
    if (!isSafeParent(parent)) return `${dirname(folder)} can be changed by other users`;
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (found.isSymbolicLink()) return `${folder} is a symbolic link`;
    if (!found.isDirectory()) return `${folder} is not a folder`;
    if (!isOurs(found)) return `${folder} belongs to another user`;
    if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** True if only the owner or the system can replace our folder in it. */
const isSafeParent = ({ uid, mode }: Stats): boolean =>
  (uid === 0 || uid === process.getuid?.()) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0);

const isOurs = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

/** True for a socket of this user in a folder that no other user can change. */
export const isOurSocket = (path: string): boolean =>
  tried(() => {
    const [folder, found] = [lstatSync(dirname(path)), lstatSync(path)];
    if (!folder.isDirectory() || !isOurs(folder) || (folder.mode & 0o022) !== 0) return false;
    return found.isSocket() && isOurs(found);
  }, false);

/** True if something accepts connections at the socket. */
export const isAnswered = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Refused means that nothing listens. Any other error may mean a busy process, which is left alone.
    socket.once('error', (error) => {
      resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error)));
    });
  });
