/** The entrance of the workspaces: own trees of agents, when they are made and how they are merged. */
export { changedLines, type Choice, mergeTree } from './merge.ts';
export { inItsTree, LAST_ANSWER, NO_TREES, openWorkspaces, resolvingText, treeFailed } from './workspaces.ts';
export { treeOfChild, type Workspaces } from './workspaces.ts';
