/** What a run and its agents have used and what calls in flight have reserved, and the share of the limits that is. Pure. */
import { limitTokens } from '../../../domain/budget.ts';
import type { Budget } from '../../../domain/budget.ts';
import { fromMicro, ROOT, toMicro } from '../../../domain/ids.ts';
import type { Millis, Usd } from '../../../domain/ids.ts';
import { committed, spentOf, tokensOfAgent } from '../../../events/queries.ts';
import type { AgentState, OpenCall, RunState } from '../../../events/state.ts';
import { agentTime } from '../run-time.ts';

/** Reserved for calls whose process ended before they did: the provider may have billed them. It counts against limits. */
export interface Uncertain {
  readonly calls: number;
  readonly tokens: number;
  /** US dollars, at most. */
  readonly cost: Usd;
}

export interface Spending {
  /** US dollars of calls that were settled. */
  readonly cost: Usd;
  readonly tokens: number;
  /** What calls in flight cost at most; never part of `cost`. */
  readonly reservedCost: Usd;
  readonly reservedTokens: number;
  /** Part of neither; null where every call came to its end. */
  readonly uncertain: Uncertain | null;
  /** False where a call was made whose price is not known. */
  readonly priced: boolean;
  /** A provider left its count of a call out. */
  readonly estimated: boolean;
}

/** Of the whole run, planner and report counted in. */
export function runSpending(state: RunState): Spending {
  const known = KNOWN.get(state.agents);
  if (known !== undefined) return known;
  const { reservedCost, reservedTokens } = committed(state, ROOT);
  const agents = [...state.agents.values()];
  const uncertain = uncertainOf(agents.flatMap(({ open }) => open));
  const spending: Spending = {
    ...spentOf(state),
    reservedCost: fromMicro(toMicro(reservedCost) - toMicro(uncertain?.cost ?? 0)),
    reservedTokens: reservedTokens - (uncertain?.tokens ?? 0),
    uncertain,
    priced: agents.every(({ priced }) => priced),
    estimated: agents.some(({ estimated }) => estimated === true),
  };
  KNOWN.set(state.agents, spending);
  return spending;
}

/** Every frame asks several times. */
const KNOWN = new WeakMap<RunState['agents'], Spending>();

/** Of one agent alone. */
export function agentSpending(agent: AgentState): Spending {
  const { cost: reservedCost, tokens: reservedTokens } = sumOf(callsInFlight(agent));
  return {
    cost: agent.cost,
    tokens: tokensOfAgent(agent),
    reservedCost,
    reservedTokens,
    uncertain: uncertainOf(agent.open),
    priced: agent.priced,
    estimated: agent.estimated === true,
  };
}

/** Calls that go on. A call whose process ended is open in the log for ever, and nothing waits for it. */
export const callsInFlight = ({ open }: Pick<AgentState, 'open'>): readonly OpenCall[] =>
  open.filter(({ uncertain }) => uncertain !== true);

function uncertainOf(open: readonly OpenCall[]): Uncertain | null {
  const calls = open.filter(({ uncertain }) => uncertain === true);
  return calls.length === 0 ? null : sumOf(calls);
}

const sumOf = (calls: readonly OpenCall[]): Uncertain => ({
  calls: calls.length,
  tokens: calls.reduce((sum, { tokens }) => sum + tokens, 0),
  cost: fromMicro(calls.reduce((sum, { cost }) => sum + toMicro(cost), 0)),
});

/** Shares of a limit, 0 and up. */
export interface LimitShare {
  /** Used up: it grows only. */
  readonly spent: number;
  /** Reserved beside it: by calls in flight, which give it back when they settle, and by uncertain ones. */
  readonly reserved: number;
}

/** Of the limit of the run that is used up most; null where there is none. */
export function runShare(state: RunState): LimitShare | null {
  const { limitTokens: tokens } = committed(state, ROOT);
  const spending = runSpending(state);
  const reserved = allReserved(spending);
  return largest([
    shareOf(tokens - reserved.tokens, reserved.tokens, state.budget.maxTokens),
    shareOf(spending.cost, reserved.cost, state.budget.maxCost),
  ]);
}

/** All that limits count beside what was spent. */
export const allReserved = ({
  reservedCost,
  reservedTokens,
  uncertain,
}: Spending): { readonly cost: Usd; readonly tokens: number } => ({
  cost: reservedCost + (uncertain?.cost ?? 0),
  tokens: reservedTokens + (uncertain?.tokens ?? 0),
});

/** Of the limit of an agent that is used up most, its time included; main has those of the run. */
export function agentShare(state: RunState, agent: AgentState, now: Millis): LimitShare | null {
  if (agent.id === ROOT) return runShare(state);
  const { maxTokens, maxCost, maxDuration }: Budget = agent.budget;
  const spending = agentSpending(agent);
  const reserved = allReserved(spending);
  return largest([
    shareOf(limitTokens(agent.usage), reserved.tokens, maxTokens),
    shareOf(spending.cost, reserved.cost, maxCost),
    shareOf(agentTime(agent, state, now), 0, maxDuration),
  ]);
}

const shareOf = (used: number, reserved: number, limit: number | undefined): LimitShare | null => {
  if (limit === undefined) return null;
  const of = (amount: number): number => (limit === 0 ? (amount > 0 ? 1 : 0) : amount / limit);
  return { spent: of(used), reserved: of(reserved) };
};

const largest = (shares: readonly (LimitShare | null)[]): LimitShare | null =>
  shares.reduce(
    (most, one) => (most === null || (one !== null && one.spent > most.spent) ? (one ?? most) : most),
    null,
  );
