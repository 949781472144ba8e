/** Merges an agent's tree into the project: compared in memory by git, and then applied file by file, where each file is still as it was compared.
 * The three sides are the project when the tree was made (`base`), the project now (`ours`) and the tree (`theirs`). */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { listedChanges } from '../../domain/changes/changes.ts';
import { defined, tried } from '../../domain/result.ts';
import { serialQueue } from '../../domain/serial-queue.ts';
import type { Merge, MergeConflict, MergeRequest } from '../../ports/workspace.ts';
import { openParent } from '../files/replace-file.ts';
import { denied, refused, type Root } from '../paths/root.ts';
import { placeOf } from '../workspace.ts';
import { type Copy, dropEmptyAbove, isSame, permissions, restored } from '../writes/kept.ts';
import { commitOf, placesOf, removals, type TreePlaces, treeWith, visibleTree } from './own-tree.ts';
import * as staged from './stage.ts';
import { attempted, type RepositoryFacts, type StoreOptions, TreeFault, type TreeStore, treeStore } from './store.ts';
import { changedFiles, MOST_NEW, type Scanned, Scans, type Snapshots } from './tree.ts';

/** What is merged, and why the rest is not. */
export interface Theirs {
  readonly tree: string;
  readonly leftOut: readonly string[];
}

/** The content of an agent's tree as it is now. Its repository is not read. */
export async function theirTree(
  { staging }: Scanned,
  options: StoreOptions,
  { name, base, writes }: MergeRequest,
): Promise<Theirs> {
  const { root } = options;
  const places = placesOf(root, options.stateDir, name);
  if (!fs.existsSync(places.tree)) throw new TreeFault('the tree no longer exists');
  const facts: RepositoryFacts = { ...staging.facts, head: base };
  const store = storeOf(options, places);
  const own: staged.Staging = { store, facts, index: places.index, signal: staging.signal, inside: 'counted' };
  await staged.seed(own);
  const all = await staged.stage(own, base);
  const { tree } = await visibleTree(own, root, all);
  const entries = await staged.differences(own, base, tree);
  const why = (file: string): string | null => refused({ ...root, ...defined({ writes }) }, file, 'write');
  const no = entries.flatMap((entry) => {
    const because = why(entry.path);
    return because === null ? [] : [{ entry, because }];
  });
  const back = staged.undone(no.map(({ entry }) => entry));
  return { tree: await treeWith(own, tree, staged.newerLines(back)), leftOut: no.map(({ because }) => because) };
}

/** Mimir's store of the project, with the files of a tree. */
const storeOf = (options: StoreOptions, { tree }: TreePlaces): TreeStore =>
  treeStore({ ...options, root: { ...options.root, path: tree }, of: options.root });

/** Compares an agent's tree around its commands. Its repository is not read. */
export function snapshotsOf(options: StoreOptions, name: string): Pick<Snapshots, 'snapshot' | 'filesBetween'> {
  const places = placesOf(options.root, options.stateDir, name);
  const store = storeOf(options, places);
  const index = `${places.index}-commands`;
  const queued = serialQueue();
  const scans = new Scans((fresh) => void staged.copyIndex(places.index, fresh));
  const factsAt = async (signal: AbortSignal): Promise<RepositoryFacts> =>
    scans.last?.facts ?? (await treeStore(options).facts(signal));
  return {
    snapshot: (signal) =>
      queued(() =>
        attempted(async () => {
          const facts = await factsAt(signal);
          return scans.look({ store, facts, index, signal, inside: 'counted', most: MOST_NEW });
        }),
      ),
    filesBetween: (from, to, signal) =>
      attempted(async () => changedFiles(store, await factsAt(signal), { from, to }, signal)),
  };
}

