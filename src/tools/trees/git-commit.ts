/** The `git_commit` tool: turns the content on disk into a tree, proposes it to mandatory reviews and people, and commits exactly
 * that tree or nothing. No hook, filter, signing program or editor runs. */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writesText } from '../../domain/plan/writes.ts';
import { defined, fail, ok } from '../../domain/result.ts';
import { matchesGlob } from '../../domain/text/glob.ts';
import type { Tool, ToolContext } from '../../ports/tool.ts';
import type { TreeChanges, TreeId } from '../../ports/tree.ts';
import { PathName } from '../git/git.ts';
import { runGit } from '../git/hardening.ts';
import { denied, forbidden, gitOf, insideName, type Root } from '../paths/root.ts';
import type { Environment } from '../process/environment.ts';
import { done, refused, shownName } from '../process/output.ts';
import * as trees from './stage.ts';
import { attempted, type RepositoryFacts, type StoreCall, TreeFault, type TreeStore, treeStore } from './store.ts';
import { changesOf } from './tree.ts';
import { plural } from '../../domain/lists.ts';

const Input = z.strictObject({
  message: z
    .string()
    .max(20_000)
    .regex(/^\s*[^\s-]/, 'a message must start with a word, not with "-"')
    .refine((message) => !message.includes('\0'), 'a message cannot contain a NUL character')
    .describe('A short first line; after an empty line, why.'),
  paths: z
    .array(PathName)
    .max(200)
    .default([])
    .describe('Only these files or folders, relative to the project root; default: everything that changed.'),
});
type Input = z.output<typeof Input>;

/** The most files that a result names; more are counted. */
const NAMED = 50;

export function gitCommitTool(options: Omit<CommitHost, 'store'> & { readonly stateDir: string }): Tool<Input> {
  const toolHost: CommitHost = { ...options, store: treeStore(options) };
  /** What would be committed, and what a person reads of it. */
  const draft = (input: Input, { signal }: ToolContext) =>
    attempted(async () => {
      const made = await draftCommit(toolHost, { paths: input.paths, signal });
      return { ...made, words: wordsOf(input, made, await unsignedNote(toolHost, made, signal)) };
    });
  return {
    name: 'git_commit',
    description:
      'Commits changes of the project on the current branch: all of them, or those in `paths`. Rules and reviews of the organisation apply first. Hooks do not run, nothing is signed or pushed; .env files, submodules and files with a filter are left out.',
    input: Input,
    capability: 'git-write',
    repeat: 'never',
    label: ({ message, paths }) => ['git commit', ...paths, '·', subjectOf(message)].join(' '),

    async propose(input, context) {
      const made = await draft(input, context);
      if (!made.ok) return made;
      const { tree, from, files, patch, words } = made.value;
      const { writes = ['**'] } = context;
      const others = files.filter((file) => !matchesGlob(writes, file));
      return others.length > 0 ? fail(notAmong(others, writes)) : ok({ tree, from, files, patch, words });
    },

    async run(input, { signal, tree }) {
      const message = input.message.trim();
      const order = { message, paths: input.paths, signal, ...defined({ tree }) };
      const made = await attempted(() => writeCommit(toolHost, order));
      if (!made.ok) return refused(`nothing was committed: ${made.fault}`);
      const { draft, commit, note } = made.value;
      const head = `committed ${commit.slice(0, 12)} on ${draft.branch}: ${subjectOf(message)}`;
      return done([head, fileLines(draft), note].filter((part) => part !== '').join('\n'));
    },
  };
}

/** What a person reads before approval: the whole message, the branch, the files, and a note. */
function wordsOf({ message }: Input, draft: Draft, note: string): string {
  const head = `commit on ${draft.branch}: ${plural(draft.files.length, 'file')}`;
  return [head, '', message.trim(), '', fileLines(draft), ...(note === '' ? [] : [note])].join('\n');
}

const notAmong = (files: readonly string[], writes: readonly string[]): string =>
  `nothing was committed: this task may only change ${writesText(writes)}, but the commit would include ${files.slice(0, NAMED).map(shownName).join(', ')}; list your own files in paths`;

const subjectOf = (message: string): string => (message.trim().split('\n')[0] ?? '').slice(0, 100);

function fileLines({ files, leftOut }: Draft): string {
  const named = files.slice(0, NAMED).map((file) => `  ${shownName(file)}`);
  const more = files.length > NAMED ? [`  and ${files.length - NAMED} more`] : [];
  const out = leftOut.slice(0, NAMED).map(({ path, because }) => `left out: ${shownName(path)} (${because})`);
  return [...named, ...more, ...out].join('\n');
}

