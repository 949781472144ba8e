/** Trees of agents on their way between machines: the project and a tree as packs of git's objects, each later state as a commit with a pack of what is
 * new in it. Packs are read by Mimir's own git only, and each is complete in itself. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Result } from '../../domain/result.ts';
import type { MergeRequest, PackedTree, TransportPort, TreeStep } from '../../ports/workspace.ts';
import type { Root } from '../paths/root.ts';
import type { Environment } from '../process/environment.ts';
import { theirTree } from './merge.ts';
import { commitOf, placesOf, repositoryIn, visibleTree } from './own-tree.ts';
import * as staged from './stage.ts';
import { attempted, type RepositoryFacts, type StoreOptions, TreeFault, treeStore } from './store.ts';
import type { Scanned } from './tree.ts';
import { MOST, type WorkspaceOptions } from './workspaces.ts';

/** The most bytes of one pack: a project with a longer history travels without it. */
const PACK_BYTES = 256 * 1024 * 1024;

export function openTransport({
  snapshots,
  ...store
}: StoreOptions & Pick<WorkspaceOptions, 'snapshots'>): TransportPort {
  /** The pack of the project's last commit, which is the same for all trees. */
  let history: { readonly of: string; readonly pack: Uint8Array | null } | null = null;
  return {
    pack: (of, signal) =>
      snapshots.within(signal, MOST, async (scanned) => {
        const packed = await packTree(scanned, store, of, history);
        const { commit } = scanned.staging.facts;
        history = { of: commit ?? '', pack: packed.head === null ? null : (packed.packs[0] ?? null) };
        return packed;
      }),
    take: (packs, signal) =>
      snapshots.within(signal, MOST, ({ staging }) => unpack(staging, objectsOf(staging), packs)),
    stepSince: (name, base, commit, signal) =>
      snapshots.within(signal, MOST, (scanned) => stepOf(scanned, store, { name, base }, commit)),
    follow: (name, packs, commit, signal) =>
      snapshots.within(signal, MOST, (scanned) => followSteps(scanned, store, name, packs, commit)),
  };
}

/** The tree with the project that it was made from, or the project alone. `history`: the pack of the project's last commit, if it was packed before. */
async function packTree(
  scanned: Scanned,
  options: StoreOptions,
  of: MergeRequest | null,
  history: { readonly of: string; readonly pack: Uint8Array | null } | null,
): Promise<PackedTree> {
  const { staging } = scanned;
  const { facts } = staging;
  const { base, tree, own } = await contentOf(scanned, options, of);
  const last = facts.commit;
  const whole = last === null ? null : history?.of === last ? history.pack : await packOf(staging, `${last}\n`, []);
  // Without its history the project is a commit without a parent.
  const head = whole === null ? null : last;
  const commit = await commitOf(staging, base, head, own);
  const content = await commitOf(staging, tree, commit, own);
  const rest = await shortPackOf(staging, `${content}\n${head === null ? '' : `^${head}\n`}`, own);
  return {
    base,
    commit,
    content,
    head,
    branch: facts.branch,
    format: facts.format,
    settings: facts.settings,
    packs: whole === null ? [rest] : [whole, rest],
  };
}

/** What a tree, or the project, consists of; `own`: folders of objects that only the tree has. */
async function contentOf(
  scanned: Scanned,
  options: StoreOptions,
  of: MergeRequest | null,
): Promise<{ readonly base: string; readonly tree: string; readonly own: readonly string[] }> {
  const { root, stateDir } = options;
  if (of !== null) {
    const { tree } = await theirTree(scanned, options, of);
    return { base: of.base, tree, own: [placesOf(root, stateDir, of.name).objects] };
  }
  const { tree } = await visibleTree(scanned.staging, root, scanned.tree);
  return { base: tree, tree, own: [] };
}

