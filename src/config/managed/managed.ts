/**
 * The managed layer: what an administrator wrote below `/etc/mimir`. Nothing moves that place, and what
 * anybody else could have written there is refused, never skipped. What the files say is layer.ts's and merge.ts's.
 */
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type ConfigFault, NO_PERMISSION, OTHER_NAME, PLAIN_FILE } from '../files/fault.ts';
import { codeOf, readText } from '../files/read-text.ts';

/** Where an administrator's files are. A constant: no variable, flag or file can name another place. */
export const MANAGED_ROOT = '/etc/mimir';

export interface ManagedFile {
  /** Its path, which is also how people know it. */
  readonly shown: string;
  readonly text: string;
}

const MAX_FILES = 100;

/** All policy files, `policy.yml` first, then those of `policy.d` by name; or everything that is wrong with any of them. */
export function readManaged(root: string): Result<readonly ManagedFile[], readonly ConfigFault[]> {
  const names = policyFiles(root);
  if (!names.ok) return names;
  const read = names.value.map((file) => readManagedFile(file));
  const faults = read.flatMap((each) => (each.ok ? [] : [each.fault]));
  return faults.length > 0 ? fail(faults) : ok(read.flatMap((each) => (each.ok ? [each.value] : [])));
}

/** One file that only an administrator could have written: a policy or a role. */
export function readManagedFile(file: string): Result<ManagedFile, ConfigFault> {
  const owner = ownerFault(file, 'file');
  if (owner !== null) return fail(owner);
  const text = readText({ path: file, shown: file, links: 'follow', owner: 'root' });
  if (!text.ok) return text;
  if (text.value !== null) return ok({ shown: file, text: text.value });
  return fail({ ...faultOf(file), problem: 'leads nowhere', remedy: 'put the file itself there, or remove it' });
}

/** Names in a folder of the administrator's; null where there is none. The folder is checked like its files. */
export function managedFolder(folder: string): Result<readonly string[] | null, ConfigFault> {
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
    const remedy = `make it readable for everybody: chmod a+rx ${folder}`;
    return fail({ ...faultOf(folder), problem: `can't be read (${codeOf(error)})`, remedy });
  }
}

function policyFiles(root: string): Result<readonly string[], readonly ConfigFault[]> {
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
  if (files.length > MAX_FILES) {
    return fail([{ ...faultOf(folder), problem: `has more than ${MAX_FILES} files`, remedy: 'put them together' }]);
  }
  return ok([...(above.value.includes('policy.yml') ? [path.join(root, 'policy.yml')] : []), ...files]);
}

/**
 * Files beside the policy that look like one and are not read, by their paths: copies of editors and packages (`policy.yml.bak`),
 * hidden ones. Empty where nothing can be listed: what is wrong with a folder is told by `readManaged`.
 */
export function passedOver(root: string): readonly string[] {
  return [root, path.join(root, 'policy.d')].flatMap((folder) => {
    try {
      const names = readdirSync(folder).filter(
        (name) => /\.ya?ml/i.test(name) && (name.startsWith('.') || !LIKE_YAML.test(name)),
      );
      return names.sort().map((name) => path.join(folder, name));
    } catch {
      return [];
    }
  });
}

/** A policy under another name would rule nothing, and nobody would notice. */
const LIKE_YAML = /\.ya?ml$/i;

function misnamedIn(folder: string, name: string): ConfigFault {
  const within = path.basename(folder) === 'policy.d';
  const remedy = within ? 'let its name end in .yml' : 'name it policy.yml, or move it into policy.d as a .yml';
  return { ...faultOf(path.join(folder, name)), problem: OTHER_NAME, remedy };
}

/**
 * What can be told of the managed files without reading them, as one text: equal while nobody touched any. The folders are
 * in it, so that a new file shows; a few microseconds for each.
 */
export function managedMark(root: string, files: readonly string[]): string {
  const top = markOf(root);
  // Nothing below what isn't there: where nobody rules, one look is all.
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
    return codeOf(error);
  }
}

