/** How much a run and an agent may use, and what an unknown price means. Keeping count is the ledger's. */
import type { Budget } from '../domain/budget.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { Reason } from '../domain/reason.ts';
import { type BudgetRule, type Rules, builtIn } from './rules.ts';

/**
 * The limits on one agent of this role. A limit named for a role takes the place of the general one that the same layer
 * names, and the tightest layer holds: `config` has merged them so, and what a role's entry leaves open is the general one.
 */
export function agentBudget(role: string, rules: Rules): Budget {
  return { ...rules.agentBudget.value, ...ownBudget(role, rules)?.value };
}

/** What a limit may be raised to, and the rule that says so. */
export interface Ceiling {
  /** Undefined where no rule says how much. */
  readonly most: number | undefined;
  readonly rule: Reason;
}

/** Of the run. The program's own default is no rule: nobody set it; who typed a limit may take it back. */
export const runCeiling = (limit: keyof Budget, { runBudget, runCeiling: typed }: Rules): Ceiling =>
  ceilingOf(typed ?? runBudget, limit);

/** Of an agent of this role. */
export function agentCeiling(role: string, limit: keyof Budget, rules: Rules): Ceiling {
  const own = ownBudget(role, rules);
  return ceilingOf(own?.value[limit] === undefined ? rules.agentBudget : own, limit);
}

function ceilingOf({ value, from, each }: BudgetRule, limit: keyof Budget): Ceiling {
  const rule = each?.[limit];
  return { most: rule?.layer === 'default' ? undefined : value[limit], rule: rule ?? from };
}

const ownBudget = (role: string, rules: Rules): BudgetRule | undefined =>
  rules.roleBudgets.find((entry) => entry.role === role)?.budget;

/** Why a model without a known price can't be called, or null: only a limit that somebody set on cost refuses. */
export function priceProblem(price: ModelOption['price'], rules: Rules): Reason | null {
  if (price !== null || !rules.costLimitSet) return null;
  const set = [rules.runBudget, rules.agentBudget].find(
    ({ value, from }) => value.maxCost !== undefined && from.layer !== 'default',
  );
  const role = rules.roleBudgets.find(({ budget }) => budget.value.maxCost !== undefined);
  const from = set?.from ?? role?.budget.from ?? builtIn('a limit on cost');
  return {
    ...from,
    rule: `${from.rule}: the price of this model is not known, so the limit can't be kept; \`prices\` under its provider says it`,
  };
}
