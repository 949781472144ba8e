/** Opens the real tools on a folder and calls them the way the gate does: parse, then run. */
import { AgentId, ROOT } from '../../src/domain/ids.ts';
import type { Desk, ToolContext, ToolOutput } from '../../src/ports/tool.ts';
import { checkRoot, openTools, type Root } from '../../src/tools/index.ts';
import { toolEnvironment } from '../../src/tools/environment.ts';
import { freshFolder } from '../support/repos.ts';

/** A desk that answers with what it was asked. */
const echoDesk: Desk = {
  setTodos: (todos) => ({ ok: true, text: JSON.stringify(todos) }),
  sendMessage: (to, content) => ({ ok: true, text: JSON.stringify({ to, content }) }),
  spawn: (child) => Promise.resolve({ ok: true, text: JSON.stringify(child) }),
  askUser: (question, options) => Promise.resolve({ ok: true, text: JSON.stringify({ question, options }) }),
  giveVerdict: (verdict) => ({ ok: true, text: JSON.stringify(verdict) }),
};

function contextFor(part: Partial<ToolContext> = {}): ToolContext {
  return {
    agent: ROOT,
    signal: new AbortController().signal,
    box: 'none',
    desk: echoDesk,
    onOutput: () => undefined,
    ...part,
  };
}

export interface Workbench {
  /** Throws when the schema refuses the input. */
  use(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
  preview(tool: string, input: unknown): Promise<string>;
}

export function workbench(folder: string, source?: NodeJS.ProcessEnv): Workbench {
  const environment = source === undefined ? {} : { environment: toolEnvironment(folder, source) };
  const port = openTools({ root: folder, home: '/nowhere/home', stateDir: freshFolder(), ...environment });
  if (!port.ok) throw new Error(port.fault);
  const named = (name: string) => {
    const tool = port.value.tools.find((tool) => tool.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool;
  };
  return {
    use: async (name, input, context) => named(name).run(named(name).input.parse(input), contextFor(context)),
    preview: async (name, input) => (await named(name).preview?.(named(name).input.parse(input), contextFor())) ?? '',
  };
}

export function rootOf(folder: string): Root {
  const root = checkRoot(folder, { home: '/nowhere/home', state: '/nowhere/state' });
  if (!root.ok) throw new Error(root.fault);
  return root.value;
}

export const agent = (id: string): AgentId => AgentId.parse(id);
