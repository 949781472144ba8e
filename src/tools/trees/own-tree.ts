/** Makes own trees of agents: a folder in the state directory with the project as it stands, in a repository of its own that borrows the project's
 * objects. Nothing of the person's repository changes. Once an agent has worked in it, its `.git` is never read or obeyed by Mimir's store. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { forbidden, hiddenBelow, isInside, type Root } from '../paths/root.ts';
import * as staged from './stage.ts';
import { ATTRIBUTES, keyOf, type RepositoryFacts, TreeFault } from './store.ts';
import { isOwnFile, type Scanned } from './tree.ts';

/** Where the parts of one tree lie. */
export interface TreePlaces {
  readonly folder: string;
  /** The root of its agent. */
  readonly tree: string;
  /** The objects of the snapshot that the project's repository has not; no agent can change them. */
  readonly objects: string;
  /** The index by which its files are compared. */
  readonly index: string;
  readonly patch: string;
}

/** The folder of all trees of a project. */
export const treesFolder = (root: Root, stateDir: string): string => path.join(stateDir, 'workspaces', keyOf(root));

export function placesOf(root: Root, stateDir: string, name: string): TreePlaces {
  const folder = path.join(treesFolder(root, stateDir), name);
  const at = (part: string): string => path.join(folder, part);
  return { folder, tree: at('tree'), objects: at('objects'), index: at('index'), patch: `${folder}.patch` };
}

/** The most bytes of one tree. */
export const TREE_BYTES = 4 * 1024 * 1024 * 1024;

/** Ignored files that a tree gets all the same, in the form of ignore files. */
const INCLUDE = '.worktreeinclude';

/** Whether agents may never see this name, so that it is neither in a tree nor merged. */
function hiddenIn(root: Root): (name: string) => boolean {
  const folders = hiddenBelow(root, root.path);
  return (name) => forbidden(name, 'read') !== null || folders.some((folder) => isInside(folder, name));
}

/** The tree `from` with these entries (input of `INDEX_INFO`), without touching an index that is in use. */
export async function treeWith(staging: staged.Staging, from: string, lines: string): Promise<string> {
  if (lines === '') return from;
  const own = { ...staging, index: `${staging.index}-${randomBytes(4).toString('hex')}` };
  try {
    await staged.inIndex(own, ['read-tree', from]);
    await staged.inIndex(own, staged.INDEX_INFO, { input: lines });
    return await staged.writeTree(own);
  } finally {
    staged.dropIndex(own.index);
  }
}

/** Input of `INDEX_INFO` that removes names. */
export const removals = ({ format }: RepositoryFacts, names: readonly string[]): string =>
  names.map((name) => `0 ${'0'.repeat(format === 'sha1' ? 40 : 64)}\t${name}\0`).join('');

/** The tree as agents may see it, with the sum of its sizes. `root` is the project. */
export async function visibleTree(
  staging: staged.Staging,
  root: Root,
  tree: string,
): Promise<{ readonly tree: string; readonly bytes: number }> {
  const { store, facts, signal } = staging;
  const listed = await store.git(facts, ['ls-tree', '-r', '-l', '-z', tree], signal);
  const isHidden = hiddenIn(root);
  const hidden: string[] = [];
  let bytes = 0;
  for (const line of listed.split('\0')) {
    const [, size = '0', name = ''] = /^\d+ \w+ \w+ +(\d+|-)\t(.*)$/s.exec(line) ?? [];
    if (name === '') continue;
    if (isHidden(name)) hidden.push(name);
    else bytes += Number(size) || 0;
  }
  return { tree: await treeWith(staging, tree, removals(facts, hidden)), bytes };
}

/** The name of Mimir's own commits, which no branch ever has; the time is always the same. */
const BY_MIMIR = {
  GIT_AUTHOR_NAME: 'Mimir',
  GIT_AUTHOR_EMAIL: 'mimir@localhost',
  GIT_AUTHOR_DATE: '@0 +0000',
  GIT_COMMITTER_NAME: 'Mimir',
  GIT_COMMITTER_EMAIL: 'mimir@localhost',
  GIT_COMMITTER_DATE: '@0 +0000',
};

/** A commit in Mimir's own store. */
export async function commitOf(
  { store, facts, signal }: staged.Staging,
  tree: string,
  parent: string | null,
  objects: readonly string[] = [],
): Promise<string> {
  const from = parent === null ? [] : ['-p', parent];
  const args = ['commit-tree', '--no-gpg-sign', ...from, '-m', 'The project as it was', tree];
  return (await store.git(facts, args, signal, { environment: BY_MIMIR, objects })).trim();
}

/** What a tree has in place of the project as it was scanned. `objects`: folders with objects of `content`. */
interface Content {
  readonly ours: string;
  readonly content: string;
  readonly objects: readonly string[];
}

