/** The entrance of the workspaces: own trees of agents, when they are made and how they are merged. */
export { type Choice, mergeTree } from './merge.ts';
export { openWorkspaces, type Workspaces } from './workspaces.ts';
