/** The managed layer: an administrator's files below `/etc/mimir`. Nothing can move that path, and a file that anyone else could have written
 * is refused, never skipped. layer.ts and merge.ts interpret the files. */
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import { type ReadLayer, readLayer, valueAt } from '../files/layer.ts';
import * as texts from '../files/read-text.ts';
import { faultAt, plainOf, readTree } from '../files/tree.ts';

/** The folder of the administrator's files. A constant: no variable, flag or file can name another one. */
export const MANAGED_ROOT = '/etc/mimir';

export interface ManagedFile {
  /** Its path, which is also how people name it. */
  readonly shown: string;
  readonly text: string;
}

const MAX_FILES = 100;

/** All policy files: `policy.yml` first, then those of `policy.d` by name; or all their faults. */
export function readManaged(root: string): Result<readonly ManagedFile[], readonly texts.ConfigFault[]> {
  const names = policyFiles(root);
  if (!names.ok) return names;
  const read = names.value.map(readManagedFile);
  const faults = read.flatMap((each) => (each.ok ? [] : [each.fault]));
  return faults.length > 0 ? fail(faults) : ok(read.flatMap((each) => (each.ok ? [each.value] : [])));
}

/** Reads one file that only an administrator can have written: a policy or a role. */
export function readManagedFile(file: string): Result<ManagedFile, texts.ConfigFault> {
  const owner = ownerFault(file, 'file');
  if (owner !== null) return fail(owner);
  const text = texts.readText({ path: file, shown: file, links: 'follow', owner: 'root' });
  if (!text.ok) return text;
  if (text.value !== null) return ok({ shown: file, text: text.value });
  return fail(texts.fileFault(file, 'is a broken symbolic link', 'replace it with the file itself, or remove it'));
}

/** The names in a folder of the administrator's; null if it does not exist. The folder is checked like its files. */
export function managedFolder(folder: string): Result<readonly string[] | null, texts.ConfigFault> {
  if (!isThere(folder)) return ok(null);
  const owner = ownerFault(folder, 'directory');
  if (owner !== null) return fail(owner);
  try {
    return ok(
      readdirSync(folder)
        .filter((name) => !name.startsWith('.'))
        .sort(),
    );
  } catch (error) {
    const remedy = `make it readable for everyone: chmod a+rx ${folder}`;
    return fail(texts.fileFault(folder, `cannot be read (${texts.codeOf(error)})`, remedy));
  }
}

function policyFiles(root: string): Result<readonly string[], readonly texts.ConfigFault[]> {
  const above = managedFolder(root);
  if (!above.ok) return fail([above.fault]);
  if (above.value === null) return ok([]);
  const folder = path.join(root, 'policy.d');
  const below = managedFolder(folder);
  if (!below.ok) return fail([below.fault]);
  const names = below.value ?? [];
  const misnamed = [
    ...above.value
      .filter((name) => LIKE_YAML.test(name) && name !== 'policy.yml')
      .map((name) => misnamedIn(root, name)),
    ...names.filter((name) => LIKE_YAML.test(name) && !name.endsWith('.yml')).map((name) => misnamedIn(folder, name)),
  ];
  if (misnamed.length > 0) return fail(misnamed);
  const files = names.filter((name) => name.endsWith('.yml')).map((name) => path.join(folder, name));
  if (files.length > MAX_FILES)
    return fail([texts.fileFault(folder, `has more than ${MAX_FILES} files`, 'merge some of them')]);
  return ok([...(above.value.includes('policy.yml') ? [path.join(root, 'policy.yml')] : []), ...files]);
}

/** Files beside the policy that look like one but are not read: backups of editors and packages (`policy.yml.bak`), hidden files. Empty if a
 * folder cannot be listed; `readManaged` reports that. */
export const passedOver = (root: string): readonly string[] =>
  [root, path.join(root, 'policy.d')].flatMap((folder) => {
    const names = tried(() => readdirSync(folder), []).filter(
      (name) => /\.ya?ml/i.test(name) && (name.startsWith('.') || !LIKE_YAML.test(name)),
    );
    return names.sort().map((name) => path.join(folder, name));
  });

/** A policy under another name would have no effect without anybody noticing. */
const LIKE_YAML = /\.ya?ml$/i;

function misnamedIn(folder: string, name: string): texts.ConfigFault {
  const within = path.basename(folder) === 'policy.d';
  const remedy = within ? 'rename it to end in .yml' : 'rename it to policy.yml, or move it to policy.d as a .yml file';
  return texts.fileFault(path.join(folder, name), texts.OTHER_NAME, remedy);
}

/** The metadata of the managed files as one text, equal while nobody changed any file. It includes the folders, to detect new files, and takes
 * a few microseconds for each. */
export function managedMark(root: string, files: readonly string[]): string {
  const top = markOf(root);
  // Without the top folder there is nothing else to check.
  if (top === ABSENT && files.length === 0) return top;
  const all = new Set([path.join(root, 'policy.d'), path.join(root, 'policy.yml'), ...files]);
  return [top, ...[...all].map(markOf)].join('\n');
}

const ABSENT = '-';

function markOf(file: string): string {
  try {
    const status = lstatSync(file, { throwIfNoEntry: false });
    if (status === undefined) return ABSENT;
    return status.isSymbolicLink() ? `${figures(status)} ${figures(statSync(file))}` : figures(status);
  } catch (error) {
    return texts.codeOf(error);
  }
}

const figures = ({ dev, ino, size, mtimeMs, ctimeMs, mode, uid }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs, mode, uid].join(' ');

