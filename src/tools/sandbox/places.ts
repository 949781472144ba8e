/** The places of the machine that a sandbox hides, and the toolchains below them that it shows because PATH names them. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isFolder, isInside, isWithin, mountsBelow, realPlace, type Root } from '../paths/root.ts';
import { type Environment, programOn, toolEnvironment } from '../process/environment.ts';
import { runProgram } from '../process/run-program.ts';
import { tried } from '../../domain/result.ts';
import DATA from './toolchain-folders.json' with { type: 'json' };

const HIDDEN = ['/home', '/root', '/run', '/mnt', '/media', '/var/tmp'];
/** Files that only root may read; a sandbox started by root could read them. */
const ROOTS_OWN = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-'];

/** The real folders to cover, none below another; `/tmp` is the sandbox's own anyway. `more` are additional folders. Those of
 * `also` are covered even when empty, because something may be put into them. */
export function hiddenFolders(more: readonly string[], also: readonly string[] = []): readonly string[] {
  const always = new Set(also.flatMap(realPlace));
  const real = [...new Set([...[...HIDDEN, ...more].flatMap(realPlace), ...always])].filter(
    (place) =>
      isFolder(place) &&
      !['/', '/tmp'].includes(place) &&
      !isInside('/tmp', place) &&
      (always.has(place) || !isEmpty(place)),
  );
  return real.filter((place) => !real.some((other) => other !== place && isInside(other, place)));
}

/** An empty folder needs no cover, which saves a mount. */
const isEmpty = (folder: string): boolean => tried(() => readdirSync(folder).length === 0, false);

export const hiddenFiles = (): readonly string[] => (process.getuid?.() === 0 ? ROOTS_OWN.flatMap(realPlace) : []);
const MOST_SOCKETS = 64;

/** Listening file-system sockets that a sandbox could reach: those outside covered folders (`hidden`) or in a shown one. Neither
 * a network namespace nor a read-only mount blocks them. Sockets in the project belong to the person's work and stay. */
export function openSockets(root: string, hidden: readonly string[], shown: readonly string[] = []): readonly string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1);
    const places = lines.flatMap((line) => / (\/.+)$/.exec(line)?.[1] ?? []);
    // Mimir's own sockets are many and must not use up the limit.
    const open = places.filter((place) => isWithin(shown)(place) || !isWithin(['/tmp', ...hidden])(place));
    return [...new Set(open)]
      .slice(0, MOST_SOCKETS)
      .flatMap(realPlace)
      .filter((place) => !isInside(root, place) && isOpenSocket(place));
  } catch {
    return [];
  }
}

/** True for an existing socket that a sandbox can reach; false when it has gone meanwhile. */
const isOpenSocket = (place: string): boolean => tried(() => lstatSync(place).isSocket() && isReached(place), false);

/** Can a sandbox of root reach the socket? Root's sandbox is not root over other users' folders, and bubblewrap could not cover
 * anything in them either (`/var/spool/postfix/private`). A sandbox of any other user sees what that user sees. */
function isReached(place: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const groups = new Set([process.getegid?.(), ...(process.getgroups?.() ?? [])]);
  const passed = (folder: string): boolean => {
    const { uid, gid, mode } = statSync(folder);
    return uid === 0 || (mode & (groups.has(gid) ? 0o010 : 0o001)) !== 0;
  };
  const steps = path.dirname(place).split(path.sep);
  return steps.every((_, index) => passed(path.sep + steps.slice(1, index + 1).join(path.sep)));
}

/** Toolchains whose whole folder in the home holds programs and nothing secret, with the variable that names the folder. */
const CHAINS: Readonly<Record<string, string | null>> = DATA;

export interface Chains {
  readonly folders: readonly string[];
  /** Variables that name the toolchains' folders, because the sandbox has another home. */
  readonly env: Environment;
}

