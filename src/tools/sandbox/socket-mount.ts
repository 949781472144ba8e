/**
 * The door of an agent in a box: its one socket at a fixed place, the program `mimir` beside it, and Mimir's own code
 * where it lies outside. Nothing else of the folders that these come from is shown. The door decides who is asking, not
 * the program: a command that speaks to the socket itself is the same agent.
 */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../process/environment.ts';
import { launcherFolder, type OwnProgram } from '../process/launcher.ts';
import { isInside } from '../paths/root.ts';
import type { Bind } from './mounts.ts';
import { isFolder, realPlace } from '../paths/mounts.ts';

/** Says where the door is. */
const DOOR_VARIABLE = 'MIMIR_SOCKET';

/** Every Linux has it, and nothing in it is for commands. */
const RUN = '/run';

export interface DoorInBox {
  readonly binds: readonly Bind[];
  /** `PATH` is put before the one there is. */
  readonly env: { readonly [DOOR_VARIABLE]: string; readonly PATH?: string };
}

interface Ground {
  readonly root: string;
  readonly stateDir: string;
  /** Folders that the box covers. */
  readonly hidden: readonly string[];
}

/** What a box covers for it, however empty it is: where the door is shown, the folder of doors, and that of the scripts. */
export const coveredFor = (door: string, stateDir: string): readonly string[] => [RUN, path.dirname(door), stateDir];

/** Null where there is no such socket any more: the command goes without. */
export function doorInBox(door: string, program: OwnProgram | undefined, ground: Ground): DoorInBox | null {
  const [run] = realPlace(RUN).filter(isFolder);
  if (run === undefined || !isSocket(door)) return null;
  const place = path.join(run, 'mimir');
  const own = program === undefined ? null : ownProgram(program, place, ground);
  const socket = path.join(place, 'door');
  return {
    binds: [[door, socket], ...(own?.binds ?? [])],
    env: { [DOOR_VARIABLE]: socket, ...(own === null ? {} : { PATH: own.path }) },
  };
}

/** The same outside of a box, where it is no boundary: a command could look for the doors of others. */
export function doorOutside(
  door: string,
  program: OwnProgram | undefined,
  { stateDir, env }: { readonly stateDir: string; readonly env: Environment },
): Environment {
  const folder = program === undefined ? null : launcherFolder(program, stateDir, null);
  return withDoor(env, { [DOOR_VARIABLE]: door, ...(folder === null ? {} : { PATH: folder }) });
}

export const withDoor = (env: Environment, { PATH, ...more }: DoorInBox['env']): Environment => ({
  ...env,
  ...more,
  ...(PATH === undefined ? {} : { PATH: `${PATH}${path.delimiter}${env['PATH'] ?? ''}` }),
});

function ownProgram(program: OwnProgram, place: string, { root, stateDir, hidden }: Ground): Own | null {
  const caches = path.join(place, 'cache');
  const folder = launcherFolder(program, stateDir, caches);
  if (folder === null) return null;
  const bin = path.join(place, 'bin');
  const isSeen = (part: string): boolean =>
    isInside(root, part) || !['/tmp', ...hidden].some((covered) => isInside(covered, part));
  const parts = [...new Set([...program.parts, program.node])].filter((part) => !isSeen(part));
  const apart = parts.filter((part) => !parts.some((other) => other !== part && isInside(other, part)));
  // A folder that is a link is shown under the name that it is asked for by.
  const code = apart.flatMap((part): readonly Bind[] => realPlace(part).map((real) => [real, part]));
  const cache = (program.cache === null ? [] : realPlace(program.cache)).filter(isFolder);
  return {
    path: bin,
    binds: [
      ...code,
      [path.join(folder, 'mimir'), path.join(bin, 'mimir')],
      // By the name that Mimir gives it below a folder of caches.
      ...cache.map((real): Bind => [real, path.join(caches, 'mimir')]),
    ],
  };
}

interface Own {
  readonly path: string;
  readonly binds: readonly Bind[];
}

function isSocket(place: string): boolean {
  try {
    return lstatSync(place).isSocket();
  } catch {
    return false;
  }
}
