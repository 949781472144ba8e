/** Publishes changes of a run: a commit on a branch of its own, a push, a pull request. Neither the person's branch nor their
 * other changes are touched. What leaves the machine runs as the person, outside the sandbox, and never asks by itself. */
import path from 'node:path';
import { existsSync } from 'node:fs';
import type { ChangedFile } from '../../domain/changes/changes.ts';
import type { PrTarget } from '../../domain/pull-request.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { plainText } from '../../domain/text/text.ts';
import { harmlessGit, runGits } from '../git/hardening.ts';
import { gitOf } from '../paths/root.ts';
import { type Environment, programOn } from '../process/environment.ts';
import { capText } from '../process/output.ts';
import { type ProgramEnd, runProgram } from '../process/run-program.ts';
import type { CommitHost, Draft, LeftOut } from '../trees/git-commit.ts';
import { draftCommit, inRepository, madeCommit } from '../trees/git-commit.ts';
import { attempted, type RepositoryFacts, type StoreOptions, treeStore } from '../trees/store.ts';
import { changedFiles } from '../trees/tree.ts';
import { creating, type Forge, forgeFor, listedUrl, listing, urlIn } from './forge.ts';
import { type Remote, remoteOf } from './remote.ts';
import QUIET_ENVIRONMENT from './quiet-environment.json' with { type: 'json' };

/** Changes of some files, as they would be committed. */
export interface PublishDraft {
  /** Digest of the content of the whole commit. */
  readonly tree: string;
  readonly files: readonly ChangedFile[];
  readonly leftOut: readonly LeftOut[];
  readonly patch: string;
  /** The commit that they follow; null before the first. */
  readonly parent: string | null;
  /** The branch that is checked out, or `HEAD`. */
  readonly from: string;
  /** Commits that the branch would have beside that of the run, newest first, as `1a2b3c4 subject`; null if that is not known here. */
  readonly ahead: readonly string[] | null;
}

export interface PublishPlace extends Omit<PrTarget, 'branch'> {
  readonly to: Remote;
  readonly forge: Forge;
}

/** Each act resolves with its result or with why it failed, in words for a person. */
export interface Publisher {
  /** Where requests go, or why there can be none here. */
  place(signal: AbortSignal): Promise<Result<PublishPlace, string>>;
  tip(branch: string, signal: AbortSignal): Promise<Result<string | null, string>>;
  /** The changes of exactly these files since `onto` (null: the last commit). */
  draft(
    names: readonly string[],
    onto: string | null,
    place: PublishPlace,
    signal: AbortSignal,
  ): Promise<Result<PublishDraft, string>>;
  /** Makes the commit; refused unless its content is `tree`. */
  commit(order: CommitOrder, signal: AbortSignal): Promise<Result<string, string>>;
  /** Creates the branch (`before` null) or moves it, only from `before`. */
  setBranch(branch: string, commit: string, before: string | null): Promise<Result<void, string>>;
  push(place: PublishPlace, branch: string, commit: string, signal: AbortSignal): Promise<Result<void, string>>;
  /** The address of the branch's request; null if there is none. */
  find(place: PublishPlace, branch: string, signal: AbortSignal): Promise<Result<string | null, string>>;
  request(place: PublishPlace, branch: string, text: RequestText, signal: AbortSignal): Promise<Result<string, string>>;
}

export interface RequestText {
  readonly title: string;
  readonly body: string;
}

interface CommitOrder {
  readonly names: readonly string[];
  readonly onto: string | null;
  readonly message: string;
  readonly tree: string;
}

export interface PublisherOptions extends StoreOptions {
  readonly home: string;
  /** The person's own environment, with which their programs find their credentials. Its PATH is that of `environment`. */
  readonly person: Readonly<Record<string, string | undefined>>;
}

const PUSH_LIMIT = 300_000;
const REQUEST_LIMIT = 120_000;
/** Bytes of a program's words that a person is shown. */
const MOST_WORDS = 2000;
const MOST_AHEAD = 20;
export const openPublisher = (options: PublisherOptions): Publisher => new GitPublisher(options);

class GitPublisher implements Publisher {
  readonly #toolHost: CommitHost;
  readonly #person: Environment;

  constructor(options: PublisherOptions) {
    this.#toolHost = { ...options, store: treeStore(options) };
    this.#person = personEnvironment(options);
  }

