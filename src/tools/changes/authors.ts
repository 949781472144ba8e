/** Finds the authors of changes: reads the contents that the log names and those on disk, and has git find the hunks between them. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { Act, AuthoredFile, FileHistory, HunkRange } from '../../domain/changes/authorship.ts';
import { authorsOf } from '../../domain/changes/authorship.ts';
import type { ChangedFile, FileVersion } from '../../domain/changes/changes.ts';
import { tried } from '../../domain/result.ts';
import type { RecordedActs } from '../../ports/changes.ts';
import { denied, kindAt, type Root } from '../paths/root.ts';
import { decode, isBinary } from '../process/output.ts';
import { keepBytes, readContents } from '../trees/contents.ts';
import { filesIn } from '../trees/stage.ts';
import { isFreshFile } from '../process/kept-folders.ts';
import type { Snapshots } from '../trees/tree.ts';
import { attempted, type RepositoryFacts, type TreeStore } from '../trees/store.ts';

/** Where contents are read. */
export interface ContentPlace {
  readonly root: Root;
  readonly store: TreeStore;
  readonly facts: RepositoryFacts;
  readonly signal: AbortSignal;
}

/** A file on disk; its bytes are those that git would store. */
export interface FileNow {
  readonly version: FileVersion;
  readonly bytes: Buffer;
  /** Its lines end with CRLF on disk, and with LF as git stores it. */
  readonly isDos: boolean;
}

/** The files that differ between the start and now by no act, so that the person changed them, and all new ones; none where that cannot be told. */
export async function changesSince(
  trees: Pick<Snapshots, 'snapshot' | 'filesBetween'>,
  { acts, tree, unknown, isWhole }: RecordedActs,
  signal: AbortSignal,
): Promise<readonly ChangedFile[]> {
  const now = isWhole && tree !== null ? await trees.snapshot(signal) : null;
  const found = now?.ok === true && tree !== null ? await trees.filesBetween(tree.id, now.value, signal) : null;
  const all = found?.ok === true ? found.value : [];
  const known = new Set(acts.map((act) => act.path));
  const others = all.filter((one) => !known.has(one.path) && !unknown.has(one.path));
  // So many are not edited but come with another branch.
  const edited = others.length > 2000 ? [] : others.filter((one) => !isFreshFile(path.basename(one.path)));
  return [...edited, ...all.filter((one) => known.has(one.path) && one.before === null)];
}

/** The authors of the files that these acts changed and of `others`, which differ from the `tree` at the start, by path. Throws `TreeFault`. */
export async function authoredFiles(
  place: ContentPlace,
  { acts, tree }: Pick<RecordedActs, 'acts' | 'tree'>,
  others: readonly ChangedFile[],
): Promise<readonly AuthoredFile[]> {
  const byPath = Map.groupBy(acts, (act) => act.path);
  const beside = Map.groupBy(others, (change) => change.path);
  const paths = [...new Set([...byPath.keys(), ...beside.keys()])].toSorted();
  const firsts = tree === null ? new Map<string, FileVersion>() : await versionsIn(place, tree.id, new Set(paths));
  const now = new Map<string, Buffer>();
  const histories = paths.map((name): FileHistory => {
    const own = byPath.get(name) ?? [];
    const found = fileNow(place, name, [...own, ...(beside.get(name) ?? [])]);
    if (found !== null) now.set(found.version.blob, found.bytes);
    const start = startOf(own[0], tree, firsts.get(name), beside.has(name));
    return { path: name, start, now: found?.version ?? null, acts: own };
  });
  const ids = histories.flatMap(({ start, acts: own }) =>
    [start, ...own.flatMap(({ before, after }) => [before, after])].flatMap((version) => version?.blob ?? []),
  );
  const missing = ids.filter((id) => !now.has(id));
  const contents = new Map([...(await readContents(place.store, place.facts, missing, place.signal)), ...now]);
  const ranges = await rangesOf(place, histories, contents);
  return histories.map((history) => {
    const isHidden = denied(place.root, history.path, 'read') !== null;
    const textOf = (version: FileVersion): string | null => (isHidden ? null : shownText(version, contents));
    return authorsOf(history, textOf, ranges.get(history.path) ?? []);
  });
}

/** The content at the start: in the tree, unless the file was changed before that, or git ignores it. `isCompared`: it does not. */
function startOf(
  first: Act | undefined,
  tree: RecordedActs['tree'],
  inTree: FileVersion | undefined,
  isCompared: boolean,
): FileVersion | null {
  const isEarlier = first !== undefined && tree !== null && first.ended < tree.at;
  return (isEarlier ? undefined : inTree) ?? (isCompared && !isEarlier ? null : (first?.before ?? null));
}

