/** Own trees of agents in which nothing is: each step of one ends as the test says. */
import { ok } from '../../src/domain/result.ts';
import type { Merge, WorkspacePort } from '../../src/ports/workspace.ts';

/** A merge of two trees that are the same. */
export const NOTHING: Merge = {
  ours: 'ours',
  theirs: 'theirs',
  merged: 'ours',
  files: [],
  more: 0,
  conflicts: [],
  leftOut: [],
};

/** A merge that stops at one file. */
export const CONFLICT: Merge = {
  ...NOTHING,
  conflicts: [{ path: 'a.ts', kind: 'contents' }],
  withTheirs: 'theirs',
  marked: 'marked',
};

export const treesByHand = (steps: Partial<WorkspacePort> = {}): WorkspacePort => ({
  whyNot: () => null,
  make: () => Promise.resolve(ok({ base: 'base' })),
  folder: (name) => `/trees/${name}`,
  open: () => Promise.resolve(ok(undefined)),
  merge: () => Promise.resolve(ok(NOTHING)),
  rest: () => Promise.resolve(ok(NOTHING)),
  apply: () => Promise.resolve(ok(undefined)),
  files: () => Promise.resolve(ok({ files: [], more: 0 })),
  changes: () => Promise.resolve(ok({ patch: '' })),
  patch: () => Promise.resolve(ok('/trees/patch')),
  look: () => Promise.resolve(null),
  names: () => [],
  remove: () => Promise.resolve(),
  ...steps,
});