  async place(signal: AbortSignal): Promise<Result<PublishPlace, string>> {
    const where = this.#directory();
    if (!where.ok) return where;
    const to = await remoteOf({ ...this.#toolHost, signal }, where.value);
    if (!to.ok) return to;
    const forge = forgeFor(to.value, this.#person);
    if (!forge.ok) return forge;
    const { name: remote, address, base } = to.value;
    return ok({ remote, address, base, program: forge.value.program, to: to.value, forge: forge.value });
  }

  async tip(branch: string, signal: AbortSignal): Promise<Result<string | null, string>> {
    const ends = await this.#git(signal, [
      ['check-ref-format', '--branch', branch],
      ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`],
    ]);
    if (!ends.ok) return ends;
    const [valid, found] = ends.value;
    if (valid?.exit !== 0) return fail(`${branch} is not a valid name for a branch`);
    return ok(found?.exit === 0 ? found.stdout.trim() : null);
  }

  draft(
    names: readonly string[],
    onto: string | null,
    { remote, base }: PublishPlace,
    signal: AbortSignal,
  ): Promise<Result<PublishDraft, string>> {
    const { store } = this.#toolHost;
    return attempted(async () => {
      const { tree, from, leftOut, patch, parent, branch, facts } = await this.#drafted(names, onto, signal);
      const files = tree === from ? [] : await changedFiles(store, facts, { from, to: tree }, signal);
      const range =
        onto === null && parent !== null && base !== null ? `refs/remotes/${remote}/${base}..${parent}` : null;
      const ahead = range === null ? null : await this.#commitsIn(range, signal);
      return { tree, files, leftOut, patch, parent, from: branch, ahead };
    });
  }

  async commit({ names, onto, message, tree }: CommitOrder, signal: AbortSignal): Promise<Result<string, string>> {
    const made = await attempted(async () => {
      const draft = await this.#drafted(names, onto, signal, 'repository');
      return draft.tree === tree ? (await madeCommit(this.#toolHost, draft, message, signal)).commit : null;
    });
    if (!made.ok) return made;
    return made.value === null ? fail('the files have changed since this was shown; look at it again') : ok(made.value);
  }

  async setBranch(branch: string, commit: string, before: string | null): Promise<Result<void, string>> {
    const where = this.#directory();
    if (!where.ok) return where;
    const from = before ?? '0'.repeat(commit.length);
    const args = ['update-ref', '-m', 'mimir: changes of a run', `refs/heads/${branch}`, commit, from];
    const why = await inRepository(this.#toolHost, where.value, args, {});
    return why === null ? ok(undefined) : fail(`the branch ${branch} could not be made: ${why}`);
  }

  async push({ to }: PublishPlace, branch: string, commit: string, signal: AbortSignal): Promise<Result<void, string>> {
    const { store, root } = this.#toolHost;
    const facts = await attempted(() => store.facts(signal));
    if (!facts.ok) return facts;
    const file = programOn(this.#person, 'git');
    if (file === null) return fail('git is not on the PATH');
    // In a repository of Mimir's own: nothing that the project's configuration names is run.
    const own = store.commits(facts.value);
    const what = ['push', '--porcelain', '--no-verify', '--no-signed', '--', to.url, `${commit}:refs/heads/${branch}`];
    const env = pushEnvironment(this.#person, to, facts.value);
    const args = [`--git-dir=${own}`, ...what];
    const end = await runProgram({ file, args, cwd: root.path, env, signal, timeLimit: PUSH_LIMIT });
    if (end.is === 'exited' && end.exit === 0) return ok(undefined);
    const words = wordsOf(end, `git push ${to.name}`).replaceAll(to.url, to.address);
    return fail(`${words}\n${HOW_TO_PUSH(to.name, branch)}`);
  }

  async find({ forge, to }: PublishPlace, branch: string, signal: AbortSignal): Promise<Result<string | null, string>> {
    const listed = await this.#forge(forge, { args: listing(forge, to, branch) }, signal);
    if (!listed.ok) return listed;
    const url = listedUrl(listed.value);
    return url.ok ? url : fail(`${forge.program}: ${url.fault}`);
  }

  async request(
    { forge, to, base }: PublishPlace,
    branch: string,
    text: RequestText,
    signal: AbortSignal,
  ): Promise<Result<string, string>> {
    const made = await this.#forge(forge, creating(forge, to, { branch, base }, text), signal);
    return made.ok ? ok(urlIn(made.value)) : made;
  }

  #directory(): Result<string, string> {
    const state = gitOf(this.#toolHost.root.path);
    return state.is === 'none' ? fail(`git is not available: ${state.because}`) : ok(state.directory);
  }

  async #git(signal: AbortSignal, all: readonly (readonly string[])[]): Promise<Result<readonly ProgramEnd[], string>> {
    const where = this.#directory();
    return where.ok ? ok(await runGits({ ...this.#toolHost, signal }, where.value, all)) : where;
  }

  #drafted(names: readonly string[], onto: string | null, signal: AbortSignal, into?: 'repository'): Promise<Draft> {
    return draftCommit(this.#toolHost, { paths: [], signal, beside: { names, onto }, ...defined({ into }) });
  }

  async #commitsIn(range: string, signal: AbortSignal): Promise<readonly string[] | null> {
    const args = ['log', '--no-show-signature', '--format=%h %s', `--max-count=${MOST_AHEAD}`, range, '--'];
    const ends = await this.#git(signal, [args]);
    const [listed] = ends.ok ? ends.value : [];
    return listed?.exit === 0 ? listed.stdout.split('\n').filter((line) => line !== '') : null;
  }

  /** Runs `gh` or `glab` in the project, where the git that they run does not run what its configuration names. */
  async #forge(
    { file, program }: Forge,
    { args, input = '' }: { readonly args: readonly string[]; readonly input?: string },
    signal: AbortSignal,
  ): Promise<Result<string, string>> {
    const where = this.#directory();
    if (!where.ok) return where;
    const { root } = this.#toolHost;
    const safe = await harmlessGit({ root, environment: this.#person, signal }, where.value, []);
    if (!safe.ok) return fail(wordsOf(safe.fault, 'git'));
    const env = { ...safe.value, ...QUIET };
    const end = await runProgram({ file, args, cwd: root.path, env, input, signal, timeLimit: REQUEST_LIMIT });
    return end.is === 'exited' && end.exit === 0
      ? ok(end.stdout)
      : fail(wordsOf(end, `${program} ${args.slice(0, 2).join(' ')}`));
  }
}

/** The person's environment, with the credentials of their checkout and the objects of the project. */
function pushEnvironment(person: Environment, to: Remote, { objects }: RepositoryFacts): Environment {
  const shallow = path.join(path.dirname(objects ?? ''), 'shallow');
  return {
    ...withSettings(person, [...to.headers, ['core.hooksPath', '/dev/null'], ['push.recurseSubmodules', 'no']]),
    ...QUIET,
    ...(objects === null ? {} : { GIT_OBJECT_DIRECTORY: objects }),
    ...(existsSync(shallow) ? { GIT_SHALLOW_FILE: shallow } : {}),
  };
}

const HOW_TO_PUSH = (remote: string, branch: string): string =>
  `settings of this repository that name programs are not used for this push; push it yourself (git push ${remote} ${branch}) and continue with \`mimir pr\``;

/** Questions of these programs are answered by nobody. */
const QUIET: Environment = QUIET_ENVIRONMENT;

/** Variables that would lead git to another repository, and Mimir's own. */
const LEFT_OUT =
  /^(?:MIMIR_|GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|TRACE.*|PUSH_OPTION.*)$)/;

function personEnvironment({ person, environment }: PublisherOptions): Environment {
  const passed = Object.entries(person).flatMap(([name, value]) =>
    value === undefined || LEFT_OUT.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(passed), PATH: environment['PATH'] ?? '' };
}

/** Settings for git behind those that the environment has already. */
function withSettings(environment: Environment, settings: readonly (readonly [string, string])[]): Environment {
  const before = Number(environment['GIT_CONFIG_COUNT'] ?? 0) || 0;
  const added = settings.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${before + at}`, name] as const,
    [`GIT_CONFIG_VALUE_${before + at}`, value] as const,
  ]);
  return { ...environment, ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(before + settings.length) };
}

/** Why a program failed: its own words, bounded and without control characters. */
function wordsOf(end: ProgramEnd, what: string): string {
  if (end.is === 'stopped') return 'stopped';
  if (end.is === 'time limit') return `${what} took too long`;
  const said = plainText(
    [end.stderr, end.stdout]
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .join('\n'),
  );
  return `${what}: ${capText(said, MOST_WORDS) || `failed (${end.exit ?? end.endedBy ?? end.is})`}`;
}
