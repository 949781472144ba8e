/** All tools of one project, opened together: they share the root, what agents have read, and the clean environment. */
import { ok, type Result } from '../domain/result.ts';
import type { Tool, ToolPort } from '../ports/tool.ts';
import { bashTool } from './shell/bash.ts';
import {
  askUserTool,
  giveVerdictTool,
  readFindingTool,
  sendMessageTool,
  taskTool,
  updateTodosTool,
} from './host-tools.ts';
import { editFileTool } from './files/edit-file.ts';
import { type Environment, toolEnvironment } from './process/environment.ts';
import type { OwnProgram } from './process/launcher.ts';
import { sweepFreshFiles } from './process/fresh-files.ts';
import { gitTool } from './git/git.ts';
import { gitCommitTool } from './trees/git-commit.ts';
import { listFilesTool } from './files/list-files.ts';
import { readFileTool } from './files/read-file.ts';
import { checkRoot, type PathRules } from './paths/root.ts';
import { noSandbox } from './sandbox/sandbox.ts';
import { type Sandbox } from './sandbox/run.ts';
import { projectFolder } from './workspace.ts';
import { searchTool } from './files/search.ts';
import { seenFiles } from './files/read-tracker.ts';
import { writeFileTool } from './files/write-file.ts';
import { openWrites } from './writes/writes.ts';

export { listProject } from './files/listing.ts';
export type { OwnProgram } from './process/launcher.ts';
export { openRepository } from './project/repository.ts';
export { readingLook } from './shell/bash.ts';
export { type Environment, toolEnvironment } from './process/environment.ts';
export { checkRoot, type PathRules, type Root } from './paths/root.ts';
export type { Sandbox } from './sandbox/run.ts';
export { openSandbox } from './sandbox/sandbox.ts';
export { toolsFor } from './tool-names.ts';
export { openTrees } from './trees/tree.ts';

export interface ToolOptions {
  /** The project folder, as found or typed. */
  readonly root: string;
  /** The person's home directory: never a root. */
  readonly home: string;
  /** Mimir's state directory: never inside a root. */
  readonly stateDir: string;
  /** What commands get; by default the clean part of this process's environment. */
  readonly environment?: Environment;
  /** Opened for the same root; absent: commands run in none. */
  readonly sandbox?: Sandbox;
  /** What policy says of paths; absent: nothing. The sandbox gets the same. */
  readonly paths?: PathRules;
  /** Mimir itself, for commands that have a door. The sandbox gets the same. */
  readonly program?: OwnProgram;
}

/** The tools, or why this folder can't be worked in (a sentence for the person). */
export function openTools(options: ToolOptions): Result<ToolPort, string> {
  const root = checkRoot(options.root, { home: options.home, state: options.stateDir, rules: options.paths });
  if (!root.ok) return root;
  const environment = options.environment ?? toolEnvironment(root.value.path);
  const sandbox = options.sandbox ?? noSandbox('not probed');
  sweepFreshFiles(options.stateDir);
  const seen = seenFiles();
  const writes = openWrites(root.value, environment, options.stateDir);
  const tools: readonly Tool[] = [
    readFileTool(root.value, seen),
    listFilesTool(root.value),
    searchTool(root.value),
    editFileTool(root.value, seen, writes),
    writeFileTool(root.value, seen, writes),
    bashTool({ root: root.value, environment, sandbox, stateDir: options.stateDir, program: options.program, writes }),
    gitTool(root.value, environment, sandbox),
    gitCommitTool({ root: root.value, environment, stateDir: options.stateDir, home: options.home }),
    updateTodosTool,
    sendMessageTool,
    readFindingTool,
    askUserTool,
    giveVerdictTool,
    taskTool,
  ];
  return ok({
    tools,
    sandbox: sandbox.state,
    folder: (written) => projectFolder(root.value, written),
    knew: (files) => {
      seen.restore(files);
    },
    ended: (agent) => sandbox.ended(agent),
  });
}