/** Null for a link, a binary file, and a content that cannot be read. */
export function shownText({ blob, mode }: FileVersion, contents: ReadonlyMap<string, Buffer>): string | null {
  const bytes = contents.get(blob);
  if (bytes === undefined || mode === LINK || isBinary(bytes)) return null;
  const text = decode(bytes);
  return Buffer.from(text).equals(bytes) ? text : null;
}

export const LINK = '120000';

/** A file on disk without following links; null where there is none, or what is there is no file. `acts` tell how git stores its lines. */
export function fileNow(
  { root, facts }: Pick<ContentPlace, 'root' | 'facts'>,
  name: string,
  acts: readonly Pick<ChangedFile, 'before' | 'after'>[],
): FileNow | null {
  const file = path.join(root.path, name);
  const kind = kindAt(root.path, name);
  if (kind === 'link') {
    const bytes = Buffer.from(tried(() => readlinkSync(file), ''));
    return { version: { blob: blobId(facts, bytes), mode: LINK }, bytes, isDos: false };
  }
  if (kind !== 'file') return null;
  const mode = (lstatSync(file).mode & 0o100) === 0 ? '100644' : '100755';
  const bytes = readFileSync(file);
  const blob = blobId(facts, bytes);
  const known = new Set(acts.flatMap(({ before, after }) => [before?.blob, after?.blob]));
  if (!known.has(blob) && bytes.includes('\r\n')) {
    const plain = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
    const version = { blob: blobId(facts, plain), mode };
    if (known.has(version.blob)) return { version, bytes: plain, isDos: true };
  }
  return { version: { blob, mode }, bytes, isDos: false };
}

const blobId = ({ format }: Pick<RepositoryFacts, 'format'>, bytes: Uint8Array): string =>
  createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** The files of a tree with these names; none where the tree is gone with the history of the project. */
async function versionsIn(
  place: ContentPlace,
  tree: string,
  names: ReadonlySet<string>,
): Promise<Map<string, FileVersion>> {
  const all = await attempted(() => filesIn(place, tree));
  const found = [...(all.ok ? all.value : [])].filter(([name]) => names.has(name));
  return new Map(found.map(([name, { mode, object }]) => [name, { blob: object, mode }]));
}

/** The hunks of each file between its start and now, as git finds them. Throws `TreeFault`. */
async function rangesOf(
  place: ContentPlace,
  histories: readonly FileHistory[],
  contents: ReadonlyMap<string, Buffer>,
): Promise<ReadonlyMap<string, readonly HunkRange[]>> {
  const isReadable = (version: FileVersion | null): boolean => version === null || contents.has(version.blob);
  const changed = histories.filter(
    ({ start, now }) => start?.blob !== now?.blob && isReadable(start) && isReadable(now),
  );
  if (changed.length === 0) return new Map();
  for (const { now } of changed) {
    const bytes = now === null ? undefined : contents.get(now.blob);
    if (bytes !== undefined) keepBytes(place.store, place.facts, bytes);
  }
  // Numbers for names, so that the order and the spelling of names do not matter.
  const treeOf = (side: 'start' | 'now'): Promise<string> => {
    const lines = changed.map(({ [side]: to }, at) => (to === null ? '' : `100644 blob ${to.blob}\t${at}\0`));
    return place.store.git(place.facts, ['mktree', '-z', '--missing'], place.signal, { input: lines.join('') });
  };
  const [from, to] = [await treeOf('start'), await treeOf('now')];
  const args = ['diff-tree', '-r', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
  const patch = await place.store.git(
    place.facts,
    [...args, '--patch', '--unified=0', from.trim(), to.trim()],
    place.signal,
    { bytes: true },
  );
  return new Map(
    patch.split(/^(?=diff --git )/m).flatMap((section): readonly (readonly [string, readonly HunkRange[]])[] => {
      const file = changed[Number(/^diff --git a\/(\d+) /.exec(section)?.[1])];
      return file === undefined ? [] : [[file.path, hunksIn(section)]];
    }),
  );
}

const hunksIn = (section: string): readonly HunkRange[] =>
  [...section.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(([, a, b = '1', c, d = '1']) => ({
    from: { at: Number(a), lines: Number(b) },
    to: { at: Number(c), lines: Number(d) },
  }));
