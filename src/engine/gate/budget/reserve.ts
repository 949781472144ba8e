/**
 * Budgets: the worst price of a call is promised before it is made, against the agent and all above it up to the run. Pure and synchronous: the caller records `model.started` in the same step. Which limits there are is
 * limits.ts's.
 */
import { tokensOf, type Usage } from '../../../domain/budget.ts';
import { type AgentId, fromMicro, type ModelId, ROOT, toMicro, type Usd } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { costOf, FREE, worstRates } from '../../../domain/models/price.ts';
import type { Reason } from '../../../domain/reason.ts';
import type { RunState } from '../../../events/state.ts';
import type { DayLimitNow, Exhausted, Limit, TimeFor } from './limits.ts';
import { isCounted, limitsAbove, timeOver, usedOf } from './limits.ts';

/** Below this an answer isn't worth asking for. */
const LEAST_OUTPUT = 256;
const MOST_OUTPUT = 16_384;

export type Reservation =
  | {
      readonly ok: true;
      readonly tokens: number;
      readonly cost: Usd;
      readonly maxOutput: number;
      /** What the closing answer behind this call may need at worst; missing where nothing is kept back for one. */
      readonly closing?: ClosingNeed;
    }
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
  /** Kept back for closing answers, of agents at work. None when left out. */
  readonly kept?: ReadonlyMap<AgentId, ClosingNeed>;
  /** Of a call after which its agent should still be able to answer: tokens of the prompt that the cache probably has. */
  readonly closing?: { readonly cached: number };
}

/** What a closing answer may use at worst; its prompt is counted as not cached. */
export interface ClosingNeed {
  readonly tokens: number;
  readonly cost: Usd;
}

/** Tokens of a closing answer. */
export const CLOSING_OUTPUT = 2048;
/** Tokens of results of tools that come between. */
const CLOSING_RESULTS = 2048;
/** An ordinary reply that may not be longer than this is not worth its price: the closing answer is asked for. */
const LEAST_ORDINARY = 1024;

/** What the call may cost at worst, or the limit that it doesn't fit in. */
export function reserve(state: RunState, asked: Asked): Reservation {
  const { model, inputBound } = asked;
  const rates = worstRates(model.price ?? FREE, inputBound);
  const { time, least } = termsOf(asked);
  let maxOutput = Math.min(model.outputLimit, MOST_OUTPUT);
  let left = Infinity;
  for (const limit of limitsAbove(state, asked.agent, asked.days)) {
    const over = timeOver(state, limit, asked.now, time);
    if (over) return { ok: false, exhausted: over };
    if (!isCounted(limit.budget)) continue;
    const used = usedOf(state, limit);
    const room = roomFor(limit, withKept(used, limit, asked), asked, rates);
    // Asked this way round, no number is no room.
    if (!(room.tokens >= least)) return exhausted(limit, 'tokens', used.tokens, limit.budget.maxTokens);
    if (!(room.cost >= least)) return exhausted(limit, 'cost', used.cost, limit.budget.maxCost);
    maxOutput = Math.min(maxOutput, room.tokens, room.cost);
    left = Math.min(left, leftOf(limit, used.cost));
  }
  // Fractions may add up to a hair more than is left, never to more than that.
  const worst = Math.min(left, Math.ceil(inputBound * rates.input + maxOutput * rates.output));
  const tokens = inputBound + maxOutput;
  const promise = {
    tokens,
    cost: worst / 1_000_000,
    maxOutput,
    ...(asked.closing && { closing: closingNeed(tokens, rates) }),
  };
  return isCountable(promise.tokens) && isCountable(worst) ? { ok: true, ...promise } : uncountable(state, asked.agent);
}

/** How long the call may take, and the fewest tokens of output that it is worth. */
const termsOf = ({ closing, model }: Asked): { readonly time: TimeFor; readonly least: number } =>
  closing === undefined
    ? { time: 'whole', least: LEAST_OUTPUT }
    : { time: 'closing kept', least: Math.min(LEAST_ORDINARY, model.outputLimit) };

interface Used {
  readonly tokens: number;
  readonly cost: Usd;
}

/** Used and promised, with what is kept back for the closing answers of others below the limit. */
function withKept(used: Used, limit: Limit, { kept }: Asked): Used {
  if (kept === undefined || kept.size === 0 || limit.day !== undefined) return used;
  let [{ tokens }, micro] = [used, toMicro(used.cost)];
  for (const [id, need] of kept) {
    if (limit.agent !== ROOT && id !== limit.agent && !id.startsWith(`${limit.agent}::`)) continue;
    tokens += need.tokens;
    micro += toMicro(need.cost);
  }
  return { tokens, cost: fromMicro(micro) };
}

interface PerToken {
  readonly input: number;
  readonly output: number;
}

/** For the closing answer behind a call whose prompt and reply are at most `prompt` tokens. */
const closingNeed = (prompt: number, rates: PerToken): ClosingNeed => ({
  tokens: prompt + CLOSING_RESULTS + CLOSING_OUTPUT,
  cost: fromMicro(Math.ceil((prompt + CLOSING_RESULTS) * rates.input + CLOSING_OUTPUT * rates.output)),
});

/** Output tokens that fit, by each limit: by the worst price of the call, and so that a closing answer fits behind its probable one. */
function roomFor(
  limit: Limit,
  used: Used,
  { inputBound, closing, model }: Asked,
  rates: PerToken,
): { readonly tokens: number; readonly cost: number } {
  const room = outputRoom(limit, used, inputBound, rates);
  if (closing === undefined) return room;
  const cached = Math.min(closing.cached, inputBound);
  const behind = closingNeed(inputBound, rates);
  const { maxTokens, maxCost } = limit.budget;
  const probable = inputBound - cached + Math.ceil(cached / 10);
  const left = (maxTokens ?? Infinity) - (limit.kept.maxTokens ?? 0) - used.tokens - probable - behind.tokens;
  const tokens = Math.min(room.tokens, Math.floor(left / 2));
  if (maxCost === undefined) return { tokens, cost: room.cost };
  const cacheRate = Math.min(rates.input, (model.price ?? FREE).cacheRead ?? rates.input);
  const spent = (inputBound - cached) * rates.input + cached * cacheRate + toMicro(behind.cost);
  const micro = leftOf(limit, used.cost) - spent;
  const each = rates.input + rates.output;
  const free = each === 0 && micro >= 0 && maxCost > 0;
  return { tokens, cost: free ? room.cost : Math.min(room.cost, Math.floor(micro / Math.max(each, 1e-6))) };
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
