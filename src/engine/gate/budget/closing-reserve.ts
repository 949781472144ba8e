/**
 * What limits keep back for the closing answers of agents at work: each that has begun can still say what it did and found when
 * a limit ends it, also where others share the limit. What it may need at most is in reserve.ts.
 */
import { type AgentId, toMicro } from '../../../domain/ids.ts';
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { FREE, worstRates } from '../../../domain/models/price.ts';
import type { Question } from '../question.ts';
import type { Budgets } from './budgets.ts';
import { CLOSING_OUTPUT, type ClosingNeed, optionFor } from './reserve.ts';
import { limitsAbove, type TimeFor, usedOf } from './limits.ts';

/** A call after which the agent should be able to answer. One that has said nothing yet would have nothing to close with. */
const isOrdinary = ({ purpose, closing, turns }: Question): boolean =>
  (purpose === undefined || purpose.is === 'work') && closing !== true && turns.some(({ by }) => by === 'model');

/** What the call may use of limits on time. */
export const timeFor = (question: Question): TimeFor => (isOrdinary(question) ? 'closing kept' : 'whole');

/** What is kept back beside the call that `question` asks for. A summary leaves the agent's own closing answer its room. */
export function keepingFor(
  { closings, recorder, prefixes }: Budgets,
  question: Question,
  model: ModelOption,
): { readonly kept: ReadonlyMap<AgentId, ClosingNeed>; readonly closing?: { readonly cached: number } } {
  const { agents } = recorder.state();
  const { agent } = question.order;
  const isOwnWork = question.purpose === undefined || question.purpose.is === 'work';
  for (const id of closings.needs.keys()) if ((agents.get(id)?.outcome ?? null) !== null) closings.needs.delete(id);
  const kept = new Map([...closings.needs].filter(([id]) => !(isOwnWork && id === agent)));
  if (question.closing !== true) closings.ended.delete(agent);
  if (!isOrdinary(question)) return { kept };
  return { kept, closing: { cached: prefixes.of(agent, model.id, question.turns)?.cached ?? 0 } };
}

/** Bytes that each of `calls` results may have so that the closing answer still fits behind them. Never less than 500. */
export function closingBytes({ recorder, prefixes, models }: Budgets, { agent }: WorkOrder, calls: number): number {
  const prefix = prefixes.last(agent);
  const model = prefix && optionFor(models.models(), prefix.model);
  if (prefix === undefined || model === undefined) return Infinity;
  const state = recorder.state();
  const { input, output } = worstRates(model.price ?? FREE, prefix.tokens);
  const lefts = limitsAbove(state, agent).map((limit) => {
    const used = usedOf(state, limit);
    const { maxTokens = Infinity, maxCost } = limit.budget;
    const tokens = maxTokens - (limit.kept.maxTokens ?? 0) - used.tokens - CLOSING_OUTPUT;
    if (maxCost === undefined || input === 0) return tokens;
    const micro = toMicro(maxCost) - toMicro(limit.kept.maxCost ?? 0) - toMicro(used.cost) - CLOSING_OUTPUT * output;
    return Math.min(tokens, micro / input);
  });
  // A token is a byte at least, so as many bytes as tokens fit for certain.
  return Math.max(500, Math.floor((Math.min(...lefts) - prefix.tokens) / Math.max(1, calls)));
}
