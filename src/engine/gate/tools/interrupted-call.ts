/** Tool calls that have begun and not ended, with the child that each has spawned. A Task call continues from these after a crash. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { factsOf } from '../../../domain/agents/tool-facts.ts';
import type { AgentId, CallId } from '../../../domain/ids.ts';
import type { ToolCall } from '../../../domain/turn.ts';
import { ownField } from '../../../domain/text/text.ts';
import type { EventBody, EventOf, EventType, MimirEvent, RunState, UnansweredAct } from '../../../events/index.ts';
import type { Tool, ToolPort } from '../../../ports/tool.ts';
import type { Recorder } from '../recorder.ts';

/** A call without an end in the log. */
export interface OpenToolCall extends Pick<EventOf<'tool.started'>, 'agent' | 'call' | 'tool' | 'repeat'> {
  readonly child: AgentId | null;
}

const CALL_EVENTS: readonly EventType[] = ['tool.started', 'tool.finished', 'agent.created'];

/** Calls in the order they began. Call ids may come from the model and repeat; only calls without an end count. */
export function openCalls(events: Iterable<MimirEvent>): readonly OpenToolCall[] {
  const open = new Map<string, OpenToolCall>();
  for (const event of events) {
    if (event.type === 'tool.started') {
      const { agent, call, tool, repeat } = event;
      open.set(`${agent} ${call}`, { agent, call, tool, repeat, child: null });
    }
    if (event.type === 'tool.finished') open.delete(`${event.agent} ${event.call}`);
    if (event.type !== 'agent.created' || event.call === undefined) continue;
    const spawner = open.get(`${event.parent ?? ''} ${event.call}`);
    if (spawner) open.set(`${spawner.agent} ${spawner.call}`, { ...spawner, child: event.agent });
  }
  return [...open.values()];
}

/** Whether the tool waits for a child or a person. Its work is not in the call itself, so a stopped run leaves the call
 * open and a resumed run continues it. */
export const isWaitingTool = ({ name, capability }: Pick<Tool, 'name' | 'capability'>): boolean =>
  capability === 'spawn' || factsOf(name).waits === true;

/** Whether a resumed run continues this call: waiting tools, and commands of the text protocol that have spawned a child. */
export const canContinue = ({ tools }: ToolPort, { tool, child }: OpenToolCall): boolean =>
  child !== null || tools.some((one) => one.name === tool && isWaitingTool(one));

/** The open call from before the run was resumed, if it can be continued; null where the call begins now. */
export function interruptedCall(
  { tools, recorder }: { readonly tools: ToolPort; readonly recorder: Pick<Recorder, 'state' | 'each'> },
  agent: AgentId,
  call: CallId,
): OpenToolCall | null {
  const block = recorder
    .state()
    .agents.get(agent)
    ?.blocks.findLast((one) => one.is === 'tool' && one.call === call);
  if (block?.is !== 'tool' || block.ok !== null) return null;
  const found = openCalls(recorder.each(0, { types: CALL_EVENTS })).find(
    (one) => one.agent === agent && one.call === call,
  );
  return found !== undefined && canContinue(tools, found) ? found : null;
}

// Acts that were denied because nobody could be asked, or not run because the promised sandbox could not start: recorded when that happens,
// and taken back when the agent later gets the same done. An agent that ends with such an act left is partial.

interface Acting {
  readonly order: Pick<WorkOrder, 'agent'>;
  readonly call: Pick<ToolCall, 'id'>;
  readonly tool: Tool;
  readonly input: unknown;
}

/** A key that is equal for acts with the same effect; null for acts that change nothing. */
function effectOf({ tool, input }: Acting): string | null {
  switch (tool.capability) {
    case 'write':
      return `write ${writtenPath(input) ?? tool.label(input)}`;
    case 'shell':
      return `run ${tool.label(input)}`;
    case 'git-write':
      return 'commit';
    default:
      return null;
  }
}

/** The file that a writing tool would change, normalised (`./src//a.ts` is `src/a.ts`); null where its input names none. */
export function writtenPath(input: unknown): string | null {
  const path = ownField(input, 'path');
  if (typeof path !== 'string') return null;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}

/** Records that an act was not done, by default because nobody could be asked. Acts that change nothing are not recorded. */
export function recordNotDone(recorder: Recorder, use: Acting, why?: UnansweredAct['why']): void {
  const { agent } = use.order;
  const effect = effectOf(use);
  if (effect === null || isOpen(recorder.state(), agent, effect)) return;
  const label = use.tool.label(use.input);
  recorder.record({ type: 'act.unanswered', agent, call: use.call.id, effect, label, ...(why && { why }) });
}

/** The event that takes an earlier `act.unanswered` back, if the act just done had one. */
export function resolvedActs(recorder: Recorder, use: Acting): readonly EventBody[] {
  const { agent } = use.order;
  const effect = effectOf(use);
  if (effect === null || !isOpen(recorder.state(), agent, effect)) return [];
  return [{ type: 'act.done', agent, call: use.call.id, effect }];
}

const isOpen = (state: RunState, agent: AgentId, effect: string): boolean =>
  unansweredOf(state, agent).some((one) => one.effect === effect);

export const unansweredOf = ({ agents }: RunState, agent: AgentId): readonly UnansweredAct[] =>
  agents.get(agent)?.unanswered ?? [];

/** Why an agent that has answered is still partial; null where no act is left. */
export function unansweredReason(state: RunState, agent: AgentId): string | null {
  const groups = byReason(unansweredOf(state, agent));
  return groups.length === 0 ? null : groups.map(([why, acts]) => `${why}: ${namesOf(acts).join(', ')}`).join('; ');
}

/** Acts grouped by the reason why they were not done; empty groups are left out. */
const byReason = <Act extends UnansweredAct>(acts: readonly Act[]): readonly (readonly [string, readonly Act[]])[] =>
  [
    ['denied, since nobody could be asked', acts.filter(({ why }) => why === undefined)] as const,
    ['not run, since the sandbox could not be started', acts.filter(({ why }) => why === 'no sandbox')] as const,
  ].filter(([, some]) => some.length > 0);

/** The report's section of acts that were not done; empty where there are none. */
export function notDoneSection({ agents }: RunState): string {
  const all = [...agents.values()].flatMap(({ name, unanswered = [] }) => unanswered.map((act) => ({ ...act, name })));
  const parts = byReason(all).map(([why, acts]) => {
    const lines = acts.flatMap((act) => namesOf([act]).map((words) => `- ${act.name}: ${words}`));
    return `${why.replace(/^./, (letter) => letter.toUpperCase())}:\n\n${lines.join('\n')}`;
  });
  return parts.length === 0 ? '' : ['## Not done', ...parts].join('\n\n');
}

const LONGEST = 200;

const namesOf = (acts: readonly UnansweredAct[]): readonly string[] =>
  acts.map(({ label }) => {
    const [line = ''] = label.split('\n');
    return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line === label ? line : `${line} …`;
  });
