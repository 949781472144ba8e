/** The real tools on a project whose agents work in trees of their own, with real git and the real sandbox. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import type { ToolContext, ToolOutput } from '../../../src/ports/tool.ts';
import type { Merge, WorkspacePort } from '../../../src/ports/workspace.ts';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { freshFolder, git } from '../../support/repos.ts';
import { agent, contextFor } from '../workbench.ts';

const HOME = '/nowhere/home';
const { signal } = new AbortController();

export interface Bench {
  readonly folder: string;
  readonly workspaces: WorkspacePort;
  readonly state: string;
  use(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

/** `treeBytes`: the most that a tree may have. */
export async function bench(folder: string, more: { readonly treeBytes?: number } = {}): Promise<Bench> {
  const state = freshFolder();
  const place = { root: folder, home: HOME, stateDir: state };
  const sandbox = await openSandbox(place);
  expect(sandbox.state).toEqual({ is: 'bubblewrap' });
  const port = openTools({ ...place, sandbox, ...more });
  if (!port.ok) throw new Error(port.fault);
  const { tools, workspaces } = port.value;
  return {
    folder,
    state,
    workspaces,
    use(name, input, context = {}) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(name);
      const own = { agent: agent('ROOT::S1'), sandbox: 'read-write', workspace: 'one', ...context } as const;
      return tool.run(tool.input.parse(input), contextFor(own));
    },
  };
}

export async function made(at: Bench, name = 'one'): Promise<string> {
  const base = await at.workspaces.make(name, signal);
  if (!base.ok) throw new Error(base.fault);
  return base.value.base;
}

export async function merged(at: Bench, base: string, name = 'one'): Promise<Merge> {
  const merge = await at.workspaces.merge({ name, base }, signal);
  if (!merge.ok) throw new Error(merge.fault);
  return merge.value;
}

export const text = (at: Bench, name: string): string => readFileSync(path.join(at.folder, name), 'utf8');
export const bash = (at: Bench, command: string): Promise<ToolOutput> => at.use('bash', { command });
/** Everything in the project and its repository, with modes. */
export const digest = (folder: string): string =>
  git(folder, 'status', '--porcelain=v2') + git(folder, 'rev-parse', 'HEAD') + git(folder, 'stash', 'create');
