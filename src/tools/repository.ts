/**
 * Bounded facts about a repository for planners: names, sizes, heads of manifests and of the README. Nothing is run but
 * ripgrep's listing. An unreadable file is left out, never a failure.
 */
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { RepositoryPort } from '../ports/repository.ts';
import { decode, isBinary, shownName } from './output.ts';
import { COMMON, seek } from './ripgrep.ts';
import type { Root } from './root.ts';
import { openFile, openFolder } from './workspace.ts';

const FILE_CAP = 20_000;
const LISTING_MS = 5000;
const MANIFEST_BYTES = 2000;
const README_BYTES = 4000;
const [MANIFESTS, LANGUAGES, TOP, TESTS] = [8, 12, 60, 40] as const;
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
/** Folders that are no part of a project even where nothing ignores them. */
const NOT_SHOWN = new Set(['.git', 'node_modules']);

/** Facts are gathered anew at each call, within some seconds at most; counting stops at `fileCap` files. */
export const openRepository = (root: Root, { fileCap = FILE_CAP } = {}): RepositoryPort => ({
  async facts(signal) {
    const { files, more } = await listed(root, fileCap, signal);
    const tests = files.filter((file) => TEST_PATH.test(file));
    return {
      name: shownName(path.basename(root.path)),
      isGit: root.git.is === 'repository',
      files: files.length,
      more,
      bytes: await bytesOf(root, files, signal),
      languages: languagesOf(files),
      top: await topOf(root, files, more),
      manifests: await manifestsOf(root, files),
      readme: await readmeOf(root, files),
      tests: { count: tests.length, some: tests.slice(0, TESTS).map(shownName) },
    };
  },
});

interface Listing {
  readonly files: readonly string[];
  readonly more: boolean;
}

async function listed(root: Root, fileCap: number, signal: AbortSignal): Promise<Listing> {
  const folder = await openFolder(root, '.');
  if (!folder.ok) return { files: [], more: false };
  const files: string[] = [];
  try {
    const end = await seek({
      args: ['--files', '--null', ...COMMON],
      folder: folder.value,
      separator: 0,
      timeLimit: LISTING_MS,
      signal,
      onRecord(record) {
        if (files.length === fileCap) return false;
        files.push(record.toString());
        return true;
      },
    });
    return { files, more: end.why !== 'finished' };
  } finally {
    await folder.value.handle.close();
  }
}

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
    .map(([extension, count]) => ({ extension: shownName(extension), files: count }));
}

/** What lies at the top; ignored folders are left out where the listing is complete enough to tell. */
async function topOf(root: Root, files: readonly string[], more: boolean): Promise<readonly string[]> {
  const listedTops = new Set(files.map((file) => file.split('/', 1)[0] ?? file));
  const entries = await readdir(root.path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !NOT_SHOWN.has(name) && (more || listedTops.has(name)))
    .map((entry) => `${shownName(entry.name)}${entry.isDirectory() ? '/' : ''}`)
    .sort()
    .slice(0, TOP);
}

/** Those nearest the top first. */
async function manifestsOf(root: Root, files: readonly string[]): Promise<RepositoryFacts['manifests']> {
  const depth = (file: string): number => file.split('/').length;
  const found = files
    .filter((file) => MANIFEST_NAMES.has(path.posix.basename(file)) && depth(file) <= 4)
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MANIFESTS);
  const heads = await Promise.all(found.map((file) => headOf(root, file, MANIFEST_BYTES)));
  return found.map((file, index) => ({ path: shownName(file), head: heads[index] ?? '' }));
}

async function readmeOf(root: Root, files: readonly string[]): Promise<string> {
  const readme = files.filter((file) => README.test(file)).sort()[0];
  return readme === undefined ? '' : headOf(root, readme, README_BYTES);
}

async function headOf(root: Root, name: string, bytes: number): Promise<string> {
  const file = await openFile(root, name);
  if (!file.ok) return '';
  try {
    const { buffer, bytesRead } = await file.value.handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    const head = buffer.subarray(0, bytesRead);
    // A character cut in two at the end is better left out than shown as broken.
    return isBinary(head) ? '' : decode(head).replace(/\uFFFD+$/, '');
  } catch {
    return '';
  } finally {
    await file.value.handle.close();
  }
}
