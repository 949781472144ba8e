/**
 * Turns the files of a project into a tree, using an index of its own. Repositories inside the project are treated as plain
 * folders or left out, and git never runs in them, because their configuration could name programs. Ignored files count if
 * the last commit has them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { defined, fail, ok, type Result, tried } from '../../domain/result.ts';
import type { RepositoryFacts, StoreCall, TreeStore } from './store.ts';

export interface Staging {
  readonly store: TreeStore;
  readonly facts: RepositoryFacts;
  /** The index's file: created if missing, and reused. */
  readonly index: string;
  readonly signal: AbortSignal;
  readonly into?: StoreCall['into'];
  /** Only these paths, relative to the root; absent: everything. */
  readonly paths?: readonly string[];
  /** Whether the content of repositories inside the project counts as files. */
  readonly inside: 'counted' | 'left out';
  /** Names that count although git ignores them, requested when all others are in the index; absent: none. */
  readonly hidden?: () => Promise<Result<readonly string[], string>>;
}

/** One difference between two trees. `object` and `mode` belong to the older tree; zeros if the path is new. */
export interface TreeEntry {
  readonly mode: string;
  readonly newMode: string;
  readonly object: string;
  readonly newObject: string;
  readonly path: string;
}

const GITLINK = '160000';

/** The tree that the index holds after `seed` (the last commit's files), and the submodules that were left out. */
export interface Seeded {
  readonly tree: string;
  readonly links: readonly TreeEntry[];
}

/**
 * Puts the last commit's tree into the index, without its submodules; known facts about unchanged files are kept. After a fault
 * of this or of `stage` the index must not be reused, because a submodule may still be in it.
 */
export async function seed(staging: Staging): Promise<Result<Seeded, string>> {
  const { head } = staging.facts;
  const empty = emptyTree(staging.facts);
  const read = await inIndex(staging, head === null ? ['read-tree', '--empty'] : ['read-tree', '--reset', head]);
  if (!read.ok) return read;
  if (head === null) return ok({ tree: empty, links: [] });
  const all = await differences(staging, empty, head);
  if (!all.ok) return all;
  const links = all.value.filter(({ newMode }) => newMode === GITLINK);
  if (links.length === 0) return ok({ tree: head, links });
  const dropped = await drop(staging, links);
  if (!dropped.ok) return dropped;
  const tree = await writeTree(staging);
  return tree.ok ? ok({ tree: tree.value, links }) : tree;
}

/** The tree of the files on disk, after `seed`; `before` is a tree without submodules that the index held. */
export async function stage(staging: Staging, before: string): Promise<Result<string, string>> {
  const excluded = await exclude(staging);
  if (!excluded.ok) return excluded;
  const paths = staging.paths ?? ['.'];
  const added = await inIndex(staging, ['add', '--all', '--', ...paths], { excludes: excluded.value });
  if (!added.ok) return added;
  const hidden = await addHidden(staging);
  if (!hidden.ok) return hidden;
  const tree = await writeTree(staging);
  if (!tree.ok || tree.value === before) return tree;
  // A repository may have been created meanwhile; with it in the index, git would run its programs next time.
  const changed = await differences(staging, before, tree.value);
  if (!changed.ok) return changed;
  const links = changed.value.filter(({ newMode }) => newMode === GITLINK);
  if (links.length === 0) return tree;
  const dropped = await drop(staging, links);
  return dropped.ok ? writeTree(staging) : dropped;
}

async function addHidden(staging: Staging): Promise<Result<unknown, string>> {
  const names = (await staging.hidden?.()) ?? ok([]);
  if (!names.ok || names.value.length === 0) return names;
  const input = names.value.map((name) => `${name}\0`).join('');
  return inIndex(staging, ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { input });
}

/** The id of the empty tree, which git knows without storing it. */
const emptyTree = ({ format }: RepositoryFacts): string =>
  format === 'sha256'
    ? '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
    : '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export async function writeTree(staging: Staging): Promise<Result<string, string>> {
  const tree = await inIndex(staging, ['write-tree']);
  return tree.ok ? ok(tree.value.trim()) : tree;
}

/** Every path in which two trees differ. */
export async function differences(
  { store, facts, signal, into }: Staging,
  from: string,
  to: string,
): Promise<Result<readonly TreeEntry[], string>> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to];
  const raw = await store.git(facts, args, signal, defined({ into }));
  return raw.ok ? ok(entriesOf(raw.value)) : raw;
}

function entriesOf(raw: string): readonly TreeEntry[] {
  const fields = raw.split('\0');
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => {
    const [mode = '', newMode = '', object = '', newObject = ''] = (fields[2 * at] ?? '').slice(1).split(' ');
    return { mode, newMode, object, newObject, path: fields[2 * at + 1] ?? '' };
  });
}

/** Restores these entries in the index as in the older tree; new entries are removed. */
export function restore(staging: Staging, entries: readonly TreeEntry[]): Promise<Result<string, string>> {
  return entries.length === 0 ? Promise.resolve(ok('')) : inIndex(staging, INDEX_INFO, { input: olderLines(entries) });
}