/** Makes the tree at its places from a scan of the project; returns the id of what its changes are counted from. Whatever lay there is replaced.
 * With `from`, its commit is `ours` and its files are `content`. */
export async function makeTree({ staging, tree: all }: Scanned, places: TreePlaces, from?: Content): Promise<string> {
  const { store, facts, signal } = staging;
  const { tree: project, bytes } = await visibleTree(staging, store.root, all);
  if (bytes > TREE_BYTES) throw new TreeFault(tooLarge(bytes));
  const { ours: tree, content, objects } = from ?? { ours: project, content: project, objects: [] };
  const commit = await commitOf(staging, tree, facts.commit, objects);
  const files = content === tree ? commit : await commitOf(staging, content, commit, objects);
  const fresh = `${places.folder}.new`;
  for (const folder of [fresh, places.folder]) fs.rmSync(folder, { recursive: true, force: true });
  const at = (place: string): string => path.join(fresh, path.relative(places.folder, place));
  const own = path.join(at(places.tree), '.git');
  fs.mkdirSync(path.join(at(places.objects), 'pack'), { recursive: true, mode: 0o700 });
  const input = `${files}\n${facts.commit === null ? '' : `^${facts.commit}\n`}`;
  const pack = ['pack-objects', '--revs', '--quiet', path.join(at(places.objects), 'pack/pack')];
  await store.git(facts, pack, signal, { input, objects });
  repositoryIn(own, facts, commit, [facts.objects ?? '', places.objects]);
  await checkOut(staging, own, at(places.tree), content, [at(places.objects)]);
  fs.copyFileSync(path.join(own, 'index'), at(places.index));
  await include(staging, at(places.tree), TREE_BYTES - bytes);
  fs.renameSync(fresh, places.folder);
  return tree;
}

const tooLarge = (bytes: number): string =>
  `a tree of its own would have ${Math.ceil(bytes / 1024 / 1024)} MiB; at most ${TREE_BYTES / 1024 / 1024} MiB are allowed`;

/** A repository on the project's branch, without a template, hooks or a remote; `from` are the folders whose objects it borrows. Null: the branch has
 * no commit yet. */
export function repositoryIn(
  own: string,
  facts: RepositoryFacts,
  commit: string | null,
  from: readonly string[],
): void {
  const branch = `refs/heads/${facts.branch ?? 'main'}`;
  const write = (name: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(own, name)), { recursive: true });
    fs.writeFileSync(path.join(own, name), text);
  };
  const isSha1 = facts.format === 'sha1';
  write(
    'config',
    [
      `[core]\n\trepositoryformatversion = ${isSha1 ? 0 : 1}\n\tbare = false`,
      ...facts.settings.map(([key, value]) => `\t${key.slice('core.'.length)} = ${JSON.stringify(value)}`),
      ...(isSha1 ? [] : [`[extensions]\n\tobjectformat = ${facts.format}`]),
      '[user]\n\tname = agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n',
    ].join('\n'),
  );
  write('HEAD', `ref: ${branch}\n`);
  fs.mkdirSync(path.join(own, 'refs/heads'), { recursive: true });
  if (commit !== null) write(branch, `${commit}\n`);
  write('objects/info/alternates', from.map((place) => (place === '' ? '' : `${place}\n`)).join(''));
  write('info/attributes', ATTRIBUTES);
  write('info/exclude', `${staged.ownExcludes(facts)}\n/.mimir/\n`);
}

/** The first and only time that Mimir's git works in it: its configuration is still Mimir's. */
async function checkOut(
  { store, facts, signal }: staged.Staging,
  own: string,
  tree: string,
  content: string,
  objects: readonly string[],
): Promise<void> {
  await store.git(facts, ['read-tree', '-u', '--reset', content], signal, {
    index: path.join(own, 'index'),
    workTree: tree,
    objects,
  });
}

/** Copies the ignored files that the project names for this; never what agents may not read. */
async function include(staging: staged.Staging, to: string, most: number): Promise<void> {
  const { path: from } = staging.store.root;
  if (staged.plainFile(path.join(from, INCLUDE), 65_536) === '') return;
  const rules = `--exclude-from=${path.join(from, INCLUDE)}`;
  const listed = await staged.inIndex(staging, ['ls-files', '--others', '--ignored', '-z', rules]);
  const isHidden = hiddenIn(staging.store.root);
  const wanted = listed.split('\0').filter((name) => name !== '' && !isHidden(name) && isOwnFile(from, name));
  let left = most;
  for (const name of wanted) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    const found = fs.lstatSync(source);
    if ((left -= found.size) < 0) throw new TreeFault(tooLarge(TREE_BYTES - left));
    if (forbidden(name, 'write') !== null || fs.lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
    fs.mkdirSync(path.dirname(target), { recursive: true });
    if (found.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(source), target);
    else fs.copyFileSync(source, target, fs.constants.COPYFILE_FICLONE);
  }
}
