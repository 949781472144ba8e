/** What was spent today by all runs of this person on this machine, promised before each call like everything else. */
import type { Budget } from '../domain/budget.ts';
import type { CallId, ModelId, SessionId, Usd } from '../domain/ids.ts';

export interface DayCall {
  readonly session: SessionId;
  readonly call: CallId;
  readonly model: ModelId;
  readonly tokens: number;
  readonly cost: Usd;
}

/** A limit on a day: of everything, or of the models that `model` (a canonical id or a family) names. */
export interface DayLimit {
  readonly model: string | null;
  readonly budget: Budget;
}

export interface DayOver {
  readonly limit: DayLimit;
  readonly what: 'tokens' | 'cost';
  readonly spent: number;
  readonly most: number;
}

export interface DayLedger {
  /** Promises `call` against all `limits` in one step across processes; what it doesn't fit in, or null when it is promised. */
  reserve(call: DayCall, limits: readonly DayLimit[]): DayOver | null;
  /** What it really used; 0 and 0 for a call that never was. A promise without this stays charged. */
  settle(call: Pick<DayCall, 'session' | 'call' | 'tokens' | 'cost'>): void;
  /** Used and promised today (local time), in all or of models that `matches` says. */
  today(matches?: (model: ModelId) => boolean): { readonly tokens: number; readonly cost: Usd };
  close(): void;
}