export const INDEX_INFO = ['update-index', '-z', '--index-info'];

/** Input of `INDEX_INFO`: the older side of each entry. */
function olderLines(entries: readonly TreeEntry[]): string {
  return newerLines(entries.map((entry) => ({ ...entry, newMode: entry.mode, newObject: entry.object })));
}

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

export function inIndex(
  { store, facts, index, signal, into }: Staging,
  args: readonly string[],
  call: StoreCall = {},
): Promise<Result<string, string>> {
  return store.git(facts, args, signal, { ...call, index, ...defined({ into }) });
}

function drop(staging: Staging, links: readonly TreeEntry[]): Promise<Result<string, string>> {
  if (links.length === 0) return Promise.resolve(ok(''));
  const odd = links.find((link) => link.path.includes('\uFFFD'));
  // git does not accept a name that is not text, so the submodule would stay in the index and be entered.
  if (odd !== undefined) return Promise.resolve(fail(notText(odd.path)));
  const input = links.map((link) => `${link.path}\0`).join('');
  return inIndex(staging, ['update-index', '--force-remove', '-z', '--stdin'], { input });
}

export const notText = (name: string, what = 'a repository'): string =>
  `${name}: ${what} whose name is not UTF-8; rename it`;

/** Writes the exclude patterns: the person's own for this clone, Mimir's folder, and repositories that do not count. */
async function exclude(staging: Staging): Promise<Result<string, string>> {
  const file = `${staging.index}.excludes`;
  const lines = [ownExcludes(staging.facts), '/.mimir/'];
  const write = (more: readonly string[]): void =>
    fs.writeFileSync(file, [...lines, ...more, ''].join('\n'), { mode: 0o600 });
  write([]);
  const inside = await (staging.inside === 'counted' ? enter(staging, file) : repositoriesIn(staging, file));
  if (!inside.ok) return inside;
  if (staging.inside === 'left out') write(inside.value.map(patternOf));
  return ok(file);
}

async function repositoriesIn(staging: Staging, excludes: string): Promise<Result<readonly string[], string>> {
  const listed = await inIndex(staging, ['ls-files', '--others', '--exclude-standard', '-z'], { excludes });
  return listed.ok ? ok(listed.value.split('\0').filter((name) => name.endsWith('/'))) : listed;
}

/** The deepest nesting of repositories. */
const DEEPEST = 16;

/**
 * git enters a nested repository only if the index has an entry in it. So each gets a dummy entry, which disappears when
 * everything is added. Otherwise `git init` would hide files from reviews.
 */
async function enter(staging: Staging, excludes: string): Promise<Result<readonly string[], string>> {
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const found = await repositoriesIn(staging, excludes);
    if (!found.ok || found.value.length === 0) return found;
    const odd = found.value.find((name) => name.includes('\uFFFD'));
    if (odd !== undefined) return fail(notText(odd));
    const object = '1'.repeat(emptyTree(staging.facts).length);
    const input = found.value.map((name) => `100644 ${object}\t${name}.mimir-looks-here\0`).join('');
    const entered = await inIndex(staging, INDEX_INFO, { input });
    if (!entered.ok) return entered;
  }
  return fail(`repositories lie in each other more than ${DEEPEST} deep: what changed in them can't be told`);
}

/** A pattern that matches only this name. */
export const patternOf = (name: string): string => `/${name.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`;

/** The patterns of the repository's `info/exclude`. */
export const ownExcludes = ({ objects }: Pick<RepositoryFacts, 'objects'>): string =>
  objects === null ? '' : plainFile(path.join(path.dirname(objects), 'info/exclude'), 65_536);

/** The text of a regular file of at most `most` bytes; empty if it cannot be read or is a link. */
export function plainFile(file: string, most: number): string {
  try {
    const handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
    try {
      const found = fs.fstatSync(handle);
      return found.isFile() && found.size <= most ? fs.readFileSync(handle, 'utf8') : '';
    } finally {
      fs.closeSync(handle);
    }
  } catch {
    return '';
  }
}

// The index is kept from one program to the next, so that only changed files are read again.

const KEPT_MS = 7 * 86_400_000;

/** Stores of projects that were not used for so long are removed; their earlier runs can no longer be reviewed. */
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

/** Removes `index` and its companion files. */
export function dropIndex(index: string): void {
  for (const file of [index, `${index}.excludes`, `${index}.lock`]) fs.rmSync(file, { force: true });
}

/** Removes the remains of interrupted runs. */
function sweep(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    const age = Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (name.startsWith('index-') && age > KEPT_MS) fs.rmSync(file, { force: true });
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
    if (folder !== own && age > FORGOTTEN_MS)
      tried(() => fs.rmSync(folder, { recursive: true, force: true }), undefined);
  }
}

/** The copy gets an earlier time, so that git re-reads files that may have changed while the index was written. */
function copyIndex(from: string, to: string): boolean {
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
