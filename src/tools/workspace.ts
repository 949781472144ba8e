/** Opens files and folders inside the root and nothing else. `root.ts` judges names; this module judges what was really opened,
 * through its descriptor, so that a link swapped in meanwhile has no effect. */
import { constants, existsSync, readlinkSync, realpathSync } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, fail, ok, type Result } from '../domain/result.ts';
import { denied, hiddenBelow, insideName, isInside, isLink, refused, replaced, type Root } from './paths/root.ts';

/** On Linux a descriptor reveals its real path, and new names can be created below it. */
const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');

/** A regular file inside the root, open for reading. The caller closes it. */
export interface OpenFile {
  readonly handle: FileHandle;
  /** Relative to the root, with forward slashes, as requested. */
  readonly name: string;
  readonly size: number;
}

/** A folder inside the root. `place` leads to the folder that was checked, even if its path was swapped. The caller closes it. */
export interface OpenFolder {
  readonly handle: FileHandle;
  readonly name: string;
  readonly place: string;
  /** Paths in it that may not be read, relative to it. */
  readonly hidden: readonly string[];
}

/** Opens a regular file inside the root for reading; refuses anything else. */
export async function openFile(root: Root, given: string): Promise<Result<OpenFile, string>> {
  const name = insideName(root.path, given);
  if (!name.ok) return name;
  const opened = await openInside(root, name.value, constants.O_RDONLY);
  if (!opened.ok) return opened;
  const stat = await opened.value.stat();
  if (stat.isFile()) return ok({ handle: opened.value, name: name.value, size: stat.size });
  await opened.value.close();
  return fail(stat.isDirectory() ? `${given}: is a folder; list it` : `${given}: not a regular file`);
}

/** Opens a folder (`.` is the root) for listing. */
export async function openFolder(root: Root, given: string): Promise<Result<OpenFolder, string>> {
  const name = insideName(root.path, given, { folder: true });
  if (!name.ok) return name;
  const opened = await openInside(root, name.value, constants.O_RDONLY | constants.O_DIRECTORY);
  if (!opened.ok) return opened;
  const place = await placeOf(opened.value, root, name.value);
  const hidden = hiddenBelow(root, await realPlace(opened.value, place));
  return ok({ handle: opened.value, name: name.value, place, hidden });
}

/** The path for accessing names below an open folder. */
export const placeOf = async (folder: FileHandle, root: Root, name: string): Promise<string> =>
  HAS_DESCRIPTOR_PATHS ? `/proc/${process.pid}/fd/${folder.fd}` : realpath(path.join(root.path, name));

/** Opens without following a final link and without waiting for a pipe; returns the error as a fault. */
export async function openPlain(
  place: string,
  flags: number,
  shown: string,
  mode?: number,
): Promise<Result<FileHandle, string>> {
  try {
    return ok(await open(place, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode));
  } catch (error) {
    return fail(openFault(shown, error));
  }
}

/** The real path of an open descriptor. */
export async function realPlace(handle: FileHandle, place: string): Promise<string> {
  // The kernel answers without disk access, so a synchronous call is fine.
  return HAS_DESCRIPTOR_PATHS ? readlinkSync(`/proc/self/fd/${handle.fd}`) : realpath(place);
}

/** The real path, relative to the root, that `name` leads to; its end need not exist. Links inside are followed, links to the
 * outside refused. Both names must be allowed, so that a link cannot give a protected file another name. */
export function realName(root: Root, name: string, access: 'read' | 'write'): Result<string, string> {
  const byName = denied(root, name, access);
  if (byName !== null) return fail(byName);
  const real = realOf(path.join(root.path, name));
  if (real === null) return fail(`${name}: a broken or circular link`);
  if (!isInside(root.path, real)) return fail(`${name}: leads outside the project through a link`);
  const relative = path.relative(root.path, real).split(path.sep).join('/');
  const byTarget = refused(root, relative, access);
  return byTarget === null ? ok(relative) : fail(byTarget);
}

/** True if anything with this name is inside the root, even a broken link. */
export const exists = async (root: Root, name: string): Promise<boolean> =>
  lstat(path.join(root.path, name)).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR',
  );

async function openInside(root: Root, name: string, flags: number): Promise<Result<FileHandle, string>> {
  const real = realName(root, name, 'read');
  if (!real.ok) return real;
  const place = path.join(root.path, real.value);
  const opened = await openPlain(place, flags, name);
  if (!opened.ok) return opened;
  // A folder may have become a link between the check and the open, so the descriptor's real path is checked.
  const where = await realPlace(opened.value, place).catch(() => '');
  const inside = isInside(root.path, where);
  const refusal = inside ? denied(root, path.relative(root.path, where), 'read') : `${name}: outside the project`;
  if (refusal === null) return opened;
  await opened.value.close();
  return fail(refusal);
}

/** The real path of the longest existing part with the rest after it; null for a dangling link or a loop. */
function realOf(absolute: string): string | null {
  try {
    return realpathSync(absolute);
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return absolute;
    if (codeOf(error) !== 'ENOENT' || isLink(absolute)) return null;
    const parent = realOf(path.dirname(absolute));
    return parent === null ? null : path.join(parent, path.basename(absolute));
  }
}

function openFault(shown: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return `${shown}: no such file`;
    case 'ENOTDIR':
      return `${shown}: not a folder`;
    case 'ELOOP':
      return `${shown}: a symbolic link`;
    case 'EACCES':
    case 'EPERM':
      return `${shown}: permission denied`;
    case 'ENXIO':
      return `${shown}: not a regular file`;
    default:
      return `${shown}: cannot be opened (${codeOf(error) || 'unknown error'})`;
  }
}

/** A folder that a person or an agent wrote, as a path relative to the root (empty for the root), or why it is not a folder of the project. */
export async function projectFolder(root: Root, written: string): Promise<Result<string, string>> {
  const opened = await openFolder(root, written);
  if (!opened.ok) return opened;
  await opened.value.handle.close();
  const name = insideName(root.path, written, { folder: true });
  return name.ok ? ok(name.value) : name;
}

/** The real path of the folder in which an agent's commands start, or why it cannot be used. `given` is relative to the root; by default the root. */
export async function workingFolder(root: Root, given: string | undefined): Promise<Result<string, string>> {
  if (given === undefined) {
    const gone = replaced(root);
    return gone === null ? ok(root.path) : fail(gone);
  }
  const opened = await openFolder(root, given);
  if (!opened.ok) return fail(wordsFor(given, (await exists(root, given)) ? opened.fault : `${given}: no such folder`));
  const { handle, place } = opened.value;
  try {
    return ok(await realPlace(handle, place));
  } finally {
    await handle.close();
  }
}

const wordsFor = (given: string, fault: string): string =>
  `the commands of this agent start in ${given}, which cannot be used now (${fault}): it must be a folder of the project again`;
