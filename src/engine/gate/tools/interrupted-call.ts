/** Calls of tools that have begun and not ended, and the child that each has made: by these a Task call goes on after a crash. */
import type { AgentId, CallId } from '../../../domain/ids.ts';
import type { EventType, MimirEvent } from '../../../events/event.ts';
import type { RunState } from '../../../events/state.ts';
import type { Some } from '../../../ports/log.ts';
import type { Tool, ToolPort } from '../../../ports/tool.ts';

/** A call without an end, in the log. */
export interface OpenToolCall {
  readonly agent: AgentId;
  readonly call: CallId;
  readonly tool: string;
  /** Null where it has not come to one. */
  readonly child: AgentId | null;
}

/** What `openCalls` looks at. */
export const OF_CALLS: readonly EventType[] = ['tool.started', 'tool.finished', 'agent.created'];

/** In the order they began. Ids of calls may be the model's own, and come again: only what has no end counts. */
export function openCalls(events: Iterable<MimirEvent>): readonly OpenToolCall[] {
  const open = new Map<string, OpenToolCall>();
  for (const event of events) {
    if (event.type === 'tool.started') {
      const { agent, call, tool } = event;
      open.set(`${agent} ${call}`, { agent, call, tool, child: null });
    }
    if (event.type === 'tool.finished') open.delete(`${event.agent} ${event.call}`);
    if (event.type !== 'agent.created' || event.call === undefined) continue;
    const made = open.get(`${event.parent ?? ''} ${event.call}`);
    if (made) open.set(`${made.agent} ${made.call}`, { ...made, child: event.agent });
  }
  return [...open.values()];
}

/**
 * Tools that wait for somebody, a child or a person: their work is not in the call itself, so a run that is stopped or cut off
 * leaves the call open, and goes on with it.
 */
export const waitsForSomebody = ({ name, capability }: Pick<Tool, 'name' | 'capability'>): boolean =>
  capability === 'spawn' || name === 'ask_user';

/** Does whoever made this call go on with it? Of other tools too, where it has come to a child (a command of the text protocol). */
export const goesOn = ({ tools }: ToolPort, { tool, child }: OpenToolCall): boolean =>
  child !== null || tools.some((one) => one.name === tool && waitsForSomebody(one));

/** The call, where it had begun before the run was resumed, and waits for somebody; null where it begins now. */
export function begunBefore(
  { tools, recorder }: { readonly tools: ToolPort; readonly recorder: Recorded },
  agent: AgentId,
  call: CallId,
): OpenToolCall | null {
  const block = recorder
    .state()
    .agents.get(agent)
    ?.blocks.findLast((one) => one.is === 'tool' && one.call === call);
  if (block?.is !== 'tool' || block.ok !== null) return null;
  const found = openCalls(recorder.each({ types: OF_CALLS })).find((one) => one.agent === agent && one.call === call);
  return found !== undefined && goesOn(tools, found) ? found : null;
}

interface Recorded {
  state(): RunState;
  each(some: Some): Iterable<MimirEvent>;
}