export interface CommitHost extends DraftHost {
  /** The person's home: their git configuration names the author. */
  readonly home: string;
}

interface CommitOrder extends Pick<Asked, 'paths' | 'signal'> {
  readonly message: string;
  /** The tree that was approved: any other content is refused. */
  readonly tree?: TreeId;
}

/** `note`: what failed after the commit, and whether it is unsigned although the person signs theirs; else empty. */
async function writeCommit(toolHost: CommitHost, order: CommitOrder) {
  const { message, paths, signal, tree } = order;
  const draft = await draftCommit(toolHost, { paths, signal, into: 'repository' });
  if (tree !== undefined && draft.tree !== tree)
    throw new TreeFault('the files have changed since this commit was shown; request it again');
  const { commit, who } = await madeCommit(toolHost, draft, message, signal);
  await moveBranch(toolHost, draft, { commit, who, subject: message.split('\n')[0] ?? '' });
  const notes = [await refreshIndex(toolHost, draft), await unsignedNote(toolHost, draft, signal)];
  return { draft, commit, note: notes.filter((note) => note !== '').join('\n') };
}

/** Writes the commit of a draft that was made `into` the repository, by the person; no branch moves. */
export async function madeCommit(
  toolHost: CommitHost,
  draft: Draft,
  message: string,
  signal: AbortSignal,
): Promise<{ readonly commit: string; readonly who: Who }> {
  const who = await identityOf(toolHost, draft, signal);
  if (who === null) throw new TreeFault(NOBODY);
  const parent = draft.parent === null ? [] : ['-p', draft.parent];
  const args = ['commit-tree', draft.tree, ...parent, '-m', message];
  const made = await toolHost.store.git(draft.facts, args, signal, { into: 'repository', environment: who });
  return { commit: made.trim(), who };
}

const NOBODY =
  'git does not know who you are: git config --global user.name "Your Name" and git config --global user.email you@example.org';

type Who = Readonly<Record<string, string>>;

/** Moves the branch only if it is still on the commit that the draft is based on. */
async function moveBranch(
  toolHost: CommitHost,
  { directory, parent, branch }: Draft,
  { commit, who, subject }: { readonly commit: string; readonly who: Who; readonly subject: string },
): Promise<void> {
  const before = parent ?? '0'.repeat(commit.length);
  const args = ['update-ref', '-m', `commit: ${subject}`, 'HEAD', commit, before];
  const why = await inRepository(toolHost, directory, args, { environment: { ...toolHost.environment, ...who } });
  if (why !== null) throw new TreeFault(`the branch ${branch} could not be moved to the commit: ${why}`);
}

/** Updates the person's index for the committed files; other staged changes stay. */
async function refreshIndex(toolHost: CommitHost, { directory, entries }: Draft): Promise<string> {
  const why = await inRepository(toolHost, directory, trees.INDEX_INFO, { input: trees.newerLines(entries) });
  return why === null ? '' : `the index could not be refreshed (${why}); run "git reset" to refresh it`;
}

/** Runs git in the repository; returns why it failed, or null. Nothing interrupts it half-way: the branch and the index must agree. */
export async function inRepository(
  { root, environment }: DraftHost,
  directory: string,
  args: readonly string[],
  more: { readonly input?: string; readonly environment?: Who },
): Promise<string | null> {
  const end = await runGit({ root, environment, ...more }, directory, args);
  return end.is === 'exited' && end.exit === 0 ? null : end.stderr.trim();
}

/** A note if git itself would sign the commit: Mimir runs no configured program and asks for no passphrase. Else empty. */
async function unsignedNote(toolHost: CommitHost, draft: Draft, signal: AbortSignal): Promise<string> {
  for (const file of configFiles(toolHost, draft).toReversed()) {
    const found = await settingIn(toolHost, draft, signal, [file, '--type=bool', '--get', 'commit.gpgsign']);
    if (found !== null) return found.trim() === 'true' ? UNSIGNED : '';
  }
  return '';
}

/** A setting in one file; null if it is not set there. */
async function settingIn(
  { store }: CommitHost,
  { facts }: Draft,
  signal: AbortSignal,
  args: readonly string[],
): Promise<string | null> {
  const found = await attempted(() => store.git(facts, ['config', '--no-includes', '--file', ...args], signal));
  return found.ok ? found.value : null;
}

