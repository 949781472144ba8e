/**
 * Which files of a project say something to Mimir, read once and bounded: all below `.mimir`, role files of other programs,
 * instruction files. Links are refused, so that nothing of elsewhere is trusted in their name. What they mean is for others.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { jsonDigest } from '../../domain/digest.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { codeOf } from '../files/read-text.ts';
import { INSTRUCTION_FILES, isInstructions, ROLE_FOLDERS } from '../roles/instructions.ts';

export interface TrustFile {
  /** From the project's root, with `/`. */
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 over the content. */
  readonly digest: string;
  /** Null for what is no UTF-8 or larger than 64 KiB: such a file is compared by its digest only. */
  readonly text: string | null;
}

const OTHER_FOLDERS = ROLE_FOLDERS.slice(1);

const MOST_FILES = 500;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_TEXT = 64 * 1024;
const DEEPEST = 8;

/**
 * All of them by name, in a fixed order. `own`: this is Mimir's own checkout, where `.mimir` holds the defaults. Fails, in
 * words, where something can't be looked at as a whole: then nothing of the project may be trusted.
 */
export function trustFiles(root: string, own: boolean): Result<readonly TrustFile[], string> {
  const found: TrustFile[] = [];
  let left = MOST_BYTES;
  try {
    for (const file of [...namesIn(root, own ? OTHER_FOLDERS : ['.mimir', ...OTHER_FOLDERS]), ...instructions(root)]) {
      if (found.some((one) => one.file === file)) continue;
      if (found.length >= MOST_FILES) throw new Refused(`there are more than ${MOST_FILES} files to trust`);
      const one = readOne(root, file, left);
      found.push(one);
      left -= one.bytes;
    }
  } catch (error) {
    if (error instanceof Refused) return fail(error.message);
    return fail(`a file can't be read (${codeOf(error)})`);
  }
  return ok(found.toSorted((a, b) => (a.file < b.file ? -1 : 1)));
}

/** One fingerprint of them all: names and contents. */
export const digestOf = (files: readonly TrustFile[]): string =>
  jsonDigest(files.map(({ file, digest }) => [file, digest]));

/** Only ever thrown and caught in here. */
class Refused extends Error {}

const instructions = (root: string): readonly string[] =>
  INSTRUCTION_FILES.filter((file) => isInstructions(path.join(root, file)));

function namesIn(root: string, folders: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const folder of folders) {
    if (isFolder(root, folder)) walk(root, folder, DEEPEST, names);
  }
  return names;
}

/** Looks at each part by itself: a link on the way leads elsewhere too. */
function isFolder(root: string, folder: string): boolean {
  const parts = folder.split('/');
  return parts.every((_, index) => {
    const part = parts.slice(0, index + 1).join('/');
    const status = lstatSync(path.join(root, part), { throwIfNoEntry: false });
    if (status?.isSymbolicLink() === true) throw new Refused(`${part} is a symbolic link: put the folder itself there`);
    return status?.isDirectory() === true;
  });
}

function walk(root: string, folder: string, depth: number, names: string[]): void {
  if (depth === 0) throw new Refused(`${folder} is too deep`);
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) walk(root, name, depth - 1, names);
    else if (entry.isFile()) names.push(name);
    else if (entry.isSymbolicLink()) throw new Refused(`${name} is a symbolic link: put the file itself there`);
    else throw new Refused(`${name} is not a regular file: take it away`);
    if (names.length > MOST_FILES) throw new Refused(`there are more than ${MOST_FILES} files below ${folder}`);
  }
}

function readOne(root: string, file: string, left: number): TrustFile {
  // Without O_NONBLOCK, opening a pipe would wait for a writer for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = openSync(path.join(root, file), flags);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw new Refused(`${file} is not a regular file: take it away`);
    if (status.size > left) throw new Refused(`${file} is too large: all files together may have 4 MiB`);
    const buffer = Buffer.alloc(status.size + 1);
    const bytes = buffer.subarray(0, readWhole(descriptor, buffer));
    return { file, bytes: bytes.length, digest: jsonDigest(bytes.toString('base64')), text: textOf(bytes) };
  } finally {
    closeSync(descriptor);
  }
}

function readWhole(descriptor: number, buffer: Buffer): number {
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return length;
}

function textOf(bytes: Buffer): string | null {
  if (bytes.length > MOST_TEXT) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
