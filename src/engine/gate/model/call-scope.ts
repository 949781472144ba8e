/** One step of an agent, a model call, a wait or a tool call, and what may end it early. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { AgentId } from '../../../domain/ids.ts';
import { daysFor } from '../budget/daily-budget.ts';
import type { RunContext } from '../context.ts';
import type { Budgets } from '../budget/budgets.ts';
import type { LimitMet } from '../budget/limit.ts';
import { type AskFault, stopped } from '../question.ts';
import { estimateWarning, timeExhausted, type TimeFor, timeLeft, timeToWarning, warnings } from '../budget/limits.ts';

/** How the agent ends, a limit to choose at, or that all is to be judged again. */
export type GateFault = AskFault | LimitMet | { readonly is: 'again' };

/** By what a step may be ended. */
export interface StepParts extends RunContext {
  /** `end` is called at an urgent message to `agent`. Returns what ends the watch. */
  readonly inbox: { onUrgent(agent: AgentId, end: () => void): () => void };
  readonly budgets: Budgets;
}

/** Between two looks at the time that is left. */
const SHORTEST = 50;
const LONGEST = 3_600_000;

export interface Step {
  readonly signal: AbortSignal;
  /** Why it was ended early, when it was not the agent's own signal. */
  readonly why: () => 'message' | 'time' | null;
  /** How much of the time of limits it may use. */
  readonly time: TimeFor;
  /** To be called when the step is over. */
  readonly end: () => void;
}

/** What ends one step: the agent's own signal, an urgent message, its deadline. */
export function stepSignal(parts: StepParts, order: WorkOrder, signal: AbortSignal, time: TimeFor): Step {
  const { inbox, recorder, world } = parts;
  // One for every call of every agent: reasons are given, since an abort without one makes an error with its stack.
  const own = new AbortController();
  let why: 'message' | 'time' | null = null;
  const because = (cause: 'message' | 'time'): void => {
    why ??= cause;
    own.abort(cause);
  };
  const stop = (): void => own.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const unwatch = inbox.onUrgent(order.agent, () => because('message'));
  const ended = new AbortController();
  const watchTime = async (): Promise<void> => {
    for (;;) {
      const left = timeLeft(recorder.state(), order.agent, world.now(), time);
      if (left === Infinity || ended.signal.aborted) return;
      if (left <= 0) return because('time');
      const early = timeToWarning(recorder.state(), order.agent, world.now());
      if (early <= 0) warn(parts.budgets, order.agent);
      const toWarning = early <= 0 ? Infinity : early;
      // Looked at again: the clock of an agent stands still while it waits for a person or a provider.
      await world.sleep(Math.min(Math.max(Math.min(left, toWarning), SHORTEST), LONGEST), ended.signal);
    }
  };
  void watchTime();
  return {
    signal: own.signal,
    why: () => why,
    time,
    end: () => {
      unwatch();
      signal.removeEventListener('abort', stop);
      ended.abort('ended');
    },
  };
}

/** Why a question was left before its answer. */
export function whyEnded(
  parts: StepParts,
  order: WorkOrder,
  { why, time }: Pick<Step, 'why' | 'time'>,
  signal: AbortSignal,
): GateFault {
  if (signal.aborted) return stopped(signal);
  if (why() === 'message') return { is: 'told' };
  const exhausted = timeExhausted(parts.recorder.state(), order.agent, parts.world.now(), time);
  // None by now: it was raised in the meantime.
  return exhausted === null ? { is: 'again' } : { is: 'limit', exhausted };
}

/** Tells of limits of the agent, and of all above it, whose 80 % are used. */
export function warn(budgets: Budgets, agent: AgentId): void {
  const { recorder, world, day } = budgets;
  const used = recorder.state().agents.get(agent)?.model.used;
  const days = day === undefined || used === undefined ? [] : daysFor(budgets, used);
  const state = recorder.state();
  const warned = [...warnings(state, agent, world.now(), days), ...estimateWarning(state, agent)];
  if (warned.length > 0) recorder.record(...warned);
}
