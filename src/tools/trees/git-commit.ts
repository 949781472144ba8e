/**
 * The only way to a commit: content as it lies on disk becomes a tree, that tree is proposed to forced agents and shown to
 * people, and exactly that tree is committed or nothing. No hook, filter, signature or editor runs.
 */
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../../domain/result.ts';
import { matchesGlob } from '../../domain/text/glob.ts';
import { writesText } from '../../domain/plan/writes.ts';
import type { Tool, ToolContext } from '../../ports/tool.ts';
import type { TreeId } from '../../ports/tree.ts';
import { counted, done, refused, shownName } from '../process/output.ts';
import { programOn } from '../process/environment.ts';
import type { ProgramEnd } from '../process/run-program.ts';
import { INDEX_INFO, newerLines } from './stage.ts';
import { treeStore } from './store.ts';
import { type Draft, draftCommit, type DraftDesk } from './commit-draft.ts';
import { PathName } from '../git/git.ts';
import { runGit } from '../git/hardening.ts';

const Input = z.strictObject({
  message: z
    .string()
    .max(20_000)
    .regex(/^\s*[^\s-]/, 'a message begins with a word, not with "-"')
    .refine((message) => !message.includes('\0'), 'a message can not hold a NUL character')
    .describe('A short first line; after an empty line, why.'),
  paths: z
    .array(PathName)
    .max(200)
    .default([])
    .describe('Only these files or folders, relative to the project root; everything that changed when left out.'),
});
type Input = z.output<typeof Input>;

/** Files named in a result; more are counted. */
const NAMED = 50;

export interface CommitOptions extends Omit<CommitDesk, 'store'> {
  readonly stateDir: string;
}

export function gitCommitTool(options: CommitOptions): Tool<Input> {
  const desk: CommitDesk = { ...options, store: treeStore(options) };
  /** What a person was shown for a call: an answer holds for that content only. */
  const shown = new WeakMap<Input, TreeId>();
  const draft = (input: Input, { signal }: ToolContext) => draftCommit(desk, { paths: input.paths, signal });
  return {
    name: 'git_commit',
    description:
      'Commits changes of the project on the current branch: all of them, or those in `paths`. Rules and reviews of the organisation are asked before. Hooks are not run, nothing is signed or pushed; .env files, submodules and files that go through a filter are left out.',
    input: Input,
    capability: 'git-write',
    repeat: 'never',
    label: ({ message, paths }) => ['git commit', ...paths, '·', subjectOf(message)].join(' '),

    async preview(input, context) {
      const made = await draft(input, context);
      if (!made.ok) return `nothing will be committed: ${made.fault}`;
      shown.set(input, made.value.tree);
      const note = await unsignedNote(desk, made.value, context.signal);
      return `${wordsOf(input, made.value, note)}\n\n${made.value.patch}`;
    },

    async propose(input, context) {
      const made = await draft(input, context);
      if (!made.ok) return made;
      const { tree, from, files, patch } = made.value;
      const { writes = ['**'] } = context;
      const others = files.filter((file) => !matchesGlob(writes, file));
      if (others.length > 0) return fail(notAmong(others, writes));
      const note = await unsignedNote(desk, made.value, context.signal);
      return ok({ tree, from, files, patch, words: wordsOf(input, made.value, note) });
    },

    async run(input, { signal, tree = shown.get(input) }) {
      const message = input.message.trim();
      const made = await writeCommit(desk, {
        message,
        paths: input.paths,
        signal,
        ...(tree === undefined ? {} : { tree }),
      });
      if (!made.ok) return refused(`nothing was committed: ${made.fault}`);
      const { draft, commit, note } = made.value;
      const head = `committed ${commit.slice(0, 12)} on ${draft.branch}: ${subjectOf(message)}`;
      return done([head, fileLines(draft), note].filter((part) => part !== '').join('\n'));
    },
  };
}

/** The whole message, where it goes, which files it holds, and what else a person should know. */
function wordsOf({ message }: Input, draft: Draft, note: string): string {
  const head = `commit on ${draft.branch}: ${counted(draft.files.length, 'file')}`;
  return [head, '', message.trim(), '', fileLines(draft), ...(note === '' ? [] : [note])].join('\n');
}

const notAmong = (files: readonly string[], writes: readonly string[]): string =>
  `nothing was committed: this task may change ${writesText(writes)} only, and ${files.slice(0, NAMED).map(shownName).join(', ')} would be in it as well; name what is yours in paths`;

const subjectOf = (message: string): string => (message.trim().split('\n')[0] ?? '').slice(0, 100);

function fileLines({ files, leftOut }: Draft): string {
  const named = files.slice(0, NAMED).map((file) => `  ${shownName(file)}`);
  const more = files.length > NAMED ? [`  and ${files.length - NAMED} more`] : [];
  const out = leftOut.slice(0, NAMED).map(({ path, because }) => `left out: ${shownName(path)} (${because})`);
  return [...named, ...more, ...out].join('\n');
}

// Makes the commit of a draft: the object, the branch moved to it if nobody moved it meanwhile, and the index after it.

interface CommitDesk extends DraftDesk {
  /** Of the person: their git configuration says who they are. */
  readonly home: string;
}

interface CommitOrder {
  readonly message: string;
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
  /** What was let pass: with another content there is no commit. */
  readonly tree?: TreeId;
}

interface Written {
  readonly draft: Draft;
  readonly commit: string;
  /** What did not go well after the commit was made, and that it is unsigned where the person signs theirs; else empty. */
  readonly note: string;
}

