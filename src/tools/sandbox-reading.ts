/**
 * The stricter box of commands that only read: it shows the project, system programs and libraries, tool chains that the PATH
 * names, and of /etc the few files that programs need to start.
 */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Bind } from './sandbox-box.ts';
import { realPlace } from './sandbox-look.ts';

/** Folders of the file system's root that a reading command sees. */
const SYSTEM = new Set('bin sbin lib lib32 lib64 libx32 usr nix gnu dev proc sys tmp'.split(' '));

const OF_ETC =
  'ld.so.cache ld.so.conf ld.so.conf.d alternatives passwd group nsswitch.conf localtime timezone locale.alias magic os-release';

/** What such a box covers beside the usual places, and what it shows of that under the same names; nothing for any other box. */
export function systemOnly(reads: boolean | undefined): {
  readonly hidden: readonly string[];
  readonly binds: readonly Bind[];
} {
  return reads === true ? { hidden: outsideSystem(), binds: keptOfEtc() } : { hidden: [], binds: [] };
}

/** All other real folders there. */
function outsideSystem(): readonly string[] {
  const places = readdirSync('/').map((name) => path.join('/', name));
  return places.filter((place) => !SYSTEM.has(path.basename(place)) && isRealFolder(place));
}

const keptOfEtc = (): readonly Bind[] =>
  OF_ETC.split(' ').flatMap((name) => {
    const place = path.join('/etc', name);
    return realPlace(place).map((real): Bind => [real, place]);
  });

const isRealFolder = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
