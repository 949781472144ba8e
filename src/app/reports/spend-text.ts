/** The use of a run and its agents in words: tokens by class, failed attempts, waits and model changes. */
import { agentSpending, callsOf, plural, formatCost, formatTokens, type Uncertain } from '../views/index.ts';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget.ts';
import { fromMicro, toMicro, type Usd } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../../events/index.ts';

/** The combined use of several agents. */
export interface Spent
  extends Pick<AgentState, 'usage' | 'cost' | 'priced' | 'estimated' | 'lost' | 'retries' | 'compactions'> {
  readonly calls: number;
  readonly fallbacks: number;
  /** Reserved for calls whose process ended first, billed or not. Absent if there are none. */
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

/** The combined use of these agents. */
export const spentBy = (agents: Iterable<AgentState>): Spent => [...agents].map(spentByAgent).reduce(sum, NOTHING);

export const spentByAgent = (agent: AgentState): Spent => ({
  usage: agent.usage,
  cost: agent.cost,
  priced: agent.priced,
  ...(agent.estimated === true ? { estimated: true } : {}),
  calls: callsOf(agent),
  lost: agent.lost,
  retries: agent.retries,
  fallbacks: agent.fallbacks.length,
  compactions: agent.compactions,
  ...addUncertain(agentSpending(agent).uncertain ?? undefined, undefined),
});

function addUncertain(a: Uncertain | undefined, b: Uncertain | undefined): Pick<Spent, 'uncertain'> {
  const uncertain =
    a !== undefined && b !== undefined
      ? { calls: a.calls + b.calls, tokens: a.tokens + b.tokens, cost: plus(a.cost, b.cost) }
      : (a ?? b);
  return uncertain === undefined ? {} : { uncertain };
}

const sum = (a: Spent, b: Spent): Spent => ({
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
  ...addUncertain(a.uncertain, b.uncertain),
});

const plus = (a: Usd, b: Usd): Usd => fromMicro(toMicro(a) + toMicro(b));

/** `$0.09`; `≈$0.09` for an estimate; `price not known`, or `at least $0.09` if only a part is known. */
export function costText({ cost, priced, estimated }: Pick<Spent, 'cost' | 'priced' | 'estimated'>): string {
  if (priced) return `${estimated === true ? '≈' : ''}${formatCost(cost)}`;
  return cost > 0 ? `at least ${formatCost(cost)}` : 'price not known';
}

/** `12k in, 3.4k out, 80k cache read, 6.0k cache write`; empty if nothing was used. */
export function usageText(usage: Usage): string {
  const parts: readonly (readonly [count: number, name: string])[] = [
    [usage.input, 'in'],
    [usage.output, 'out'],
    [usage.cacheRead, 'cache read'],
    [usage.cacheWrite, 'cache write'],
  ];
  return parts.flatMap(([count, name]) => (count > 0 ? [`${formatTokens(count)} ${name}`] : [])).join(', ');
}

/** `uncertain: up to $0.02 and 9k more tokens, for 1 unfinished call`. */
const uncertainWords = ({ calls, tokens, cost }: Uncertain): string =>
  `uncertain: up to ${formatCost(cost)} and ${formatTokens(tokens)} more tokens, for ${plural(calls, 'unfinished call')}`;

/** `2 attempts failed ($0.0012), 1 wait, 1 fallback, context summarised once`; empty if there were no problems. */
export function problemsText({ lost, retries, fallbacks, compactions, uncertain }: Spent): string {
  const cost = lost.cost > 0 ? ` (${formatCost(lost.cost)})` : '';
  return [
    ...(lost.calls > 0 ? [`${plural(lost.calls, 'attempt')} failed${cost}`] : []),
    ...(retries > 0 ? [plural(retries, 'wait')] : []),
    ...(fallbacks > 0 ? [plural(fallbacks, 'fallback')] : []),
    ...(compactions > 0 ? [`context summarised ${compactions === 1 ? 'once' : `${compactions} times`}`] : []),
    ...(uncertain === undefined ? [] : [uncertainWords(uncertain)]),
  ].join(', ');
}

/** The use and the problems of the whole run; each empty if there is nothing to report. */
export function runUsageText({ agents }: RunState): { readonly tokens: string; readonly trouble: string } {
  const spent = spentBy(agents.values());
  const about = spent.estimated === true ? '≈ ' : '';
  return { tokens: `${about}${usageText(spent.usage)}`, trouble: problemsText(spent) };
}
