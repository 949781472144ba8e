/** One step of an agent (a model call, a wait or a tool call) and what may end it early. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { AgentId, Millis } from '../../../domain/ids.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import { triesText, type WaitingFor } from '../../../events/index.ts';
import type { ModelFault } from '../../../ports/model.ts';
import { dayLimitsFor } from '../budget/budgets.ts';
import type { LimitMet } from '../budget/limit.ts';
import { estimateWarning, timeExhausted, type TimeFor, timeLeft, timeToWarning, warnings } from '../budget/limits.ts';
import { type AskFault, stopped } from '../context.ts';
import type { GateParts } from '../budget/parts.ts';

/** Why a step has no result: the agent's end, a limit, or that everything must be judged again. */
export type GateFault = AskFault | LimitMet | { readonly is: 'again' };

/** Milliseconds between two checks of the remaining time. */
const SHORTEST = 50;
const LONGEST = 3_600_000;

export interface Step {
  readonly signal: AbortSignal;
  /** Why the step ended early, unless the agent's own signal ended it. */
  readonly why: () => 'message' | 'time' | null;
  readonly time: TimeFor;
  /** Call this when the step is over. */
  readonly end: () => void;
}

/** A step that ends with the agent's signal, an urgent message, or its deadline. */
export function stepSignal(parts: GateParts, order: WorkOrder, signal: AbortSignal, time: TimeFor): Step {
  const { inbox, recorder, world, limits } = parts;
  // Aborted with a reason, because an abort without one creates an error with a stack for every call of every agent.
  const own = new AbortController();
  let why: 'message' | 'time' | null = null;
  const abort = (cause: 'message' | 'time'): void => {
    why ??= cause;
    own.abort(cause);
  };
  const stop = (): void => own.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const unwatch = inbox.onUrgent(order.agent, () => abort('message'));
  let watch = new AbortController();
  const watchTime = async (over: AbortSignal): Promise<void> => {
    for (;;) {
      const remaining = timeLeft(recorder.state(), order.agent, world.now(), time);
      if (remaining === Infinity || over.aborted) return;
      if (remaining <= 0) return abort('time');
      const early = timeToWarning(recorder.state(), order.agent, world.now());
      if (early <= 0) warn(parts, order.agent);
      const toWarning = early <= 0 ? Infinity : early;
      // Checked again because the agent's clock is paused while it waits for a person or a provider.
      await world.sleep(Math.min(Math.max(Math.min(remaining, toWarning), SHORTEST), LONGEST), over);
    }
  };
  const watchAnew = (): void => {
    watch.abort('again');
    watch = new AbortController();
    void watchTime(watch.signal);
  };
  limits.watchers.add(watchAnew);
  void watchTime(watch.signal);
  return {
    signal: own.signal,
    why: () => why,
    time,
    end: () => {
      unwatch();
      signal.removeEventListener('abort', stop);
      limits.watchers.delete(watchAnew);
      watch.abort('ended');
    },
  };
}

/** Why a question was abandoned before its answer. */
export function whyEnded(
  parts: GateParts,
  order: WorkOrder,
  { why, time }: Pick<Step, 'why' | 'time'>,
  signal: AbortSignal,
): GateFault {
  if (signal.aborted) return stopped(signal);
  if (why() === 'message') return { is: 'told' };
  const exhausted = timeExhausted(parts.recorder.state(), order.agent, parts.world.now(), time);
  // The limit was raised meanwhile.
  return exhausted === null ? { is: 'again' } : { is: 'limit', exhausted };
}

/** Records warnings for limits of the agent and its ancestors that are 80 % used. */
export function warn(parts: GateParts, agent: AgentId): void {
  const { recorder, world, day } = parts;
  const used = recorder.state().agents.get(agent)?.model.used;
  const days = day === undefined || used === undefined ? [] : dayLimitsFor(parts, used);
  const state = recorder.state();
  const warned = [...warnings(state, agent, world.now(), days), ...estimateWarning(state, agent)];
  if (warned.length > 0) recorder.record(...warned);
}

// Waiting for a provider: shown with the reason. The agent's clock is paused, the run's is not. The agent keeps its
// slot, because such waits are short and few.

/** Runs `wait`, which reports its reason as soon as it has to wait. Afterwards the agent is running again. */
export async function whileWaiting<T>(
  parts: GateParts,
  order: WorkOrder,
  signal: AbortSignal,
  wait: (onWait: (why: WaitReason) => void, signal: AbortSignal) => Promise<T>,
): Promise<{ readonly value: T; readonly early: GateFault | null }> {
  const { recorder, modelChanges } = parts;
  const { agent } = order;
  const step = stepSignal(parts, order, signal, 'whole');
  const modelChanged = new AbortController();
  const onModelChange = (): void => modelChanged.abort('another model');
  modelChanges.set(agent, onModelChange);
  let isWaiting = false;
  const onWait = (why: WaitReason): void => {
    isWaiting = true;
    recorder.record({ type: 'agent.status', agent, status: 'waiting', ...why, waitsFor: 'provider' });
  };
  try {
    const value = await wait(onWait, AbortSignal.any([step.signal, modelChanged.signal]));
    const again = modelChanged.signal.aborted ? ({ is: 'again' } as const) : null;
    const early = step.signal.aborted ? whyEnded(parts, order, step, signal) : again;
    // The caller that stopped the agent has already recorded its status.
    if (isWaiting && early?.is !== 'stopped')
      recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
    return { value, early };
  } finally {
    if (modelChanges.get(agent) === onModelChange) modelChanges.delete(agent);
    step.end();
  }
}

