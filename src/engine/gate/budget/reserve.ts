/** Reserves the worst price of a call before it is made, against the agent and its ancestors up to the run. Pure and
 * synchronous: the caller records `model.started` in the same step. limits.ts lists the limits. */
import { tokensOf, type Usage } from '../../../domain/budget.ts';
import { type AgentId, fromMicro, isBelow, type ModelId, parentOf, toMicro, type Usd } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { costOf, FREE, worstRates } from '../../../domain/models/provider.ts';
import type { Reason } from '../../../domain/reason.ts';
import type { RunState } from '../../../events/index.ts';
import * as limits from './limits.ts';

/** Shorter answers are not worth a call. */
const LEAST_OUTPUT = 256;
const MOST_OUTPUT = 16_384;

export type Reservation =
  | {
      readonly ok: true;
      readonly tokens: number;
      readonly cost: Usd;
      readonly maxOutput: number;
      /** The worst case of the closing answer after this call; missing where nothing is reserved for one. */
      readonly closing?: ClosingNeed;
    }
  | {
      readonly ok: false;
      readonly exhausted: limits.Exhausted;
      readonly from?: Reason;
    };

export interface Asked {
  readonly agent: AgentId;
  readonly model: ModelOption;
  readonly inputBound: number;
  readonly now: number;
  /** Daily limits that apply to this model. */
  readonly days?: readonly limits.DayLimitNow[];
  /** What must stay for closing answers of the agents below a limit. */
  readonly reserves?: (limit: AgentId) => ClosingNeed;
  /** Set for a call after which the agent should still be able to answer: prompt tokens that are probably in the cache. */
  readonly closing?: { readonly cached: number };
}

/** The worst case of a closing answer; its prompt is counted as not cached. */
export interface ClosingNeed {
  readonly tokens: number;
  readonly cost: Usd;
}

const NO_SUM = { tokens: 0, micro: 0 };

/** What the closing answers of agents may need, added up for each agent and its descendants, so that a call need not look at all agents. */
export class ClosingReserves {
  readonly #needs = new Map<AgentId, ClosingNeed>();
  readonly #sums = new Map<AgentId, typeof NO_SUM>();

  /** The agents with a reserve. */
  agents(): Iterable<AgentId> {
    return this.#needs.keys();
  }

  set(agent: AgentId, need: ClosingNeed): void {
    this.delete(agent);
    this.#needs.set(agent, need);
    this.#add(agent, need, 1);
  }

  delete(agent: AgentId): void {
    const need = this.#needs.get(agent);
    if (need === undefined) return;
    this.#needs.delete(agent);
    this.#add(agent, need, -1);
  }

  /** Of `agent` and its descendants, without that of `except`. */
  below(agent: AgentId, except: AgentId | null = null): ClosingNeed {
    const { tokens, micro } = this.#sums.get(agent) ?? NO_SUM;
    const own = except === agent || (except !== null && isBelow(except, agent)) ? this.#needs.get(except) : undefined;
    return { tokens: tokens - (own?.tokens ?? 0), cost: fromMicro(micro - toMicro(own?.cost ?? 0)) };
  }

  #add(agent: AgentId, { tokens, cost }: ClosingNeed, sign: 1 | -1): void {
    for (let at: AgentId | null = agent; at !== null; at = parentOf(at)) {
      const sum = this.#sums.get(at) ?? NO_SUM;
      this.#sums.set(at, { tokens: sum.tokens + sign * tokens, micro: sum.micro + sign * toMicro(cost) });
    }
  }
}

export const CLOSING_OUTPUT = 2048;
/** Tokens of tool results that may come before it. */
const CLOSING_RESULTS = 2048;
/** When an ordinary reply could not be longer than this, the closing answer is asked for instead. */
const LEAST_ORDINARY = 1024;

/** The worst case of the call, or the limit that it does not fit in. */
export function reserve(state: RunState, asked: Asked): Reservation {
  const { model, inputBound } = asked;
  const rates = worstRates(model.price ?? FREE, inputBound);
  const { time, least } = termsOf(asked);
  let maxOutput = Math.min(model.outputLimit, MOST_OUTPUT);
  let remaining = Infinity;
  for (const limit of limits.limitsAbove(state, asked.agent, asked.days)) {
    const over = limits.timeOver(state, limit, asked.now, time);
    if (over) return { ok: false, exhausted: over };
    if (!limits.isCounted(limit.budget)) continue;
    const used = limits.usedOf(state, limit);
    const fitting = fittingOutput(limit, withReserves(used, limit, asked), asked, rates);
    // Negated so that NaN does not pass.
    if (!(fitting.tokens >= least)) return exhausted(limit, 'tokens', used.tokens, limit.budget.maxTokens);
    if (!(fitting.cost >= least)) return exhausted(limit, 'cost', used.cost, limit.budget.maxCost);
    maxOutput = Math.min(maxOutput, fitting.tokens, fitting.cost);
    remaining = Math.min(remaining, remainingMicro(limit, used.cost));
  }
  // Rounding may exceed the remaining amount slightly; the reservation must not.
  const worstMicro = Math.min(remaining, Math.ceil(inputBound * rates.input + maxOutput * rates.output));
  const tokens = inputBound + maxOutput;
  const reservation = {
    tokens,
    cost: worstMicro / 1_000_000,
    maxOutput,
    ...(asked.closing && { closing: closingNeed(tokens, rates) }),
  };
  return isCountable(reservation.tokens) && isCountable(worstMicro)
    ? { ok: true, ...reservation }
    : uncountable(state, asked.agent);
}

