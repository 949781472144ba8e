/** What one agent has used, so that its cost can be understood: tokens by class, calls that failed, what is promised to those in flight. */
import { agentSpending, callsInFlight, type Uncertain } from '../../../../app/views/spending/spending.ts';
import { type Usage, tokensOf } from '../../../../domain/budget.ts';
import type { Usd } from '../../../../domain/ids.ts';
import { costOf } from '../../../../domain/models/price.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { callsOf, modelName } from '../../../../app/views/agents/agent-lines.ts';
import { counted, formatCost, formatLimit, formatShare, formatTokens } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { meter } from './gauge.ts';

const CLASSES: readonly (readonly [of: keyof Usage, name: string])[] = [
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cache read'],
  ['cacheWrite', 'cache write'],
];

/** One line a class of tokens: how many, their share of all, and what they cost where that can be told. At most `width` columns. */
export function classLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const all = tokensOf(agent.usage);
  if (all === 0) return [];
  const costs = costsOf(agent, context.state);
  return CLASSES.filter(([of]) => agent.usage[of] > 0 || of === 'input' || of === 'output').map(([of, name]): Line => {
    const share = agent.usage[of] / all;
    const line: Line = [
      span(`  ${name.padEnd(12)}`, { fg: 'muted' }),
      span(formatTokens(agent.usage[of]).padStart(6), { fg: 'fg' }),
      span(formatShare(share).padStart(6), { fg: 'muted' }),
      span('  '),
      ...meter(share, width >= 50 ? 16 : 8, 'info', context.glyphs),
      ...(costs === null ? [] : [span(formatCost(costs[of]).padStart(10), { fg: 'fg' })]),
    ];
    return clip(line, width, context.glyphs.ellipsis);
  });
}

/**
 * US dollars by class at the price of the agent's model; null where that doesn't come to what was charged: another model
 * was used as well, or some requests were long ones with rates of their own.
 */
function costsOf({ usage, cost, priced, model, fallbacks }: AgentState, { choices }: RunState): Readonly<Usage> | null {
  const price = choices?.models.find(({ id }) => id === model.used)?.price ?? null;
  if (price === null || !priced || cost === 0 || fallbacks.length > 0) return null;
  const none: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const of = (kind: keyof Usage): Usd => costOf(price, { ...none, [kind]: usage[kind] });
  const costs: Usage = {
    input: of('input'),
    output: of('output'),
    cacheRead: of('cacheRead'),
    cacheWrite: of('cacheWrite'),
  };
  return Math.abs(tokensOf(costs) - cost) <= Math.max(0.0002, cost * 0.01) ? costs : null;
}

/** What calls in flight may cost at most, and what is uncertain: `$0.02 reserved + $0.01 uncertain`; empty without either. */
export function reservedText(agent: AgentState): string {
  const { reservedCost, reservedTokens, uncertain } = agentSpending(agent);
  const reserved = amountText(reservedCost, reservedTokens);
  return [...(reserved === '' ? [] : [`${reserved} reserved`]), ...uncertainText(uncertain)].join(' + ');
}

/** `$0.02 uncertain`; nothing where every call came to its end. */
export const uncertainText = (uncertain: Uncertain | null): readonly string[] =>
  uncertain === null ? [] : [`${amountText(uncertain.cost, uncertain.tokens)} uncertain`];

/** Dollars, else tokens where nothing costs anything; empty for nothing. */
export const amountText = (cost: Usd, tokens: number): string =>
  cost > 0 ? formatLimit(cost) : tokens > 0 ? `${formatTokens(tokens)} tok` : '';

/** What an uncertain sum is, and why it does not go away. */
export const UNCERTAIN =
  'reserved for calls whose process ended before they did: the provider may have billed them, so limits count them';

/** `9, 2 of them failed and cost $0.0012, 1 in flight`; `none yet`. */
export function callsText(agent: AgentState): string {
  const { lost, retries } = agent;
  const { length: inFlight } = callsInFlight(agent);
  const { calls: uncertain = 0 } = agentSpending(agent).uncertain ?? {};
  const made = callsOf(agent);
  if (made === 0) return 'none yet';
  const wasted = tokensOf(lost.usage);
  const price = lost.cost > 0 ? formatCost(lost.cost) : wasted > 0 ? `${formatTokens(wasted)} tok` : 'nothing';
  return [
    String(made),
    ...(lost.calls > 0 ? [`${lost.calls} of them failed and cost ${price}`] : []),
    ...(retries > 0 ? [counted(retries, 'wait')] : []),
    ...(inFlight > 0 ? [`${inFlight} in flight`] : []),
    ...(uncertain > 0 ? [`${uncertain} uncertain`] : []),
  ].join(', ');
}

/** Why the cost isn't the whole cost; empty where it is. */
export const unpricedText = ({ priced, model }: AgentState): string =>
  priced ? '' : `the price of ${toLabel(modelName(model.used))} is not known`;

/** What it cost; a question mark where a price isn't known: `$?`, or `$0.0912+?` where it is of a part. */
export const costText = ({ cost, priced }: Pick<AgentState, 'cost' | 'priced'>): string =>
  priced ? formatCost(cost) : cost === 0 ? formatCost(null) : `${formatCost(cost)}+?`;

/** `≈` before numbers that are estimates, since a provider left its count out; empty where it counted. */
export const aboutSign = (
  { estimated = false }: Pick<AgentState, 'estimated'>,
  { glyphs }: Pick<Context, 'glyphs'>,
): string => (estimated ? (glyphs.ellipsis === '…' ? '≈' : '~') : '');
