/** Turns the files of a project into a tree, using an index of its own. Repositories inside the project are treated as plain
 * folders or left out, and git never runs in them, because their configuration could name programs. Ignored files count if
 * the last commit has them. Its functions throw `TreeFault`. */
import fs from 'node:fs';
import path from 'node:path';
import type { Millis } from '../../domain/ids.ts';
import { defined, tried } from '../../domain/result.ts';
import { type RepositoryFacts, type StoreCall, TreeFault, type TreeStore } from './store.ts';

export interface Staging {
  readonly store: TreeStore;
  readonly facts: RepositoryFacts;
  /** The index's file: created if missing, and reused. */
  readonly index: string;
  readonly signal: AbortSignal;
  readonly into?: StoreCall['into'];
  /** Only these paths, relative to the root; absent: everything. */
  readonly paths?: readonly string[];
  /** Exactly these files instead, there or removed; of them, those that git ignores do not count. */
  readonly names?: readonly string[];
  /** Whether the content of repositories inside the project counts as files. */
  readonly inside: 'counted' | 'left out';
  /** Refuses to store more new content than this at once; absent: whatever there is. */
  readonly most?: { readonly files: number; readonly bytes: number; readonly fault: string };
  /** Names that count although git ignores them, requested when all others are in the index; absent: none. */
  readonly hidden?: () => Promise<readonly string[]>;
}

/** One difference between two trees. `object` and `mode` belong to the older tree; zeros if the path is new. */
export interface TreeEntry {
  readonly mode: string;
  readonly newMode: string;
  readonly object: string;
  readonly newObject: string;
  readonly path: string;
}

/** The files of a tree by their names; those below a folder, named with `/` at its end. */
export async function filesIn(
  { store, facts, signal }: Pick<Staging, 'store' | 'facts' | 'signal'>,
  tree: string,
  ...below: readonly string[]
): Promise<ReadonlyMap<string, Pick<TreeEntry, 'mode' | 'object'>>> {
  const lines = (await store.git(facts, ['ls-tree', '-r', '-z', tree, '--', ...below], signal)).split('\0');
  return new Map(
    lines.flatMap((line) => {
      const [, mode = '', object = '', name = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
      return name === '' ? [] : [[name, { mode, object }]];
    }),
  );
}

const GITLINK = '160000';

/** Puts the last commit's tree into the index, without its submodules (`links`); known facts about unchanged files are kept. After a fault
 * of this or of `stage` the index must not be reused, because a submodule may still be in it. */
export async function seed(staging: Staging): Promise<{ readonly tree: string; readonly links: readonly TreeEntry[] }> {
  const { head } = staging.facts;
  const empty = emptyTree(staging.facts);
  await inIndex(staging, head === null ? ['read-tree', '--empty'] : ['read-tree', '--reset', head]);
  if (head === null) return { tree: empty, links: [] };
  const links = await linksBetween(staging, empty, head);
  return { tree: links.length === 0 ? head : await withoutLinks(staging, links), links };
}

/** The tree of the files on disk, after `seed`; `before` is a tree without submodules that the index held. */
export async function stage(staging: Staging, before: string): Promise<string> {
  const excludes = await exclude(staging);
  if (staging.names !== undefined) await ofNames(staging, ADDED, await notIgnored(staging, staging.names, excludes));
  else await inIndex(staging, ['add', '--all', '--', ...(staging.paths ?? ['.'])], { excludes });
  const hidden = (await staging.hidden?.()) ?? [];
  await ofNames(staging, ADDED, hidden);
  const tree = await writeTree(staging);
  if (tree === before) return tree;
  // A repository may have been created meanwhile; with it in the index, git would run its programs next time.
  const links = await linksBetween(staging, before, tree);
  return links.length === 0 ? tree : withoutLinks(staging, links);
}

const ADDED = ['--add', '--remove', '--replace'];

/** Those that git does not ignore, or has already. */
async function notIgnored(staging: Staging, names: readonly string[], excludes: string): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z', '--', ...names];
  const ignored = new Set((await inIndex(staging, args, { excludes })).split('\0'));
  return names.filter((name) => !ignored.has(name));
}

const linksBetween = async (staging: Staging, from: string, to: string): Promise<readonly TreeEntry[]> =>
  (await differences(staging, from, to)).filter(({ newMode }) => newMode === GITLINK);

async function ofNames(staging: Staging, how: readonly string[], names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const input = names.map((name) => `${name}\0`).join('');
  await inIndex(staging, ['update-index', ...how, '-z', '--stdin'], { input });
}

