/** What all runs of the day use, where a rule limits it. */
import type { Rules } from '../../policy/rules.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import { openDayLedger } from '../../store/daily-budget.ts';
import { orExit } from '../client/log-of.ts';
import { world } from '../process/world.ts';

/** Only a rule on days makes one: a run without such a rule pays nothing for it. */
export const dayLedgerFor = (rules: Rules, stateDir: string): DayLedger | null =>
  rules.dayBudget === undefined && (rules.modelBudgets ?? []).length === 0
    ? null
    : orExit(() => openDayLedger(stateDir, () => world.now()));
