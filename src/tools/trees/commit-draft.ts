/** What a commit would hold: the tree of the chosen changes on top of the last commit, and what is left out of it. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { TreeChanges, TreeId } from '../../ports/tree.ts';
import type { Environment } from '../process/environment.ts';
import { denied } from '../paths/path-policy.ts';
import { forbidden, insideName } from '../paths/path-rules.ts';
import { gitOf, type Root } from '../paths/root.ts';
import { changesOf } from './changes.ts';
import { dropIndex, takeIndex } from './index-file.ts';
import {
  differences,
  INDEX_INFO,
  inIndex,
  newerLines,
  restore,
  seed,
  stage,
  type Seeded,
  type Staging,
  type TreeEntry,
  writeTree,
} from './stage.ts';
import type { RepositoryFacts, StoreCall, TreeStore } from './store.ts';

export interface DraftDesk {
  readonly root: Root;
  readonly environment: Environment;
  readonly store: TreeStore;
}

export interface Draft extends TreeChanges {
  readonly tree: TreeId;
  /** The last commit's tree, or that of no files. */
  readonly from: TreeId;
  /** The last commit; null before the first. */
  readonly parent: string | null;
  /** `main` */
  readonly branch: string;
  readonly entries: readonly TreeEntry[];
  readonly leftOut: readonly LeftOut[];
  readonly facts: RepositoryFacts;
  readonly directory: string;
}

export interface LeftOut {
  readonly path: string;
  readonly because: string;
}

export interface Asked {
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
  /** Write what it holds into the repository's own objects: it is about to be committed. */
  readonly into?: StoreCall['into'];
}

/** Nothing of the repository is changed, but for objects where `into` says so. */
export async function draftCommit(desk: DraftDesk, asked: Asked): Promise<Result<Draft, string>> {
  const paths = pathsOf(desk.root, asked.paths);
  if (!paths.ok) return paths;
  const facts = await desk.store.facts(asked.signal);
  if (!facts.ok) return facts;
  const own = facts.value;
  const at = standing(desk.root, own);
  if (!at.ok) return at;
  const index = path.join(desk.store.folder(own), `index-commit-${randomBytes(6).toString('hex')}`);
  takeIndex(index);
  try {
    const { signal, into } = asked;
    const where = into === undefined ? {} : { into };
    const staging = {
      store: desk.store,
      facts: own,
      index,
      signal,
      inside: 'left out' as const,
      ...where,
      ...(paths.value ? { paths: paths.value } : {}),
    };
    const chosen = await chosenIn(staging);
    if (!chosen.ok) return chosen;
    const changes = await changesOf(desk.store, own, { from: chosen.value.from, to: chosen.value.tree }, signal, where);
    return changes.ok ? ok({ ...changes.value, ...chosen.value, ...at.value, facts: own }) : changes;
  } finally {
    dropIndex(index);
  }
}

type Chosen = Pick<Draft, 'tree' | 'from' | 'entries' | 'leftOut'>;

async function chosenIn(staging: Staging): Promise<Result<Chosen, string>> {
  const seeded = await seed(staging);
  if (!seeded.ok) return seeded;
  const staged = await stage(staging, seeded.value.tree);
  if (!staged.ok) return staged;
  const changed = await differences(staging, seeded.value.tree, staged.value);
  if (!changed.ok) return changed;
  const leftOut = await leftOutOf(staging, changed.value, seeded.value.links);
  if (!leftOut.ok) return leftOut;
  const out = new Set(leftOut.value.map((each) => each.path));
  const entries = changed.value.filter((entry) => !out.has(entry.path));
  if (entries.length === 0) return fail(nothing(leftOut.value));
  const tree = await completed(
    staging,
    staged.value,
    seeded.value,
    changed.value.filter((entry) => out.has(entry.path)),
  );
  if (!tree.ok) return tree;
  const from = staging.facts.head ?? seeded.value.tree;
  return ok({ tree: tree.value, from, entries, leftOut: leftOut.value });
}