interface Sides {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** The merge of three trees, in memory. */
export async function mergeOf(
  staging: staged.Staging,
  sides: Sides,
  leftOut: readonly string[],
  objects: readonly string[],
): Promise<Merge> {
  const { ours, theirs } = sides;
  const found = await mergeTrees(staging, sides, objects);
  const { store, facts, signal } = staging;
  const files = await changedFiles(store, facts, { from: ours, to: found.merged }, signal);
  return { ours, theirs, ...found, ...listedChanges(files), leftOut };
}

interface Merged extends Pick<Merge, 'merged' | 'conflicts' | 'withTheirs' | 'marked'> {}

/** One side of a path in conflict: 1 is the base, 2 ours, 3 theirs. */
interface Stage {
  readonly mode: string;
  readonly object: string;
  readonly stage: string;
  readonly path: string;
}

async function mergeTrees(
  staging: staged.Staging,
  { base, ours, theirs }: Sides,
  objects: readonly string[],
): Promise<Merged> {
  if (theirs === base || theirs === ours) return { merged: ours, conflicts: [] };
  if (ours === base) return { merged: theirs, conflicts: [] };
  const { store, facts, signal } = staging;
  const from = await commitOf(staging, base, null, objects);
  const [one, other] = [await commitOf(staging, ours, from, objects), await commitOf(staging, theirs, from, objects)];
  const args = ['merge-tree', '--write-tree', '-z', '--messages', one, other];
  const said = (await store.git(facts, args, signal, { objects, also: 1 })).split('\0');
  const [tree = ''] = said;
  const end = said.indexOf('', 1);
  const stages = said.slice(1, end).flatMap((line): readonly Stage[] => {
    const [, mode = '', object = '', stage = '', name = ''] = /^(\d+) (\w+) ([123])\t(.*)$/s.exec(line) ?? [];
    return name === '' ? [] : [{ mode, object, stage, path: name }];
  });
  if (stages.length === 0) return { merged: tree, conflicts: [] };
  const conflicts = conflictsIn(stages, said.slice(end + 1));
  const side = async (stage: '2' | '3', of: string): Promise<string> => {
    const lines = await sideLines(staging, { tree, stages, stage, of, ids: [one, other] });
    return treeWith(staging, tree, lines);
  };
  return { merged: await side('2', ours), conflicts, withTheirs: await side('3', theirs), marked: tree };
}

/** The messages are groups of: a number of paths, these, the kind, and a sentence. */
function conflictsIn(stages: readonly Stage[], messages: readonly string[]): readonly MergeConflict[] {
  const kinds = new Map<string, string>();
  for (let at = 0; at < messages.length - 2; ) {
    const count = Number(messages[at]);
    const [paths, kind = ''] = [messages.slice(at + 1, at + 1 + count), messages[at + 1 + count]];
    const [, words] = /^CONFLICT \((.+)\)$/.exec(kind) ?? [];
    if (words !== undefined) for (const name of paths) kinds.set(name, kinds.get(name) ?? words);
    at += count + 3;
  }
  const names = [...new Set(stages.map(({ path: name }) => name))];
  return names.map((name) => ({ path: name, kind: kinds.get(name) ?? 'contents' }));
}

interface Choice {
  readonly tree: string;
  readonly stages: readonly Stage[];
  readonly stage: '2' | '3';
  /** The tree of this side. */
  readonly of: string;
  /** The commits, by which git names a file that had to give way to a folder: `name~commit`. */
  readonly ids: readonly string[];
}

/** Input of `INDEX_INFO`: each path in conflict as one side has it. */
async function sideLines(staging: staged.Staging, { tree, stages, stage, of, ids }: Choice): Promise<string> {
  // Of a file with a new name on each side, git's stages have a merged content with signs of conflict.
  const own = await staged.filesIn(staging, of);
  const gone: string[] = [];
  const there: Stage[] = [];
  for (const name of new Set(stages.map((one) => one.path))) {
    const chosen = stages.find((one) => one.path === name && one.stage === stage);
    const aside = ids.find((id) => name.endsWith(`~${id}`));
    gone.push(name);
    if (chosen === undefined) continue;
    const at = aside === undefined ? name : name.slice(0, -aside.length - 1);
    if (at !== name) gone.push(at, ...(await staged.filesIn(staging, tree, `${at}/`)).keys());
    there.push({ ...chosen, ...own.get(at), path: at });
  }
  const lines = there.map(({ mode, object, path: name }) => `${mode} ${object}\t${name}\0`).join('');
  return `${removals(staging.facts, gone)}${lines}`;
}

/** Changes the project's files from `ours` to `to`. Throws `TreeFault` before any change where one of them is no longer as in `ours`;
 * each is compared once more before it is replaced. */
export async function applyTree({ staging, tree }: Scanned, ours: string, to: string): Promise<readonly string[]> {
  const entries = await staged.differences(staging, ours, to);
  const wanted = new Set(entries.map((entry) => entry.path));
  const { root } = staging.store;
  const meanwhile = (await staged.differences(staging, ours, tree)).find((entry) => wanted.has(entry.path));
  if (meanwhile !== undefined) throw new TreeFault(`${meanwhile.path} ${MEANWHILE}`);
  for (const { path: name, mode, newMode } of entries) {
    const no = denied(root, name, 'write');
    if (no !== null) throw new TreeFault(no);
    // A file that git ignores here would be overwritten without a word.
    // Below a file there is nothing: it gives way to a folder.
    const isThere = tried(() => fs.lstatSync(path.join(root.path, name)).mode !== 0, false);
    if (Number(mode) === 0 && Number(newMode) !== 0 && isThere && !(await isFolderOf(staging, tree, name)))
      throw new TreeFault(`${name} exists in the project, where git ignores it: move it away, and merge again`);
  }
  if (entries.length > 0) await writeEntries({ staging, tree }, entries);
  return [...wanted];
}

async function writeEntries({ staging, tree }: Scanned, entries: readonly staged.TreeEntry[]): Promise<void> {
  const { root } = staging.store;
  const result = await treeWith(staging, tree, staged.newerLines(entries));
  const own = { ...staging, index: `${staging.index}-${randomBytes(4).toString('hex')}` };
  try {
    const fresh = await checkOut(own, result, entries);
    const before = new Map(entries.map(({ path: name }) => [name, statsAt(path.join(root.path, name))]));
    if (!staged.copyIndex(staging.index, own.index))
      throw new TreeFault('the index of the project could not be copied');
    // git compares each file with what it was in `tree`, and changes nothing. It looks at the times alone, which a file that was written
    // anew with the same content has others of.
    await staged.inIndex(own, ['update-index', '-q', '--refresh'], { also: 1 });
    await staged.inIndex(own, ['read-tree', '-n', '-m', '-u', tree, result]);
    // Removals come first, because a folder may replace a file.
    for (const entry of entries.toSorted((a, b) => Number(a.newMode) - Number(b.newMode)))
      await replace(root, fresh, entry, before.get(entry.path) ?? null);
  } finally {
    staged.dropIndex(own.index);
  }
}

/** Writes the new files into a folder of Mimir's own, with the line ends that the attributes of `result` ask for; returns the folder. */
async function checkOut(own: staged.Staging, result: string, entries: readonly staged.TreeEntry[]): Promise<string> {
  const all = [...(await staged.filesIn(own, result))];
  const attributes = all.filter(([name]) => path.posix.basename(name) === '.gitattributes');
  const lines = attributes.map(([name, { mode, object }]) => `${mode} ${object}\t${name}\0`).join('');
  await staged.inIndex(own, staged.INDEX_INFO, { input: `${staged.newerLines(entries)}${lines}` });
  const workTree = `${own.index}.files`;
  fs.mkdirSync(workTree, { mode: 0o700 });
  await staged.inIndex(own, ['checkout-index', '--all'], { workTree });
  return workTree;
}

const statsAt = (place: string): fs.BigIntStats | null => tried(() => fs.lstatSync(place, { bigint: true }), null);

/** Replaces one file by a rename, so that whoever reads it has the old or the new one; throws if it is not as in `before`. */
async function replace(
  root: Root,
  fresh: string,
  entry: staged.TreeEntry,
  before: fs.BigIntStats | null,
): Promise<void> {
  const { path: name, newMode } = entry;
  const isThere = Number(newMode) !== 0;
  const folder = await openParent(root, name, { make: isThere });
  if (!folder.ok) throw new TreeFault(folder.fault);
  try {
    const at = path.join(await placeOf(folder.value, root, path.posix.dirname(name)), path.posix.basename(name));
    if (!isStill(before, statsAt(at))) throw new TreeFault(`${name} ${MEANWHILE}`);
    if (isThere) await restored(newCopy(fresh, entry, before), path.join(root.path, name), root.state, at);
    else await rm(at);
  } finally {
    await folder.value.close();
  }
  if (!isThere) await dropEmptyAbove(root.path, name);
}

/** A new file may take the place of a folder, which is empty then or gone. */
const isStill = (before: fs.BigIntStats | null, now: fs.BigIntStats | null): boolean =>
  before === null || before.isDirectory() ? now === null || now.isDirectory() : now !== null && isSame(before, now);

/** The new file, with the owner and the permissions of the one that it replaces. */
function newCopy(fresh: string, { path: name, mode, newMode }: staged.TreeEntry, before: fs.BigIntStats | null): Copy {
  const content = path.join(fresh, name);
  const stats = fs.lstatSync(content, { bigint: true });
  if (stats.isSymbolicLink()) return { stats, content: null, link: fs.readlinkSync(content) };
  if (before?.isFile() === true) {
    const now = permissions(Number(before.mode), mode === newMode ? undefined : newMode);
    Object.assign(stats, { uid: before.uid, gid: before.gid, mode: BigInt(now) });
  }
  return { stats, content, link: null };
}

const MEANWHILE = 'has changed in the project meanwhile';

/** Whether the project has a folder of this name with files that are known. */
const isFolderOf = async (staging: staged.Staging, tree: string, name: string): Promise<boolean> =>
  (await staged.filesIn(staging, tree, `${name}/`)).size > 0;

/** Writes the difference as a patch for `git apply`. */
export async function writePatch(
  { store, facts, signal }: staged.Staging,
  file: string,
  from: string,
  to: string,
): Promise<string> {
  const how = ['-r', '--patch', '--binary', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color'];
  const text = await store.git(facts, ['diff-tree', ...how, from, to], signal);
  fs.writeFileSync(file, text, { mode: 0o600 });
  return file;
}
