/**
 * `/tmp` of each agent: a folder in the state folder, there from its first command to its end. What a process that was
 * killed has left is removed by a later one.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { bytesIn, type Helpers, removeFolder } from '../process/kept-folders.ts';
import { leftByDead, ownMark } from '../paths/process-mark.ts';
import { isFolder } from '../paths/mounts.ts';
import { BOX_HOME } from '../toolchains/toolchains.ts';

export const TMP_BYTES = 2 * 1024 * 1024 * 1024;

export interface AgentFolders {
  /** Made where it is missing. */
  of(agent: string): string;
  bytes(agent: string): Promise<number | null>;
  /** Of this agent, or of all (null). */
  remove(agent: string | null): Promise<void>;
  /** What dead processes have left. */
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

/**
 * The folders in `/tmp` that lead to the home and to these places, made in an agent's folder: a mount of its own stands on each, so
 * that no command can put a link in its place, which the way to a mount would follow. Null where the agent has put something
 * else there before, or where such a place is a file: then the agent's folder can't be used.
 */
export function mountsIn(folder: string, places: readonly string[]): readonly string[] | null {
  const below = places.filter((place) => place.startsWith('/tmp/'));
  const names = [...new Set([BOX_HOME, ...below].map((place) => place.split('/')[2] ?? ''))];
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
