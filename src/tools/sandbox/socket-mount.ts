/** Mounts an agent's socket in its sandbox at a fixed path, with the program `mimir` and Mimir's own code beside it. The socket
 * identifies the agent, not the program: a command that uses the socket directly is the same agent. */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { isFolder, isInside, isWithin, leftByDead, ownMark, realPlace } from '../paths/root.ts';
import { type Environment, launcherFolder, type OwnProgram } from '../process/environment.ts';
import { bytesIn, type Helpers, removeFolder } from '../process/kept-folders.ts';
import { SANDBOX_HOME } from '../toolchains/toolchains.ts';
import type { Bind } from './mounts.ts';
import { tried } from '../../domain/result.ts';

const SOCKET_VARIABLE = 'MIMIR_SOCKET';

/** Exists on every Linux and holds nothing that commands need. */
const RUN = '/run';

export interface SocketMount {
  readonly binds: readonly Bind[];
  /** `PATH` is prepended to the present one. */
  readonly env: { readonly [SOCKET_VARIABLE]: string; readonly PATH?: string };
}

interface MountPlaces {
  readonly root: string;
  readonly stateDir: string;
  /** Folders that the sandbox covers. */
  readonly hidden: readonly string[];
}

/** What a sandbox covers for the mount, even if empty: its place, the folder of sockets, and that of the launcher scripts. */
export const coveredFor = (door: string, stateDir: string): readonly string[] => [RUN, path.dirname(door), stateDir];

/** Null if the socket no longer exists; the command then runs without one. */
export function mountSocket(door: string, program: OwnProgram | undefined, ground: MountPlaces): SocketMount | null {
  const [run] = realPlace(RUN).filter(isFolder);
  if (run === undefined || !tried(() => lstatSync(door).isSocket(), false)) return null;
  const place = path.join(run, 'mimir');
  const own = program === undefined ? null : ownProgram(program, place, ground);
  const socket = path.join(place, 'door');
  return {
    binds: [[door, socket], ...(own?.binds ?? [])],
    env: { [SOCKET_VARIABLE]: socket, ...(own === null ? {} : { PATH: own.path }) },
  };
}

/** The variables for a command outside a sandbox. This is no boundary: the command could find other agents' sockets. */
export function socketOutside(
  door: string,
  program: OwnProgram | undefined,
  { stateDir, env }: { readonly stateDir: string; readonly env: Environment },
): Environment {
  const folder = program === undefined ? null : launcherFolder(program, stateDir, null);
  return withSocket(env, { [SOCKET_VARIABLE]: door, ...(folder === null ? {} : { PATH: folder }) });
}

export const withSocket = (env: Environment, { PATH, ...more }: SocketMount['env']): Environment => ({
  ...env,
  ...more,
  ...(PATH === undefined ? {} : { PATH: `${PATH}${path.delimiter}${env['PATH'] ?? ''}` }),
});

function ownProgram(
  program: OwnProgram,
  place: string,
  { root, stateDir, hidden }: MountPlaces,
): (Pick<SocketMount, 'binds'> & { readonly path: string }) | null {
  const caches = path.join(place, 'cache');
  const folder = launcherFolder(program, stateDir, caches);
  if (folder === null) return null;
  const bin = path.join(place, 'bin');
  const isSeen = (part: string): boolean => isInside(root, part) || !isWithin(['/tmp', ...hidden])(part);
  const parts = [...new Set([...program.parts, program.node])].filter((part) => !isSeen(part));
  const apart = parts.filter((part) => !parts.some((other) => other !== part && isInside(other, part)));
  // A link is shown under the name by which the program is started.
  const code = apart.flatMap((part): readonly Bind[] => realPlace(part).map((real) => [real, part]));
  const cache = (program.cache === null ? [] : realPlace(program.cache)).filter(isFolder);
  return {
    path: bin,
    binds: [
      ...code,
      [path.join(folder, 'mimir'), path.join(bin, 'mimir')],
      // The name that Mimir uses below a folder of caches.
      ...cache.map((real): Bind => [real, path.join(caches, 'mimir')]),
    ],
  };
}

// The `/tmp` folder of each agent, in the state folder, from its first command to its end. Folders of killed processes are
// removed by a later one.

export const TMP_BYTES = 2 * 1024 * 1024 * 1024;

interface AgentFolders {
  of(agent: string): string;
  bytes(agent: string): Promise<number | null>;
  remove(agent: string | null): Promise<void>;
  /** Removes the folders of ended processes. */
  tidy(): Promise<void>;
}

export function agentFolders(stateDir: string, root: string, helpers: Helpers): AgentFolders {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 24);
  const all = path.join(stateDir, 'scratch', key);
  const own = path.join(all, ownMark());
  const folders = new Map<string, string>();
  let made = 0;
  return {
    of(agent) {
      const known = folders.get(agent);
      const folder = known ?? path.join(own, String((made += 1)));
      folders.set(agent, folder);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    bytes(agent) {
      const folder = folders.get(agent);
      return folder === undefined ? Promise.resolve(0) : bytesIn(helpers, [folder]);
    },
    async remove(agent) {
      const mine = [...folders].filter(([name]) => agent === null || name === agent);
      for (const [name] of mine) folders.delete(name);
      await Promise.all(mine.map(([, folder]) => removeFolder(helpers, folder)));
      if (agent === null && made > 0) await removeFolder(helpers, own);
    },
    async tidy() {
      for (const mark of leftByDead(all)) await removeFolder(helpers, path.join(all, mark));
    },
  };
}

/** Creates, in an agent's folder, the folders of `/tmp` that lead to the home and to `places`. Each gets a mount of its own, so that no command can
 * replace it with a link. Null if the agent has put something else there or a place is a file: then the agent's folder cannot be used. */
export function mountsIn(folder: string, places: readonly string[]): readonly string[] | null {
  const below = places.filter((place) => place.startsWith('/tmp/'));
  const names = [...new Set([SANDBOX_HOME, ...below].map((place) => place.split('/')[2] ?? ''))];
  const isMade = (name: string): boolean => {
    if (places.includes(`/tmp/${name}`) && !isFolder(`/tmp/${name}`)) return false;
    mkdirSync(path.join(folder, name), { recursive: true, mode: 0o700 });
    return lstatSync(path.join(folder, name)).isDirectory();
  };
  try {
    return names.every(isMade) ? names.map((name) => `/tmp/${name}`) : null;
  } catch {
    return null;
  }
}
