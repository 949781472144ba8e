/** Opens what is known of the changes of a project's runs (contract: ports/changes.ts). */
import type { ChangesPort } from '../../ports/changes.ts';
import { toolEnvironment } from '../process/environment.ts';
import { attempted, treeStore } from '../trees/store.ts';
import type { TreeOptions } from '../trees/tree.ts';
import { authoredFiles } from './authors.ts';

/** Nothing runs before the first question; without git each is answered with a fault. */
export function openChanges({ root, stateDir, environment = toolEnvironment(root.path) }: TreeOptions): ChangesPort {
  const store = treeStore({ root, stateDir, environment });
  return {
    authored: ({ acts, tree }, signal) =>
      attempted(async () => authoredFiles({ root, store, facts: await store.facts(signal), signal }, acts, tree)),
  };
}
