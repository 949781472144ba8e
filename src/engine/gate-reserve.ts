/**
 * Budgets: the worst price of a call is promised before it is made, against the agent and all above it up to the run
 * (SECURITY 2.6). Pure and synchronous: the caller records `model.started` in the same step.
 */
import type { AgentId, ModelId, Usd } from '../domain/ids.ts';
import { parentOf, ROOT, toMicro } from '../domain/ids.ts';
import type { Budget, Usage } from '../domain/budget.ts';
import { tokensOf } from '../domain/budget.ts';
import type { ModelOption } from '../domain/plan.ts';
import { costOf, FREE, worstRates } from '../domain/price.ts';
import type { EventBody } from '../events/event.ts';
import type { Committed } from '../events/queries.ts';
import { committed, elapsedOf } from '../events/queries.ts';
import type { RunState } from '../events/state.ts';

/** Below this an answer isn't worth asking for. */
const LEAST_OUTPUT = 256;
const MOST_OUTPUT = 16_384;
const WARN_AT = 0.8;

export type Exhausted = Extract<EventBody, { type: 'budget.exhausted' }>;

export type Reservation =
  | { readonly ok: true; readonly tokens: number; readonly cost: Usd; readonly maxOutput: number }
  | { readonly ok: false; readonly exhausted: Exhausted };

export interface Asked {
  readonly agent: AgentId;
  readonly model: ModelOption;
  /** No more than this many tokens go in. */
  readonly inputBound: number;
  readonly now: number;
}

/** What the call may cost at worst, or the limit that it doesn't fit in. */
export function reserve(state: RunState, asked: Asked): Reservation {
  const price = asked.model.price;
  let maxOutput = Math.min(asked.model.outputLimit, MOST_OUTPUT);
  for (const limit of limitsAbove(state, asked.agent)) {
    const over = timeOver(state, limit.agent, limit.scope, limit.budget, asked.now);
    if (over) return { ok: false, exhausted: over };
    if (!isCounted(limit.budget)) continue;
    const used = committed(state, limit.agent);
    const room = outputRoom(limit.budget, used, asked.inputBound, worstRates(price ?? FREE, asked.inputBound));
    maxOutput = Math.min(maxOutput, room.tokens, room.cost);
    if (room.tokens < LEAST_OUTPUT) return exhausted(limit, 'tokens', used.tokens, limit.budget.maxTokens);
    if (room.cost < LEAST_OUTPUT) return exhausted(limit, 'cost', used.cost, limit.budget.maxCost);
  }
  const { input, output } = worstRates(price ?? FREE, asked.inputBound);
  const worst = asked.inputBound * input + maxOutput * output;
  return { ok: true, tokens: asked.inputBound + maxOutput, cost: Math.ceil(worst) / 1_000_000, maxOutput };
}

const isCounted = ({ maxTokens, maxCost }: Budget): boolean => maxTokens !== undefined || maxCost !== undefined;

/** Output tokens that still fit, by each limit, once the input is paid for. Negative when not even that fits. */
function outputRoom(
  budget: Budget,
  used: Committed,
  inputBound: number,
  price: { readonly input: number; readonly output: number },
): { readonly tokens: number; readonly cost: number } {
  const tokens = budget.maxTokens === undefined ? Infinity : budget.maxTokens - used.tokens - inputBound;
  if (budget.maxCost === undefined) return { tokens, cost: Infinity };
  const left = toMicro(budget.maxCost) - toMicro(used.cost) - inputBound * price.input;
  const free = price.output === 0 && left >= 0 && budget.maxCost > 0;
  return { tokens, cost: free ? Infinity : Math.floor(left / Math.max(price.output, 1e-6)) };
}

