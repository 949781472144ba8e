/** What a run and its agents used, for lines and reports: tokens by class, tries that failed, waits, and models that were changed. */
import { agentSpending } from '../views/spending/spending.ts';
import type { Uncertain } from '../views/spending/spending.ts';
import type { Usage } from '../../domain/budget.ts';
import { addUsage, NO_USAGE } from '../../domain/budget.ts';
import type { Usd } from '../../domain/ids.ts';
import { fromMicro, toMicro } from '../../domain/ids.ts';
import type { AgentState, LostTries, RunState } from '../../events/state.ts';
import { callsOf } from '../views/agents/agent-lines.ts';
import { counted, formatCost, formatTokens } from '../views/text/format.ts';

/** What several agents used together. */
export interface Spent {
  readonly usage: Usage;
  readonly cost: Usd;
  /** False when a call was made whose price is not known. */
  readonly priced: boolean;
  /** A provider left its count of a call out. */
  readonly estimated?: boolean;
  readonly calls: number;
  readonly lost: LostTries;
  readonly retries: number;
  readonly fallbacks: number;
  readonly compactions: number;
  /** What was reserved for calls whose process ended before them: paid for or not. Absent where there is none. */
  readonly uncertain?: Uncertain;
}

const NOTHING: Spent = {
  usage: NO_USAGE,
  cost: 0,
  priced: true,
  calls: 0,
  lost: { calls: 0, usage: NO_USAGE, cost: 0 },
  retries: 0,
  fallbacks: 0,
  compactions: 0,
};

/** Of the whole run, planner and report counted in. */
export const spentBy = (agents: Iterable<AgentState>): Spent => [...agents].map(spentOne).reduce(sum, NOTHING);

export const spentOne = (agent: AgentState): Spent => ({
  usage: agent.usage,
  cost: agent.cost,
  priced: agent.priced,
  ...(agent.estimated === true ? { estimated: true } : {}),
  calls: callsOf(agent),
  lost: agent.lost,
  retries: agent.retries,
  fallbacks: agent.fallbacks.length,
  compactions: agent.compactions,
  ...bothUncertain(agentSpending(agent).uncertain ?? undefined, undefined),
});

function bothUncertain(a: Uncertain | undefined, b: Uncertain | undefined): Pick<Spent, 'uncertain'> {
  const uncertain =
    a !== undefined && b !== undefined
      ? { calls: a.calls + b.calls, tokens: a.tokens + b.tokens, cost: plus(a.cost, b.cost) }
      : (a ?? b);
  return uncertain === undefined ? {} : { uncertain };
}

function sum(a: Spent, b: Spent): Spent {
  return {
    usage: addUsage(a.usage, b.usage),
    cost: plus(a.cost, b.cost),
    priced: a.priced && b.priced,
    ...(a.estimated === true || b.estimated === true ? { estimated: true } : {}),
    calls: a.calls + b.calls,
    lost: {
      calls: a.lost.calls + b.lost.calls,
      usage: addUsage(a.lost.usage, b.lost.usage),
      cost: plus(a.lost.cost, b.lost.cost),
    },
    retries: a.retries + b.retries,
    fallbacks: a.fallbacks + b.fallbacks,
    compactions: a.compactions + b.compactions,
    ...bothUncertain(a.uncertain, b.uncertain),
  };
}

const plus = (a: Usd, b: Usd): Usd => fromMicro(toMicro(a) + toMicro(b));

/** `$0.0912`, `≈$0.0912` where it is an estimate; `price not known`, or `at least $0.0912` where only a part of it is known. */
export function costWords({ cost, priced, estimated }: Pick<Spent, 'cost' | 'priced' | 'estimated'>): string {
  if (priced) return `${estimated === true ? '≈' : ''}${formatCost(cost)}`;
  return cost > 0 ? `at least ${formatCost(cost)}` : 'price not known';
}

/** `12k in, 3.4k out, 80k from the cache, 6.0k into the cache`; empty where nothing was used. */
export function usageWords(usage: Usage): string {
  const parts: readonly (readonly [count: number, name: string])[] = [
    [usage.input, 'in'],
    [usage.output, 'out'],
    [usage.cacheRead, 'from the cache'],
    [usage.cacheWrite, 'into the cache'],
  ];
  return parts.flatMap(([count, name]) => (count > 0 ? [`${formatTokens(count)} ${name}`] : [])).join(', ');
}

/** `uncertain: up to $0.02 and 9k tokens more, for 1 call without an end`. */
const uncertainWords = ({ calls, tokens, cost }: Uncertain): string =>
  `uncertain: up to ${formatCost(cost)} and ${formatTokens(tokens)} tokens more, for ${counted(calls, 'call')} without an end`;

/** `2 tries failed ($0.0012), 1 wait, 1 fallback, 1 summary of a context`; empty where all went well. */
export function troubleWords({ lost, retries, fallbacks, compactions, uncertain }: Spent): string {
  const cost = lost.cost > 0 ? ` (${formatCost(lost.cost)})` : '';
  return [
    ...(lost.calls > 0 ? [`${lost.calls} ${lost.calls === 1 ? 'try' : 'tries'} failed${cost}`] : []),
    ...(retries > 0 ? [counted(retries, 'wait')] : []),
    ...(fallbacks > 0 ? [counted(fallbacks, 'fallback')] : []),
    ...(compactions > 0 ? [`context summarised ${compactions === 1 ? 'once' : `${compactions} times`}`] : []),
    ...(uncertain === undefined ? [] : [uncertainWords(uncertain)]),
  ].join(', ');
}

/** Of the whole run, as two short texts; each empty where there is nothing to say. */
export function runWords({ agents }: RunState): { readonly tokens: string; readonly trouble: string } {
  const spent = spentBy(agents.values());
  const about = spent.estimated === true ? '≈ ' : '';
  return { tokens: `${about}${usageWords(spent.usage)}`, trouble: troubleWords(spent) };
}