/** The id of the empty tree, which git knows without storing it. */
const emptyTree = ({ format }: RepositoryFacts): string =>
  format === 'sha256'
    ? '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
    : '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export const writeTree = async (staging: Staging): Promise<string> => (await inIndex(staging, ['write-tree'])).trim();

/** Every path in which two trees differ. */
export async function differences(
  { store, facts, signal, into }: Staging,
  from: string,
  to: string,
): Promise<readonly TreeEntry[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to];
  return entriesOf(await store.git(facts, args, signal, defined({ into })));
}

/** The entries at the beginning of a raw list; what follows them is left out. */
export function entriesOf(raw: string): readonly TreeEntry[] {
  const fields = raw.split('\0');
  const end = fields.findIndex((field, at) => at % 2 === 0 && !field.startsWith(':'));
  return Array.from({ length: Math.floor((end === -1 ? fields.length : end) / 2) }, (_, at) => {
    const [mode = '', newMode = '', object = '', newObject = ''] = (fields[2 * at] ?? '').slice(1).split(' ');
    return { mode, newMode, object, newObject, path: fields[2 * at + 1] ?? '' };
  });
}

export const INDEX_INFO = ['update-index', '-z', '--index-info'];

/** These entries the other way round: back to the older tree. */
export const undone = (entries: readonly TreeEntry[]): readonly TreeEntry[] =>
  entries.map(({ mode, newMode, object, newObject, path }) => ({
    mode: newMode,
    newMode: mode,
    object: newObject,
    newObject: object,
    path,
  }));

/** Input of `INDEX_INFO`: the newer side of each entry. Removals come first, because a folder may replace a file. */
export function newerLines(entries: readonly TreeEntry[]): string {
  const lines = [
    ...entries.map((entry) => `0 ${'0'.repeat(entry.newObject.length)}\t${entry.path}`),
    ...entries
      .filter(({ newMode }) => Number(newMode) !== 0)
      .map((entry) => `${entry.newMode} ${entry.newObject}\t${entry.path}`),
  ];
  return lines.map((line) => `${line}\0`).join('');
}

export const inIndex = (
  { store, facts, index, signal, into }: Staging,
  args: readonly string[],
  call: StoreCall = {},
): Promise<string> => store.git(facts, args, signal, { ...call, index, ...defined({ into }) });

async function withoutLinks(staging: Staging, links: readonly TreeEntry[]): Promise<string> {
  const names = links.map((link) => link.path);
  // git does not accept a name that is not text, so the submodule would stay in the index and be entered.
  refuseOdd(names);
  await ofNames(staging, ['--force-remove'], names);
  return writeTree(staging);
}

/** Throws where one of the names is not text. */
export function refuseOdd(names: readonly string[], what = 'a repository'): void {
  const odd = names.find((name) => name.includes('\uFFFD'));
  if (odd !== undefined) throw new TreeFault(`${odd}: ${what} whose name is not UTF-8; rename it`);
}

/** Writes the exclude patterns: the person's own for this clone, Mimir's folder, and repositories that do not count. */
async function exclude(staging: Staging): Promise<string> {
  const file = writeExcludes(staging, []);
  if (staging.inside === 'counted') await enter(staging, file);
  else writeExcludes(staging, (await repositoriesIn(staging, file)).map(patternOf));
  return file;
}

function writeExcludes({ index, facts }: Staging, more: readonly string[]): string {
  const file = `${index}.excludes`;
  fs.writeFileSync(file, [ownExcludes(facts), '/.mimir/', ...more, ''].join('\n'), { mode: 0o600 });
  return file;
}

/** Whether no file differs from the index after a `stage`, as far as git does not ignore it; one call of git. */
export async function isUnchanged(staging: Staging): Promise<boolean> {
  const excludes = writeExcludes(staging, []);
  const kinds = ['--others', '--modified', '--deleted', '--exclude-standard', '-z'];
  return (await inIndex(staging, ['ls-files', ...kinds], { excludes })) === '';
}

async function repositoriesIn(staging: Staging, excludes: string): Promise<readonly string[]> {
  const listed = await inIndex(staging, ['ls-files', '--others', '--exclude-standard', '-z'], { excludes });
  const names = listed.split('\0').filter((name) => name !== '');
  if (staging.most !== undefined) refuseLarge(staging.store.root.path, names, staging.most);
  return names.filter((name) => name.endsWith('/'));
}

