/**
 * The content of the project as a whole, by digest (ports/tree.ts): for forced agents, whose verdicts are bound to it. One
 * look at a time; what is stored of contents lies in the state folder.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { fail, ok, type Result } from '../domain/result.ts';
import type { TreeChanges, TreeId, TreePort } from '../ports/tree.ts';
import { toolEnvironment, type Environment } from './environment.ts';
import type { Root } from './root.ts';
import { changesOf } from './tree-changes.ts';
import { dropIndex, leaveIndex, takeIndex } from './tree-index.ts';
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
 * or its content can't be read. Ignored files that no commit has don't count; what lies in repositories inside the project does.
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
    const seen = await treeIn({ store, facts: facts.value, index, signal, inside: 'counted' }, last);
    // Only after a whole look: the next program starts from what this one found out.
    if (seen.ok && last === null) leaveIndex(index);
    if (!seen.ok) dropIndex(index);
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
