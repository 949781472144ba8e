/** The tool `send_message`: to whom an agent writes, by the names it knows; what becomes of a letter is in letters.ts. */
import type { WorkOrder } from '../domain/agent.ts';
import type { AgentId } from '../domain/ids.ts';
import type { AgentState } from '../events/state.ts';
import type { ToolOutput } from '../ports/tool.ts';
import type { DeskParts } from './desk.ts';

/** To an agent of this run by id or name, to the orchestrator, or to all others (CONTRACT D27, O016, O064). */
export function sendMessage(parts: DeskParts, order: WorkOrder, to: string, content: string): ToolOutput {
  const all = [...parts.recorder.state().agents.values()];
  const wanted = to.trim().toLowerCase();
  const others = all.filter((one) => one.id !== order.agent && one.parent !== null && noReader(one) === null);
  if (wanted === 'all') {
    for (const { id } of others) post(parts, order, id, content);
    return others.length === 0
      ? refused('No other agent is left to read it.')
      : sent(others.length === 1 ? '1 agent' : `${others.length} agents`);
  }
  const receiver =
    wanted === 'orchestrator' || wanted === 'main'
      ? all.find(({ parent }) => parent === null)
      : all.find(({ id, name }) => id.toLowerCase() === wanted || name.toLowerCase() === wanted);
  if (!receiver)
    return refused(`There is no agent "${to}". Agents: ${all.map(({ id, name }) => `${id} (${name})`).join(', ')}`);
  if (receiver.id === order.agent) return refused('A message to yourself goes nowhere.');
  const problem = noReader(receiver);
  if (problem !== null) return refused(problem);
  post(parts, order, receiver.id, content);
  return sent(`${receiver.name} (${receiver.id})`);
}

/** Why no agent's message reaches this one. Whoever judges work is not to be talked to by those who did it. */
function noReader({ name, forced, outcome }: AgentState): string | null {
  if (forced !== null) return `${name} judges work, and reads no messages of agents.`;
  return outcome === null ? null : `${name} has finished and reads no messages any more.`;
}

const sent = (to: string): ToolOutput => ({ ok: true, text: `Sent to ${to}; it is read between turns.` });

function post({ inbox }: DeskParts, { agent }: WorkOrder, to: AgentId, content: string): void {
  inbox.send({ from: agent, sender: agent, to, kind: 'status', delivery: 'important', content });
}

const refused = (text: string): ToolOutput => ({ ok: false, text });
