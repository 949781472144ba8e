/** Undos that can be taken back. Before anything is written, the files as they are and as they become are kept in the state folder, so that an
 * undo that was cut off, and one that a person regrets, is restored byte for byte. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { messageOf, tried } from '../../domain/result.ts';
import type { ChangesPort, FileContent, FileUndo, UndoEnd, UndoLabel } from '../../ports/changes.ts';
import { ownMark, refused, type Root } from '../paths/root.ts';
import { dropEmptyAbove, restored } from '../writes/kept.ts';
import { onDisk } from './undo.ts';

const Manifest = z.object({
  session: z.string(),
  agent: z.string(),
  files: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
});
type Manifest = z.output<typeof Manifest>;
const MANIFEST = 'undo.json';
/** How many undos of a project can be taken back. */
const KEPT = 50;

/** `folder` is for the undos of this project alone, `state` the state folder. */
export function openUndos(root: Root, folder: string, state: string): Pick<ChangesPort, 'undo' | 'hasUndo' | 'back'> {
  const fileIn = (id: string, name: string): string => path.join(folder, id, name);
  const manifestOf = (id: string): Manifest | null => read(fileIn(id, MANIFEST));
  async function all(id: string, files: Manifest['files'], way: 'before' | 'after'): Promise<UndoEnd> {
    const written: string[] = [];
    const failed: string[] = [];
    for (const [nth, file] of files.entries()) {
      try {
        await put({ root, state }, file, way, fileIn(id, `${nth}.${way}`));
        written.push(file.path);
      } catch (error) {
        failed.push(`${file.path}: ${messageOf(error)}`);
      }
    }
    return { written, failed };
  }
  const last = ({ session, agent }: UndoLabel): string | undefined =>
    idsIn(folder).find((id) => {
      const one = manifestOf(id);
      return one?.session === session && one.agent === agent;
    });
  return {
    async undo(files, label) {
      const changed = files.map((file) => ({ ...file, ...digests(file) })).filter(({ is, to }) => is !== to);
      const id = `${new Date().toISOString().replaceAll(/\D/g, '')}.${ownMark()}`;
      fs.mkdirSync(path.join(folder, id), { recursive: true, mode: 0o700 });
      for (const [nth, { path: name, before, after }] of changed.entries()) {
        const stats = fs.lstatSync(path.join(root.path, name), { throwIfNoEntry: false });
        keep(fileIn(id, `${nth}.before`), before, { owner: stats, times: stats });
        keep(fileIn(id, `${nth}.after`), after, { owner: stats });
      }
      const listed = changed.map(({ path: name, is, to }) => ({ path: name, before: is, after: to }));
      const { session, agent } = label;
      const bytes = Buffer.from(JSON.stringify({ session, agent, files: listed }));
      keep(fileIn(id, MANIFEST), { bytes, mode: 0o600 });
      for (const old of idsIn(folder).slice(KEPT)) fs.rmSync(path.join(folder, old), { recursive: true, force: true });
      return await all(id, listed, 'after');
    },
    hasUndo: (of) => last(of) !== undefined,
    async back(of) {
      const id = last(of);
      if (id === undefined) return null;
      const end = await all(id, manifestOf(id)?.files ?? [], 'before');
      if (end.failed.length === 0) fs.rmSync(path.join(folder, id), { recursive: true, force: true });
      return end;
    },
  };
}

const digests = ({ before, after }: FileUndo) => ({ is: digestOf(before), to: digestOf(after) });

/** Writes one version of a file, kept as `from`; rejects if the file is in neither of them. */
async function put(
  { root, state }: { readonly root: Root; readonly state: string },
  { path: name, ...file }: Manifest['files'][number],
  way: 'before' | 'after',
  from: string,
): Promise<void> {
  const why = refused(root, name, 'write');
  if (why !== null) throw new Error(why);
  const now = digestAt(root, name);
  if (now === file[way]) return;
  if (now !== file[way === 'after' ? 'before' : 'after']) throw new Error('it has changed meanwhile');
  if (file[way] === null) {
    fs.rmSync(path.join(root.path, name));
    return dropEmptyAbove(root.path, name);
  }
  const stats = fs.lstatSync(from, { bigint: true });
  await restored({ stats, content: from, link: null }, path.join(root.path, name), state);
}

/** The newest first. */
const idsIn = (folder: string): readonly string[] =>
  tried(() => fs.readdirSync(folder), [])
    .toSorted()
    .toReversed();

const read = (file: string): Manifest | null =>
  tried(() => Manifest.parse(JSON.parse(fs.readFileSync(file, 'utf8'))), null);

/** Writes a content to the disk, with this owner and these times. */
function keep(
  to: string,
  content: FileContent | null,
  { owner, times }: Partial<Record<'owner' | 'times', fs.Stats | undefined>> = {},
): void {
  if (content === null) return;
  const handle = fs.openSync(to, 'wx', 0o600);
  try {
    fs.writeFileSync(handle, content.bytes);
    if (owner !== undefined) tried(() => fs.fchownSync(handle, owner.uid, owner.gid), undefined);
    fs.fchmodSync(handle, content.mode);
    if (times !== undefined) fs.futimesSync(handle, times.atimeMs / 1000, times.mtimeMs / 1000);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

const digestOf = (content: FileContent | null): string | null =>
  content === null ? null : `${content.mode.toString(8)} ${createHash('sha256').update(content.bytes).digest('hex')}`;

/** Of the file on disk, null without one. Throws where it is reached by a link, or is none. */
function digestAt(root: Root, name: string): string | null {
  const parts = name.split('/');
  for (const [nth] of parts.entries()) {
    const stats = fs.lstatSync(path.join(root.path, ...parts.slice(0, nth + 1)), { throwIfNoEntry: false });
    if (stats === undefined) return null;
    const isLast = nth === parts.length - 1;
    if (isLast ? !stats.isFile() : !stats.isDirectory()) throw new Error('another file or a link is in its place');
  }
  return digestOf(onDisk(root, name));
}