/** Budget of the agent, of those above it, and of the run: all of them hold. */
function limitsAbove(state: RunState, agent: AgentId): Limit[] {
  const limits: Limit[] = [];
  for (let at: AgentId | null = agent; at !== null && at !== ROOT; at = parentOf(at)) {
    const budget = state.agents.get(at)?.budget;
    if (budget) limits.push({ agent: at, scope: 'agent', budget });
  }
  return [...limits, { agent: ROOT, scope: 'run', budget: state.budget }];
}

interface Limit {
  readonly agent: AgentId;
  readonly scope: 'agent' | 'run';
  readonly budget: Budget;
}

const exhausted = (
  { agent, scope }: Limit,
  what: 'tokens' | 'cost',
  spent: number,
  limit = 0,
): { readonly ok: false; readonly exhausted: Exhausted } => ({
  ok: false,
  exhausted: { type: 'budget.exhausted', agent, scope, what, spent, limit },
});

function timeOver(
  state: RunState,
  agent: AgentId,
  scope: 'agent' | 'run',
  { maxDuration }: Budget,
  now: number,
): Exhausted | null {
  if (maxDuration === undefined) return null;
  const spent = timeOf(state, agent, now);
  return spent < maxDuration
    ? null
    : { type: 'budget.exhausted', agent, scope, what: 'time', spent, limit: maxDuration };
}

/** Of an agent and the children it waited for meanwhile, its own clock standing still. The run has one clock for all. */
function timeOf(state: RunState, agent: AgentId, now: number): number {
  const one = state.agents.get(agent);
  if (one === undefined) return 0;
  const below = agent === ROOT ? [] : one.children;
  return below.reduce((sum, child) => sum + timeOf(state, child, now), elapsedOf(one, now));
}

/** Milliseconds that the agent and all above it still may run; Infinity without a limit on time. */
export function timeLeft(state: RunState, agent: AgentId, now: number): number {
  const lefts = limitsAbove(state, agent).map(({ agent: at, budget }) =>
    budget.maxDuration === undefined ? Infinity : budget.maxDuration - timeOf(state, at, now),
  );
  return Math.max(0, Math.min(...lefts));
}

/** The limit on time that ended `agent`, for the record. */
export function timeExhausted(state: RunState, agent: AgentId, now: number): Exhausted | null {
  for (const { agent: at, scope, budget } of limitsAbove(state, agent)) {
    const over = timeOver(state, at, scope, budget, now);
    if (over) return over;
  }
  return null;
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

/** `budget.warned` events for limits whose 80 % were passed and that were not warned of before. */
export function warnings(state: RunState, agent: AgentId): EventBody[] {
  const counted = limitsAbove(state, agent).filter(({ budget }) => isCounted(budget));
  return counted.flatMap(({ agent: at, scope, budget }) => {
    const used = committed(state, at);
    const settledTokens = used.tokens - used.reservedTokens;
    const settledCost = used.cost - used.reservedCost;
    const rows = [
      { what: 'tokens', spent: settledTokens, limit: budget.maxTokens },
      { what: 'cost', spent: settledCost, limit: budget.maxCost },
    ] as const;
    return rows.flatMap(({ what, spent, limit }): EventBody[] =>
      limit === undefined ||
      limit === 0 ||
      spent < limit * WARN_AT ||
      state.warned.includes(`${scope === 'run' ? 'run' : at}:${what}`)
        ? []
        : [{ type: 'budget.warned', agent: at, scope, what, spent, limit }],
    );
  });
}

/** In words for the model, the card and the result. O092 */
export const exhaustedText = ({ scope, what, spent, limit }: Exhausted): string => {
  const unit = (n: number): string =>
    what === 'cost' ? `$${n.toFixed(4)}` : what === 'time' ? `${Math.round(n / 1000)} s` : `${n} tokens`;
  return `Budget exceeded: ${scope === 'run' ? "the run's" : "the agent's"} ${what} (${unit(spent)} of ${unit(limit)} used, and the next step does not fit)`;
};

export const optionFor = (models: readonly ModelOption[], id: ModelId): ModelOption | undefined =>
  models.find((model) => model.id === id);
