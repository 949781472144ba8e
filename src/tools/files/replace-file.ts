/** Replaces one whole file inside the project atomically: a synced temporary file beside it is renamed over it. The caller
 * names the digest it expects to replace; any other content is a stale write and is refused. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, fail, messageOf, ok, type Result } from '../../domain/result.ts';
import { insideName, isInside, refused, type Root } from '../paths/root.ts';
import { freshFile } from '../process/kept-folders.ts';
import { WHOLE_FILE_BYTES } from '../process/output.ts';
import { openPlain, placeOf, realName, realPlace } from '../workspace.ts';
import { plural } from '../../domain/lists.ts';

/** A digest as agents see it: the first 16 hexadecimal digits of the SHA-256. */
export const digestOf = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

export interface Replacement {
  readonly path: string;
  readonly content: string;
  /** Digest of the content to be replaced; null for a new file. */
  readonly expected: string | null;
}

/** Returns the digest of the new content, or why the file was left unchanged. */
export async function replaceFile(root: Root, change: Replacement): Promise<Result<string, string>> {
  const name = insideName(root.path, change.path);
  if (!name.ok) return name;
  const real = realName(root, name.value, 'write');
  if (!real.ok) return real;
  const folder = await openParent(root, real.value, { make: change.expected === null });
  if (!folder.ok) return folder;
  try {
    const place = await placeOf(folder.value, root, path.posix.dirname(real.value));
    const parent = path.join(root.path, path.posix.dirname(real.value));
    const folderOf = { handle: folder.value, real: parent, state: root.state };
    return await replaceIn(folderOf, place, name.value, path.posix.basename(real.value), change);
  } catch (error) {
    return fail(`${name.value}: cannot be written (${messageOf(error)})`);
  } finally {
    await folder.value.close();
  }
}

/** Why `given` may not be written, judged by its name; null when it may. */
export function writeRefusal(root: Root, given: string): string | null {
  const name = insideName(root.path, given);
  if (!name.ok) return name.fault;
  const real = realName(root, name.value, 'write');
  return real.ok ? null : real.fault;
}

/** Opens the folder of `name` component by component from the root, and creates missing ones for a new file. A link on the way is
 * refused: `name` is real, so a link can only have appeared meanwhile. */
export async function openParent(
  root: Root,
  name: string,
  { make }: { readonly make: boolean },
): Promise<Result<FileHandle, string>> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  let folder = await openPlain(root.path, flags, '.');
  const steps = name.split('/').slice(0, -1);
  for (const [index, step] of steps.entries()) {
    if (!folder.ok) return folder;
    const shown = steps.slice(0, index + 1).join('/');
    const place = path.join(await placeOf(folder.value, root, steps.slice(0, index).join('/')), step);
    if (make) await mkdir(place).catch(() => undefined);
    const next = await openPlain(place, flags, shown);
    await folder.value.close();
    folder = next;
  }
  if (!folder.ok) return folder;
  const where = await realPlace(folder.value, path.join(root.path, ...steps)).catch(() => '');
  // Checks where the folder really is: a folder above it may have been moved meanwhile.
  const target = path.relative(root.path, path.join(where, path.posix.basename(name)));
  const refusal = isInside(root.path, where) ? refused(root, target, 'write') : `${name}: outside the project`;
  if (refusal === null) return folder;
  await folder.value.close();
  return fail(refusal);
}

interface Parent {
  readonly handle: FileHandle;
  /** The folder's absolute path in the project. */
  readonly real: string;
  readonly state: string | undefined;
}

async function replaceIn(
  { state, ...folder }: Parent,
  place: string,
  shown: string,
  base: string,
  change: Replacement,
): Promise<Result<string, string>> {
  const target = path.join(place, base);
  const before = await lookAt(target, shown);
  if (!before.ok) return before;
  const stale = staleness(shown, before.value, change.expected);
  if (stale !== null) return fail(stale);
  const { base: name, done } = freshFile(state, folder.real);
  const fresh = path.join(place, name);
  try {
    await writeFresh(fresh, change.content, before.value);
    const again = await lookAt(target, shown);
    if (!again.ok) return again;
    const moved = staleness(shown, again.value, change.expected);
    if (moved !== null) return fail(moved);
    await putInPlace(fresh, target, again.value === null);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return fail(`${shown}: was created by someone else in the meantime; read it first`);
    throw error;
  } finally {
    await unlink(fresh).catch(() => undefined);
    done();
  }
  await folder.handle.sync().catch(() => undefined);
  return ok(digestOf(change.content));
}

interface Present {
  readonly digest: string;
  readonly mode: number;
  readonly owner: number;
  readonly group: number;
}

/** Reads the state of the file; null when there is none, a fault when it may not be replaced. */
async function lookAt(target: string, shown: string): Promise<Result<Present | null, string>> {
  const exists = await lstat(target).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
  );
  if (!exists) return ok(null);
  const opened = await openPlain(target, constants.O_RDONLY, shown);
  if (!opened.ok) return opened;
  try {
    const stat = await opened.value.stat();
    if (!stat.isFile()) return fail(`${shown}: not a regular file`);
    if (stat.nlink !== 1)
      return fail(`${shown}: has ${plural(stat.nlink, 'hard link')}; writing it would also change the others`);
    if (stat.size > WHOLE_FILE_BYTES) return fail(`${shown}: larger than 10 MiB; change it with a command`);
    const digest = digestOf(await opened.value.readFile());
    return ok({ digest, mode: stat.mode & 0o7777, owner: stat.uid, group: stat.gid });
  } finally {
    await opened.value.close();
  }
}

function staleness(shown: string, present: Present | null, expected: string | null): string | null {
  if (present === null) return expected === null ? null : `${shown}: no longer exists (expected digest ${expected})`;
  if (expected === null)
    return `${shown}: exists; read it and pass its digest to replace it (digest now: ${present.digest})`;
  if (expected === present.digest) return null;
  return `${shown}: has changed since it was read (expected digest ${expected}, now ${present.digest}); read it again`;
}

async function writeFresh(fresh: string, content: string, before: Present | null): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const opened = await openPlain(fresh, flags, fresh, before === null ? 0o666 : 0o600);
  if (!opened.ok) throw new Error(opened.fault);
  try {
    await opened.value.writeFile(content);
    if (before !== null) {
      // Only root may change the owner; otherwise the file belongs to the current user, as with any editor.
      await opened.value.chown(before.owner, before.group).catch(() => undefined);
      await opened.value.chmod(before.mode);
    }
    await opened.value.sync();
  } finally {
    await opened.value.close();
  }
}

/** Links a new file into place, because a link fails when the name exists and a rename would silently replace it. */
async function putInPlace(fresh: string, target: string, isNew: boolean): Promise<void> {
  if (!isNew) return rename(fresh, target);
  try {
    await link(fresh, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    // Some file systems have no hard links.
    await rename(fresh, target);
  }
}
