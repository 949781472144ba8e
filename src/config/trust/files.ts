/** The files of a project that configure Mimir or instruct agents: all below `.mimir`, role files of other programs, instruction files. Reads them
 * once and within limits; refuses links, so that no outside file becomes trusted. Also stores the record of trust. */
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { jsonDigest } from '../../domain/digest.ts';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import { codeOf, type Places, readUpTo, withOpen } from '../files/read-text.ts';
import { INSTRUCTION_FILES, isInstructions, ROLE_FOLDERS } from '../roles/instructions.ts';

export interface TrustFile {
  /** Relative to the project's root, with `/`. */
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 over the content. */
  readonly digest: string;
  /** Null if it is not UTF-8 or larger than 64 KiB; such a file is compared by its digest only. */
  readonly text: string | null;
}

const OTHER_FOLDERS = ROLE_FOLDERS.slice(1);
const MOST_FILES = 500;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_TEXT = 64 * 1024;
const DEEPEST = 8;

/** All these files in a fixed order. `own` is Mimir's own checkout, whose `.mimir` has the defaults. Fails if a file or folder cannot be read
 * completely: then nothing of the project may be trusted. */
export function trustFiles(root: string, own: boolean): Result<readonly TrustFile[], string> {
  const found: TrustFile[] = [];
  let left = MOST_BYTES;
  try {
    for (const file of [...namesIn(root, own ? OTHER_FOLDERS : ['.mimir', ...OTHER_FOLDERS]), ...instructions(root)]) {
      if (found.some((one) => one.file === file)) continue;
      if (found.length >= MOST_FILES) throw new Refused(`more than ${MOST_FILES} files would need trust`);
      const one = readOne(root, file, left);
      found.push(one);
      left -= one.bytes;
    }
  } catch (error) {
    if (error instanceof Refused) return fail(error.message);
    return fail(`a file cannot be read (${codeOf(error)})`);
  }
  return ok(found.toSorted((a, b) => (a.file < b.file ? -1 : 1)));
}

/** One digest of all names and contents. */
export const digestOf = (files: readonly TrustFile[]): string =>
  jsonDigest(files.map(({ file, digest }) => [file, digest]));

/** Thrown and caught in this file only. */
class Refused extends Error {}

const instructions = (root: string): readonly string[] =>
  INSTRUCTION_FILES.filter((file) => isInstructions(path.join(root, file)));

function namesIn(root: string, folders: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const folder of folders) if (isFolder(root, folder)) walk(root, folder, DEEPEST, names);
  return names;
}

/** Checks each part of the path, since any of them may be a link. */
function isFolder(root: string, folder: string): boolean {
  const parts = folder.split('/');
  return parts.every((_, index) => {
    const part = parts.slice(0, index + 1).join('/');
    const status = fs.lstatSync(path.join(root, part), { throwIfNoEntry: false });
    if (status?.isSymbolicLink() === true)
      throw new Refused(`${part} is a symbolic link: replace it with the folder itself`);
    return status?.isDirectory() === true;
  });
}

function walk(root: string, folder: string, depth: number, names: string[]): void {
  if (depth === 0) throw new Refused(`${folder} is nested too deeply`);
  for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) walk(root, name, depth - 1, names);
    else if (entry.isFile()) names.push(name);
    else if (entry.isSymbolicLink()) throw new Refused(`${name} is a symbolic link: replace it with the file itself`);
    else throw new Refused(`${name} is not a regular file: remove it`);
    if (names.length > MOST_FILES) throw new Refused(`${folder} contains more than ${MOST_FILES} files`);
  }
}

const readOne = (root: string, file: string, left: number): TrustFile =>
  withOpen(path.join(root, file), 'refuse', (descriptor, status) => {
    if (!status.isFile()) throw new Refused(`${file} is not a regular file: remove it`);
    if (status.size > left) throw new Refused(`${file} is too large: the limit for all files together is 4 MiB`);
    const bytes = readUpTo(descriptor, status.size + 1);
    return { file, bytes: bytes.length, digest: jsonDigest(bytes.toString('base64')), text: textOf(bytes) };
  });

function textOf(bytes: Buffer): string | null {
  if (bytes.length > MOST_TEXT) return null;
  return tried(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), null);
}

