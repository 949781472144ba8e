/** Opens the real tools on a folder and calls them the way the gate does: parse, then run. */
import type { CommandChanges } from '../../src/domain/changes/changes.ts';
import { AgentId, ROOT } from '../../src/domain/ids.ts';
import { fail, ok, type Result } from '../../src/domain/result.ts';
import type { ToolHost, Proposal, ToolContext, ToolOutput } from '../../src/ports/tool.ts';
import { checkRoot, openTools, type PathRules } from '../../src/tools/index.ts';
import type { Root } from '../../src/tools/paths/root.ts';
import { toolEnvironment } from '../../src/tools/process/environment.ts';
import { freshFolder } from '../support/repos.ts';

/** A tool host that answers with what it was asked. */
const echoDesk: ToolHost = {
  setTodos: (todos) => ({ ok: true, text: JSON.stringify(todos) }),
  sendMessage: (to, content) => ({ ok: true, text: JSON.stringify({ to, content }) }),
  readFinding: (wanted) => ({ ok: true, text: JSON.stringify(wanted) }),
  spawn: (child) => Promise.resolve({ ok: true, text: JSON.stringify(child) }),
  askUser: (question, options) => Promise.resolve({ ok: true, text: JSON.stringify({ question, options }) }),
  giveVerdict: (verdict) => ({ ok: true, text: JSON.stringify(verdict) }),
};

export function contextFor(part: Partial<ToolContext> = {}): ToolContext {
  return {
    agent: ROOT,
    signal: new AbortController().signal,
    sandbox: 'none',
    toolHost: echoDesk,
    onOutput: () => undefined,
    ...part,
  };
}

export interface Workbench {
  /** What the model reads of it. Throws when the schema refuses the input. */
  use(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
  /** What it changed in the project by a command; null where nothing. */
  changes(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<CommandChanges | null>;
  preview(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<string>;
  inputs(
    tool: string,
    input: unknown,
    context: Partial<ToolContext>,
  ): Promise<readonly { readonly path: string; readonly digest: string }[]>;
  propose(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<Result<Proposal, string>>;
}

export function workbench(
  folder: string,
  source?: NodeJS.ProcessEnv,
  home = '/nowhere/home',
  paths?: PathRules,
): Workbench {
  const environment = source === undefined ? {} : { environment: toolEnvironment(folder, source) };
  const port = openTools({
    root: folder,
    home,
    stateDir: freshFolder(),
    ...environment,
    ...(paths === undefined ? {} : { paths }),
  });
  if (!port.ok) throw new Error(port.fault);
  const named = (name: string) => {
    const tool = port.value.tools.find((tool) => tool.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  const run = (name: string, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutput> =>
    named(name).run(named(name).input.parse(input), contextFor(context));
  return {
    use: async (name, input, context) => {
      const { saw: _saw, changed: _changed, command: _command, ...output } = await run(name, input, context);
      return output;
    },
    changes: async (name, input, context) => (await run(name, input, context)).changed ?? null,
    propose: async (name, input, context) =>
      (await named(name).propose?.(named(name).input.parse(input), contextFor(context))) ?? fail('it proposes nothing'),
    preview: async (name, input, context) => {
      const shown = (await named(name).preview?.(named(name).input.parse(input), contextFor(context))) ?? ok('');
      return shown.ok ? shown.value : `nobody is asked: ${shown.fault}`;
    },
    inputs: async (name, input, context) =>
      (await named(name).inputs?.(named(name).input.parse(input), contextFor(context))) ?? [],
  };
}

export function rootOf(folder: string, rules?: PathRules): Root {
  const root = checkRoot(folder, { home: '/nowhere/home', state: '/nowhere/state', rules });
  if (!root.ok) throw new Error(root.fault);
  return root.value;
}

export const agent = (id: string): AgentId => AgentId.parse(id);
