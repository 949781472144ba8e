/** A gate that answers one agent by a list, for the loop of an agent: everything that it did there, and its conversation. */
import type { WorkOrder, WorkOutcome } from '../../src/domain/agents/agent.ts';
import { AgentId, CallId, ModelId, RoleName } from '../../src/domain/ids.ts';
import { fail, ok } from '../../src/domain/result.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../../src/domain/turn.ts';
import { runAgent } from '../../src/engine/agents/agent-loop.ts';
import type { AskFault, Gate } from '../../src/engine/gate/index.ts';

export const call = (id: string, tool = 'read'): ToolCall => ({ id: CallId.parse(id), tool, input: {} });
export const did = (id: string, text = `did ${id}`): ToolResult => ({ call: CallId.parse(id), ok: true, text });
export const user = (text: string): Turn => ({ by: 'user', text });
export const model = (text: string, ...calls: readonly ToolCall[]): Turn => ({ by: 'model', text, calls });
export const tools = (...results: readonly ToolResult[]): Turn => ({ by: 'tools', results });

/** A reply as its text (or its reason to stop, where that is not the end) and its calls; or the fault in its place. */
export type Said = string | readonly [text: string, ...calls: readonly ToolCall[]] | AskFault;

function replyOf(said: Exclude<Said, AskFault>): ModelReply {
  const [text, ...calls] = typeof said === 'string' ? [said] : said;
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  const stopped = (['output limit', 'refused'] as const).find((reason) => reason === text);
  const stopReason = stopped ?? (calls.length === 0 ? 'end' : 'tool use');
  return { text, calls, stopReason, usage, model: ModelId.parse('scripted/fast') };
}

interface Setting {
  readonly order?: Partial<WorkOrder>;
  /** Results by id of a call; `did ID` otherwise. */
  readonly results?: Readonly<Record<string, string>>;
  /** Messages that wait between turns, or at the end, one at each look. */
  readonly mail?: readonly (string | null)[];
  readonly mailAtEnd?: readonly (string | null)[];
  /** What the agent has reported of its own end, at each look. */
  readonly signalled?: readonly (WorkOutcome | null)[];
  /** Tokens of the conversation at each look, of 1000. */
  readonly tokens?: readonly number[];
  /** Stopped while its tools run. */
  readonly stops?: boolean;
}

const ORDER: WorkOrder = {
  agent: AgentId.parse('ROOT::S1'),
  parent: AgentId.parse('ROOT'),
  taskId: null,
  role: RoleName.parse('finder'),
  task: 'find it',
  system: '',
  model: { asked: 'fast', used: ModelId.parse('scripted/fast'), because: null },
  fallbacks: [],
  capabilities: [],
  tools: ['read'],
  budget: {},
  iterations: 20,
  findings: [],
  turns: [],
};

/** The agent from its order to its end. `acts`: what was asked, used and refused, in order; `told`: what it was told by itself. */
export async function ran(said: readonly Said[], setting: Setting = {}) {
  const [acts, told]: readonly [string[], string[]] = [[], []];
  const left = [...said];
  const [mail, mailAtEnd] = [[...(setting.mail ?? [])], [...(setting.mailAtEnd ?? [])]];
  const [signalled, tokens] = [[...(setting.signalled ?? [])], [...(setting.tokens ?? [])]];
  const control = new AbortController();
  let conversation: readonly Turn[] = [];
  let looks = 0;
  const gate: Gate = {
    ask({ turns, closing, purpose }) {
      if (purpose === undefined) conversation = turns;
      acts.push(closing ? 'ask to close' : 'ask');
      const next = left.shift() ?? 'nothing more';
      if (typeof next === 'object' && 'is' in next) return Promise.resolve(fail(next));
      return Promise.resolve(ok(replyOf(next)));
    },
    use(_, calls) {
      acts.push(`use ${calls.map(({ id }) => id).join(' ')}`);
      if (setting.stops === true) control.abort('killed');
      return Promise.resolve(calls.map(({ id }) => did(id, setting.results?.[id])));
    },
    refuse(_, calls, text) {
      acts.push(`refuse ${calls.map(({ id }) => id).join(' ')}`);
      return calls.map(({ id }) => ({ call: id, ok: false, text }));
    },
    note: (_, { results }, text) =>
      tools(...results.map((one, at) => (at < results.length - 1 ? one : { ...one, text: `${one.text}\n\n${text}` }))),
    tell(_, text) {
      told.push(text);
      return user(text);
    },
    waiting(_, when) {
      const text = (when === 'at the end' ? mailAtEnd : mail).shift() ?? null;
      return text === null ? null : user(text);
    },
    signalled() {
      looks += 1;
      if (looks > 50) throw new Error('it does not end');
      return signalled.shift() ?? null;
    },
    room: () => ({ tokens: tokens.shift() ?? 0, limit: 1000 }),
    compacted: (_, { kept }) => void acts.push(`compacted to the last ${kept}`),
  };
  const outcome = await runAgent({ ...ORDER, ...setting.order }, gate, control.signal);
  return { outcome, acts, told, conversation };
}

export const completed = (summary: string): WorkOutcome => ({ is: 'completed', summary });
