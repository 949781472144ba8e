/** What a call of a tool is run with: signal, box, desk, live output; and which calls of one reply run side by side. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { coversAll } from '../../../domain/text/glob.ts';
import type { CallId } from '../../../domain/ids.ts';
import type { Tool, ToolContext } from '../../../ports/tool.ts';
import type { Passed, Use } from './permit.ts';
import type { GateParts } from '../gate.ts';
import { waitsForSomebody } from './interrupted-call.ts';

/**
 * Calls of one reply that run at the same time: those that change nothing, and those that have a child do it.
 * Others wait for all before them.
 */
export const runsTogether = ({ repeat, capability }: Pick<Tool, 'repeat' | 'capability'>): boolean =>
  repeat === 'safe' || capability === 'spawn';

/** A queue: what is handed to it begins when all before it has ended, however it did. */
export function oneAtATime(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const own = last.then(act, act);
    last = own;
    return own;
  };
}

/** For one call; `signal` ends it. The agent's door is opened when the first of its commands may need it. */
export async function contextOf(
  parts: GateParts,
  order: WorkOrder,
  { call, tool }: { readonly call: CallId; readonly tool: Tool },
  signal: AbortSignal,
): Promise<ToolContext> {
  // Whoever judges work has nobody to ask.
  const judges = (parts.recorder.state().agents.get(order.agent)?.forced ?? null) !== null;
  const door = tool.capability === 'shell' && !judges ? await parts.doors?.open(order.agent) : null;
  return {
    agent: order.agent,
    signal,
    box: boxFor(parts, order),
    desk: parts.desk(order, call, signal),
    ...limitOf(order),
    ...(order.workingDir === undefined ? {} : { workingDir: order.workingDir }),
    ...(judges ? { judges } : {}),
    ...(door ? { door } : {}),
    onOutput: (delta) => parts.tick({ agent: order.agent, is: 'output', delta }),
  };
}

/** What says the whole project limits nothing. */
const limitOf = ({ writes }: WorkOrder): Pick<ToolContext, 'writes'> =>
  writes === undefined || coversAll(writes) ? {} : { writes };

/** A role that can't write gets a box that can't be written: then read-only is a fact and no request. */
export function boxFor({ tools }: GateParts, { capabilities }: WorkOrder): ToolContext['box'] {
  if (tools.sandbox.is === 'none') return 'none';
  return capabilities.includes('write') ? 'read-write' : 'read-only';
}

/** A permit that is good now: one that had to wait while the run was to be handed over is asked for again, but not of the person. */
export async function whenHeld(
  { hold }: GateParts,
  { tool, said: before }: Use,
  signal: AbortSignal,
  permit: (said: boolean) => Promise<Passed>,
): Promise<Passed> {
  for (let said = before; ; said = true) {
    const passed = await permit(said);
    const held = passed.ok && !waitsForSomebody(tool) ? hold.wait(signal) : null;
    if (held === null) return passed;
    await held;
  }
}

/** Runs a tool, counted among what a run that is handed over waits for, unless it waits for somebody itself. */
export async function counted<T>({ hold }: GateParts, { order, tool, input }: Use, run: () => Promise<T>): Promise<T> {
  if (waitsForSomebody(tool)) return run();
  const end = hold.begin(`${tool.label(input)} (${order.agent})`);
  try {
    return await run();
  } finally {
    end();
  }
}