const figures = ({ dev, ino, size, mtimeMs, ctimeMs, mode, uid }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs, mode, uid].join(' ');

/** Anything at all, a link that leads nowhere included; what can't be looked at is there too, and refused by who reads it. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

const faultOf = (file: string): Pick<ConfigFault, 'file' | 'line' | 'column'> => ({ file, line: null, column: null });

// Could anybody but root have put this here? Every part of a path is looked at, from `/` on and along every link: one that
// somebody else owns or may write could be swapped for another.

/** Owner that a user namespace shows for everybody whom it doesn't know. */
const OVERFLOW = 65_534;
const MAX_LINKS = 40;

/** What makes `file` (absolute) unfit as an administrator's word, or null. `kind`: what has to be at its end. */
function ownerFault(file: string, kind: 'file' | 'directory'): ConfigFault | null {
  const wrong = ({ problem, remedy }: Words): ConfigFault => ({ file, line: null, column: null, problem, remedy });
  let rest = partsOf(file);
  let here = '/';
  let links = 0;
  const top = unfit('/', lstatSync('/'));
  if (top !== null) return wrong(top);
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = path.join(here, part);
    const found = statusOf(next);
    if (!found.ok) return wrong(found.words);
    const problem = unfit(next, found.status);
    if (problem !== null) return wrong(problem);
    if (!found.status.isSymbolicLink()) {
      here = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return wrong({ problem: 'is a chain of links without an end', remedy: PLAIN_FILE });
    const target = readlinkSync(next);
    rest = [...partsOf(target), ...rest];
    if (path.isAbsolute(target)) here = '/';
  }
  return kindFault(here, kind, wrong);
}

interface Words {
  readonly problem: string;
  readonly remedy: string;
}

/** `..` stays a part: behind a link it leads elsewhere than the text says. */
const partsOf = (file: string): string[] => file.split('/').filter((part) => part !== '' && part !== '.');

type Found = { readonly ok: true; readonly status: Stats } | { readonly ok: false; readonly words: Words };

function statusOf(part: string): Found {
  try {
    return { ok: true, status: lstatSync(part) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT')
      return { ok: false, words: { problem: `leads nowhere: there is no ${part}`, remedy: PLAIN_FILE } };
    if (code === 'EACCES') {
      const remedy = `let everybody read it: chmod a+rx ${path.dirname(part)}`;
      return { ok: false, words: { problem: `${NO_PERMISSION} for ${part}`, remedy } };
    }
    return { ok: false, words: { problem: `can't be read (${code} at ${part})`, remedy: 'check the file' } };
  }
}

/** Modes of links mean nothing; who owns one decides where it leads. */
function unfit(part: string, { uid, mode }: Stats): Words | null {
  if (uid === OVERFLOW) {
    return {
      problem: `${part} belongs to user ${OVERFLOW}, which in a user namespace stands for everybody unknown: whether it is root's can't be told`,
      remedy: 'start Mimir outside of that container or namespace, or map root into it',
    };
  }
  if (uid !== 0)
    return { problem: `${part} belongs to user ${uid}, not to root`, remedy: `run: chown root:root ${part}` };
  if ((mode & 0o170000) === 0o120000 || (mode & 0o022) === 0) return null;
  const who = (mode & 0o002) === 0 ? 'its group' : 'anybody';
  return { problem: `${part} may be written by ${who} (mode ${octal(mode)})`, remedy: `run: chmod go-w ${part}` };
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

function kindFault(real: string, kind: 'file' | 'directory', wrong: (words: Words) => ConfigFault): ConfigFault | null {
  const status = lstatSync(real);
  if (kind === 'file' && !status.isFile()) return wrong({ problem: 'is not a regular file', remedy: PLAIN_FILE });
  if (kind === 'directory' && !status.isDirectory()) {
    return wrong({ problem: 'is not a directory', remedy: 'make a directory of it, or remove it' });
  }
  return null;
}