/** The time that the call may take, and the fewest output tokens that make it worthwhile. */
const termsOf = ({ closing, model }: Asked): { readonly time: limits.TimeFor; readonly least: number } =>
  closing === undefined
    ? { time: 'whole', least: LEAST_OUTPUT }
    : { time: 'closing reserved', least: Math.min(LEAST_ORDINARY, model.outputLimit) };

type Used = limits.DayLimitNow['used'];

/** Adds the closing reserves of the agents below the limit. */
function withReserves(used: Used, limit: limits.Limit, { reserves }: Asked): Used {
  if (reserves === undefined || limit.day !== undefined) return used;
  const { tokens, cost } = reserves(limit.agent);
  return { tokens: used.tokens + tokens, cost: fromMicro(toMicro(used.cost) + toMicro(cost)) };
}

type PerToken = ReturnType<typeof worstRates>;

/** The worst closing answer after a call whose prompt and reply have at most `prompt` tokens. */
const closingNeed = (prompt: number, rates: PerToken): ClosingNeed => ({
  tokens: prompt + CLOSING_RESULTS + CLOSING_OUTPUT,
  cost: fromMicro(Math.ceil((prompt + CLOSING_RESULTS) * rates.input + CLOSING_OUTPUT * rates.output)),
});

/** Output tokens that fit each limit, both at the call's worst price and so that a closing answer still fits after its probable price. */
function fittingOutput(
  limit: limits.Limit,
  used: Used,
  { inputBound, closing, model }: Asked,
  rates: PerToken,
): { readonly tokens: number; readonly cost: number } {
  const fitting = outputThatFits(limit, used, inputBound, rates);
  if (closing === undefined) return fitting;
  const cached = Math.min(closing.cached, inputBound);
  const closingAnswer = closingNeed(inputBound, rates);
  const { maxTokens, maxCost } = limit.budget;
  const probable = inputBound - cached + Math.ceil(cached / 10);
  const remaining =
    (maxTokens ?? Infinity) - (limit.reserved.maxTokens ?? 0) - used.tokens - probable - closingAnswer.tokens;
  const tokens = Math.min(fitting.tokens, Math.floor(remaining / 2));
  if (maxCost === undefined) return { tokens, cost: fitting.cost };
  const cacheRate = Math.min(rates.input, (model.price ?? FREE).cacheRead ?? rates.input);
  const spent = (inputBound - cached) * rates.input + cached * cacheRate + toMicro(closingAnswer.cost);
  const micro = remainingMicro(limit, used.cost) - spent;
  const each = rates.input + rates.output;
  const free = each === 0 && micro >= 0 && maxCost > 0;
  return { tokens, cost: free ? fitting.cost : Math.min(fitting.cost, Math.floor(micro / Math.max(each, 1e-6))) };
}

/** Amounts that cannot be added up exactly are never reserved. */
const isCountable = (amount: number): boolean => Number.isSafeInteger(amount) && amount >= 0;

function uncountable(state: RunState, agent: AgentId): Reservation {
  const [limit] = limits.limitsAbove(state, agent);
  if (limit === undefined) throw new Error('the run itself is always a limit');
  return exhausted(limit, 'tokens', limits.usedOf(state, limit).tokens, limit.budget.maxTokens);
}

/** Output tokens that still fit each limit after the input is paid for; negative when not even the input fits. */
function outputThatFits(
  limit: limits.Limit,
  used: Used,
  inputBound: number,
  price: PerToken,
): { readonly tokens: number; readonly cost: number } {
  const { budget, reserved } = limit;
  const most = (budget.maxTokens ?? Infinity) - (reserved.maxTokens ?? 0);
  const tokens = most - used.tokens - inputBound;
  if (budget.maxCost === undefined) return { tokens, cost: Infinity };
  // Rounded up like the reservation; the output may cost what remains in whole micro-dollars.
  const remaining = remainingMicro(limit, used.cost) - inputBound * price.input;
  const free = price.output === 0 && remaining >= 0 && budget.maxCost > 0;
  return { tokens, cost: free ? Infinity : Math.floor(remaining / Math.max(price.output, 1e-6)) };
}

const remainingMicro = ({ budget, reserved }: limits.Limit, used: Usd): number =>
  budget.maxCost === undefined ? Infinity : toMicro(budget.maxCost) - toMicro(reserved.maxCost ?? 0) - toMicro(used);

function exhausted(
  { agent, scope, day }: limits.Limit,
  what: 'tokens' | 'cost',
  spent: number,
  limit = 0,
): Reservation {
  const event: limits.Exhausted = { type: 'budget.exhausted', agent, scope, what, spent, limit };
  return { ok: false, exhausted: event, ...(day === undefined ? {} : { from: day.from }) };
}

/** The true cost of a call in whole micro-dollars. Usage that is missing or impossible (fractional, negative, above the
 * reservation) is settled at the reservation: `bounded`. */
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
