/**
 * What a task will probably use, before anything ran: tokens, money, time, and the budget that follows from it.
 * Deliberately simple numbers, so that a person can check them; what was really used is the log's to say.
 */
import { type Budget, tightest, withoutAbsent } from '../budget.ts';
import { fromMicro, toMicro, type Usd } from '../ids.ts';
import type { ModelOption, PlanChoices } from './plan.ts';

/** Of the tokens of an agent, the share that it reads; the rest it writes. */
const INPUT_SHARE = 0.8;
/** Seconds that every task takes beside writing: the first answer, its tools. */
const OVERHEAD_SECONDS = 5;
/** Tokens a second, for a model of which nothing is known. */
const UNKNOWN_SPEED = 50;

/** Tokens of a task for which nobody said a number, by what its role can do: work that writes reads more as well. */
export const defaultTokens = (capabilities: readonly string[]): number =>
  capabilities.includes('write') ? 400_000 : 200_000;

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

/** At this many times its estimate a task is warned of. It goes on: an estimate is no limit. */
export const WARNED_AT_ESTIMATE = 2;

/**
 * The budget of a task: `asked`, with the role's own where that says nothing, within what one agent may use. The estimate has
 * no part in it.
 */
export const fullBudget = (asked: Budget, role: Pick<PlanChoices['roles'][number], 'budget'>, limit: Budget): Budget =>
  tightest({ ...role.budget, ...withoutAbsent(asked) }, limit);

/** The budget of a task that says nothing of it. */
export const defaultBudget = (role: Pick<PlanChoices['roles'][number], 'budget'>, limit: Budget): Budget =>
  fullBudget({}, role, limit);