/** What PATH names below a hidden folder: the folder itself, known tool chains whole, and where its links lead. */
export function toolChains(environment: Environment, home: string, hidden: readonly string[]): Chains {
  const isHidden = (place: string): boolean => hidden.some((folder) => folder !== place && isInside(folder, place));
  const [realHome = home] = realPlace(home);
  const entries = (environment['PATH'] ?? '').split(path.delimiter).flatMap(realPlace).filter(isFolder);
  const named = entries.filter(isHidden);
  const linked = entries.flatMap((folder) => linksOf(folder)).filter(isHidden);
  const chains = new Set([...named, ...linked].map((place) => chainOf(realHome, place)));
  // The programs in ~/.cargo/bin are launchers for those in ~/.rustup.
  if (named.includes(path.join(realHome, '.cargo/bin'))) chains.add('.rustup');
  const whole = [...chains].flatMap((name) => (name === null ? [] : realPlace(path.join(realHome, name))));
  const env: Record<string, string> = {};
  for (const name of chains) {
    const variable = name === null ? null : CHAINS[name];
    if (name === null || typeof variable !== 'string') continue;
    const folder = path.join(realHome, name);
    // The real path: a link to it is hidden together with the home.
    env[variable] = realPlace(folder)[0] ?? folder;
  }
  const trees = linked.filter((place) => !named.includes(path.dirname(place))).map((place) => treeOf(realHome, place));
  const apart = [...named, ...trees].filter((place) => !isWithin(whole)(place));
  // Never the home or a folder around it: one odd link on the PATH would show all of it.
  const shown = [...whole, ...apart].filter((place) => isHidden(place) && !isInside(place, realHome));
  return { folders: [...new Set(shown)].toSorted((a, b) => a.length - b.length), env };
}

function chainOf(home: string, place: string): string | null {
  const [first = ''] = path.relative(home, place).split(path.sep);
  return isInside(home, place) && Object.hasOwn(CHAINS, first) ? first : null;
}

const linksOf = (folder: string): readonly string[] =>
  tried((): readonly string[] => {
    const entries = readdirSync(folder, { withFileTypes: true }).slice(0, 2000);
    return entries.filter((entry) => entry.isSymbolicLink()).flatMap(({ name }) => realPlace(path.join(folder, name)));
  }, []);

/** The folder above a program's `bin`, or the program's own folder; never all of `~/.local` or the like. */
function treeOf(home: string, program: string): string {
  const folder = path.dirname(program);
  const above = path.dirname(folder);
  return path.basename(folder) === 'bin' && path.dirname(above) !== home ? above : folder;
}

/** The folders of a worktree's git directory that lie outside the root: the repository it belongs to, if that contains the git
 * directory; otherwise the git directory alone. */
export function gitFolders(root: Root): readonly string[] {
  if (root.git.is === 'none' || isInside(root.path, root.git.directory)) return [];
  const { directory } = root.git;
  try {
    const common = path.resolve(directory, readFileSync(path.join(directory, 'commondir'), 'utf8').trimEnd());
    return realPlace(common).filter((place) => isInside(path.join(place, 'worktrees'), directory));
  } catch {
    return [directory];
  }
}

/** Searched before PATH. A bubblewrap that an agent or the project could have put there is never used. */
const SYSTEM_PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** The real path of a bubblewrap that belongs to root and lies outside `root`; or null. */
export const findBubblewrap = (root: string, environment: Environment): string | null =>
  allOutside(root, environment).find(isRoots) ?? null;

/** Why no usable bubblewrap was found, and what to do. */
export function whyNoBubblewrap(root: string, environment: Environment): string {
  const [found] = allOutside(root, environment);
  return found === undefined
    ? 'bubblewrap is missing: install the package "bubblewrap"'
    : `${found} cannot be trusted: it or its folder does not belong to root alone, as far as this process can see (a user namespace can hide the owner)`;
}

function allOutside(root: string, environment: Environment): readonly string[] {
  const places = [...SYSTEM_PLACES, ...(environment['PATH'] ?? '').split(path.delimiter)];
  return places.flatMap((place) => {
    const program = programOn({ PATH: place }, 'bwrap');
    return program === null ? [] : realPlace(program).filter((real) => !isInside(root, real));
  });
}

