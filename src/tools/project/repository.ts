/** Gathers bounded facts about a repository for planners: names, sizes, the beginnings of manifests and of the README, the last
 * commits. Runs only ripgrep's listing and hardened git; unreadable parts are left out. */
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import path from 'node:path';
import type { EnvironmentFacts, GitFacts } from '../../domain/agents/brief.ts';
import { commandsIn, isCommandManifest, isTestPath, type RepositoryFacts } from '../../domain/repository.ts';
import { plainLine, plainText } from '../../domain/text/text.ts';
import type { RepositoryPort } from '../../ports/tree.ts';
import { listProject } from '../files/list-files.ts';
import { runGit } from '../git/hardening.ts';
import type { Root } from '../paths/root.ts';
import { type Environment, toolEnvironment } from '../process/environment.ts';
import { decode, isBinary, shownName } from '../process/output.ts';
import type { ProgramEnd } from '../process/run-program.ts';
import { noSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import { openFile } from '../workspace.ts';

const FILE_CAP = 20_000;
const MANIFEST_BYTES = 2000;
const README_BYTES = 4000;
const [MANIFESTS, LANGUAGES, TOP, TESTS] = [8, 12, 60, 40] as const;
const [FOLDERS, INSIDE, COMMITS] = [8, 24, 5] as const;
const LONGEST_NAME = 120;
const GIT_MS = 3000;
/** How many files are measured before the event loop gets a turn. */
const STAT_BATCH = 500;

const MANIFEST_NAMES = new Set(
  [
    'package.json deno.json tsconfig.json Cargo.toml go.mod pyproject.toml setup.py requirements.txt',
    'pom.xml build.gradle build.gradle.kts settings.gradle Gemfile composer.json mix.exs Package.swift',
    'CMakeLists.txt Makefile meson.build BUILD.bazel build.sbt pubspec.yaml Dockerfile flake.nix',
  ].flatMap((names) => names.split(' ')),
);
const README = /^readme(\.(md|markdown|rst|txt|adoc|org))?$/i;
const UNBOXED = noSandbox('not probed');

interface RepositoryOptions {
  readonly fileCap?: number;
  /** The environment of git; by default the tools' part of this process's environment. */
  readonly environment?: Environment;
  /** Git runs in this sandbox if there is one. */
  readonly sandbox?: Sandbox;
}

/** The facts are gathered at each call, within a few seconds; counting stops at `fileCap` files. */
export const openRepository = (
  root: Root,
  { fileCap = FILE_CAP, environment = toolEnvironment(root.path), sandbox = UNBOXED }: RepositoryOptions = {},
): RepositoryPort => ({
  environment: shared((signal) => gatherEnvironment(root, { environment, sandbox }, signal)),
  async facts(signal, how) {
    const [{ files, more }, git] = await Promise.all([
      listProject(root, fileCap, signal),
      how === 'without git' ? null : stateOf(root, { environment, sandbox }, signal),
    ]);
    const tests = files.filter((file) => isTestPath(file));
    const commands = await commandsOf(root, files);
    return {
      name: nameOf(path.basename(root.path)),
      isGit: root.git.is === 'repository',
      files: files.length,
      more,
      bytes: await bytesOf(root, files, signal),
      languages: languagesOf(files),
      top: (await topOf(root, files, more)).slice(0, TOP).map(nameOf),
      manifests: await manifestsOf(root, files),
      readme: await readmeOf(root, files),
      folders: foldersOf(files),
      ...(git === null ? {} : { git }),
      tests: { count: tests.length, some: tests.slice(0, TESTS).map(nameOf) },
      ...(commands.length > 0 && { commands }),
    };
  },
});

/** Calls that come while one runs share the one after it: many agents that start at once cost as much as two, and each result is of a time after
 * its call. A shared call is stopped when all who wait for it are. */
function shared<T>(gather: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: { readonly signals: AbortSignal[]; readonly result: Promise<T> } | null = null;
  const begin = async (signals: readonly AbortSignal[]): Promise<T> => {
    await Promise.allSettled([last, new Promise((resolve) => setImmediate(resolve))]);
    next = null;
    const stop = new AbortController();
    const look = (): void => {
      if (signals.every(({ aborted }) => aborted)) stop.abort();
    };
    for (const signal of signals) signal.addEventListener('abort', look, { signal: stop.signal });
    look();
    const result = gather(stop.signal);
    last = result;
    return await result.finally(() => stop.abort());
  };
  return (signal) => {
    const signals = next?.signals ?? [];
    signals.push(signal);
    next ??= { signals, result: begin(signals) };
    return next.result;
  };
}

/** A name on one line and of limited length: a path may have 4096 bytes. */
const nameOf = (name: string): string => plainLine(shownName(name), LONGEST_NAME);

async function bytesOf(root: Root, files: readonly string[], signal: AbortSignal): Promise<number> {
  let bytes = 0;
  for (let at = 0; at < files.length && !signal.aborted; at += STAT_BATCH) {
    for (const file of files.slice(at, at + STAT_BATCH)) {
      const stat = lstatSync(path.join(root.path, file), { throwIfNoEntry: false });
      if (stat?.isFile() === true) bytes += stat.size;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return bytes;
}

function languagesOf(files: readonly string[]): RepositoryFacts['languages'] {
  const counts = new Map<string, number>();
  for (const file of files) {
    const extension = path.posix.extname(file);
    if (extension.length > 1 && extension.length <= 16) counts.set(extension, (counts.get(extension) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, LANGUAGES)
    .map(([extension, count]) => ({ extension: nameOf(extension), files: count }));
}

/** The largest top-level folders and the content of each: folders by size, then files by name. */
function foldersOf(files: readonly string[]): NonNullable<RepositoryFacts['folders']> {
  const tops = new Map<string, Map<string, number>>();
  for (const file of files) {
    const [top = '', next, deeper] = file.split('/', 3);
    if (next === undefined) continue;
    const inside = tops.get(top) ?? new Map<string, number>();
    const name = deeper === undefined ? next : `${next}/`;
    tops.set(top, inside.set(name, (inside.get(name) ?? 0) + 1));
  }
  return [...tops]
    .map(([top, inside]) => ({ top, inside, files: [...inside.values()].reduce((sum, count) => sum + count, 0) }))
    .sort((a, b) => b.files - a.files || (a.top < b.top ? -1 : 1))
    .slice(0, FOLDERS)
    .map(({ top, inside, files }) => ({ path: `${nameOf(top)}/`, files, inside: insideOf(inside) }));
}

function insideOf(inside: ReadonlyMap<string, number>): readonly string[] {
  const isFolder = (name: string): boolean => name.endsWith('/');
  const sorted = [...inside].sort(
    ([a, left], [b, right]) =>
      Number(isFolder(b)) - Number(isFolder(a)) || (isFolder(a) ? right - left : 0) || (a < b ? -1 : 1),
  );
  const names = sorted.map(([name, count]) => (isFolder(name) ? `${nameOf(name)} ${count}` : nameOf(name)));
  return names.length <= INSIDE ? names : [...names.slice(0, INSIDE), `and ${names.length - INSIDE} more`];
}

/** Branch, last subjects and the number of changed files; null if git does not answer in time. */
async function stateOf(
  root: Root,
  around: Around,
  signal: AbortSignal,
): Promise<NonNullable<RepositoryFacts['git']> | null> {
  const [commits, facts] = await Promise.all([commitsOf(root, around, signal), gitFacts(root, around, signal)]);
  return commits === null ? null : { ...commits, changed: facts?.changed.length ?? 0 };
}

async function commitsOf(
  root: Root,
  around: Around,
  signal: AbortSignal,
): Promise<Omit<NonNullable<RepositoryFacts['git']>, 'changed'> | null> {
  const how = ['--no-show-signature', '--decorate=short', '--format=%D%x00%s'];
  const end = await gitEnd(root, around, signal, ['log', ...how, `--max-count=${COMMITS}`, 'HEAD']);
  if (end?.exit !== 0) return null;
  const lines = end.stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\0')]));
  const [, branch = ''] = /^HEAD -> ([^,]+)/.exec(lines[0]?.[0] ?? '') ?? [];
  const commits = lines.map(([, subject = '']) => plainLine(subject, LONGEST_NAME)).filter((line) => line !== '');
  return { branch: plainLine(branch, LONGEST_NAME) || '(none)', commits: commits.slice(0, COMMITS) };
}

/** Files with matching names, at most `deepest` levels deep, those nearest the top first. */
function nearTop(files: readonly string[], deepest: number, isMeant: (name: string) => boolean): readonly string[] {
  const depth = (file: string): number => file.split('/').length;
  return files
    .filter((file) => depth(file) <= deepest && isMeant(path.posix.basename(file)))
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

/** Those nearest the top first. */
async function manifestsOf(root: Root, files: readonly string[]): Promise<RepositoryFacts['manifests']> {
  const found = nearTop(files, 4, (name) => MANIFEST_NAMES.has(name)).slice(0, MANIFESTS);
  const heads = await Promise.all(found.map((file) => headOf(root, file, MANIFEST_BYTES)));
  return found.map((file, index) => ({ path: nameOf(file), head: heads[index] ?? '' }));
}

async function readmeOf(root: Root, files: readonly string[]): Promise<string> {
  const readme = files.filter((file) => README.test(file)).sort()[0];
  return readme === undefined ? '' : headOf(root, readme, README_BYTES);
}

/** The most names to list, manifests to read, and bytes to read of each. */
const [LISTED, COMMAND_MANIFESTS, COMMAND_BYTES] = [5000, 8, 64 * 1024] as const;

type Around = Required<Pick<RepositoryOptions, 'environment' | 'sandbox'>>;

async function gatherEnvironment(root: Root, around: Around, signal: AbortSignal): Promise<EnvironmentFacts> {
  const [{ files, more }, git] = await Promise.all([listProject(root, LISTED, signal), gitFacts(root, around, signal)]);
  return {
    platform: `${platform()} ${arch()}`,
    top: await topOf(root, files, more),
    commands: await commandsOf(root, files),
    git,
  };
}

async function commandsOf(root: Root, files: readonly string[]): Promise<readonly string[]> {
  const found = nearTop(files, 2, isCommandManifest).slice(0, COMMAND_MANIFESTS);
  const manifests = await Promise.all(
    found.map(async (path) => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      const inside = files
        .filter((file) => file.startsWith(folder))
        .map((file) => file.slice(folder.length).split('/', 1)[0]);
      return {
        path,
        head: await headOf(root, path, COMMAND_BYTES),
        beside: new Set(inside.flatMap((name) => name ?? [])),
      };
    }),
  );
  return commandsIn(manifests);
}

/** Runs git with a time limit of three seconds; null without a repository. */
async function gitEnd(
  root: Root,
  { environment, sandbox }: Around,
  signal: AbortSignal,
  args: readonly string[],
): Promise<ProgramEnd | null> {
  if (root.git.is !== 'repository') return null;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(GIT_MS)]);
  return runGit({ root, environment, sandbox, signal: limited }, root.git.directory, args);
}

async function gitFacts(root: Root, around: Around, signal: AbortSignal): Promise<GitFacts | null> {
  const args = ['status', '--porcelain=v1', '-z', '--branch', '--no-renames', '--ignore-submodules=all'];
  const end = await gitEnd(root, around, signal, [...args, '--untracked-files=normal']);
  if (end?.exit !== 0) return null;
  const [head = '', ...lines] = end.stdout.split('\0').filter((line) => line !== '');
  return {
    branch: head.replace(/^## (?:No commits yet on )?/, '').replace(/\.\.\..*$/, ''),
    changed: lines.map((line) => ({ code: line.slice(0, 2).trim(), path: line.slice(3) })),
    whole: end.whole,
  };
}

/** Folders that are not part of a project even if nothing ignores them. */
const NOT_SHOWN: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Names at the top, folders with a trailing slash. Ignored names are left out if the listing `files` is complete. */
async function topOf(root: Root, files: readonly string[], more: boolean): Promise<readonly string[]> {
  const listed = new Set(files.map((file) => file.split('/', 1)[0] ?? file));
  const entries = await readdir(root.path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !NOT_SHOWN.has(name) && (more || listed.has(name)))
    .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}

async function headOf(root: Root, name: string, bytes: number): Promise<string> {
  const file = await openFile(root, name);
  if (!file.ok) return '';
  try {
    const { buffer, bytesRead } = await file.value.handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    const head = buffer.subarray(0, bytesRead);
    // A character that the limit splits is dropped.
    return isBinary(head) ? '' : plainText(decode(head).replace(/\uFFFD+$/, ''));
  } catch {
    return '';
  } finally {
    await file.value.handle.close();
  }
}