const UNSIGNED =
  'unsigned, although commit.gpgsign is set: Mimir runs no signing program; `git commit --amend --no-edit -S` signs it';

/** The person's files, then the repository's, which takes precedence. A worktree's is beside the objects that it shares. */
function configFiles(toolHost: CommitHost, draft: Draft): readonly string[] {
  const own = ['.config/git/config', '.gitconfig'].map((name) => path.join(toolHost.home, name));
  return [...own, path.join(path.dirname(draft.facts.objects ?? path.join(draft.directory, 'objects')), 'config')];
}

/** The author by the person's own configuration, then by the repository's. Reads plain values; includes are not followed. */
async function identityOf(toolHost: CommitHost, draft: Draft, signal: AbortSignal): Promise<Who | null> {
  const [xdg = '', own = '', shared = ''] = configFiles(toolHost, draft);
  for (const file of [own, xdg, shared]) {
    const found = await Promise.all(
      ['user.name', 'user.email'].map((key) => settingIn(toolHost, draft, signal, [file, '--get', key])),
    );
    const [name = '', email = ''] = found.map((value) => plain(value ?? ''));
    if (name === '' || email === '') continue;
    return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
  }
  return null;
}

const plain = (value: string): string => value.replaceAll(/[\p{Cc}<>]+/gu, ' ').trim();

interface DraftHost {
  readonly root: Root;
  readonly environment: Environment;
  readonly store: TreeStore;
}

export interface Draft extends TreeChanges {
  readonly tree: TreeId;
  readonly from: TreeId;
  /** The last commit; null before the first. */
  readonly parent: string | null;
  /** `main` */
  readonly branch: string;
  readonly entries: readonly trees.TreeEntry[];
  readonly leftOut: readonly LeftOut[];
  readonly facts: RepositoryFacts;
  readonly directory: string;
}

export interface LeftOut {
  readonly path: string;
  readonly because: string;
}

interface Asked {
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
  /** Writes objects into the repository itself, for a commit. */
  readonly into?: StoreCall['into'];
  /** For another branch than the current one: exactly these files, possibly without a change, on this commit (null: the last one). */
  readonly beside?: { readonly names: readonly string[]; readonly onto: string | null };
}

/** Changes nothing in the repository, except for new objects if `into` is set. */
export async function draftCommit(toolHost: DraftHost, { paths: given, signal, into, beside }: Asked): Promise<Draft> {
  const { root, store } = toolHost;
  const paths = pathsOf(root, given);
  const found = await store.facts(signal);
  const facts = beside?.onto == null ? found : { ...found, ...(await commitAt(toolHost, found, beside.onto, signal)) };
  const base = baseOf(root, facts, beside !== undefined);
  const index = path.join(store.folder(facts), `index-commit-${randomBytes(6).toString('hex')}`);
  trees.takeIndex(index);
  try {
    const names = beside === undefined ? undefined : plainNames(root, beside.names);
    const where = defined({ into, paths, names });
    const chosen = await chosenIn({ store, facts, index, signal, inside: 'left out', ...where });
    const changes = await changesOf(store, facts, { from: chosen.from, to: chosen.tree }, signal, where);
    return { ...changes, ...chosen, ...base, facts };
  } finally {
    trees.dropIndex(index);
  }
}

type Chosen = Pick<Draft, 'tree' | 'from' | 'entries' | 'leftOut'>;

async function chosenIn(staging: trees.Staging): Promise<Chosen> {
  const seeded = await trees.seed(staging);
  const staged = await trees.stage(staging, seeded.tree);
  const changed = await trees.differences(staging, seeded.tree, staged);
  const leftOut = await leftOutOf(staging, changed, seeded.links);
  const out = new Set(leftOut.map((each) => each.path));
  const entries = changed.filter((entry) => !out.has(entry.path));
  if (entries.length === 0 && staging.names === undefined) throw new TreeFault(nothing(leftOut));
  // What is left out, submodules included, stays as in the last commit.
  const stays = [...trees.undone(changed.filter((entry) => out.has(entry.path))), ...seeded.links];
  if (stays.length > 0) await trees.inIndex(staging, trees.INDEX_INFO, { input: trees.newerLines(stays) });
  const tree = stays.length > 0 ? await trees.writeTree(staging) : staged;
  return { tree, from: staging.facts.head ?? seeded.tree, entries, leftOut };
}

