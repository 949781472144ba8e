/** A run of hundreds of agents that all do something, and what the next moment of it brings. */
import { AgentId, CallId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { created, planned, Recording, runs, says, started, uses } from './recorded-run.ts';

const agentAt = (index: number): AgentId => AgentId.parse(`ROOT::S${index + 1}`);

/** So many agents, all at work, each with a list of todos, a few words and a tool call behind it. */
export function crowd(count: number): Recording {
  const log = created(planned(started(new Recording())));
  const one = log.events.findLast((event) => event.type === 'agent.created');
  if (one?.type !== 'agent.created') throw new Error('no agent to take as a pattern');
  for (let index = 6; index < count; index++) {
    const { v: _, seq: __, time: ___, session: ____, ...body } = one;
    log.at(9, { ...body, agent: agentAt(index), name: `${one.role} ${index}` });
  }
  for (let index = 0; index < count; index++) {
    const agent = agentAt(index);
    runs(log, 10, agent);
    const todos = ['Look', 'Think it over', 'Write'].map(
      (description, at) => ({ description, status: at === 0 ? 'completed' : at === 1 ? 'active' : 'pending' }) as const,
    );
    log.at(11, { type: 'agent.todos', agent, todos });
    says(log, 12, agent, 'Looking at it.', 2000, 0.002);
    uses(log, 13, agent, 'read', `Read src/file-${index}.ts`);
  }
  return log;
}

/** `many` events, each of another agent, from the `turn`th on; they go behind `log`. */
export function moment(log: Recording, count: number, turn: number, many: number): readonly MimirEvent[] {
  const before = log.events.length;
  for (let step = 0; step < many; step++) {
    const agent = agentAt((turn * many + step * 37) % count);
    const call = CallId.parse(`c${log.events.length}`);
    log.at(20, { type: 'tool.started', agent, call, tool: 'read', label: `Read ${turn}`, input: {}, repeat: 'safe' });
  }
  return log.events.slice(before);
}
