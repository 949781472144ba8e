/**
 * Turns the files of a project into a tree, by an index that belongs to nobody else. A repository inside the project is a
 * folder like any other or left out, and never asked: its configuration would name programs. Ignored files count when the
 * last commit has them.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { RepositoryFacts, StoreCall, TreeStore } from './store.ts';

export interface Staging {
  readonly store: TreeStore;
  readonly facts: RepositoryFacts;
  /** The index's file: made where there is none, and used again. */
  readonly index: string;
  readonly signal: AbortSignal;
  readonly into?: StoreCall['into'];
  /** Only these, relative to the root; everything where it is left out. */
  readonly paths?: readonly string[];
  /** What lies in repositories inside the project: files like any others, or nothing. */
  readonly inside: 'counted' | 'left out';
  /** Names that count although git ignores them, asked for when all others are in the index; absent: none. */
  readonly hidden?: () => Promise<Result<readonly string[], string>>;
}

/** One difference between two trees. `object` and `mode` are those of the older, zeros where it has none. */
export interface TreeEntry {
  readonly mode: string;
  readonly newMode: string;
  readonly object: string;
  readonly newObject: string;
  readonly path: string;
}

const GITLINK = '160000';

/** What the index holds after `seed`: the last commit's files, and which submodules were left out of it. */
export interface Seeded {
  readonly tree: string;
  readonly links: readonly TreeEntry[];
}

/**
 * Puts the last commit's tree into the index, without its submodules; what is known of unchanged files stays known. After
 * a fault of this or of `stage` the index is not to be used again: a submodule may still be in it.
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

/** The tree of what is on disk now, after `seed`; `before` is a tree without submodules that the index held. */
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
  // A repository may have come into being meanwhile: looked into next time, it would run its own programs.
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

/** The digest of no files at all: git knows that tree without storing it. */
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
  const where = into === undefined ? {} : { into };
  const raw = await store.git(facts, ['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to], signal, where);
  if (!raw.ok) return raw;
  return ok(entriesOf(raw.value));
}

function entriesOf(raw: string): readonly TreeEntry[] {
  const fields = raw.split('\0');
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => {
    const [mode = '', newMode = '', object = '', newObject = ''] = (fields[2 * at] ?? '').slice(1).split(' ');
    return { mode, newMode, object, newObject, path: fields[2 * at + 1] ?? '' };
  });
}

/** Puts these entries back to what they were in the older tree; those that were nothing leave the index. */
export function restore(staging: Staging, entries: readonly TreeEntry[]): Promise<Result<string, string>> {
  return entries.length === 0 ? Promise.resolve(ok('')) : inIndex(staging, INDEX_INFO, { input: olderLines(entries) });
}

export const INDEX_INFO = ['update-index', '-z', '--index-info'];

/** For `INDEX_INFO`: the older side of each entry. What leaves goes first, since a folder may lie where a file was. */
function olderLines(entries: readonly TreeEntry[]): string {
  return newerLines(entries.map((entry) => ({ ...entry, newMode: entry.mode, newObject: entry.object })));
}

/** For `INDEX_INFO`: the newer side of each entry. */
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
  return store.git(facts, args, signal, { ...call, index, ...(into === undefined ? {} : { into }) });
}

function drop(staging: Staging, links: readonly TreeEntry[]): Promise<Result<string, string>> {
  if (links.length === 0) return Promise.resolve(ok(''));
  const odd = links.find((link) => link.path.includes('\uFFFD'));
  // A name that is not text can't be given back to git: the submodule would stay, and be stepped into.
  if (odd !== undefined) return Promise.resolve(fail(notText(odd.path)));
  const input = links.map((link) => `${link.path}\0`).join('');
  return inIndex(staging, ['update-index', '--force-remove', '-z', '--stdin'], { input });
}

export const notText = (name: string, what = 'a repository'): string =>
  `${name}: ${what} whose name is not UTF-8; rename it`;

/** The patterns of what is left out: the person's own for this clone, Mimir's folder, and repositories that don't count. */
async function exclude(staging: Staging): Promise<Result<string, string>> {
  const file = `${staging.index}.excludes`;
  const lines = [ownExcludes(staging.facts), '/.mimir/'];
  const write = (more: readonly string[]): void =>
    writeFileSync(file, [...lines, ...more, ''].join('\n'), { mode: 0o600 });
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

/** How deep repositories may lie in each other. */
const DEEPEST = 16;

/**
 * Git looks into a folder of which the index has something, whatever repository it is: so the index is given something of
 * each, which is gone again when everything is added. Otherwise `git init` would hide files from whoever judges changes.
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

/** A name as a pattern that matches nothing else. */
export const patternOf = (name: string): string => `/${name.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`;

/** `info/exclude` of the repository: patterns only, read as they are. */
export function ownExcludes({ objects }: Pick<RepositoryFacts, 'objects'>): string {
  if (objects === null) return '';
  try {
    const handle = openSync(
      path.join(path.dirname(objects), 'info/exclude'),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const found = fstatSync(handle);
      return found.isFile() && found.size <= 65_536 ? readFileSync(handle, 'utf8') : '';
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}
