/** Computes what a run and its agents have spent and reserved, the shares of their limits, and the cost of a resume. */
import { isAnswered } from '../../../domain/agents/agent.ts';
import { type Budget, formatCost, limitTokens } from '../../../domain/budget.ts';
import { fromMicro, type Millis, ROOT, toMicro, type Usd } from '../../../domain/ids.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { AgentState, OpenCall, RunState } from '../../../events/index.ts';
import { committed, spentOf, tokensOfAgent } from '../../../events/index.ts';
import { agentTime } from '../agent-counts.ts';
import { priceText } from '../text/format.ts';

/** Reserved for calls whose process ended first. The provider may have billed them; they count against limits. */
export interface Uncertain {
  readonly calls: number;
  readonly tokens: number;
  /** US dollars; an upper bound. */
  readonly cost: Usd;
}

export interface Spending {
  /** US dollars of settled calls. */
  readonly cost: Usd;
  readonly tokens: number;
  /** The maximum cost of calls in flight; not part of `cost`. */
  readonly reservedCost: Usd;
  readonly reservedTokens: number;
  /** Neither spent nor reserved; null if every call ended. */
  readonly uncertain: Uncertain | null;
  readonly priced: boolean;
  /** True if a provider did not report the tokens of a call. */
  readonly estimated: boolean;
}

/** The spending of the whole run including planner and report. */
export const runSpending = memoize(({ agents }: RunState) => [agents], sumSpending);

function sumSpending(state: RunState): Spending {
  const { reservedCost, reservedTokens } = committed(state, ROOT);
  const agents = [...state.agents.values()];
  const uncertain = uncertainOf(agents.flatMap(({ open }) => open));
  return {
    ...spentOf(state),
    reservedCost: fromMicro(toMicro(reservedCost) - toMicro(uncertain?.cost ?? 0)),
    reservedTokens: reservedTokens - (uncertain?.tokens ?? 0),
    uncertain,
    priced: agents.every(({ priced }) => priced),
    estimated: agents.some(({ estimated }) => estimated === true),
  };
}

/** The spending of one agent without its children. */
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

/** Calls in flight. A call whose process ended stays open in the log forever, and is left out. */
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

/** Fractions of a limit, 0 or more. */
export interface LimitShare {
  readonly spent: number;
  /** The reserved part: calls in flight, which release it when they settle, and uncertain calls. */
  readonly reserved: number;
}

/** The share of the run's most used limit; null without a limit. */
export function runShare(state: RunState): LimitShare | null {
  const { limitTokens: tokens } = committed(state, ROOT);
  const spending = runSpending(state);
  const reserved = allReserved(spending);
  return largest([
    shareOf(tokens - reserved.tokens, reserved.tokens, state.budget.maxTokens),
    shareOf(spending.cost, reserved.cost, state.budget.maxCost),
  ]);
}

/** Everything that counts against limits besides what is spent. */
export const allReserved = ({
  reservedCost,
  reservedTokens,
  uncertain,
}: Spending): { readonly cost: Usd; readonly tokens: number } => ({
  cost: reservedCost + (uncertain?.cost ?? 0),
  tokens: reservedTokens + (uncertain?.tokens ?? 0),
});

/** The share of the agent's most used limit, including time; for main those of the run. Null without a limit. */
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

/** What resuming a run may cost: `2 of 6 tasks are left, est. $0.12, at most $4.76 (budget)`. */
export function resumeCost(state: RunState): string {
  const limit = state.budget.maxCost;
  const used = runSpending(state).cost + committed(state, ROOT).reservedCost;
  const most = limit === undefined ? 'no cost limit' : `at most ${formatCost(Math.max(0, limit - used))} (budget)`;
  return [...remainingTasksText(state), most].join(', ');
}

function remainingTasksText({ plan, agents }: RunState): readonly string[] {
  if (plan === null) return ['planning comes first'];
  const done = new Set(
    [...agents.values()].flatMap((one) => (one.outcome !== null && isAnswered(one.outcome) ? [one.taskId] : [])),
  );
  const open = plan.tasks.filter(({ id }) => !done.has(id));
  const count = plan.tasks.length;
  const left = `${open.length} of ${count} ${count === 1 ? 'task' : 'tasks'} ${open.length === 1 ? 'is' : 'are'} left`;
  if (open.length === 0) return [left];
  const known = open.every(({ estimatedCost }) => estimatedCost !== null);
  const sum = open.reduce((total, { estimatedCost }) => total + (estimatedCost ?? 0), 0);
  return [left, known ? `est. ${formatCost(sum)}` : priceText(null)];
}
