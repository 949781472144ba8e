/** Events told one after the other, a second apart: for specs of the fold. */
import { AgentId, CallId, ModelId, RoleName, ROOT, SessionId } from '../../src/domain/ids.ts';
import type { EventOf } from '../../src/events/event.ts';
import { withReasons } from '../../src/events/earlier-words.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import type { AgentState, RunState } from '../../src/events/state.ts';
import { Conversation } from '../../src/events/turns.ts';
import type { Turn } from '../../src/domain/turn.ts';

/** When every story begins, in milliseconds. */
export const START = Date.UTC(2026, 0, 1);
export const SESSION = SessionId.parse('story');
export const MODEL = ModelId.parse('offline/analyst');
export const FINDER = AgentId.parse('ROOT::S1');
export const REVIEWER = AgentId.parse('ROOT::S2');
export const NESTED = AgentId.parse('ROOT::S1::S1');
export const callId = (id: string): CallId => CallId.parse(id);

/** The conversation of one agent, as the log knows it. */
export function turnsOf(events: Iterable<MimirEvent>, agent: AgentId): readonly Turn[] {
  const conversation = new Conversation(agent);
  for (const event of events) conversation.take(event);
  return conversation.position().turns;
}

type Created = EventOf<'agent.created'>;

/** An agent as a plan makes it. */
export const created = (
  agent: AgentId,
  more: Partial<Pick<Created, 'budget' | 'dependsOn' | 'task'>> = {},
): EventBody => ({
  type: 'agent.created',
  agent,
  parent: agent === ROOT ? null : AgentId.parse(agent.slice(0, agent.lastIndexOf('::'))),
  role: RoleName.parse('finder'),
  name: 'finder',
  task: 'find the entry points',
  taskId: null,
  tools: ['git'],
  budget: {},
  dependsOn: [],
  model: { asked: 'haiku-4.5', used: MODEL, because: 'no provider' },
  iterations: 20,
  ...more,
});

export const status = (agent: AgentId, status: AgentState['status'], reason = ''): EventBody =>
  withReasons({
    type: 'agent.status',
    agent,
    status,
    reason,
  });

export const asked = (
  agent: AgentId,
  call: string,
  tokens = 0,
  cost = 0,
  purpose: 'plan' | 'work' | 'merge' | 'compact' = 'work',
): EventBody => ({
  type: 'model.started',
  agent,
  call: callId(call),
  model: MODEL,
  purpose,
  reserved: { tokens, cost },
});

type Replied = EventOf<'model.finished'>;

export const replied = (
  agent: AgentId,
  call: string,
  more: Partial<Pick<Replied, 'usage' | 'cost' | 'priced' | 'stopReason' | 'calls' | 'opaque'>> = {},
): EventBody => ({
  type: 'model.finished',
  agent,
  call: callId(call),
  model: MODEL,
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  cost: 0,
  priced: true,
  stopReason: more.calls === undefined ? 'end' : 'tool use',
  ms: 10,
  calls: [],
  ...more,
});

export const said = (agent: AgentId, call: string, text: string): EventBody => ({
  type: 'agent.message',
  agent,
  call: callId(call),
  text,
});

export const began = (agent: AgentId, call: string, repeat: 'safe' | 'never' = 'safe'): EventBody => ({
  type: 'tool.started',
  agent,
  call: callId(call),
  tool: 'read_file',
  label: 'read src/a.ts',
  input: { path: 'src/a.ts' },
  repeat,
});

export const used = (agent: AgentId, call: string, output: string, ok = true): EventBody => ({
  type: 'tool.finished',
  agent,
  call: callId(call),
  tool: 'read_file',
  ok,
  output,
  ms: 5,
});

export const told = (agent: AgentId, text: string, messages: readonly number[] = []): EventBody => ({
  type: 'agent.told',
  agent,
  text,
  messages,
});

export const finished = (
  agent: AgentId,
  outcome: EventOf<'agent.finished'>['outcome'] = 'completed',
  error: string | null = null,
): EventBody => ({
  type: 'agent.finished',
  agent,
  status: outcome === 'completed' || outcome === 'failed' ? outcome : 'interrupted',
  outcome,
  summary: 'what was found',
  error,
  metrics: { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 0, toolCalls: 0 },
});

/** The events of `bodies`, a second apart from `START` on. */
export const story = (...bodies: readonly EventBody[]): readonly MimirEvent[] =>
  bodies.map((body, index) => ({
    v: 1,
    seq: index + 1,
    time: new Date(START + index * 1000).toISOString(),
    session: SESSION,
    ...body,
  }));

export const stateAfter = (...bodies: readonly EventBody[]): RunState => foldAll(story(...bodies));

/** The agent after `bodies`. Throws when there is none, which is a mistake of the test. */
export function agentAfter(agent: AgentId, ...bodies: readonly EventBody[]): AgentState {
  const found = stateAfter(...bodies).agents.get(agent);
  if (found === undefined) throw new Error(`${agent} was not created in this story`);
  return found;
}
