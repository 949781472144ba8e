/** Places of the machine that a box hides, and the few of them that it shows all the same: tool chains that PATH names. */
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isFolder, realPlace } from '../paths/mounts.ts';
import { isInside, type Root } from '../paths/root.ts';
import { type Environment, programOn, toolEnvironment } from '../process/environment.ts';
import { runProgram } from '../process/run-program.ts';

/** Homes, sockets and other disks. */
const HIDDEN = ['/home', '/root', '/run', '/mnt', '/media', '/var/tmp'];
/** Files that only root reads: to a box that root starts they would be open. */
const ROOTS_OWN = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-'];

/**
 * Folders to be covered, real, none below another; `/tmp` is the box's own anyway. `more`: beside the usual ones. `also`:
 * those that are covered when they are empty as well, since something may come into them.
 */
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

/** Nothing to hide, and one mount less. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

export const hiddenFiles = (): readonly string[] => (process.getuid?.() === 0 ? ROOTS_OWN.flatMap(realPlace) : []);

const MOST_SOCKETS = 64;

/**
 * Sockets of the file system that somebody listens on, but for those in folders that are covered anyway (`hidden`), as far
 * as nothing in them is shown: another
 * network namespace does not keep from them, and a read-only mount neither. Those of the project are the person's own work.
 */
export function openSockets(root: string, hidden: readonly string[], shown: readonly string[] = []): readonly string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1);
    const places = lines.flatMap((line) => / (\/.+)$/.exec(line)?.[1] ?? []);
    // Mimir's own are many, and must not push out those that matter.
    const isShown = (place: string): boolean => shown.some((folder) => isInside(folder, place));
    const open = places.filter(
      (place) => isShown(place) || !['/tmp', ...hidden].some((folder) => isInside(folder, place)),
    );
    return [...new Set(open)]
      .slice(0, MOST_SOCKETS)
      .flatMap(realPlace)
      .filter((place) => !isInside(root, place) && isOpenSocket(place));
  } catch {
    return [];
  }
}

/** One that a box could get to. What has gone meanwhile is none, and takes no other's cover away. */
function isOpenSocket(place: string): boolean {
  try {
    return lstatSync(place).isSocket() && isReached(place);
  } catch {
    return false;
  }
}

/**
 * Can a box get there at all? That of root is not root over folders of other users: there it is turned away as anybody
 * else, and bubblewrap could cover nothing either (`/var/spool/postfix/private`). Nobody else's box sees what we don't.
 */
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

/** Tool chains whose whole folder below the home directory holds programs and nothing secret, and how they are told. */
const CHAINS: Readonly<Record<string, string | null>> = {
  '.nvm': null,
  '.fnm': null,
  '.pyenv': 'PYENV_ROOT',
  '.rbenv': 'RBENV_ROOT',
  '.nodenv': 'NODENV_ROOT',
  '.goenv': 'GOENV_ROOT',
  '.asdf': 'ASDF_DATA_DIR',
  '.volta': 'VOLTA_HOME',
  '.sdkman': 'SDKMAN_DIR',
  '.deno': null,
  '.bun': null,
  '.rustup': 'RUSTUP_HOME',
};

export interface Chains {
  readonly folders: readonly string[];
  /** Variables that say where a tool chain is, since the box has another home. */
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
  // Programs of ~/.cargo/bin are one program that looks for the real ones there.
  if (named.includes(path.join(realHome, '.cargo/bin'))) chains.add('.rustup');
  const whole = [...chains].flatMap((name) => (name === null ? [] : realPlace(path.join(realHome, name))));
  const env: Record<string, string> = {};
  for (const name of chains) {
    const variable = name === null ? null : CHAINS[name];
    if (name === null || typeof variable !== 'string') continue;
    const folder = path.join(realHome, name);
    // Shown where it really is: the link to it is hidden with the home.
    env[variable] = realPlace(folder)[0] ?? folder;
  }
  const trees = linked.filter((place) => !named.includes(path.dirname(place))).map((place) => treeOf(realHome, place));
  const apart = [...named, ...trees].filter((place) => !whole.some((tree) => isInside(tree, place)));
  // Never a folder that holds the home, or the home itself: one odd link in a PATH entry would show all of it.
  const shown = [...whole, ...apart].filter((place) => isHidden(place) && !isInside(place, realHome));
  return { folders: [...new Set(shown)].toSorted((a, b) => a.length - b.length), env };
}

function chainOf(home: string, place: string): string | null {
  const [first = ''] = path.relative(home, place).split(path.sep);
  return isInside(home, place) && Object.hasOwn(CHAINS, first) ? first : null;
}

/** Where links of a folder of programs lead. */
function linksOf(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).slice(0, 2000);
    return entries.filter((entry) => entry.isSymbolicLink()).flatMap(({ name }) => realPlace(path.join(folder, name)));
  } catch {
    return [];
  }
}

/** The tree that a program lies in: what is above its `bin`, or its own folder. Never all of `~/.local` or its like. */
function treeOf(home: string, program: string): string {
  const folder = path.dirname(program);
  const above = path.dirname(folder);
  return path.basename(folder) === 'bin' && path.dirname(above) !== home ? above : folder;
}

/**
 * Where the git directory of a worktree lies outside the root: itself and the repository that it belongs to. The latter
 * counts only when it holds the former.
 */
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

/** The system's own bubblewrap is looked for first, and never one that an agent or the project could have put there. */
const SYSTEM_PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** The real path of a bubblewrap that belongs to root and lies outside `root`; or null. */
export const findBubblewrap = (root: string, environment: Environment): string | null =>
  allOutside(root, environment).find(isRoots) ?? null;

/** Why there is none that can be used, and what to do. */
export function whyNoBubblewrap(root: string, environment: Environment): string {
  const [found] = allOutside(root, environment);
  return found === undefined
    ? 'bubblewrap is missing: install the package "bubblewrap"'
    : `${found} can not be relied on: it, or its folder, does not belong to root alone, as far as this process can see (in a user namespace it may not)`;
}

function allOutside(root: string, environment: Environment): readonly string[] {
  const places = [...SYSTEM_PLACES, ...(environment['PATH'] ?? '').split(path.delimiter)];
  return places.flatMap((place) => {
    const program = programOn({ PATH: place }, 'bwrap');
    return program === null ? [] : realPlace(program).filter((real) => !isInside(root, real));
  });
}

/** What it says of its own version, `0.8.0`; null where there is none or it says nothing like that. For people: no run needs it. */
export async function bubblewrapVersion(root: string): Promise<string | null> {
  const env = toolEnvironment(root);
  const file = findBubblewrap(root, env);
  if (file === null) return null;
  const { signal } = new AbortController();
  const { stdout } = await runProgram({ file, args: ['--version'], cwd: '/', env, timeLimit: VERSION_MS, signal });
  return /^bubblewrap (\d[\w.+~-]{0,40})\s*$/.exec(stdout)?.[1] ?? null;
}
const VERSION_MS = 2000;

/** It and its folder can be changed by root alone. */
function isRoots(file: string): boolean {
  return [lstatSync(file), statSync(path.dirname(file))].every(({ uid, mode }) => uid === 0 && (mode & 0o022) === 0);
}
