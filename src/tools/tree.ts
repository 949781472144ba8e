/**
 * The content of the project as a whole, by digest (ports/tree.ts): for forced agents, whose verdicts are bound to it. One
 * look at a time; what is stored of contents lies in the state folder.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../domain/result.ts';
import type { TreeChanges, TreeId, TreePort } from '../ports/tree.ts';
import { toolEnvironment, type Environment } from './environment.ts';
import type { Root } from './root.ts';
import { changesOf } from './tree-changes.ts';
import { seed, stage, type Staging } from './tree-stage.ts';
import { treeStore } from './tree-store.ts';

export interface TreeOptions {
  readonly root: Root;
  /** Mimir's state directory. */
  readonly stateDir: string;
  /** What git gets; by default the clean part of this process's environment. */
  readonly environment?: Environment;
}

/**
 * Opens the project's trees; nothing is done before the first look. Fails in words, never throws, where there is no git,
 * or its content can't be read. Ignored files that no commit has, and repositories inside the project, don't count.
 */
export function openTrees({ root, stateDir, environment = toolEnvironment(root.path) }: TreeOptions): TreePort {
  const store = treeStore({ root, stateDir, environment });
  const session = randomBytes(6).toString('hex');
  let last: Seen | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  async function look(signal: AbortSignal): Promise<Result<TreeId, string>> {
    const facts = await store.facts(signal);
    if (!facts.ok) return facts;
    const index = path.join(store.folder(facts.value), `index-${session}`);
    if (last === null) takeIndex(index);
    const seen = await treeIn({ store, facts: facts.value, index, signal }, last);
    // Only after a whole look: the next program starts from what this one found out.
    if (seen.ok && last === null) leaveIndex(index);
    if (!seen.ok) rmSync(index, { force: true });
    last = seen.ok ? seen.value : null;
    return seen.ok ? ok(seen.value.tree) : seen;
  }

  return {
    now(signal) {
      const looked = queue.then(() => attempted(() => look(signal)));
      queue = looked;
      return looked;
    },
    changes: (from, to, signal) =>
      attempted<TreeChanges>(async () => {
        const facts = await store.facts(signal);
        return facts.ok ? changesOf(store, facts.value, { from, to }, signal) : facts;
      }),
  };
}

interface Seen {
  readonly head: string | null;
  readonly format: string;
  readonly tree: TreeId;
}

async function treeIn(staging: Staging, last: Seen | null): Promise<Result<Seen, string>> {
  const { head, format } = staging.facts;
  const goesOn = last !== null && last.head === head && last.format === format;
  const before = goesOn ? ok({ tree: last.tree }) : await seed(staging);
  if (!before.ok) return before;
  const tree = await stage(staging, before.value.tree);
  return tree.ok ? ok({ head, format, tree: tree.value }) : tree;
}

/** The state folder may be full or gone: the look fails, the run goes on. */
async function attempted<T>(look: () => Promise<Result<T, string>>): Promise<Result<T, string>> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return fail(`what changed in the project can't be told: ${error.message}`);
  }
}

const sharedOf = (index: string): string => path.join(path.dirname(index), 'index');

/** Starts from the index that an earlier run left: only what changed since is read again. */
function takeIndex(index: string): void {
  sweep(path.dirname(index));
  copyIndex(sharedOf(index), index);
}

/** Indexes that runs left behind, a week old. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (name.startsWith('index-') && age > 7 * 86_400_000) rmSync(file, { force: true });
  }
}

function leaveIndex(index: string): void {
  const fresh = `${index}.fresh`;
  if (copyIndex(index, fresh)) renameSync(fresh, sharedOf(index));
}

/** A copy that is dated back: git looks again at files that may have changed in the moment it was written. */
function copyIndex(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    const written = statSync(from).mtimeMs / 1000 - 2;
    utimesSync(to, written, written);
    return true;
  } catch {
    // No earlier index: everything is read once.
    rmSync(to, { force: true });
    return false;
  }
}
