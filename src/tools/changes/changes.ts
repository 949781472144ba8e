/** Opens what is known of the changes of a project's runs (contract: ports/changes.ts). */
import path from 'node:path';
import type { ChangesPort } from '../../ports/changes.ts';
import { toolEnvironment } from '../process/environment.ts';
import { attempted, keyOf, treeStore } from '../trees/store.ts';
import { openTrees, type TreeOptions } from '../trees/tree.ts';
import { authoredFiles, changesSince } from './authors.ts';
import { openUndos } from './kept-undos.ts';
import { filesWithout } from './undo.ts';

/** Nothing runs before the first question; without git each is answered with a fault. */
export function openChanges({ root, stateDir, environment = toolEnvironment(root.path) }: TreeOptions): ChangesPort {
  const store = treeStore({ root, stateDir, environment });
  const place = async (signal: AbortSignal) => ({ root, store, facts: await store.facts(signal), signal });
  const trees = openTrees({ root, stateDir, environment });
  return {
    authored: (recorded, signal) =>
      attempted(async () => authoredFiles(await place(signal), recorded, await changesSince(trees, recorded, signal))),
    async uncovered({ tree: start }, signal) {
      if (start?.time === undefined) return '';
      const { id: tree, time: at } = start;
      const found = await trees.changes(tree, tree, signal, { tree, at, written: [] });
      return found.ok ? (found.value.unjudged ?? '') : '';
    },
    without: (files, undone, signal) => attempted(async () => filesWithout(await place(signal), files, undone)),
    tree: (signal) => trees.now(signal),
    ...openUndos(root, path.join(stateDir, 'undo', keyOf(root)), stateDir),
  };
}
