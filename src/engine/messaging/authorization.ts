/**
 * Who may ask what of a run: a person everything, an agent for itself, for its own children, and
 * messages. Who asks is stamped by who knows. Here is also what concerns children and letters, for both.
 */
import { shortId } from '../../domain/digest.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import type { Command, Receipt } from '../../ports/controls.ts';
import { isIdle } from '../run/idle/wait.ts';
import { post, readersOf } from './messages.ts';
import type { RunParts } from '../run/parts.ts';
import { steer } from '../agents/agent-control.ts';

export type OfFamily = Extract<Command, { readonly do: 'spawn' | 'complete' | 'message' | 'kill' }>;

const OF_FAMILY: ReadonlySet<Command['do']> = new Set<OfFamily['do']>(['spawn', 'complete', 'message', 'kill']);

export const isOfFamily = (command: Command): command is OfFamily => OF_FAMILY.has(command.do);

export const ONLY_A_PERSON = 'only a person may ask that';

/** Why an agent may not ask this; null: it may. */
export function whyNotBy({ recorder }: RunParts, command: Command, by: AgentId): string | null {
  const { agents } = recorder.state();
  const own = agents.get(by);
  if (own === undefined) return `there is no agent ${by}`;
  if (isFinal(own)) return `${own.name} has ended, and asks for nothing any more`;
  // What it reads may try to make it talk.
  if (own.forced !== null) return `${own.name} judges work: its verdict is all that it says`;
  switch (command.do) {
    case 'message':
      return null;
    case 'spawn':
      return command.parent === by ? null : 'an agent spawns children of its own only';
    case 'complete':
      return command.agent === by ? null : 'an agent says of itself only that it is done';
    case 'kill':
      return isChildOf(agents.get(command.agent), by)
        ? null
        : `Cannot kill session ${shortId(recorder.session, command.agent)} - not your child session`;
    default:
      return ONLY_A_PERSON;
  }
}

/** Whoever judges work stands below main, and is no child of anybody whom it judges. */
const isChildOf = (one: AgentState | undefined, by: AgentId): boolean =>
  one !== undefined && one.forced === null && (one.parent === by || one.owner === by);

/** Carries out what concerns children and letters; `by`: the agent that asks and may, null for a person. */
export async function ofFamily(
  parts: RunParts,
  command: OfFamily,
  by: AgentId | null,
): Promise<Result<Receipt, string>> {
  switch (command.do) {
    case 'spawn':
      return parts.children.spawn(command.parent, command.wish, by);
    case 'complete':
      return complete(parts, command);
    case 'message':
      return command.to === 'all'
        ? broadcast(parts, command, by ?? 'person')
        : post(parts, { ...command, to: command.to, from: by ?? 'person' });
    case 'kill': {
      const done = steer(parts, command, by);
      return done.ok ? ok({ text: done.value }) : done;
    }
    default:
      return unreachable(command);
  }
}

function complete(
  { recorder, inbox }: RunParts,
  { agent, status, message }: Extract<OfFamily, { readonly do: 'complete' }>,
): Result<Receipt, string> {
  const state = recorder.state();
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (isFinal(one)) return fail(`${one.name} has ended already`);
  if (agent === ROOT && !state.idle) return fail('main ends with the run');
  if (agent === ROOT && isIdle(one)) return fail('main is at no work: it waits for the next word');
  if (one.status === 'pending') return fail(`${one.name} has not begun`);
  if (one.signalled !== null) return fail(`${one.name} has said that already: it ends after this step`);
  recorder.record({ type: 'agent.signalled', agent, status, message });
  inbox.stir(agent);
  return ok({ text: `${one.name} ends after this step` });
}

function broadcast(
  parts: RunParts,
  { text, delivery }: Extract<OfFamily, { readonly do: 'message' }>,
  from: 'person' | AgentId,
): Result<Receipt, string> {
  const sent = readersOf(parts, from).filter(({ id: to }) => post(parts, { from, to, text, delivery }).ok);
  return sent.length === 0
    ? fail('no agent is left to read it')
    : ok({ text: `sent to ${sent.length === 1 ? '1 agent' : `${sent.length} agents`}`, sent: 'sent' });
}
