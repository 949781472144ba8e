/**
 * The stricter box of commands that only read: it shows the project, system programs and libraries, tool chains that the PATH
 * names, and of /etc the few files that programs need to start.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Bind } from './mounts.ts';
import { realPlace } from '../paths/mounts.ts';

/** Folders of the file system's root that a reading command sees. */
const SYSTEM = new Set('bin sbin lib lib32 lib64 libx32 usr nix gnu dev proc sys tmp'.split(' '));

const OF_ETC =
  'ld.so.cache ld.so.conf ld.so.conf.d alternatives passwd group nsswitch.conf localtime timezone locale.alias magic os-release';

/** What such a box covers beside the usual places, and what it shows of that under the same names; nothing for any other box. */
export function systemOnly(
  reads: boolean | undefined,
  stateDir: string,
): {
  readonly hidden: readonly string[];
  readonly binds: readonly Bind[];
} {
  return reads === true ? { hidden: outsideSystem(), binds: keptOfEtc(stateDir) } : { hidden: [], binds: [] };
}

/** All other real folders there. */
function outsideSystem(): readonly string[] {
  const places = readdirSync('/').map((name) => path.join('/', name));
  return places.filter((place) => !SYSTEM.has(path.basename(place)) && isRealFolder(place));
}

const keptOfEtc = (stateDir: string): readonly Bind[] => [
  ...OF_ETC.split(' ').flatMap((name) => {
    const place = path.join('/etc', name);
    return realPlace(place).map((real): Bind => [real, place]);
  }),
  ...realPlace(attributesIn(stateDir)).map((real): Bind => [real, ATTRIBUTES]),
];

/** Where git finds, in such a box, that it shows no content of committed `.env*` files. */
export const ATTRIBUTES = '/etc/gitattributes';
const NO_CONTENT = '.[eE][nN][vV]* -diff\n.[eE][nN][vV]*/** -diff\n';
const attributesIn = (stateDir: string): string => path.join(stateDir, 'reading', 'gitattributes');

/** Makes that file in the state directory. Throws where it can't be made: then git may not run. */
export function keepAttributes(stateDir: string): void {
  const file = attributesIn(stateDir);
  if (contentOf(file) === NO_CONTENT) return;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(fresh, NO_CONTENT, { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

const isRealFolder = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