/** The version, such as `0.8.0`, for people only; null without bubblewrap or with an unexpected answer. */
export async function bubblewrapVersion(root: string): Promise<string | null> {
  const env = toolEnvironment(root);
  const file = findBubblewrap(root, env);
  if (file === null) return null;
  const { stdout } = await runProgram({ file, args: ['--version'], cwd: '/', env, timeLimit: VERSION_MS });
  return /^bubblewrap (\d[\w.+~-]{0,40})\s*$/.exec(stdout)?.[1] ?? null;
}
const VERSION_MS = 2000;

/** True if only root can change the program and its folder. */
const isRoots = (file: string): boolean =>
  [lstatSync(file), statSync(path.dirname(file))].every(({ uid, mode }) => uid === 0 && (mode & 0o022) === 0);

// What policy's paths come to in a box: what stays writable, what must stay absent, and what must stay where it is.

/** The folders that are in every list and in the project; no list makes anything outside the project writable. */
export function writablePlaces(root: string, lists: readonly (readonly string[])[]): readonly string[] {
  let writable: readonly string[] = [root];
  for (const list of lists) {
    const real = list.flatMap(realPlace);
    writable = writable.flatMap((place) =>
      real.flatMap((other) => {
        if (isInside(place, other)) return [other];
        return isInside(other, place) ? [place] : [];
      }),
    );
  }
  const all = [...new Set(writable)];
  return all.filter((place) => !all.some((other) => other !== place && isInside(other, place)));
}

/** The folders between writable folders and the places in them: moving one would evade a rule on a path. */
export function foldersAbove(writable: readonly string[], places: readonly string[]): readonly string[] {
  const above = places.flatMap((place) => {
    const top = writable.find((folder) => folder !== place && isInside(folder, place));
    if (top === undefined) return [];
    const steps = path
      .relative(top, path.dirname(place))
      .split(path.sep)
      .filter((step) => step !== '');
    return steps.map((_, index) => path.join(top, ...steps.slice(0, index + 1)));
  });
  return [...new Set(above)].toSorted((a, b) => a.length - b.length);
}

/** For a missing place, the first missing folder on the way to it, which must not be created; otherwise empty. */
export function firstAbsent(place: string): readonly string[] {
  if (isThere(place)) return [];
  let absent = place;
  while (!isThere(path.dirname(absent))) absent = path.dirname(absent);
  // A link on the way may lead anywhere, so the real parent counts. Below a file nothing can be created.
  const parents = realPlace(path.dirname(absent)).filter(isFolder);
  return parents.map((parent) => path.join(parent, path.basename(absent)));
}

/** False also below a file, whatever error the system gives. */
const isThere = (place: string): boolean => {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

/** What of the project is writable, in place of all of it. Absolute paths; left out, nothing is otherwise. */
export interface Opened {
  readonly writable?: readonly string[];
  /** Read-only folders inside writable ones. */
  readonly closed?: readonly string[];
  /** Folders to create first, parents before children; those that stay empty are removed at the end. */
  readonly absent?: readonly string[];
}

export type Paths = Readonly<Record<'allowRead' | 'denyRead' | 'denyWrite', readonly string[]>>;

export const pathsOf = ({ rules }: Root): Paths => ({
  allowRead: (rules.allowRead ?? []).map(({ path: place }) => place),
  denyRead: rules.denyRead.map(({ path: place }) => place),
  denyWrite: rules.denyWrite.map(({ path: place }) => place),
});

/** The writable places; never a denied one or a place inside it. */
export function writableIn(
  { path: root, rules }: Root,
  { denyRead, denyWrite }: Paths,
  opened: Opened | undefined,
): readonly string[] {
  const kept = [...denyRead.filter(isWithin([root])), ...denyWrite, ...mountsBelow(root)].flatMap(realPlace);
  const lists = rules.allowWrite.map(({ paths }) => paths);
  if (opened?.writable !== undefined) lists.push(opened.writable);
  return writablePlaces(root, lists).filter((place) => !isWithin(kept)(place));
}