/** True for anything, even a broken link. What cannot be inspected counts as present and is refused when it is read. */
const isThere = (file: string): boolean => tried(() => lstatSync(file, { throwIfNoEntry: false }) !== undefined, true);

// Checks that only root can have put a file in place. Every part of the path is checked, from `/` on and along every link, because a part that
// another user owns or may write could be swapped.

/** The owner that a user namespace shows for unknown users. */
const OVERFLOW = 65_534;
const MAX_LINKS = 40;

/** Why `file` (absolute) cannot be trusted as an administrator's, or null. `kind` is what it must be. */
function ownerFault(file: string, kind: 'file' | 'directory'): texts.ConfigFault | null {
  const found = ownerProblem(file, kind);
  return found === null ? null : texts.fileFault(file, found.problem, found.remedy);
}

function ownerProblem(file: string, kind: 'file' | 'directory'): texts.FaultWords | null {
  let rest = partsOf(file);
  let here = '/';
  let links = 0;
  const top = unfit('/', lstatSync('/'));
  if (top !== null) return top;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = path.join(here, part);
    const found = statusOf(next);
    if (!found.ok) return found.fault;
    const problem = unfit(next, found.value);
    if (problem !== null) return problem;
    if (!found.value.isSymbolicLink()) {
      here = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return { problem: 'has too many symbolic links in its path', remedy: texts.PLAIN_FILE };
    const target = readlinkSync(next);
    rest = [...partsOf(target), ...rest];
    if (path.isAbsolute(target)) here = '/';
  }
  return kindProblem(here, kind);
}

/** Keeps `..`, which after a link leads elsewhere than the text suggests. */
const partsOf = (file: string): string[] => file.split('/').filter((part) => part !== '' && part !== '.');

function statusOf(part: string): Result<Stats, texts.FaultWords> {
  try {
    return ok(lstatSync(part));
  } catch (error) {
    const code = texts.codeOf(error);
    if (code === 'ENOENT')
      return fail({ problem: `is a broken symbolic link: ${part} does not exist`, remedy: texts.PLAIN_FILE });
    if (code === 'EACCES') {
      const remedy = `make it readable for everyone: chmod a+rx ${path.dirname(part)}`;
      return fail({ problem: `${texts.NO_PERMISSION} for ${part}`, remedy });
    }
    return fail({ problem: `cannot be read (${code} at ${part})`, remedy: 'check the file' });
  }
}

/** For a link only the owner matters, since its mode has no meaning. */
function unfit(part: string, { uid, mode }: Stats): texts.FaultWords | null {
  if (uid === OVERFLOW)
    return {
      problem: `${part} belongs to user ${OVERFLOW}, which in a user namespace can be any unknown user: its owner cannot be verified as root`,
      remedy: 'start Mimir outside the container or namespace, or map root into it',
    };
  if (uid !== 0)
    return { problem: `${part} belongs to user ${uid}, not to root`, remedy: `run: chown root:root ${part}` };
  if ((mode & 0o170000) === 0o120000 || (mode & 0o022) === 0) return null;
  const who = (mode & 0o002) === 0 ? 'its group' : 'everyone';
  return {
    problem: `${part} is writable by ${who} (mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`,
    remedy: `run: chmod go-w ${part}`,
  };
}

function kindProblem(real: string, kind: 'file' | 'directory'): texts.FaultWords | null {
  const status = lstatSync(real);
  if (kind === 'file') return status.isFile() ? null : { problem: 'is not a regular file', remedy: texts.PLAIN_FILE };
  return status.isDirectory()
    ? null
    : { problem: 'is not a directory', remedy: 'replace it with a directory, or remove it' };
}

// The managed files as layers. The required version is checked first, because a newer policy may have unknown keys.

/** All layers below `root`, or all their faults. `version` gives this program's. */
export function readManagedLayers(
  root: string,
  version: () => string,
): Result<Readonly<{ files: readonly ManagedFile[]; layers: readonly ReadLayer[] }>, readonly texts.ConfigFault[]> {
  const files = readManaged(root);
  if (!files.ok) return files;
  const read = files.value.map(({ shown, text }) => {
    const tooOld = versionFault(shown, text, version);
    return tooOld === null ? readLayer('managed', shown, text) : fail([tooOld]);
  });
  const faults = read.flatMap((each) => (each.ok ? [] : each.fault));
  if (faults.length > 0) return fail(faults);
  return ok({ files: files.value, layers: read.flatMap((each) => (each.ok ? [each.value] : [])) });
}

/** The fault of a policy that requires a newer Mimir, checked before the rest of the file. Null also if the file is not readable, which the caller reports. */
export function versionFault(file: string, text: string, version: () => string): texts.ConfigFault | null {
  const tree = text.includes('minVersion') ? readTree(text, file) : null;
  if (tree?.ok !== true) return null;
  const least: unknown = valueAt(plainOf(tree.value), ['minVersion']);
  if (typeof least !== 'string') return null;
  const own = version();
  if (!isOlder(own, least)) return null;
  const problem = `this policy requires Mimir ${least} or later; this is ${own}`;
  return faultAt(file, tree.value, ['minVersion'], problem, 'update Mimir');
}

/** Compares the numbers between the dots; `1.0` equals `1.0.0`. An unknown version is older than any. */
export function isOlder(version: string, least: string): boolean {
  const [own, other] = [numbersOf(version), numbersOf(least)];
  const at = [0, 1, 2].find((index) => own[index] !== other[index]);
  return at !== undefined && (own[at] ?? 0) < (other[at] ?? 0);
}

const numbersOf = (version: string): readonly number[] =>
  [0, 1, 2].map((index) => Number.parseInt(version.split('.')[index] ?? '0', 10) || 0);
