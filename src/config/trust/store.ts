/**
 * What was trusted, one file a project in the state directory: the folder itself (path, device, inode), the digest of what
 * configures Mimir there, and its texts, to show what changed. Nobody else's file is believed, and none through a link.
 */
import { closeSync, constants, fstatSync, fsyncSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { jsonDigest } from '../../domain/digest.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import type { Places } from '../files/paths.ts';
import { codeOf } from '../files/read-text.ts';

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

/** The project's folder as it is now: what a record is compared with. */
export function folderNow(root: string): Pick<TrustRecord, 'root' | 'device' | 'inode'> {
  const { dev, ino } = statSync(root, { bigint: true });
  return { root, device: String(dev), inode: String(ino) };
}

/** The record of this project; null when there is none. Fails, in words, for one that can't be believed. */
export function readRecord(root: string, places: State): Result<TrustRecord | null, string> {
  const file = fileOf(root, places);
  const folder = folderProblem(places);
  if (folder !== null) return fail(folder);
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? ok(null) : fail(`${file} can't be read (${codeOf(error)})`);
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > MOST) return fail(`${file} is no record of Mimir's: remove it`);
    if (!isPrivate(status)) return fail(`${file} belongs to another user, or others may write it: remove it`);
    const parsed = TrustRecord.safeParse(JSON.parse(readFileSync(descriptor, 'utf8')));
    return parsed.success && parsed.data.root === root ? ok(parsed.data) : fail(`${file} is damaged: remove it`);
  } catch {
    return fail(`${file} is damaged: remove it`);
  } finally {
    closeSync(descriptor);
  }
}
/** More than the texts of all files can have. */
const MOST = 32 * 1024 * 1024;

/** Writes the record whole or not at all: 0600, in a folder 0700. */
export function writeRecord(record: TrustRecord, places: State): Result<void, string> {
  const file = fileOf(record.root, places);
  const fresh = `${file}.${process.pid}.new`;
  try {
    mkdirSync(folderOf(places), { recursive: true, mode: 0o700 });
    const problem = folderProblem(places);
    if (problem !== null) return fail(problem);
    rmSync(fresh, { force: true });
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY;
    const descriptor = openSync(fresh, flags, 0o600);
    try {
      writeFileSync(descriptor, JSON.stringify(record));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, file);
    return ok(undefined);
  } catch (error) {
    return fail(`${file} can't be written (${codeOf(error)}): check that folder`);
  }
}

/** Takes the record away; false when there was none. */
export function removeRecord(root: string, places: State): Result<boolean, string> {
  const file = fileOf(root, places);
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return ok(false);
    rmSync(file);
    return ok(true);
  } catch (error) {
    return fail(`${file} can't be removed (${codeOf(error)})`);
  }
}

const folderOf = ({ state }: State): string => path.join(state, 'trust');

/** By the real path alone: a record of the folder above, or of one that a git pointer names, is never found. */
const fileOf = (root: string, places: State): string =>
  path.join(folderOf(places), `${jsonDigest(root).slice(0, 24)}.json`);

/** Another user who can put files there could trust anything. */
function folderProblem(places: State): string | null {
  try {
    for (const folder of [places.state, folderOf(places)]) {
      const status = lstatSync(folder, { throwIfNoEntry: false });
      if (status === undefined) continue;
      const sound = status.isDirectory() && isPrivate(status);
      if (!sound) return `${folder} is a link, another user's, or others may write it: nothing it says of trust counts`;
    }
    return null;
  } catch (error) {
    // A way that leads through a file leads to no records: who has to write there says what is wrong.
    return codeOf(error) === 'ENOTDIR' ? null : `${places.state} can't be looked at (${codeOf(error)})`;
  }
}

const isPrivate = ({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean =>
  uid === process.geteuid?.() && (mode & 0o022) === 0;
