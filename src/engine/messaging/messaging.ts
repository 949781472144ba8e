/** Opens messages, child agents, and what tools and agents may ask of a run. */
import { shortId } from '../../domain/digest.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import { type AgentState, isFinal, isIdle } from '../../events/index.ts';
import { controlAgent } from '../agents/index.ts';
import { Children } from './children.ts';
import type { FamilyParts } from './spawn.ts';
import { toolHostOf, hasMessages, type MessageParts, post, readersOf, takeMessages } from './tool-host.ts';
import { type AgentCommand, type Command, isForAgents, type Receipt } from '../../ports/controls.ts';

export type Messaging = ReturnType<typeof openMessaging>;

/** Opens the module and gives the gate its tool host. */
export function openMessaging(modules: FamilyParts) {
  const children = new Children(modules);
  const parts = { ...modules, children };
  modules.gate.hook({ toolHost: (order, call, child, ends) => toolHostOf({ ...parts, order, call, child, ends }) });
  return {
    /** Everything that works without a place in the schedule. */
    children,
    whyNot: (command: Command, by: AgentId) => whyNotBy(parts, command, by),
    perform: (command: AgentCommand, by: AgentId | null) => ofFamily(parts, command, by),
    takeMessages: (when: 'at once' | 'later') => takeMessages(parts, when),
    hasMessages: () => hasMessages(parts),
  };
}

export const ONLY_A_PERSON = 'only a person may ask that';

function whyNotBy({ recorder }: MessageParts, command: Command, by: AgentId): string | null {
  const { agents } = recorder.state();
  const own = agents.get(by);
  if (own === undefined) return `there is no agent ${by}`;
  if (isFinal(own)) return `${own.name} has ended and cannot give commands`;
  // What a reviewer reads may try to make it act.
  if (own.forced !== null) return `${own.name} is a reviewer and can only give its verdict`;
  if (!isForAgents(command)) return ONLY_A_PERSON;
  switch (command.do) {
    case 'message':
      return null;
    case 'spawn':
      return command.parent === by ? null : 'an agent can spawn only its own children';
    case 'complete':
      return command.agent === by ? null : 'an agent can complete only itself';
    case 'kill':
      return isChildOf(agents.get(command.agent), by)
        ? null
        : `Cannot kill session ${shortId(recorder.session, command.agent)} - not your child session`;
    default:
      return unreachable(command);
  }
}

/** Reviewers are children of ROOT in the log, but of no agent whose work they judge. */
const isChildOf = (one: AgentState | undefined, by: AgentId): boolean =>
  one !== undefined && one.forced === null && (one.parent === by || one.owner === by);

/** Carries out commands about children and messages; `by`: the agent that asks, already checked; null for a person. */
async function ofFamily(
  parts: MessageParts,
  command: AgentCommand,
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
      const done = controlAgent(parts, command, by);
      return done.ok ? ok({ text: done.value }) : done;
    }
    default:
      return unreachable(command);
  }
}

function complete(
  { recorder, gate }: MessageParts,
  { agent, status, message }: Extract<AgentCommand, { readonly do: 'complete' }>,
): Result<Receipt, string> {
  const state = recorder.state();
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (isFinal(one)) return fail(`${one.name} has ended already`);
  if (agent === ROOT && !state.idle) return fail('main ends with the run');
  if (agent === ROOT && isIdle(one)) return fail('main is not working: it is waiting for a message');
  if (one.status === 'pending') return fail(`${one.name} has not begun`);
  if (one.signalled !== null) return fail(`${one.name} has already reported its end: it ends after this step`);
  recorder.record({ type: 'agent.signalled', agent, status, message });
  gate.inbox.wake(agent);
  return ok({ text: `${one.name} ends after this step` });
}

function broadcast(
  parts: MessageParts,
  { text, delivery }: Extract<AgentCommand, { readonly do: 'message' }>,
  from: 'person' | AgentId,
): Result<Receipt, string> {
  const sent = readersOf(parts, from).filter(({ id: to }) => post(parts, { from, to, text, delivery }).ok);
  return sent.length === 0
    ? fail('no agent is left to read it')
    : ok({ text: `sent to ${sent.length === 1 ? '1 agent' : `${sent.length} agents`}`, sent: 'sent' });
}
