/**
 * The private home of a project: named caches of packages and builds that commands of its agents keep, between commands and
 * runs, in the state folder. Nothing else of a home is kept: start-up and configuration files would carry what one agent
 * wrote into the commands of another. It has a bound; over it, it is emptied before the next command.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { bytesIn, copyInto, type Helpers, removeFolder } from '../process/kept-folders.ts';
import type { Bind } from './mounts.ts';
import { isUsedBy, type Found, type Ground, packagesOf } from '../toolchains/places.ts';
import { BOX_HOME, type Toolchain } from '../toolchains/toolchains.ts';

const GIB = 1024 * 1024 * 1024;
export const HOME_BYTES = 4 * GIB;
/** Of the person's packages; more is not copied. */
const COPY_BYTES = GIB;

export const homeFolder = (stateDir: string, root: string): string =>
  path.join(stateDir, 'homes', createHash('sha256').update(root).digest('hex').slice(0, 24));

export interface PrivateHome {
  /** What a sandbox mounts writable, made where it is missing; `copied` names those that hold a copy of the person's packages. */
  binds(): Promise<{ readonly kept: readonly Bind[]; readonly copied: readonly string[] }>;
  /** Empties it. */
  empty(): Promise<void>;
  /** Null where that can't be found out in time. */
  bytes(): Promise<number | null>;
}

export function privateHome(
  folder: string,
  chains: () => readonly Toolchain[],
  { helpers, ground }: { readonly helpers: Helpers; readonly ground: Ground },
): PrivateHome {
  /** Once for a process: the person may have fetched packages since another one copied them. */
  const copies = new Map<string, Promise<boolean>>();
  const placeOf = (name: string): string => path.join(folder, name.replace(/^\./, '').replaceAll('/', '-'));
  const copied = ({ below, place }: Found): Promise<boolean> => {
    const known = copies.get(below) ?? copyOnce(helpers, place, placeOf(below));
    copies.set(below, known);
    return known;
  };
  return {
    async binds() {
      const kept: Bind[] = [];
      const names: string[] = [];
      for (const chain of chains()) {
        const found = packagesOf(chain, ground);
        const uses = isUsedBy(chain, ground.root);
        for (const each of found.filter(({ how }) => how !== 'read-only' && uses))
          if (await copied(each)) names.push(each.below);
        // What the person's own is mounted over can't be kept.
        const shown = found.filter(({ how, below }) => how !== 'only copy' && !names.includes(below));
        for (const name of chain.kept.filter((kept) => !shown.some(({ below }) => below === kept)))
          kept.push([folderAt(placeOf(name)), `${BOX_HOME}/${name}`]);
        for (const name of chain.locks ?? []) kept.push([fileAt(placeOf(name)), `${BOX_HOME}/${name}`]);
      }
      return { kept, copied: names };
    },
    async empty() {
      copies.clear();
      await emptyHome(helpers, folder);
    },
    bytes: () => bytesIn(helpers, [folder]),
  };
}

/** Commands that still run in it go on with what they have, unnamed; the next ones begin with an empty one. False when something of it stays. */
export async function emptyHome(helpers: Helpers, folder: string): Promise<boolean> {
  const gone = `${folder}.${GONE}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(folder, gone);
  } catch {
    return true;
  }
  return removeFolder(helpers, gone);
}
const GONE = 'gone';

async function copyOnce(helpers: Helpers, from: string, to: string): Promise<boolean> {
  const size = await bytesIn(helpers, [from]);
  return size !== null && size <= COPY_BYTES && (await copyInto(helpers, from, to));
}

function folderAt(place: string): string {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return place;
}

/** Empty, whatever a command wrote into it. */
function fileAt(place: string): string {
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 });
  writeFileSync(place, '', { mode: 0o600 });
  return place;
}
