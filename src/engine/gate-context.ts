/** What a call of a tool is run with: signal, box, desk, live output; and which calls of one reply run side by side. */
import type { WorkOrder } from '../domain/agent.ts';
import type { CallId } from '../domain/ids.ts';
import type { Tool, ToolContext } from '../ports/tool.ts';
import type { GateParts } from './gate.ts';

/** Calls of one reply that run at the same time: those that change nothing. Others wait for all before them. */
export const runsTogether = ({ repeat }: Pick<Tool, 'repeat' | 'capability'>): boolean => repeat === 'safe';

/** A queue: what is handed to it begins when all before it has ended, however it did. */
export function oneAtATime(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const own = last.then(act, act);
    last = own;
    return own;
  };
}

/** For one call; `signal` ends it. */
export function contextOf(parts: GateParts, order: WorkOrder, call: CallId, signal: AbortSignal): ToolContext {
  return {
    agent: order.agent,
    signal,
    box: boxFor(parts, order),
    desk: parts.desk(order, call, signal),
    onOutput: (delta) => parts.tick({ agent: order.agent, is: 'output', delta }),
  };
}

/** A role that can't write gets a box that can't be written: then read-only is a fact and no request. */
function boxFor({ tools }: GateParts, { capabilities }: WorkOrder): ToolContext['box'] {
  if (tools.sandbox.is === 'none') return 'none';
  return capabilities.includes('write') ? 'read-write' : 'read-only';
}
