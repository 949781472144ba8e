/** What the files of a project become when the changes of one agent are taken back. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { AuthoredFile } from '../../domain/changes/authorship.ts';
import { type FileWithout, fileWithout, type Undone } from '../../domain/changes/undo.ts';
import type { FileContent, FileUndo } from '../../ports/changes.ts';
import { refused, type Root } from '../paths/root.ts';
import { readContents } from '../trees/contents.ts';
import { permissions } from '../writes/kept.ts';
import { type ContentPlace, type FileNow, fileNow, LINK, shownText } from './authors.ts';

/** What the files become. Throws `TreeFault`. */
export async function filesWithout(
  place: ContentPlace,
  files: readonly AuthoredFile[],
  undone: Undone,
): Promise<readonly FileUndo[]> {
  const blobs = files.flatMap(({ steps }) => steps.flatMap(({ before }) => before?.blob ?? []));
  const contents = await readContents(place.store, place.facts, blobs, place.signal);
  return files.flatMap((file) => {
    const found = fileNow(place, file.path, file.steps);
    const before = found === null ? null : onDisk(place.root, file.path);
    const stays = (because: string): FileUndo => ({ path: file.path, before, after: before, left: [], stays: because });
    if (found?.version.blob !== file.now?.blob) return [stays('it has changed just now')];
    const without = fileWithout(file, textNow(found), undone);
    if (without === undefined) return [stays('it has changed just now')];
    const { left } = without;
    if (isUntouched(without)) return left.length === 0 ? [] : [{ path: file.path, before, after: before, left }];
    const no = refused(place.root, file.path, 'write');
    if (no !== null) return [stays(no)];
    const after = contentOf(file, without, { found, before }, contents);
    return [typeof after === 'string' ? stays(after) : { path: file.path, before, after, left }];
  });
}

const isUntouched = ({ content, whole, mode }: FileWithout): boolean =>
  content === undefined && whole === undefined && mode === undefined;

/** Of a link where it leads. Throws an error of the file system. */
export const onDisk = ({ path: root }: Root, name: string): FileContent => {
  const place = path.join(root, name);
  const stats = lstatSync(place);
  const bytes = stats.isSymbolicLink() ? Buffer.from(readlinkSync(place)) : readFileSync(place);
  return { bytes, mode: stats.mode & 0o7777 };
};

const textNow = (found: FileNow | null): string | null =>
  found === null ? null : shownText(found.version, new Map([[found.version.blob, found.bytes]]));

interface Now {
  readonly found: FileNow | null;
  readonly before: FileContent | null;
}

/** The new content of the file, null for no file, or why it cannot be written. */
function contentOf(
  { start }: AuthoredFile,
  without: FileWithout,
  now: Now,
  contents: ReadonlyMap<string, Buffer>,
): FileContent | null | string {
  const { content, whole, mode } = without;
  if (content === null || whole === null) return null;
  if ([now.found?.version.mode, mode, whole?.mode].includes(LINK))
    return 'it is a link, which has to be changed by hand';
  const bytes = bytesOf(without, now, contents);
  if (typeof bytes === 'string') return bytes;
  return { bytes, mode: modeOf(mode ?? (whole ?? start)?.mode, without, now.before) };
}

function bytesOf({ content, whole }: FileWithout, now: Now, contents: ReadonlyMap<string, Buffer>): Buffer | string {
  if (whole) {
    const stored = contents.get(whole.blob);
    return stored === undefined ? 'its earlier content is not stored' : withLineEnds(stored, now);
  }
  if (typeof content === 'string') return withLineEnds(Buffer.from(content), now);
  return now.before?.bytes ?? 'it no longer exists';
}

/** With the line ends that the file has on disk. */
function withLineEnds(bytes: Buffer, { found, before }: Now): Buffer | string {
  if (found?.isDos !== true) return bytes;
  const dos = (lines: Buffer): Buffer => Buffer.from(lines.toString().replaceAll('\n', '\r\n'));
  return before !== null && dos(found.bytes).equals(before.bytes) ? dos(bytes) : 'its line ends are mixed';
}

/** A file that is there keeps its own unless the mode changes. */
const modeOf = (git: string | undefined, { mode }: FileWithout, before: FileContent | null): number =>
  permissions(before?.mode ?? 0o644, before !== null && mode === undefined ? undefined : (git ?? '100644'));
