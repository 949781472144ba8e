/** A new file for people: through no link, complete as soon as it has its name, never in place of another. */
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Result, fail, ok } from '../../domain/result.ts';
import { fileWords } from './file-errors.ts';

export interface NewFile {
  /** It is there, and whether it is a link is the person's own affair. */
  readonly base: string;
  /** Folders from there, made where they are missing; a link among them is refused. */
  readonly folders: readonly string[];
  readonly name: string;
  /** How people would name it. */
  readonly shown: string;
  readonly text: string;
}

/** Writes it, 0644. Fails, in words, where there is one already or it can't be written. */
export function writeNew({ base, folders, name, shown, text }: NewFile): Result<void, string> {
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
      // Others of the team read it, whatever is usual on this machine.
      fchmodSync(descriptor, 0o644);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(fresh, join(folder, name));
    return ok(undefined);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    return fail(
      isThere ? `${shown} is there already; choose another name` : `${shown} can't be written: ${fileWords(error)}`,
    );
  } finally {
    rmSync(fresh, { force: true });
  }
}