/** A pack of what `revisions` name, as for `git pack-objects --revs`. Null where it is too long. */
async function packOf(
  { store, facts, signal }: staged.Staging,
  revisions: string,
  objects: readonly string[],
): Promise<Uint8Array | null> {
  const folder = path.join(store.folder(facts), `packing-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(folder, { mode: 0o700 });
  try {
    const to = path.join(folder, 'pack');
    await store.git(facts, ['pack-objects', '--revs', '--quiet', to], signal, { input: revisions, objects });
    const file = path.join(folder, fs.readdirSync(folder).find((name) => name.endsWith('.pack')) ?? '');
    return fs.statSync(file).size > PACK_BYTES ? null : fs.readFileSync(file);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function shortPackOf(...of: Parameters<typeof packOf>): Promise<Uint8Array> {
  const pack = await packOf(...of);
  if (pack !== null) return pack;
  throw new TreeFault(`a pack of the project has more than ${PACK_BYTES / 1024 / 1024} MiB, which cannot be sent`);
}

/** The state of the tree since `commit`, which this store has; null where nothing has changed. */
async function stepOf(
  scanned: Scanned,
  options: StoreOptions,
  { name, base }: MergeRequest,
  commit: string,
): Promise<TreeStep | null> {
  const { staging } = scanned;
  const { tree } = await theirTree(scanned, options, { name, base });
  const before = await treeOf(staging, commit);
  if (tree === before) return null;
  const now = await commitOf(staging, tree, commit);
  return { commit: now, pack: await shortPackOf(staging, `${now}\n^${commit}\n`, []) };
}

const treeOf = async ({ store, facts, signal }: staged.Staging, commit: string): Promise<string> =>
  (await store.git(facts, ['rev-parse', '--verify', `${commit}^{tree}`], signal)).trim();

const objectsOf = ({ store, facts }: staged.Staging): string => path.join(store.folder(facts), 'objects');

/** Puts packs where `objects` is a folder of objects. */
async function unpack(
  { store, facts, signal }: staged.Staging,
  objects: string,
  packs: readonly Uint8Array[],
): Promise<void> {
  fs.mkdirSync(path.join(objects, 'pack'), { recursive: true, mode: 0o700 });
  for (const pack of packs) {
    const file = path.join(objects, 'pack', `pack-${randomBytes(20).toString('hex')}.pack`);
    fs.writeFileSync(file, pack, { mode: 0o600, flag: 'wx' });
    await store.git(facts, ['index-pack', file], signal);
  }
}

/** Brings a tree in which nobody works to the state `commit`, which is in `packs`. */
async function followSteps(
  { staging }: Scanned,
  { root, stateDir }: StoreOptions,
  name: string,
  packs: readonly Uint8Array[],
  commit: string,
): Promise<void> {
  const { store, facts, signal } = staging;
  const { tree, objects } = placesOf(root, stateDir, name);
  await unpack(staging, objectsOf(staging), packs);
  const index = path.join(tree, '.git', 'index');
  await store.git(facts, ['read-tree', '-u', '--reset', commit], signal, { index, workTree: tree, objects: [objects] });
}

/** Makes a project from what `packTree` has packed, at `folder`, which is replaced: its files as they were, on the same branch, with what was not
 * committed there not committed here. */
export const placeProject = async (
  folder: string,
  stateDir: string,
  environment: Environment,
  { commit, head, branch, format, settings, packs }: PackedTree,
  signal: AbortSignal,
): Promise<Result<void, string>> =>
  attempted(async () => {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(path.join(folder, '.git'), { recursive: true, mode: 0o700 });
    const own = path.join(folder, '.git');
    const objects = path.join(own, 'objects');
    const facts: RepositoryFacts = { directory: own, objects, commit: head, head: null, branch, format, settings };
    repositoryIn(own, facts, head, []);
    const root: Root = {
      path: fs.realpathSync(folder),
      identity: '',
      git: { is: 'repository', directory: own },
      rules: NO_RULES,
    };
    const staging: staged.Staging = {
      store: treeStore({ root, stateDir, environment }),
      facts,
      index: path.join(own, 'index'),
      signal,
      inside: 'counted',
    };
    await unpack(staging, objects, packs);
    await staged.inIndex(staging, ['read-tree', '-u', '--reset', commit]);
    await staged.inIndex(staging, head === null ? ['read-tree', '--empty'] : ['read-tree', '--reset', head]);
  });

const NO_RULES = { denyRead: [], denyWrite: [], allowWrite: [] };
