/** Folders of build output: those that git ignores, found out once. Commands may write them whatever a task may change. */
import path from 'node:path';
import { type Environment, programOn } from '../shell/environment.ts';
import { type GitCall, runGit, runGits } from '../git/hardening.ts';
import { forbidden } from '../paths/path-rules.ts';
import type { Root } from '../paths/root.ts';
import { isPlainFolder } from './scope.ts';

const MOST_FOLDERS = 200;

/** Dependencies that others have written, not output: in them only folders of caches are opened. */
const DEPENDENCIES = new Set(['node_modules', 'vendor', '.venv', 'venv', 'bower_components']);
const CACHES = ['.cache', '.vite', '.vitest', '.tmp', '.vite-temp'];

/** Folders that tools make at the top of a project. One that is ignored and not there yet is made for the time of a command. */
const USUAL = ['target', 'dist', 'build', 'out', 'coverage', '.cache', '.next', '.nyc_output', '.pytest_cache']
  .concat([
    '.mypy_cache',
    '.ruff_cache',
    '.gradle',
    '.turbo',
    '.parcel-cache',
    'bin',
    'obj',
    'tmp',
    'node_modules/.cache',
  ])
  .concat(['__pycache__', 'htmlcov', '.tox', '.svelte-kit', '.nuxt', '.output', '.dart_tool']);

export interface BuildFolders {
  /** There when it was looked; names relative to the root. */
  readonly there: readonly string[];
  /** Ignored, and not there. */
  readonly usual: readonly string[];
}

const NONE: BuildFolders = { there: [], usual: [] };
const LISTED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];

/** Nothing where there is no git, or it can't tell. */
export async function buildFolders(root: Root, environment: Environment): Promise<BuildFolders> {
  const call = callOf(root, environment);
  if (call === null || root.git.is === 'none') return NONE;
  const { directory } = root.git;
  const [end] = await runGits(call, directory, [LISTED]);
  const listed = end?.exit === 0 && end.whole ? end.stdout.split('\0') : [];
  const ignored = listed.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1));
  const there = ignored.flatMap(opened).filter((name) => isPlainFolder(root.path, name));
  const asked = USUAL.filter((name) => !isPlainFolder(root.path, name) && forbidden(name, 'write') === null);
  const usual = await ignoredOf(
    root,
    environment,
    asked.map((name) => `${name}/`),
  );
  return {
    there: there.toSorted((a, b) => a.length - b.length).slice(0, MOST_FOLDERS),
    usual: [...usual].map((name) => name.slice(0, -1)),
  };
}

/** Of these names, those that git ignores; a folder ends with `/`. */
export async function ignoredOf(
  root: Root,
  environment: Environment,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const call = callOf(root, environment);
  if (call === null || root.git.is === 'none' || names.length === 0) return new Set();
  // This command knows no literal paths, and takes what begins with ":" for more than a name.
  const input = names.map((name) => `./${name}\0`).join('');
  const asked = ['--no-literal-pathspecs', 'check-ignore', '--stdin', '-z'];
  const end = await runGit({ ...call, input }, root.git.directory, asked);
  return new Set(end.exit === 0 ? end.stdout.split('\0').flatMap((name) => (name === '' ? [] : [name.slice(2)])) : []);
}

function callOf(root: Root, environment: Environment): GitCall | null {
  const git = programOn(environment, 'git');
  return git === null ? null : { root, git, environment, signal: new AbortController().signal };
}

const opened = (folder: string): readonly string[] =>
  DEPENDENCIES.has(path.posix.basename(folder)) ? CACHES.map((name) => `${folder}/${name}`) : [folder];
