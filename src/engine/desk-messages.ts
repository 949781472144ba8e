/** The tool `send_message`: to whom an agent writes, by the names it knows; what becomes of a letter is in letters.ts. */
import type { WorkOrder } from '../domain/agent.ts';
import type { DeskParts } from './desk.ts';
import type { GateParts } from './gate.ts';
import type { LetterParts } from './letters.ts';
import { post, readersOf } from './letters.ts';

type ToolOutput = ReturnType<ReturnType<GateParts['desk']>['sendMessage']>;

/** To an agent of this run by id or name, to the orchestrator, or to all others (CONTRACT D27, O016, O064). */
export function sendMessage(parts: DeskParts, order: WorkOrder, to: string, content: string): ToolOutput {
  const all = [...parts.recorder.state().agents.values()];
  const wanted = to.trim().toLowerCase();
  if (wanted === 'all') return toAll(parts, order, content);
  const receiver =
    wanted === 'orchestrator' || wanted === 'main'
      ? all.find(({ parent }) => parent === null)
      : all.find(({ id, name }) => id.toLowerCase() === wanted || name.toLowerCase() === wanted);
  if (!receiver)
    return refused(`There is no agent "${to}". Agents: ${all.map(({ id, name }) => `${id} (${name})`).join(', ')}`);
  const done = post(parts, { from: order.agent, to: receiver.id, text: content, delivery: 'important' });
  if (!done.ok) return refused(`${done.fault.charAt(0).toUpperCase()}${done.fault.slice(1)}.`);
  const how = done.value.sent === 'resumed' ? 'it had ended, and goes on with it' : 'it is read between turns';
  return { ok: true, text: `Sent to ${receiver.name} (${receiver.id}); ${how}.` };
}

function toAll(parts: LetterParts, { agent }: WorkOrder, content: string): ToolOutput {
  const others = readersOf(parts, agent);
  if (others.length === 0) return refused('No other agent is left to read it.');
  for (const { id } of others) post(parts, { from: agent, to: id, text: content, delivery: 'important' });
  return {
    ok: true,
    text: `Sent to ${others.length === 1 ? '1 agent' : `${others.length} agents`}; it is read between turns.`,
  };
}

const refused = (text: string): ToolOutput => ({ ok: false, text });
