/** What is known of the limits of one run beside its log: calls under way, counted prompts, what is kept back, the day's ledger. */
import type { DayLedger } from '../../../ports/daily-budget.ts';
import type { ModelPort } from '../../../ports/model.ts';
import type { RunContext } from '../context.ts';
import { openUnderWay, type UnderWay } from './budget-queue.ts';
import type { ClosingNeed } from './reserve.ts';
import type { AgentId } from '../../../domain/ids.ts';
import { openPrefixBook, type PrefixBook } from './tokens.ts';

export interface Budgets extends RunContext {
  readonly models: Pick<ModelPort, 'models'>;
  /** What all runs of a day use; undefined where no rule limits it. */
  readonly day: DayLedger | undefined;
  readonly prefixes: PrefixBook;
  readonly underWay: UnderWay;
  readonly closings: ClosingBook;
}

/** By agent: what its closing answer may need after its last call. Lost with the process: it is known again after the next call. */
interface ClosingBook {
  readonly needs: Map<AgentId, ClosingNeed>;
  /** Agents that end by a limit that is in the log already. */
  readonly ended: Set<AgentId>;
}

export const openBudgets = (context: RunContext, ports: Pick<Budgets, 'models' | 'day'>): Budgets => ({
  ...context,
  ...ports,
  prefixes: openPrefixBook(),
  underWay: openUnderWay(),
  closings: { needs: new Map(), ended: new Set() },
});
