/** Writes files for people and for this program, and words the faults of the file system without error codes. */
import { closeSync, constants, fchmodSync, fsyncSync, linkSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import DATA from './error-texts.json' with { type: 'json' };

const ERROR_TEXTS: Readonly<Record<string, string>> = DATA;

export function fileErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return ERROR_TEXTS[code] ?? error.message;
}

interface NewFile {
  /** An existing folder. It may be a link: that is the user's choice. */
  readonly base: string;
  /** Folders below `base`. Missing ones are created; a link among them is refused. */
  readonly folders: readonly string[];
  readonly name: string;
  /** The name of the file in messages. */
  readonly shown: string;
  readonly text: string;
}

/** Writes a new file (0644) through no link, complete as soon as it has its name, never over another; else says why not. */
export function writeNewFile({ base, folders, name, shown, text }: NewFile): Result<void, string> {
  const folder = join(base, ...folders);
  const fresh = join(folder, `.${process.pid}.new`);
  try {
    for (const [index] of folders.entries()) {
      const part = folders.slice(0, index + 1).join('/');
      const found = lstatSync(join(base, part), { throwIfNoEntry: false });
      if (found === undefined) mkdirSync(join(base, part));
      else if (!found.isDirectory()) return fail(`${part} is a link or a file: put the folder itself there`);
    }
    rmSync(fresh, { force: true });
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY;
    const descriptor = openSync(fresh, flags, 0o644);
    try {
      writeFileSync(descriptor, text);
      // The team reads the file, so its mode does not depend on this user's umask.
      fchmodSync(descriptor, 0o644);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(fresh, join(folder, name));
    return ok(undefined);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    return fail(
      exists ? `${shown} already exists; choose another name` : `${shown} cannot be written: ${fileErrorText(error)}`,
    );
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Keeps `text` as the last copy. The file's path with home as `~`, or null if it failed: the earlier copy then stays whole. */
export function saveCopy(text: string, folder: string): string | null {
  const file = `${folder}/clipboard.txt`;
  try {
    writePrivate(file, text);
    return homeAsTilde(file);
  } catch {
    return null;
  }
}

/** Writes a file for this user alone, whole or not at all, through no link of that name. Creates its folder. Throws the error of the file system. */
export function writePrivate(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(fresh, { force: true });
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}

function homeAsTilde(file: string): string {
  const home = process.env['HOME'] ?? '';
  return home !== '' && file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
