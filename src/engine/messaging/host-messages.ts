/** The tool `send_message`: to whom an agent writes, by the names it knows; what becomes of a letter is in letters.ts. */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { MAIN } from '../../domain/agents/role.ts';
import { mainAgent } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import type { DeskParts } from './tool-host.ts';
import type { ToolOutput } from '../gate/gate.ts';
import { type LetterParts, post, readersOf } from './messages.ts';

/** To an agent of this run by id or name, to the orchestrator, or to all others. */
export function sendMessage(parts: DeskParts, order: WorkOrder, to: string, content: string): ToolOutput {
  const all = [...parts.recorder.state().agents.values()];
  const wanted = to.trim().toLowerCase();
  if (wanted === 'all') return toAll(parts, order, content);
  const called = calledBy(wanted, all, mainAgent(parts.recorder.state()));
  const [receiver, ...more] = called;
  // A child may be given the name of somebody else, to get what is meant for them.
  if (receiver !== undefined && more.length > 0)
    return refused(
      `There are several agents "${to}": say which by its id, ${called.map(({ id }) => id).join(' or ')}.`,
    );
  if (!receiver)
    return refused(`There is no agent "${to}". Agents: ${all.map(({ id, name }) => `${id} (${name})`).join(', ')}`);
  const done = post(parts, { from: order.agent, to: receiver.id, text: content, delivery: 'important' });
  if (!done.ok) return refused(`${done.fault.charAt(0).toUpperCase()}${done.fault.slice(1)}.`);
  const how = done.value.sent === 'resumed' ? 'it had ended, and goes on with it' : 'it is read between turns';
  return { ok: true, text: `Sent to ${receiver.name} (${receiver.id}); ${how}.` };
}

/** An id is nobody else's name. */
function calledBy(wanted: string, all: readonly AgentState[], main: AgentId): readonly AgentState[] {
  if (wanted === 'orchestrator') return all.filter(({ parent }) => parent === null);
  if (wanted === MAIN) return all.filter(({ id }) => id === main);
  const byId = all.filter(({ id }) => id.toLowerCase() === wanted);
  return byId.length > 0 ? byId : all.filter(({ name }) => name.toLowerCase() === wanted);
}

function toAll(parts: LetterParts, { agent }: WorkOrder, content: string): ToolOutput {
  const others = readersOf(parts, agent);
  if (others.length === 0) return refused('No other agent is left to read it.');
  const sent = others.filter(
    ({ id }) => post(parts, { from: agent, to: id, text: content, delivery: 'important' }).ok,
  ).length;
  if (sent === 0) return refused('None of the others can take it now: they have messages of yours to read yet.');
  return { ok: true, text: `Sent to ${sent === 1 ? '1 agent' : `${sent} agents`}; it is read between turns.` };
}

const refused = (text: string): ToolOutput => ({ ok: false, text });
