/**
 * The facts for the environment block of an agent: branch and status of now, the top of the tree, the commands that manifests
 * name. Nothing is run but ripgrep's listing and hardened git. What can't be read is left out, never a failure.
 */
import { readdir } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import type { EnvironmentFacts, GitFacts } from '../../domain/agents/environment.ts';
import { commandsIn, isCommandManifest } from '../../domain/project-commands.ts';
import { plainText } from '../../domain/text/text.ts';
import { listProject } from '../files/listing.ts';
import { runGit } from '../git/hardening.ts';
import type { Root } from '../paths/root.ts';
import { type Environment, programOn } from '../process/environment.ts';
import { decode, isBinary } from '../process/output.ts';
import type { Sandbox } from '../sandbox/run.ts';
import { openFile } from '../workspace.ts';

/** Names that are listed at most, manifests that are read, and how many bytes of each. */
const [FILES, MANIFESTS, MANIFEST_BYTES] = [5000, 8, 64 * 1024] as const;
const GIT_MS = 3000;
interface Around {
  readonly environment: Environment;
  readonly sandbox: Sandbox;
}

export async function gatherEnvironment(root: Root, around: Around, signal: AbortSignal): Promise<EnvironmentFacts> {
  const [{ files, more }, git] = await Promise.all([listProject(root, FILES, signal), gitFacts(root, around, signal)]);
  return {
    platform: `${platform()} ${arch()}`,
    top: await topOf(root, files, more),
    commands: await commandsOf(root, files),
    git,
  };
}

/** Manifests at the top and one folder below it, those at the top first. */
async function commandsOf(root: Root, files: readonly string[]): Promise<readonly string[]> {
  const depth = (file: string): number => file.split('/').length;
  const found = files
    .filter((file) => depth(file) <= 2 && isCommandManifest(file.slice(file.lastIndexOf('/') + 1)))
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MANIFESTS);
  const manifests = await Promise.all(
    found.map(async (path) => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      const inside = files
        .filter((file) => file.startsWith(folder))
        .map((file) => file.slice(folder.length).split('/', 1)[0]);
      return {
        path,
        head: await headOf(root, path, MANIFEST_BYTES),
        beside: new Set(inside.flatMap((name) => name ?? [])),
      };
    }),
  );
  return commandsIn(manifests);
}

async function gitFacts(root: Root, { environment, sandbox }: Around, signal: AbortSignal): Promise<GitFacts | null> {
  const git = programOn(environment, 'git');
  if (root.git.is !== 'repository' || git === null) return null;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(GIT_MS)]);
  const args = ['status', '--porcelain=v1', '-z', '--branch', '--no-renames', '--ignore-submodules=all'];
  const call = { root, git, environment, sandbox, signal: limited };
  const end = await runGit(call, root.git.directory, [...args, '--untracked-files=normal']);
  if (end.exit !== 0) return null;
  const [head = '', ...lines] = end.stdout.split('\0').filter((line) => line !== '');
  return {
    branch: head.replace(/^## (?:No commits yet on )?/, '').replace(/\.\.\..*$/, ''),
    changed: lines.map((line) => ({ code: line.slice(0, 2).trim(), path: line.slice(3) })),
    whole: end.whole,
  };
}

/** Folders that are no part of a project even where nothing ignores them. */
const NOT_SHOWN: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Names at the top, folders with a trailing slash. Ignored names are left out where the listing `files` is complete. */
export async function topOf(root: Root, files: readonly string[], more: boolean): Promise<readonly string[]> {
  const listed = new Set(files.map((file) => file.split('/', 1)[0] ?? file));
  const entries = await readdir(root.path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !NOT_SHOWN.has(name) && (more || listed.has(name)))
    .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}

/** The first `bytes` of a text file; empty for a binary one. */
export async function headOf(root: Root, name: string, bytes: number): Promise<string> {
  const file = await openFile(root, name);
  if (!file.ok) return '';
  try {
    const { buffer, bytesRead } = await file.value.handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    const head = buffer.subarray(0, bytesRead);
    // A character cut in two at the end is better left out than shown as broken.
    return isBinary(head) ? '' : plainText(decode(head).replace(/\uFFFD+$/, ''));
  } catch {
    return '';
  } finally {
    await file.value.handle.close();
  }
}
