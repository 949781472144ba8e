/** Opens the own trees of agents of one project (ports/workspace.ts): it knows where they lie and opens a tool set for each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { listedChanges } from '../../domain/changes/changes.ts';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import type { WorkspacePort } from '../../ports/workspace.ts';
import { gitOf, type Root, treeRoot } from '../paths/root.ts';
import { type Environment, programOn } from '../process/environment.ts';
import { bytesIn, removeFolder } from '../process/kept-folders.ts';
import { findBubblewrap } from '../sandbox/places.ts';
import type { SandboxState } from '../../ports/tool.ts';
import { applyTree, mergeOf, theirTree, writePatch } from './merge.ts';
import { makeTree, placesOf, TREE_BYTES, treesFolder, visibleTree } from './own-tree.ts';
import type { Snapshots } from './tree.ts';

export interface WorkspaceOptions {
  readonly root: Root;
  readonly stateDir: string;
  readonly environment: Environment;
  readonly snapshots: Snapshots;
  readonly sandbox: SandboxState;
  /** Opens the tools of a tree, or says why that cannot be. `objects`: what they may read beside it. */
  readonly openTools: (name: string, root: Root, objects: readonly string[]) => Promise<Result<void, string>>;
  readonly closeTools: (name: string) => void;
  /** Called with the files of the project that a merge has written or removed. */
  readonly merged: (names: readonly string[]) => void;
}

export const MOST = {
  files: 200_000,
  bytes: TREE_BYTES,
  fault: 'too much in the project is neither committed nor ignored for a tree of its own',
};

export function openWorkspaces(options: WorkspaceOptions): WorkspacePort {
  const { root, stateDir, environment, snapshots } = options;
  const store = { root, stateDir, environment };
  const at = (name: string) => placesOf(root, stateDir, name);
  const helpers = { bubblewrap: findBubblewrap(root.path, environment), environment };
  const isThere = (name: string): boolean => existsSync(at(name).tree);
  const open = async (name: string): Promise<Result<void, string>> => {
    const own = treeRoot(root, at(name).tree);
    return own.ok ? options.openTools(name, own.value, [...objectsOf(root), at(name).objects]) : own;
  };
  return {
    whyNot: () => whyNot(options),
    async make(name, signal, from) {
      const problem = whyNot(options);
      if (problem !== null) return fail(problem);
      const content = from === undefined ? undefined : { ...from, objects: [at(from.of).objects] };
      const base = await snapshots.within(signal, MOST, (scanned) => makeTree(scanned, at(name), content));
      if (!base.ok) return base;
      const opened = await open(name);
      return opened.ok ? ok({ base: base.value }) : opened;
    },
    open,
    folder: (name) => at(name).tree,
    files: async (...between) => listed(await snapshots.filesBetween(...between)),
    changes: (from, to, signal) => snapshots.changes(from, to, signal),
    merge: (wish, signal) =>
      snapshots.within(signal, MOST, async (scanned) => {
        const theirs = await theirTree(scanned, store, wish);
        const ours = await visibleTree(scanned.staging, root, scanned.tree);
        const sides = { base: wish.base, ours: ours.tree, theirs: theirs.tree };
        return mergeOf(scanned.staging, sides, theirs.leftOut, [at(wish.name).objects]);
      }),
    rest: ({ ours, merged }, signal) =>
      snapshots.within(signal, MOST, async ({ staging, tree }) => {
        const now = await visibleTree(staging, root, tree);
        return mergeOf(staging, { base: ours, ours: now.tree, theirs: merged }, [], []);
      }),
    async apply(ours, to, signal) {
      const names = await snapshots.within(signal, MOST, (scanned) => applyTree(scanned, ours, to));
      if (names.ok) options.merged(names.value);
      return names.ok ? ok(undefined) : names;
    },
    patch: (wish, signal) =>
      snapshots.within(signal, MOST, async (scanned) => {
        const { tree } = await theirTree(scanned, store, wish);
        return writePatch(scanned.staging, at(wish.name).patch, wish.base, tree);
      }),
    async look(name, base, signal) {
      if (!isThere(name)) return null;
      const bytes = (await bytesIn(helpers, [at(name).folder])) ?? 0;
      const theirs = await snapshots.within(signal, MOST, (scanned) => theirTree(scanned, store, { name, base }));
      return { bytes, dirty: !theirs.ok || theirs.value.tree !== base };
    },
    names: () => tried(() => readdirSync(treesFolder(root, stateDir)), []).filter(isThere),
    async remove(name) {
      options.closeTools(name);
      await removeFolder(helpers, at(name).folder);
    },
  };
}

const listed = (found: Awaited<ReturnType<Snapshots['filesBetween']>>): Awaited<ReturnType<WorkspacePort['files']>> =>
  found.ok ? ok(listedChanges(found.value)) : found;

function whyNot({ root, environment, sandbox }: WorkspaceOptions): string | null {
  const git = gitOf(root.path);
  if (git.is === 'none') return `it needs a git repository, and ${git.because}`;
  if (programOn(environment, 'git') === null) return 'git is not on the PATH';
  return sandbox.is === 'none'
    ? `only a sandbox keeps an agent in its tree, and there is none: ${sandbox.because}`
    : null;
}

/** The folders of the repository's objects, with those that it borrows itself. */
function objectsOf({ path: root }: Root): readonly string[] {
  const found = new Set<string>();
  const git = gitOf(root);
  if (git.is === 'none') return [];
  const common = tried(() => readFileSync(`${git.directory}/commondir`, 'utf8').trimEnd(), '.');
  const open = [path.join(path.resolve(git.directory, common), 'objects')];
  for (let place = open.pop(); place !== undefined && found.size < 16; place = open.pop()) {
    if (found.has(place)) continue;
    found.add(place);
    const lines = tried(() => readFileSync(`${place}/info/alternates`, 'utf8').split('\n'), []);
    for (const line of lines) if (line !== '' && !line.startsWith('#')) open.push(path.resolve(place, line));
  }
  return [...found];
}