// The record of trust, one file per project in the state directory: the folder (path, device, inode), the digest of its files, and their texts,
// to show later changes. A record of another user, or behind a link, does not count.

const TrustRecord = z.strictObject({
  version: z.literal(1),
  root: z.string(),
  device: z.string(),
  inode: z.string(),
  digest: z.string(),
  files: z.array(z.strictObject({ file: z.string(), digest: z.string(), text: z.string().nullable() })),
});
export interface TrustRecord extends z.infer<typeof TrustRecord> {}

type State = Pick<Places, 'state'>;

/** The project's folder at this moment, to compare with a record. */
export function folderNow(root: string): Pick<TrustRecord, 'root' | 'device' | 'inode'> {
  const { dev, ino } = fs.statSync(root, { bigint: true });
  return { root, device: String(dev), inode: String(ino) };
}

/** The record of this project; null if there is none. Fails for a record that cannot be trusted. */
export function readRecord(root: string, places: State): Result<TrustRecord | null, string> {
  const file = fileOf(root, places);
  const folder = folderProblem(places);
  if (folder !== null) return fail(folder);
  try {
    return withOpen(file, 'refuse', (descriptor, status) => {
      if (!status.isFile() || status.size > MOST) return fail(`${file} is not a trust record: remove it`);
      if (!isPrivate(status)) return fail(`${file} belongs to another user, or is writable by others: remove it`);
      const parsed = TrustRecord.safeParse(JSON.parse(fs.readFileSync(descriptor, 'utf8')));
      return parsed.success && parsed.data.root === root ? ok(parsed.data) : fail(`${file} is damaged: remove it`);
    });
  } catch (error) {
    if (error instanceof SyntaxError) return fail(`${file} is damaged: remove it`);
    return codeOf(error) === 'ENOENT' ? ok(null) : fail(`${file} cannot be read (${codeOf(error)})`);
  }
}
/** More than the texts of all files can take. */
const MOST = 32 * 1024 * 1024;

/** Writes the record atomically: mode 0600, in a folder with mode 0700. */
export function writeRecord(record: TrustRecord, places: State): Result<void, string> {
  const file = fileOf(record.root, places);
  try {
    fs.mkdirSync(folderOf(places), { recursive: true, mode: 0o700 });
    const problem = folderProblem(places);
    if (problem !== null) return fail(problem);
    replaceFile(file, JSON.stringify(record));
    return ok(undefined);
  } catch (error) {
    return fail(`${file} cannot be written (${codeOf(error)}): check the folder`);
  }
}

/** Writes a file of the person's state at once, for the person alone, and onto the disk. */
export function replaceFile(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`;
  fs.rmSync(fresh, { force: true });
  // `wx` follows no link.
  fs.writeFileSync(fresh, text, { mode: 0o600, flag: 'wx', flush: true });
  fs.renameSync(fresh, file);
}

/** Removes the record; false if there was none. */
export function removeRecord(root: string, places: State): Result<boolean, string> {
  const file = fileOf(root, places);
  try {
    if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return ok(false);
    fs.rmSync(file);
    return ok(true);
  } catch (error) {
    return fail(`${file} cannot be removed (${codeOf(error)})`);
  }
}

const folderOf = ({ state }: State): string => path.join(state, 'trust');

/** Depends on the real path alone, so that no record of a parent folder or of a git pointer is found. */
const fileOf = (root: string, places: State): string =>
  path.join(folderOf(places), `${jsonDigest(root).slice(0, 24)}.json`);

/** Another user who can write there could trust anything. */
function folderProblem(places: State): string | null {
  try {
    for (const folder of [places.state, folderOf(places)]) {
      const status = fs.lstatSync(folder, { throwIfNoEntry: false });
      if (status === undefined) continue;
      const sound = status.isDirectory() && isPrivate(status);
      if (!sound)
        return `${folder} is a link, belongs to another user, or is writable by others: its trust records are ignored`;
    }
    return null;
  } catch (error) {
    // A path through a file has no records; writing there reports the problem.
    return codeOf(error) === 'ENOTDIR' ? null : `${places.state} cannot be read (${codeOf(error)})`;
  }
}

const isPrivate = ({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean =>
  uid === process.geteuid?.() && (mode & 0o022) === 0;