function refuseLarge(root: string, names: readonly string[], most: NonNullable<Staging['most']>): void {
  const sizeOf = (name: string): number => fs.lstatSync(path.join(root, name), { throwIfNoEntry: false })?.size ?? 0;
  const isLarge = names.length > most.files || names.reduce((sum, name) => sum + sizeOf(name), 0) > most.bytes;
  if (isLarge) throw new TreeFault(most.fault);
}

const DEEPEST = 16;

/** git enters a nested repository only if the index has an entry in it. So each gets a dummy entry, which disappears when
 * everything is added. Otherwise `git init` would hide files from reviews. */
async function enter(staging: Staging, excludes: string): Promise<void> {
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const found = await repositoriesIn(staging, excludes);
    if (found.length === 0) return;
    refuseOdd(found);
    const object = '1'.repeat(emptyTree(staging.facts).length);
    const input = found.map((name) => `100644 ${object}\t${name}.mimir-looks-here\0`).join('');
    await inIndex(staging, INDEX_INFO, { input });
  }
  throw new TreeFault(`repositories are nested more than ${DEEPEST} levels deep: their changes cannot be determined`);
}

/** A pattern that matches only this name. */
export const patternOf = (name: string): string => `/${name.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`;

/** The patterns of the repository's `info/exclude`. */
export const ownExcludes = ({ objects }: Pick<RepositoryFacts, 'objects'>): string =>
  objects === null ? '' : plainFile(path.join(path.dirname(objects), 'info/exclude'), 65_536);

/** The text of a regular file of at most `most` bytes; empty if it cannot be read or is a link. */
export const plainFile = (file: string, most: number): string =>
  tried(() => {
    const handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    try {
      const found = fs.fstatSync(handle);
      return found.isFile() && found.size <= most ? fs.readFileSync(handle, 'utf8') : '';
    } finally {
      fs.closeSync(handle);
    }
  }, '');

// The index is kept from one program to the next, so that only changed files are read again.

const KEPT_MS = 7 * 86_400_000;

/** Stores of projects that were not used for so long are removed, unless sessions of theirs are stored, which name their contents. */
const FORGOTTEN_MS = 90 * 86_400_000;

/** Makes `index` a copy of the stored one; without one, every file is read once. */
export function takeIndex(index: string): void {
  sweep(path.dirname(index));
  forgetOthers(path.dirname(index));
  copyIndex(path.join(path.dirname(index), 'index'), index);
}

/** Stores `index` for the next program. It must not contain a submodule, which git would enter. */
export function leaveIndex(index: string): void {
  const fresh = `${index}.fresh`;
  if (copyIndex(index, fresh)) fs.renameSync(fresh, path.join(path.dirname(index), 'index'));
}

/** Gives the index the time at which its files were first looked at. git reads a file again that has changed since the time of the index, and
 * writes the index only when it is done: of a file that changed in between, in the same second as before, nothing else would tell. */
export function backdate(index: string, began: Millis): void {
  const time = (began - CLOCK_MS) / 1000;
  fs.utimesSync(index, time, time);
}

/** By how much the time of files may be behind the clock. */
const CLOCK_MS = 100;

/** Removes `index` and its companion files. */
export function dropIndex(index: string): void {
  for (const end of ['', '.excludes', '.lock', '.files']) fs.rmSync(`${index}${end}`, { recursive: true, force: true });
}

/** Removes the remains of interrupted runs. */
function sweep(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    const age = Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (name.startsWith('index-') && age > KEPT_MS) fs.rmSync(file, { recursive: true, force: true });
  }
}

/** Removes long unused stores of other projects. */
function forgetOthers(own: string): void {
  const all = path.dirname(own);
  for (const name of fs.readdirSync(all)) {
    const folder = path.join(all, name);
    // The age is exact, because each use adds and removes a file in the folder.
    const age = Date.now() - (fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    // What cannot be removed stays until the next run.
    if (folder !== own && age > FORGOTTEN_MS && !hasSessions(all, name))
      tried(() => fs.rmSync(folder, { recursive: true, force: true }), undefined);
  }
}

/** Whether the log of the project is still there; both folders are named by the digest of the project's path. */
const hasSessions = (all: string, name: string): boolean =>
  tried(() => fs.readdirSync(path.join(all, '../projects')), []).some((log) => log.endsWith(`-${name.slice(0, 12)}`));

/** The copy gets an earlier time, so that git re-reads files that may have changed while the index was written. */
export function copyIndex(from: string, to: string): boolean {
  try {
    fs.copyFileSync(from, to);
    const written = fs.statSync(from).mtimeMs / 1000 - 2;
    fs.utimesSync(to, written, written);
    return true;
  } catch {
    fs.rmSync(to, { force: true });
    return false;
  }
}
