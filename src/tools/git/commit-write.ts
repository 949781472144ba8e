/** Makes the commit of a draft: the object, the branch moved to it if nobody moved it meanwhile, and the index after it. */
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { TreeId } from '../../ports/tree.ts';
import { programOn } from '../shell/environment.ts';
import { type Draft, type DraftDesk, draftCommit } from './commit-draft.ts';
import { runGit } from './hardening.ts';
import type { ProgramEnd } from '../shell/run-program.ts';
import { INDEX_INFO, newerLines } from '../trees/stage.ts';

export interface CommitDesk extends DraftDesk {
  /** Of the person: their git configuration says who they are. */
  readonly home: string;
}

export interface CommitOrder {
  readonly message: string;
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
  /** What was let pass: with another content there is no commit. */
  readonly tree?: TreeId;
}

export interface Written {
  readonly draft: Draft;
  readonly commit: string;
  /** What did not go well after the commit was made, and that it is unsigned where the person signs theirs; else empty. */
  readonly note: string;
}

export async function writeCommit(desk: CommitDesk, order: CommitOrder): Promise<Result<Written, string>> {
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
export async function unsignedNote(desk: CommitDesk, draft: Draft, signal: AbortSignal): Promise<string> {
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
