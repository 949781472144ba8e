/** Mimir's own git directory, in the state folder, which stores contents of a project by digest. The repository's configuration
 * is not used, so none of its filters, hooks or monitors can run; its objects are read in place. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeOf, defined, fail, ok, type Result } from '../../domain/result.ts';
import { type Environment, programOn } from '../process/environment.ts';
import { type GitCall, hardenedEnvironment, lookAndRun } from '../git/hardening.ts';
import { gitOf, type Root } from '../paths/root.ts';
import { type ProgramEnd, runProgram } from '../process/run-program.ts';

const TIME_LIMIT = 120_000;
/** The list of names of a large project is longer than the usual limit of a command's output. */
const LIST_BYTES = 64 * 1024 * 1024;
/** The settings of a repository that define how its bytes are stored. They are plain values and name no program. */
const PLAIN = /^core\.(?:filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|sharedrepository)$/;

type Setting = readonly [name: string, value: string];

/** What is taken from the project's own repository, if there is one. */
export interface RepositoryFacts {
  /** Its git directory; null if the project is not a repository. */
  readonly directory: string | null;
  readonly objects: string | null;
  /** Its last commit and that commit's tree; null before the first. */
  readonly commit: string | null;
  readonly head: string | null;
  readonly branch: string | null;
  readonly format: string;
  readonly settings: readonly Setting[];
}

const NO_REPOSITORY: RepositoryFacts = {
  directory: null,
  objects: null,
  commit: null,
  head: null,
  branch: null,
  format: 'sha1',
  settings: [],
};

export interface StoreCall {
  /** The index to work on; absent for calls that only read objects. */
  readonly index?: string;
  /** A file with patterns to ignore in addition to the project's. */
  readonly excludes?: string;
  readonly input?: string;
  /** The output is no text: each byte is one character of Latin-1. */
  readonly bytes?: true;
  /** Writes objects into the project's own repository, for a commit. */
  readonly into?: 'repository';
  /** Where the files of the index lie; absent: in the root. */
  readonly workTree?: string;
  /** Folders of objects beside the project's. */
  readonly objects?: readonly string[];
  /** An exit code that is an answer, too. */
  readonly also?: number;
  readonly environment?: Environment;
}

export interface TreeStore {
  readonly root: Root;
  /** The state of the project's repository at this moment. Throws `TreeFault`. */
  facts(signal: AbortSignal): Promise<RepositoryFacts>;
  /** Mimir's git directory for this kind of repository, created if missing. */
  folder(facts: RepositoryFacts): string;
  /** Its part for commits, in which the project's attributes apply. */
  commits(facts: RepositoryFacts): string;
  /** The output of a successful git command. Throws `TreeFault`. */
  git(facts: RepositoryFacts, args: readonly string[], signal: AbortSignal, call?: StoreCall): Promise<string>;
}

/** Why git could not tell or do something. Thrown in this folder only; `attempted` catches it. */
export class TreeFault extends Error {}

/** What `act` gives, or its fault: of git, or of the system (full disk, missing folder). */
export async function attempted<T>(act: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await act());
  } catch (error) {
    if (error instanceof TreeFault) return fail(error.message);
    if (!(error instanceof Error && 'code' in error)) throw error;
    return fail(`the changes in the project cannot be determined: ${error.message}`);
  }
}

export interface StoreOptions {
  readonly root: Root;
  /** The project whose store it is, of a tree outside of it; absent: the root. */
  readonly of?: Root;
  readonly stateDir: string;
  readonly environment: Environment;
}

/** A name for what belongs to one project in the state folder. */
export const keyOf = ({ path: place }: Root): string => createHash('sha256').update(place).digest('hex').slice(0, 16);

export function treeStore({ root, of = root, stateDir, environment }: StoreOptions): TreeStore {
  const name = keyOf(of);
  const folder = (facts: RepositoryFacts): string =>
    withoutAttributes(prepared(path.join(stateDir, 'trees', `${name}-${facts.format}`), facts.format));
  const gitOnPath = (): string => {
    const git = programOn(environment, 'git');
    if (git === null) throw new TreeFault(NO_GIT);
    return git;
  };
  return {
    root,
    folder,
    commits: (facts) => commitsIn(folder(facts), facts.format),
    facts: async (signal) => {
      gitOnPath();
      return factsOf({ root, environment, signal });
    },
    async git(facts, args, signal, call = {}) {
      const own = call.into === 'repository' ? commitsIn(folder(facts), facts.format) : folder(facts);
      const files = call.index === undefined ? null : (call.workTree ?? root.path);
      const end = await runProgram({
        file: gitOnPath(),
        args: [...FIXED, `--git-dir=${own}`, ...(files === null ? [] : [`--work-tree=${files}`]), ...args],
        cwd: files ?? own,
        env: environmentOf(environment, facts, call),
        timeLimit: TIME_LIMIT,
        keep: LIST_BYTES,
        signal,
        ...defined({ input: call.input, bytes: call.bytes }),
      });
      if (isAnswer(end, call)) return end.stdout;
      throw new TreeFault(wordsOf(end, args[0] ?? ''));
    },
  };
}