/** The whole tree: what is left out stays as the last commit has it, submodules among it. */
async function completed(
  staging: Staging,
  staged: string,
  { links }: Seeded,
  leftOut: readonly TreeEntry[],
): Promise<Result<string, string>> {
  if (leftOut.length === 0 && links.length === 0) return ok(staged);
  const restored = await restore(staging, leftOut);
  if (!restored.ok) return restored;
  const linked = links.length === 0 ? ok('') : await inIndex(staging, INDEX_INFO, { input: newerLines(links) });
  return linked.ok ? writeTree(staging) : linked;
}

function nothing(leftOut: readonly LeftOut[]): string {
  const out = leftOut.slice(0, 10).map(({ path, because }) => `${path} is left out: ${because}`);
  return ['there is nothing to commit', ...out].join('\n');
}

/** Some changes are not an agent's to commit. */
async function leftOutOf(
  staging: Staging,
  entries: readonly TreeEntry[],
  links: readonly TreeEntry[],
): Promise<Result<readonly LeftOut[], string>> {
  const filters = await filtersOf(staging, entries);
  if (!filters.ok) return filters;
  return ok(
    entries.flatMap(({ path: name }) => {
      const filter = filters.value.get(name);
      const inside = links.some((link) => name === link.path || name.startsWith(`${link.path}/`));
      const because = inside ? 'it lies in a submodule' : whyNot(staging.store.root, name, filter);
      return because === null ? [] : [{ path: name, because }];
    }),
  );
}

function whyNot(root: Root, name: string, filter: string | undefined): string | null {
  if (forbidden(name, 'read') !== null) return 'a .env file';
  if (denied(root, name, 'read') !== null) return 'policy hides it from agents';
  if (filter === undefined) return null;
  return `it goes through the filter "${filter}", a program that is not run here; commit it yourself`;
}

/** By `.gitattributes`: with its filter left out, an encrypted file would be committed as it can be read. */
async function filtersOf(
  staging: Staging,
  entries: readonly TreeEntry[],
): Promise<Result<ReadonlyMap<string, string>, string>> {
  const input = entries.filter(({ newMode }) => Number(newMode) !== 0).map((entry) => `${entry.path}\0`);
  if (input.length === 0) return ok(new Map());
  const listed = await inIndex(staging, ['check-attr', '-z', '--stdin', 'filter'], { input: input.join('') });
  if (!listed.ok) return listed;
  const fields = listed.value.split('\0');
  const filters = new Map<string, string>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const value = fields[at + 2] ?? '';
    if (!['unspecified', 'unset', 'set', ''].includes(value)) filters.set(fields[at] ?? '', value);
  }
  return ok(filters);
}

/** Null: everything. */
function pathsOf(root: Root, given: readonly string[]): Result<readonly string[] | null, string> {
  const names: string[] = [];
  for (const each of given) {
    const name = insideName(root.path, each, { folder: true });
    if (!name.ok) return name;
    const refusal = denied(root, name.value, 'read');
    if (refusal !== null) return fail(refusal);
    names.push(name.value === '' ? '.' : name.value);
  }
  return ok(names.length === 0 ? null : names);
}

type Standing = Pick<Draft, 'parent' | 'branch' | 'directory'>;

/** What git leaves in its folder while something is under way that a commit would end or break. */
const UNDER_WAY: readonly (readonly [name: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['sequencer', 'a series of commits'],
  ['BISECT_LOG', 'a bisection'],
];

/** Where a commit would go: the branch, and the commit it is on. */
function standing(root: Root, { directory, branch, commit }: RepositoryFacts): Result<Standing, string> {
  const state = gitOf(root.path);
  if (state.is === 'none') return fail(`no git here: ${state.because}`);
  if (directory === null) return fail('no git here: .git is no repository');
  const underWay = UNDER_WAY.find(([name]) => existsSync(path.join(directory, name)));
  if (underWay !== undefined)
    return fail(`${underWay[1]} is under way in this repository; a person has to end it first`);
  if (branch === null) return fail('HEAD is on no branch: a commit would be lost; switch to a branch first');
  return ok({ branch, directory, parent: commit });
}
