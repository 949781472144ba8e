/**
 * Budgets: the worst price of a call is promised before it is made, against the agent and all above it up to the run
 * (SECURITY 2.6). Pure and synchronous: the caller records `model.started` in the same step. Which limits there are is
 * limits.ts's.
 */
import type { Usage } from '../domain/budget.ts';
import { tokensOf } from '../domain/budget.ts';
import type { AgentId, ModelId, Usd } from '../domain/ids.ts';
import { toMicro } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan.ts';
import { costOf, FREE, worstRates } from '../domain/price.ts';
import type { Reason } from '../domain/reason.ts';
import type { RunState } from '../events/state.ts';
import type { DayLimitNow, Exhausted, Limit } from './limits.ts';
import { isCounted, limitsAbove, timeOver, usedOf } from './limits.ts';

/** Below this an answer isn't worth asking for. */
const LEAST_OUTPUT = 256;
const MOST_OUTPUT = 16_384;

export type Reservation =
  | { readonly ok: true; readonly tokens: number; readonly cost: Usd; readonly maxOutput: number }
  | {
      readonly ok: false;
      readonly exhausted: Exhausted;
      /** The rule, of a limit that one names. */
      readonly from?: Reason;
    };

export interface Asked {
  readonly agent: AgentId;
  readonly model: ModelOption;
  /** No more than this many tokens go in. */
  readonly inputBound: number;
  readonly now: number;
  /** Limits of the day that hold for this model, where there are any. */
  readonly days?: readonly DayLimitNow[];
}

/** What the call may cost at worst, or the limit that it doesn't fit in. */
export function reserve(state: RunState, asked: Asked): Reservation {
  const { model, inputBound } = asked;
  const rates = worstRates(model.price ?? FREE, inputBound);
  let maxOutput = Math.min(model.outputLimit, MOST_OUTPUT);
  let left = Infinity;
  for (const limit of limitsAbove(state, asked.agent, asked.days)) {
    const over = timeOver(state, limit, asked.now);
    if (over) return { ok: false, exhausted: over };
    if (!isCounted(limit.budget)) continue;
    const used = usedOf(state, limit);
    const room = outputRoom(limit, used, inputBound, rates);
    // Asked this way round, no number is no room.
    if (!(room.tokens >= LEAST_OUTPUT)) return exhausted(limit, 'tokens', used.tokens, limit.budget.maxTokens);
    if (!(room.cost >= LEAST_OUTPUT)) return exhausted(limit, 'cost', used.cost, limit.budget.maxCost);
    maxOutput = Math.min(maxOutput, room.tokens, room.cost);
    left = Math.min(left, leftOf(limit, used.cost));
  }
  // Fractions may add up to a hair more than is left, never to more than that.
  const worst = Math.min(left, Math.ceil(inputBound * rates.input + maxOutput * rates.output));
  const promise = { tokens: inputBound + maxOutput, cost: worst / 1_000_000, maxOutput };
  return isCountable(promise.tokens) && isCountable(worst) ? { ok: true, ...promise } : uncountable(state, asked.agent);
}

/** What can't be added up exactly is never promised. */
const isCountable = (amount: number): boolean => Number.isSafeInteger(amount) && amount >= 0;

function uncountable(state: RunState, agent: AgentId): Reservation {
  const [limit] = limitsAbove(state, agent);
  if (limit === undefined) throw new Error('the run itself is always a limit');
  return exhausted(limit, 'tokens', usedOf(state, limit).tokens, limit.budget.maxTokens);
}

/** Output tokens that still fit, by each limit, once the input is paid for. Negative when not even that fits. */
function outputRoom(
  limit: Limit,
  used: { readonly tokens: number; readonly cost: Usd },
  inputBound: number,
  price: { readonly input: number; readonly output: number },
): { readonly tokens: number; readonly cost: number } {
  const { budget, kept } = limit;
  const most = (budget.maxTokens ?? Infinity) - (kept.maxTokens ?? 0);
  const tokens = most - used.tokens - inputBound;
  if (budget.maxCost === undefined) return { tokens, cost: Infinity };
  // Rounded up as the promise is: the rest, down to the micro-dollar, is what the output may cost.
  const left = leftOf(limit, used.cost) - inputBound * price.input;
  const free = price.output === 0 && left >= 0 && budget.maxCost > 0;
  return { tokens, cost: free ? Infinity : Math.floor(left / Math.max(price.output, 1e-6)) };
}

/** Micro-dollars that are neither used, nor promised, nor kept for others. */
const leftOf = ({ budget, kept }: Limit, used: Usd): number =>
  budget.maxCost === undefined ? Infinity : toMicro(budget.maxCost) - toMicro(kept.maxCost ?? 0) - toMicro(used);

function exhausted({ agent, scope, day }: Limit, what: 'tokens' | 'cost', spent: number, limit = 0): Reservation {
  const event: Exhausted = { type: 'budget.exhausted', agent, scope, what, spent, limit };
  return { ok: false, exhausted: event, ...(day === undefined ? {} : { from: day.from }) };
}

/**
 * What a call really cost, in whole micro-dollars. Usage that is missing or can't be true (not whole, negative, above
 * what was promised) is settled at the reservation: `bounded`.
 */
export function settle(
  model: ModelOption,
  usage: Usage,
  reserved: { readonly tokens: number; readonly cost: Usd },
): { readonly usage: Usage; readonly cost: Usd; readonly priced: boolean; readonly bounded: boolean } {
  const { input, output, cacheRead, cacheWrite } = usage;
  const cost = costOf(model.price ?? FREE, usage);
  const whole = [input, output, cacheRead, cacheWrite].every((count) => Number.isSafeInteger(count) && count >= 0);
  const priced = model.price !== null;
  if (whole && tokensOf(usage) <= reserved.tokens && cost <= reserved.cost)
    return { usage, cost, priced, bounded: false };
  const bound = { input: reserved.tokens, output: 0, cacheRead: 0, cacheWrite: 0 };
  return { usage: bound, cost: reserved.cost, priced, bounded: true };
}

export const optionFor = (models: readonly ModelOption[], id: ModelId): ModelOption | undefined =>
  models.find((model) => model.id === id);