const isAnswer = (end: ProgramEnd, { also = 0 }: StoreCall): boolean =>
  end.is === 'exited' && end.whole && (end.exit === 0 || end.exit === also);

const NO_GIT = 'git is not on the PATH: the changes in the project cannot be determined';
const FIXED = ['--no-pager', '--no-optional-locks', '--literal-pathspecs'];

function environmentOf(environment: Environment, facts: RepositoryFacts, call: StoreCall): Environment {
  const settings: readonly Setting[] = [
    ...facts.settings.filter(([key]) => call.into === 'repository' || key !== 'core.sharedrepository'),
    ['core.untrackedCache', 'false'],
    ['core.splitIndex', 'false'],
    ['core.looseCompression', '1'],
    ['advice.addEmbeddedRepo', 'false'],
    ['merge.directoryRenames', 'false'],
    ...(call.excludes === undefined ? [] : ([['core.excludesFile', call.excludes]] as const)),
    // Stored contents are private, whatever the umask.
    ...(call.into === 'repository' ? [] : ([['core.sharedRepository', '0600']] as const)),
  ];
  return {
    ...hardenedEnvironment({ ...environment, ...call.environment }, settings),
    ...(call.index === undefined ? {} : { GIT_INDEX_FILE: call.index }),
    ...objectsOf(facts, call),
  };
}

function objectsOf({ objects }: RepositoryFacts, { into, objects: more = [] }: StoreCall): Environment {
  if (objects !== null && into === 'repository') return { GIT_OBJECT_DIRECTORY: objects };
  const all = [...(objects === null ? [] : [objects]), ...more];
  if (all.length === 0) return {};
  // The variable is a list separated by ":", so a path with one is quoted.
  const quoted = all.map((place) => (/[:"\\]/.test(place) ? JSON.stringify(place) : place));
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted.join(':') };
}

async function factsOf(call: GitCall): Promise<RepositoryFacts> {
  const state = gitOf(call.root.path);
  if (state.is === 'none') return NO_REPOSITORY;
  const where = ['--show-object-format', '--git-path', 'objects'];
  const ends = await lookAndRun(call, state.directory, where, [
    // One call, so that commit and tree belong together.
    ['log', '-1', '--no-show-signature', '--format=%H %T', 'HEAD', '--'],
    ['symbolic-ref', '--quiet', 'HEAD'],
  ]);
  const cut = ends.find((end) => end.is !== 'exited' || end.exit === null);
  if (cut !== undefined) throw new TreeFault(wordsOf(cut, 'rev-parse'));
  return factsIn(call.root, state.directory, ends);
}

function factsIn(root: Root, directory: string, [where, listed, last, on]: readonly ProgramEnd[]): RepositoryFacts {
  const [format, objects] = said(where).trimEnd().split('\n');
  // For example an empty .git folder: there are files, but no history.
  if (format === undefined || objects === undefined) return NO_REPOSITORY;
  const [, commit = null, head = null] = /^(\w+) (\w+)\n$/.exec(said(last)) ?? [];
  return {
    directory,
    objects: path.resolve(root.path, objects),
    commit,
    head,
    branch: /^refs\/heads\/(.+)\n$/.exec(said(on))?.[1] ?? null,
    format,
    settings: plainSettings(said(listed)),
  };
}

/** Empty if the command failed. */
const said = (end: ProgramEnd | undefined): string => (end?.exit === 0 ? end.stdout : '');

const plainSettings = (listed: string): readonly Setting[] =>
  listed.split('\0').flatMap((entry) => {
    const end = entry.indexOf('\n');
    const name = entry.slice(0, Math.max(end, 0));
    return PLAIN.test(name) ? [[name, entry.slice(end + 1)] as const] : [];
  });

/** Creates the git directory without `git init`, because a template could bring hooks and settings. */
function prepared(folder: string, format: string): string {
  for (const part of ['objects', 'refs']) mkdirSync(path.join(folder, part), { recursive: true, mode: 0o700 });
  const extension = format === 'sha1' ? '' : `[extensions]\n\tobjectformat = ${format}\n`;
  const version = format === 'sha1' ? 0 : 1;
  once(path.join(folder, 'config'), `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${extension}`);
  once(path.join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  return folder;
}

/** The git directory for commits, where the project's attributes apply as for anyone else. */
const commitsIn = (folder: string, format: string): string => prepared(path.join(folder, 'commits'), format);

/** Overrides all attributes of a project, so that bytes are compared as they are on disk. With `ident` or an encoding git would
 * store a different text from the one that runs. */
export const ATTRIBUTES = '* !ident !filter !working-tree-encoding\n';

function withoutAttributes(folder: string): string {
  mkdirSync(path.join(folder, 'info'), { recursive: true, mode: 0o700 });
  once(path.join(folder, 'info/attributes'), ATTRIBUTES);
  return folder;
}

function once(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function wordsOf(end: ProgramEnd, command: string): string {
  if (end.is === 'stopped') return 'stopped';
  if (end.is === 'time limit') return `git ${command} took longer than ${TIME_LIMIT / 1000} s on this project`;
  if (end.exit === 0) return `git ${command} returned more than can be read`;
  return `git ${command}: ${end.stderr.trim() || `failed (${end.exit ?? end.endedBy ?? end.is})`}`;
}
