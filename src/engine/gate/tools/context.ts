/** What a call of a tool is run with: signal, box, desk, live output; and which calls of one reply run side by side. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { coversAll } from '../../../domain/text/glob.ts';
import type { CallId } from '../../../domain/ids.ts';
import type { Doors } from '../../../ports/agent-sockets.ts';
import type { Tick } from '../../../ports/controls.ts';
import type { Desk, Tool, ToolContext, ToolPort } from '../../../ports/tool.ts';
import type { Passed, Use } from './permit.ts';
import type { RunContext } from '../context.ts';
import type { Hold } from '../drain-latch.ts';
import { boxOf } from '../text-protocol/text-model.ts';
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

/** What a tool is run with. */
export interface ContextParts extends Pick<RunContext, 'recorder'> {
  readonly tools: ToolPort;
  /** By which commands of an agent ask the run; missing where they can't. */
  readonly doors: Doors | undefined;
  /** For what the tool of `call` asks of the run. */
  readonly desk: (order: WorkOrder, call: CallId, signal: AbortSignal) => Desk;
  readonly tick: (tick: Tick) => void;
  /** Stands before each tool while the run is handed over. */
  readonly hold: Pick<Hold, 'wait' | 'begin'>;
}

/** For one call; `signal` ends it. The agent's door is opened when the first of its commands may need it. */
export async function contextOf(
  parts: ContextParts,
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
    box: boxOf(parts.tools, order),
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

/** A permit that is good now: one that had to wait while the run was to be handed over is asked for again, but not of the person. */
export async function whenHeld(
  { hold }: Pick<ContextParts, 'hold'>,
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
export async function counted<T>(
  { hold }: Pick<ContextParts, 'hold'>,
  { order, tool, input }: Use,
  run: () => Promise<T>,
): Promise<T> {
  if (waitsForSomebody(tool)) return run();
  const end = hold.begin(`${tool.label(input)} (${order.agent})`);
  try {
    return await run();
  } finally {
    end();
  }
}
