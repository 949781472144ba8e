/** What a run and its agents have used and what calls in flight have reserved, and the share of the limits that is. Pure. */
import { limitTokens } from '../../domain/budget.ts';
import type { Budget } from '../../domain/budget.ts';
import { ROOT } from '../../domain/ids.ts';
import type { Millis, Usd } from '../../domain/ids.ts';
import { committed, spentOf, tokensOfAgent } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { agentTime } from './run-time.ts';

export interface Spending {
  /** US dollars of calls that were settled. */
  readonly cost: Usd;
  readonly tokens: number;
  /** What calls in flight cost at most; never part of `cost`. */
  readonly reservedCost: Usd;
  readonly reservedTokens: number;
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
  const spending: Spending = {
    ...spentOf(state),
    reservedCost,
    reservedTokens,
    priced: agents.every(({ priced }) => priced),
    estimated: agents.some(({ estimated }) => estimated === true),
  };
  KNOWN.set(state.agents, spending);
  return spending;
}

/** Every frame asks several times. */
const KNOWN = new WeakMap<RunState['agents'], Spending>();

/** Of one agent alone. */
export const agentSpending = (agent: AgentState): Spending => ({
  cost: agent.cost,
  tokens: tokensOfAgent(agent),
  reservedCost: agent.open.reduce((sum, { cost }) => sum + cost, 0),
  reservedTokens: agent.open.reduce((sum, { tokens }) => sum + tokens, 0),
  priced: agent.priced,
  estimated: agent.estimated === true,
});

/** Shares of a limit, 0 and up. */
export interface LimitShare {
  /** Used up: it grows only. */
  readonly spent: number;
  /** Reserved beside it by calls in flight: given back when they settle. */
  readonly reserved: number;
}

/** Of the limit of the run that is used up most; null where there is none. */
export function runShare(state: RunState): LimitShare | null {
  const { limitTokens: tokens } = committed(state, ROOT);
  const { cost, reservedCost, reservedTokens } = runSpending(state);
  return largest([
    shareOf(tokens - reservedTokens, reservedTokens, state.budget.maxTokens),
    shareOf(cost, reservedCost, state.budget.maxCost),
  ]);
}

/** Of the limit of an agent that is used up most, its time included; main has those of the run. */
export function agentShare(state: RunState, agent: AgentState, now: Millis): LimitShare | null {
  if (agent.id === ROOT) return runShare(state);
  const { maxTokens, maxCost, maxDuration }: Budget = agent.budget;
  const { cost, reservedCost, reservedTokens } = agentSpending(agent);
  return largest([
    shareOf(limitTokens(agent.usage), reservedTokens, maxTokens),
    shareOf(cost, reservedCost, maxCost),
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
