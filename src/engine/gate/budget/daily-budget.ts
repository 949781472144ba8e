/**
 * Limits of a day, of all runs or on a model: which hold for a call, what is left of them, and its promise in the ledger
 * that all processes share. Where no rule sets such a limit there is no ledger, and nothing here is done.
 */
import { type CallId, fromMicro, type ModelId, toMicro, type Usd } from '../../../domain/ids.ts';
import { entryHolds } from '../../../policy/models.ts';
import type { Rules } from '../../../policy/rules.ts';
import type { DayLimit } from '../../../ports/daily-budget.ts';
import type { RunState } from '../../../events/state.ts';
import type { Budgets } from './budgets.ts';
import type { DayLimitNow } from './limits.ts';

const NONE: readonly DayLimitNow[] = [];

/** Limits that hold for `model`; with `others` ended, as if calls of this run that are under way had cost nothing. */
export function daysFor(
  { day, recorder, rules, underWay }: Budgets,
  model: ModelId,
  others: 'counted' | 'ended' = 'counted',
): readonly DayLimitNow[] {
  if (day === undefined) return NONE;
  const given = others === 'counted' ? null : recorder.state();
  return limitsFor(rules(), model).map(({ scope, from, limit, matches }) => {
    const used = day.today(matches);
    const back = given === null ? { tokens: 0, cost: 0 } : promisedUnderWay(given, underWay.without(given), matches);
    const cost = fromMicro(toMicro(used.cost) - toMicro(back.cost));
    return { scope, from, model: limit.model, budget: limit.budget, used: { tokens: used.tokens - back.tokens, cost } };
  });
}

interface Holding extends Pick<DayLimitNow, 'scope' | 'from'> {
  readonly limit: DayLimit;
  readonly matches?: (model: ModelId) => boolean;
}

function limitsFor({ dayBudget, modelBudgets = [] }: Rules, model: ModelId): readonly Holding[] {
  const own = modelBudgets.flatMap(({ model: entry, budget }): Holding[] => {
    if (!entryHolds(entry, model)) return [];
    const limit = { model: entry.pattern, budget: budget.value };
    return [{ scope: 'model', from: budget.from, limit, matches: (id) => entryHolds(entry, id) }];
  });
  if (dayBudget === undefined) return own;
  return [{ scope: 'day', from: dayBudget.from, limit: { model: null, budget: dayBudget.value } }, ...own];
}

/** What `now` promises that `without` doesn't, to models that match. */
function promisedUnderWay(
  now: RunState,
  without: RunState,
  matches: ((model: ModelId) => boolean) | undefined,
): { readonly tokens: number; readonly cost: Usd } {
  let [tokens, micro] = [0, 0];
  for (const { id, open } of now.agents.values()) {
    if (open.length === 0) continue;
    const left = new Set(without.agents.get(id)?.open.map(({ call }) => call));
    for (const call of open) {
      if (left.has(call.call) || matches?.(call.model) === false) continue;
      tokens += call.tokens;
      micro += toMicro(call.cost);
    }
  }
  return { tokens, cost: fromMicro(micro) };
}

interface Promised {
  readonly call: CallId;
  readonly model: ModelId;
  readonly tokens: number;
  readonly cost: Usd;
}

/** Promises a call against the day; false when another process was quicker. Throws `LogFault`: no call without it. */
export function promiseDay({ day, recorder, rules }: Budgets, promised: Promised): boolean {
  if (day === undefined) return true;
  const limits = limitsFor(rules(), promised.model).map(({ limit }) => limit);
  return day.reserve({ session: recorder.session, ...promised }, limits) === null;
}

/** What a call really cost. Without this its promise stays charged. Throws `LogFault`. */
export const settleDay = ({ day, recorder }: Budgets, spent: Omit<Promised, 'model'>): void =>
  day?.settle({ session: recorder.session, ...spent });
