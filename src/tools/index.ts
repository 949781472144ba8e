/** The entrance of the tools: files, shell, git, the sandbox, and trees of files. */
export { openChanges } from './changes/changes.ts';
export { unifiedDiff } from './files/diff.ts';
export { listProject } from './files/list-files.ts';
export { type Access, checkRoot, insideName, type PathRules } from './paths/root.ts';
export { type Environment, type OwnProgram, toolEnvironment } from './process/environment.ts';
export { openPublisher, type PublishDraft, type Publisher, type PublishPlace } from './publish/publish.ts';
export { openRepository } from './project/repository.ts';
export { lookAtCaches, lookAtToolchains, type LookPlace, type ToolchainState } from './sandbox/look.ts';
export { bubblewrapVersion } from './sandbox/places.ts';
export { foreignFile, foreignVersion, tryForeign } from './sandbox/foreign.ts';
export { openSandbox, type Sandbox } from './sandbox/sandbox.ts';
export { readingLook } from './shell/bash.ts';
export { openTools, type ProjectTools } from './tools.ts';
export { placeProject } from './trees/transport.ts';
export { openTrees } from './trees/tree.ts';
export { realName } from './workspace.ts';
