/**
 * Carries the analyst through a task with the real tools on a real folder, as the engine would: for tests of what it says.
 * No policy, no budget, no log.
 */
import { AgentId, CallId, OFFLINE, RoleName } from '../../src/domain/ids.ts';
import type { Finding } from '../../src/domain/agents/agent.ts';
import type { Todo, ToolCall, ToolResult, Turn } from '../../src/domain/turn.ts';
import { offlineAnalyst } from '../../src/analyst/offline-analyst.ts';
import type { ModelRequest, ToolSpec } from '../../src/ports/model.ts';
import type { ToolContext, ToolPort } from '../../src/ports/tool.ts';
import { ALIASES } from '../../src/policy/models.ts';
import { openTools } from '../../src/tools/index.ts';

export const analyst = offlineAnalyst(ALIASES, { is: 'none' });
const live = new AbortController().signal;

/** Which tools a role has here: those of the shipped roles, without a shell. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = { librarian: ['git'], refactoring: ['git'] };
const USED = ['list_files', 'read_file', 'search', 'git', 'update_todos'];

function toolsOf(root: string): ToolPort {
  const tools = openTools({ root, home: '/nonexistent-home', stateDir: '/nonexistent-state' });
  if (!tools.ok) throw new Error(tools.fault);
  return tools.value;
}

export interface Carried {
  readonly answer: string;
  readonly turns: readonly Turn[];
  readonly todos: readonly (readonly Todo[])[];
  /** Input and output over all calls, and the most bytes that one step gave. */
  readonly tokens: number;
  readonly widest: number;
}

export interface Errand {
  readonly root: string;
  readonly role: string;
  readonly task: string;
  readonly findings?: readonly Finding[];
  readonly tools?: readonly string[];
  readonly turns?: readonly Turn[];
}

const specs = (names: readonly string[]): readonly ToolSpec[] =>
  names.map((name) => ({ name, description: name, schema: {} }));

const namesOf = ({ tools, role }: Errand): readonly string[] =>
  tools ?? USED.filter((name) => !(WITHOUT[role] ?? []).includes(name));

/** The call that the engine would make after `turns`. */
export function requestOf(errand: Errand, turns: readonly Turn[]): ModelRequest {
  const { role, task, findings = [] } = errand;
  return {
    model: OFFLINE,
    agent: AgentId.parse('ROOT::S1'),
    call: CallId.parse(`c${turns.filter(({ by }) => by === 'model').length}`),
    purpose: { is: 'work', task, role: RoleName.parse(role), findings },
    system: '',
    tools: specs(namesOf(errand)),
    turns,
    maxOutputTokens: 8192,
    format: null,
  };
}

export async function carry(errand: Errand): Promise<Carried> {
  const port = toolsOf(errand.root);
  const turns: Turn[] = [...(errand.turns ?? [{ by: 'user', text: errand.task }])];
  const todos: (readonly Todo[])[] = [];
  let tokens = 0;
  let widest = 0;
  for (let n = turns.filter(({ by }) => by === 'model').length; n < 30; n += 1) {
    const reply = await analyst.call(requestOf(errand, turns), live, () => undefined);
    if (!reply.ok) throw new Error(reply.fault.message);
    tokens += reply.value.usage.input + reply.value.usage.output;
    turns.push({ by: 'model', text: reply.value.text, calls: reply.value.calls });
    if (reply.value.calls.length > 16) throw new Error('an agent may make sixteen calls in one turn');
    if (reply.value.calls.length === 0) return { answer: reply.value.text, turns, todos, tokens, widest };
    const results: ToolResult[] = [];
    for (const call of reply.value.calls) results.push(await use(port, call, (list) => todos.push(list)));
    widest = Math.max(
      widest,
      results.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
    );
    turns.push({ by: 'tools', results });
  }
  throw new Error(`${errand.role} did not end within 30 turns`);
}

async function use(port: ToolPort, call: ToolCall, onTodos: (todos: readonly Todo[]) => void): Promise<ToolResult> {
  const tool = port.tools.find(({ name }) => name === call.tool);
  if (tool === undefined) return { call: call.id, ok: false, text: `Tool not found: ${call.tool}` };
  const input = tool.input.safeParse(call.input);
  if (!input.success) throw new Error(`${call.tool} refuses ${JSON.stringify(call.input)}: ${input.error.message}`);
  const context: ToolContext = {
    agent: AgentId.parse('ROOT::S1'),
    signal: live,
    sandbox: 'none',
    toolHost: {
      setTodos: (todos) => {
        onTodos(todos);
        return { ok: true, text: 'noted' };
      },
      sendMessage: () => ({ ok: true, text: 'sent' }),
      readFinding: () => ({ ok: false, text: 'not here' }),
      spawn: async () => ({ ok: false, text: 'no' }),
      askUser: async () => ({ ok: false, text: 'nobody' }),
      giveVerdict: () => ({ ok: false, text: 'none' }),
    },
    onOutput: () => undefined,
  };
  return { call: call.id, ...(await tool.run(input.data, context)) };
}
