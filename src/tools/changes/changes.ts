/** Opens what is known of the changes of a project's runs (contract: ports/changes.ts). */
import path from 'node:path';
import type { ChangesPort } from '../../ports/changes.ts';
import { toolEnvironment } from '../process/environment.ts';
import { attempted, keyOf, treeStore } from '../trees/store.ts';
import { openTrees, type TreeOptions } from '../trees/tree.ts';
import { authoredFiles } from './authors.ts';
import { openUndos } from './kept-undos.ts';
import { filesWithout } from './undo.ts';

/** Nothing runs before the first question; without git each is answered with a fault. */
export function openChanges({ root, stateDir, environment = toolEnvironment(root.path) }: TreeOptions): ChangesPort {
  const store = treeStore({ root, stateDir, environment });
  const place = async (signal: AbortSignal) => ({ root, store, facts: await store.facts(signal), signal });
  return {
    authored: ({ acts, tree }, signal) => attempted(async () => authoredFiles(await place(signal), acts, tree)),
    without: (files, undone, signal) => attempted(async () => filesWithout(await place(signal), files, undone)),
    tree: (signal) => openTrees({ root, stateDir, environment }).now(signal),
    ...openUndos(root, path.join(stateDir, 'undo', keyOf(root)), stateDir),
  };
}
