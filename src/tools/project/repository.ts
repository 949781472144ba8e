/**
 * Bounded facts about a repository for planners: names, sizes, heads of manifests and of the README, the last commits.
 * Nothing is run but ripgrep's listing and hardened git. What can't be read is left out, never a failure.
 */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { RepositoryFacts } from '../../domain/repository.ts';
import { plainLine } from '../../domain/text/text.ts';
import type { RepositoryPort } from '../../ports/repository.ts';
import { type Environment, programOn, toolEnvironment } from '../process/environment.ts';
import { gatherEnvironment, headOf, topOf } from './environment-facts.ts';
import { runGit } from '../git/hardening.ts';
import { listProject } from '../files/listing.ts';
import { shownName } from '../process/output.ts';
import type { Root } from '../paths/root.ts';
import { noSandbox } from '../sandbox/sandbox.ts';
import { type Sandbox } from '../sandbox/run.ts';

const FILE_CAP = 20_000;
const MANIFEST_BYTES = 2000;
const README_BYTES = 4000;
const [MANIFESTS, LANGUAGES, TOP, TESTS] = [8, 12, 60, 40] as const;
const [FOLDERS, INSIDE, COMMITS] = [8, 24, 5] as const;
const LONGEST_NAME = 120;
const GIT_MS = 3000;
/** Files measured before other work gets its turn. */
const STAT_BATCH = 500;

const MANIFEST_NAMES = new Set(
  [
    'package.json deno.json tsconfig.json Cargo.toml go.mod pyproject.toml setup.py requirements.txt',
    'pom.xml build.gradle build.gradle.kts settings.gradle Gemfile composer.json mix.exs Package.swift',
    'CMakeLists.txt Makefile meson.build BUILD.bazel build.sbt pubspec.yaml Dockerfile flake.nix',
  ].flatMap((names) => names.split(' ')),
);
const README = /^readme(\.(md|markdown|rst|txt|adoc|org))?$/i;
const TEST_PATH =
  /(^|\/)(tests?|specs?|__tests__)\/|[._-](test|spec|tests|specs)\.[a-z]+$|(^|\/)test_[^/]+$|(Test|Tests|Spec)\.[a-z]+$/;
const UNBOXED = noSandbox('not probed');

interface RepositoryOptions {
  readonly fileCap?: number;
  /** What git gets; by default the clean part of this process's environment. */
  readonly environment?: Environment;
  /** Git runs in its box where there is one. */
  readonly sandbox?: Sandbox;
}

/** Facts are gathered anew at each call, within some seconds at most; counting stops at `fileCap` files. */
export const openRepository = (
  root: Root,
  { fileCap = FILE_CAP, environment = toolEnvironment(root.path), sandbox = UNBOXED }: RepositoryOptions = {},
): RepositoryPort => ({
  environment: (signal) => gatherEnvironment(root, { environment, sandbox }, signal),
  async facts(signal, how) {
    const [{ files, more }, git] = await Promise.all([
      listProject(root, fileCap, signal),
      how === 'without git' ? null : commitsOf(root, { environment, sandbox }, signal),
    ]);
    const tests = files.filter((file) => TEST_PATH.test(file));
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
    };
  },
});

/** One line for any name, and not a long one: a path may have 4096 bytes. */
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

/** The largest folders at the top, and what lies in each: folders by size, then files by name. */
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

/** Branch and last subjects, or null where git has nothing to say soon. */
async function commitsOf(
  root: Root,
  { environment, sandbox }: Required<Pick<RepositoryOptions, 'environment' | 'sandbox'>>,
  signal: AbortSignal,
): Promise<NonNullable<RepositoryFacts['git']> | null> {
  const git = programOn(environment, 'git');
  if (root.git.is !== 'repository' || git === null) return null;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(GIT_MS)]);
  const args = [
    'log',
    '--no-show-signature',
    `--max-count=${COMMITS}`,
    '--decorate=short',
    '--format=%D%x00%s',
    'HEAD',
  ];
  const end = await runGit({ root, git, environment, sandbox, signal: limited }, root.git.directory, args);
  if (end.exit !== 0) return null;
  const lines = end.stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\0')]));
  const [, branch = ''] = /^HEAD -> ([^,]+)/.exec(lines[0]?.[0] ?? '') ?? [];
  const commits = lines.map(([, subject = '']) => plainLine(subject, LONGEST_NAME)).filter((line) => line !== '');
  return { branch: plainLine(branch, LONGEST_NAME) || '(none)', commits: commits.slice(0, COMMITS) };
}

/** Those nearest the top first. */
async function manifestsOf(root: Root, files: readonly string[]): Promise<RepositoryFacts['manifests']> {
  const depth = (file: string): number => file.split('/').length;
  const found = files
    .filter((file) => MANIFEST_NAMES.has(path.posix.basename(file)) && depth(file) <= 4)
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MANIFESTS);
  const heads = await Promise.all(found.map((file) => headOf(root, file, MANIFEST_BYTES)));
  return found.map((file, index) => ({ path: nameOf(file), head: heads[index] ?? '' }));
}

async function readmeOf(root: Root, files: readonly string[]): Promise<string> {
  const readme = files.filter((file) => README.test(file)).sort()[0];
  return readme === undefined ? '' : headOf(root, readme, README_BYTES);
}
