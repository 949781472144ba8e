/**
 * What a task will probably use, before anything ran: tokens, money, time, and the budget that follows from it.
 * Deliberately simple numbers, so that a person can check them; what was really used is the log's to say.
 */
import type { Budget } from './budget.ts';
import { tightest, withoutAbsent } from './budget.ts';
import type { Usd } from './ids.ts';
import { fromMicro, toMicro } from './ids.ts';
import type { ModelOption, PlanChoices } from './plan.ts';

/** Of the tokens of an agent, the share that it reads; the rest it writes. */
const INPUT_SHARE = 0.8;
/** Seconds that every task takes beside writing: the first answer, its tools. */
const OVERHEAD_SECONDS = 5;
/** Tokens a second, for a model of which nothing is known. */
const UNKNOWN_SPEED = 50;

/** Tokens of a task for which nobody said a number: half of what the role gets at least. */
export const defaultTokens = (minTokens: number): number => Math.ceil(minTokens / 2);

/** US dollars for `tokens`; null when the price is not known, 0 when the model is free. */
export function estimatedCost(tokens: number, model: ModelOption | undefined): Usd | null {
  const price = model?.price ?? null;
  if (price === null) return null;
  // Tokens times dollars per million are micro-dollars already.
  const micro = tokens * INPUT_SHARE * price.input + tokens * (1 - INPUT_SHARE) * price.output;
  return fromMicro(toMicro(fromMicro(micro)));
}

/** Whole seconds, at least one. */
export function estimatedSeconds(tokens: number, model: ModelOption | undefined): number {
  const speed = model !== undefined && model.speed > 0 ? model.speed : UNKNOWN_SPEED;
  return Math.max(1, Math.round((tokens * (1 - INPUT_SHARE)) / speed) + OVERHEAD_SECONDS);
}

/** What a role says of the budgets of its agents. */
type Floor = Pick<PlanChoices['roles'][number], 'minTokens' | 'budget'>;

/** Twice the estimate, not below the role's floor (CONTRACT O051, D17), and within what one agent may use. */
export const defaultBudget = (tokens: number, role: Floor, limit: Budget): Budget =>
  fullBudget({}, tokens, role, limit);

/** `asked` with the role's own where it says nothing, within what one agent may use. */
export function fullBudget(asked: Budget, tokens: number, { minTokens, budget }: Floor, limit: Budget): Budget {
  const own = { ...budget, maxTokens: Math.max(2 * tokens, minTokens) };
  return tightest({ ...own, ...withoutAbsent(asked) }, limit);
}