async function writeCommit(desk: CommitDesk, order: CommitOrder): Promise<Result<Written, string>> {
  const { message, paths, signal, tree } = order;
  const draft = await draftCommit(desk, { paths, signal, into: 'repository' });
  if (!draft.ok) return draft;
  if (tree !== undefined && draft.value.tree !== tree) {
    return fail('the files have changed since this commit was looked at; ask for it again');
  }
  const who = await identityOf(desk, draft.value, signal);
  if (who === null) return fail(NOBODY);
  const parent = draft.value.parent === null ? [] : ['-p', draft.value.parent];
  const args = ['commit-tree', draft.value.tree, ...parent, '-m', message];
  const made = await desk.store.git(draft.value.facts, args, signal, { into: 'repository', environment: who });
  if (!made.ok) return made;
  const commit = made.value.trim();
  const moved = await moveBranch(desk, draft.value, { commit, who, subject: message.split('\n')[0] ?? '' });
  if (!moved.ok) return moved;
  const notes = [await refreshIndex(desk, draft.value), await unsignedNote(desk, draft.value, signal)];
  return ok({ draft: draft.value, commit, note: notes.filter((note) => note !== '').join('\n') });
}

const NOBODY =
  'git does not know who you are: git config --global user.name "Your Name" and git config --global user.email you@example.org';

type Who = Readonly<Record<string, string>>;

/** Nothing is stopped half-way from here on: the branch and the index belong together. */
const untilDone = (): AbortSignal => new AbortController().signal;

/** Moved only from the commit that the draft was made on. */
async function moveBranch(
  desk: CommitDesk,
  { directory, parent, branch }: Draft,
  { commit, who, subject }: { readonly commit: string; readonly who: Who; readonly subject: string },
): Promise<Result<null, string>> {
  const before = parent ?? '0'.repeat(commit.length);
  const end = await inRepository(desk, directory, ['update-ref', '-m', `commit: ${subject}`, 'HEAD', commit, before], {
    environment: { ...desk.environment, ...who },
  });
  if (end?.is === 'exited' && end.exit === 0) return ok(null);
  return fail(`the branch ${branch} could not be moved to it: ${end?.stderr.trim() ?? 'there is no git on the PATH'}`);
}

/** The person's index follows for what was committed; the rest of what they staged stays. */
async function refreshIndex(desk: CommitDesk, { directory, entries }: Draft): Promise<string> {
  const end = await inRepository(desk, directory, INDEX_INFO, { input: newerLines(entries) });
  if (end?.is === 'exited' && end.exit === 0) return '';
  return `the index could not be refreshed (${end?.stderr.trim() ?? 'no git'}); "git reset" does it`;
}

async function inRepository(
  { root, environment }: CommitDesk,
  directory: string,
  args: readonly string[],
  more: { readonly input?: string; readonly environment?: Who },
): Promise<ProgramEnd | null> {
  const git = programOn(environment, 'git');
  return git === null ? null : runGit({ root, git, environment, signal: untilDone(), ...more }, directory, args);
}

/** Said where git would sign: Mimir runs no program that a configuration names, and asks nobody for a passphrase. Else empty. */
async function unsignedNote(desk: CommitDesk, draft: Draft, signal: AbortSignal): Promise<string> {
  for (const file of configFiles(desk, draft).toReversed()) {
    const args = ['config', '--no-includes', '--file', file, '--type=bool', '--get', 'commit.gpgsign'];
    const found = await desk.store.git(draft.facts, args, signal);
    if (found.ok) return found.value.trim() === 'true' ? UNSIGNED : '';
  }
  return '';
}

const UNSIGNED =
  'unsigned, although commit.gpgsign is set: Mimir runs no signing program; `git commit --amend --no-edit -S` signs it';

/** The person's own, then the repository's, which counts more. The configuration of a worktree lies with the objects that it shares. */
function configFiles(desk: CommitDesk, draft: Draft): readonly string[] {
  const own = ['.config/git/config', '.gitconfig'].map((name) => path.join(desk.home, name));
  return [...own, path.join(path.dirname(draft.facts.objects ?? path.join(draft.directory, 'objects')), 'config')];
}

/** The person by their own configuration, then by the repository's; values only, includes are not followed. */
async function identityOf(desk: CommitDesk, draft: Draft, signal: AbortSignal): Promise<Who | null> {
  const own = ['.gitconfig', '.config/git/config'].map((name) => path.join(desk.home, name));
  // The configuration of a worktree lies with the objects that it shares.
  const shared = path.dirname(draft.facts.objects ?? path.join(draft.directory, 'objects'));
  for (const file of [...own, path.join(shared, 'config')]) {
    const [name, email] = await Promise.all(
      ['user.name', 'user.email'].map((key) =>
        desk.store.git(draft.facts, ['config', '--no-includes', '--file', file, '--get', key], signal),
      ),
    );
    const [known, reached] = [name, email].map((value) => (value?.ok === true ? plain(value.value) : ''));
    if (known !== undefined && reached !== undefined && known !== '' && reached !== '') {
      return {
        GIT_AUTHOR_NAME: known,
        GIT_AUTHOR_EMAIL: reached,
        GIT_COMMITTER_NAME: known,
        GIT_COMMITTER_EMAIL: reached,
      };
    }
  }
  return null;
}

const plain = (value: string): string => value.replaceAll(/[\p{Cc}<>]+/gu, ' ').trim();