async function commitAt(
  { store }: DraftHost,
  facts: RepositoryFacts,
  commit: string,
  signal: AbortSignal,
): Promise<Pick<RepositoryFacts, 'commit' | 'head'>> {
  const head = await store.git(facts, ['rev-parse', '--verify', `${commit}^{tree}`], signal);
  return { commit, head: head.trim() };
}

/** Names of the project that are files, links or nothing now, with no link on the way, which git would not follow. */
const plainNames = (root: Root, names: readonly string[]): readonly string[] =>
  names.filter((name) => {
    const parts = name.split('/');
    const isWay = parts.slice(0, -1).every((_, at) => {
      const stats = lstatSync(path.join(root.path, ...parts.slice(0, at + 1)), { throwIfNoEntry: false });
      return stats === undefined || stats.isDirectory();
    });
    const isFolder = lstatSync(path.join(root.path, name), { throwIfNoEntry: false })?.isDirectory() === true;
    return insideName(root.path, name).ok && isWay && !isFolder;
  });

function nothing(leftOut: readonly LeftOut[]): string {
  const out = leftOut.slice(0, 10).map(({ path, because }) => `${path} is left out: ${because}`);
  return ['there is nothing to commit', ...out].join('\n');
}

/** The changes that an agent may not commit, with reasons. */
async function leftOutOf(
  staging: trees.Staging,
  entries: readonly trees.TreeEntry[],
  links: readonly trees.TreeEntry[],
): Promise<readonly LeftOut[]> {
  const filters = await filtersOf(staging, entries);
  return entries.flatMap(({ path: name }) => {
    const inside = links.some((link) => name === link.path || name.startsWith(`${link.path}/`));
    const because = inside ? 'it is in a submodule' : whyNot(staging.store.root, name, filters.get(name));
    return because === null ? [] : [{ path: name, because }];
  });
}

function whyNot(root: Root, name: string, filter: string | undefined): string | null {
  if (forbidden(name, 'read') !== null) return 'a .env file';
  if (denied(root, name, 'read') !== null) return 'policy hides it from agents';
  if (filter === undefined) return null;
  return `it uses the filter "${filter}", a program that Mimir does not run; commit it yourself`;
}

/** The filter of each path by `.gitattributes`: without its filter an encrypted file would be committed as plain text. */
async function filtersOf(
  staging: trees.Staging,
  entries: readonly trees.TreeEntry[],
): Promise<ReadonlyMap<string, string>> {
  const input = entries.filter(({ newMode }) => Number(newMode) !== 0).map((entry) => `${entry.path}\0`);
  if (input.length === 0) return new Map();
  const listed = await trees.inIndex(staging, ['check-attr', '-z', '--stdin', 'filter'], { input: input.join('') });
  const fields = listed.split('\0');
  const filters = new Map<string, string>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const value = fields[at + 2] ?? '';
    if (!['unspecified', 'unset', 'set', ''].includes(value)) filters.set(fields[at] ?? '', value);
  }
  return filters;
}

function pathsOf(root: Root, given: readonly string[]): readonly string[] | undefined {
  const names = given.map((each) => {
    const name = insideName(root.path, each, { folder: true });
    const refusal = name.ok ? denied(root, name.value, 'read') : name.fault;
    if (!name.ok || refusal !== null) throw new TreeFault(refusal ?? each);
    return name.value === '' ? '.' : name.value;
  });
  return names.length === 0 ? undefined : names;
}

type CommitBase = Pick<Draft, 'parent' | 'branch' | 'directory'>;

/** What git keeps in its folder during an operation that a commit would end or break. */
const UNDER_WAY: readonly (readonly [name: string, what: string])[] = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['sequencer', 'a series of commits'],
  ['BISECT_LOG', 'a bisection'],
];

function baseOf(root: Root, { directory, branch, commit }: RepositoryFacts, beside: boolean): CommitBase {
  const state = gitOf(root.path);
  if (state.is === 'none') throw new TreeFault(`git is not available: ${state.because}`);
  if (directory === null) throw new TreeFault('git is not available: .git is not a repository');
  const underWay = UNDER_WAY.find(([name]) => existsSync(path.join(directory, name)));
  if (underWay !== undefined)
    throw new TreeFault(`${underWay[1]} is in progress in this repository; a person has to finish it first`);
  if (branch === null && !beside)
    throw new TreeFault('HEAD is on no branch: a commit would be lost; switch to a branch first');
  return { branch: branch ?? 'HEAD', directory, parent: commit };
}