/** Waits for a fixed time. */
export async function sleepFor(
  parts: GateParts,
  order: WorkOrder,
  { wait, why }: { readonly wait: Millis; readonly why: WaitReason },
  signal: AbortSignal,
): Promise<Result<null, GateFault>> {
  const { early } = await whileWaiting(parts, order, signal, (say, ended) => {
    say(why);
    return parts.world.sleep(wait, ended);
  });
  return early === null ? ok(null) : fail(early);
}

// Which faults of a model are retried, for how long, and how long to wait before each try. Pure: chance and time are passed in.

export type Cause = ModelFault['is'];

/** A provider that is down is left for an allowed fallback after this time. */
export const LEAVE_AFTER: Millis = 60_000;
const BASE: Millis = 500;
/** The longest single wait, whatever the provider asks for. */
export const LONGEST_WAIT: Millis = 60_000;
const SHORTEST_WAIT: Millis = 50;

interface FaultFacts {
  /** The fault as a verb phrase after the provider's name. */
  readonly phrase: string;
  /** A fault of the provider as a whole: every call would meet it, so all calls wait. */
  readonly shared?: true;
  /** The provider cannot be used by anybody now. (A rate-limited provider may answer soon.) */
  readonly down?: true;
  /** The most tries, where they are counted because each failed one is paid for. */
  readonly tries?: number;
}

const FAULTS: Readonly<Partial<Record<Cause, FaultFacts>>> = {
  'rate limited': { phrase: 'is rate limited', shared: true },
  overloaded: { phrase: 'is overloaded', shared: true, down: true },
  unreachable: { phrase: 'cannot be reached', shared: true, down: true },
  cut: { phrase: 'broke off its answer', tries: 5 },
  silent: { phrase: 'went silent' },
  malformed: { phrase: 'sent an invalid answer', tries: 2 },
};
export const isShared = (cause: Cause): boolean => FAULTS[cause]?.shared === true;

/** The history of a call when it failed once more. */
export interface Course {
  /** Tries so far, including those of other calls that it waited for in the queue. */
  readonly tries: number;
  /** Its own tries in which the provider accepted the request and gave no reply. */
  readonly lost: number;
  /** Milliseconds since its first failure, and since the provider began to refuse every call. */
  readonly failing: Millis;
  readonly downFor: Millis;
  readonly retryFor: Millis;
  /** Whether an allowed fallback exists for this fault. */
  readonly hasFallback: boolean;
}

/** The most tries, the first included; null where only time decides. */
export function mostTries({ is, retryAfterMs = 0, begun }: ModelFault, course: Course): number | null {
  // A provider that asks for a longer wait than this is asked once more after the longest wait.
  const most = Math.max(LONGEST_WAIT, course.retryFor - course.failing);
  if (isShared(is)) return retryAfterMs > most ? 2 : null;
  if (is !== 'silent') return FAULTS[is]?.tries ?? 1;
  if (!course.hasFallback) return null;
  return begun === true ? 2 : 1;
}

/** Milliseconds within which another try may be made; 0 or less: no further try. */
export function timeForMore(fault: ModelFault, course: Course): Millis {
  const { tries, lost, failing, downFor, retryFor, hasFallback } = course;
  const most = mostTries(fault, course);
  if (most !== null && (isShared(fault.is) ? tries : lost) >= most) return 0;
  if (!hasFallback || FAULTS[fault.is]?.down !== true) return retryFor - failing;
  return Math.min(LEAVE_AFTER, retryFor) - Math.max(failing, downFor);
}

/** Milliseconds before the next try, after `tries` tries: what the provider asked for plus a little, otherwise random up
 * to a bound that doubles (full jitter); at most `LONGEST_WAIT`. `chance` is from 0 to 1. */
export function waitAfter({ retryAfterMs = 0 }: ModelFault, tries: number, chance: number): Millis {
  const asked = Number.isFinite(retryAfterMs) && retryAfterMs > 0 ? retryAfterMs : 0;
  const jitter = chance * (asked > 0 ? BASE : Math.min(LONGEST_WAIT, BASE * 2 ** (tries - 1)));
  return Math.round(Math.min(LONGEST_WAIT, Math.max(SHORTEST_WAIT, asked + jitter)));
}

/** A number from 0 to 1 from a random name. `World` has no other source of chance, and tests fix this one through it. */
export function chanceOf(name: string): number {
  const letters = name.replaceAll(/[^0-9a-z]/g, '').slice(0, 8);
  return letters === '' ? 0 : Number.parseInt(letters, 36) / 36 ** letters.length;
}

interface Waiting {
  readonly cause: Cause;
  readonly wait: Millis;
  readonly attempt: number;
  /** Null where only time ends the tries. */
  readonly attempts: number | null;
}

/** Why an agent waits, as a sentence and as data. */
export type WaitReason = Readonly<{ reason: string; waitingFor: WaitingFor }>;

/** `anthropic is rate limited; retrying in 12s (attempt 2)`, and the same as data. With a wait of 0 another call tries first. */
export function waitReason(provider: string, { cause, wait, attempt, attempts }: Waiting): WaitReason {
  const next = wait > 0 ? `retrying in ${Math.ceil(wait / 1000)}s` : 'queued for a retry';
  const why = `${provider} ${FAULTS[cause]?.phrase ?? cause}`;
  const most = attempts === null ? {} : { attempts: Math.max(attempts, attempt) };
  const tries = attempt > 1 ? { attempt, ...most } : {};
  const attemptText = attempt > 1 ? triesText(attempt, most.attempts) : '';
  return {
    reason: `${why}; ${next}${attemptText}`,
    waitingFor: { is: 'provider', why, wait: wait > 0 ? wait : null, ...tries },
  };
}
