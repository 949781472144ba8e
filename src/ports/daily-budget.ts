/** The spending of today by all runs of this person on this machine; each call reserves before it starts. */
import type { Budget } from '../domain/budget.ts';
import type { CallId, ModelId, SessionId, Usd } from '../domain/ids.ts';

export interface DayCall {
  readonly session: SessionId;
  readonly call: CallId;
  readonly model: ModelId;
  readonly tokens: number;
  readonly cost: Usd;
}

/** A daily limit: on everything, or on the models that `model` (a canonical id or a family) names. */
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
  /** Called before a call of at most this size is reserved: makes room for it where the day is shared with other machines. Resolves in any case. */
  prepare?(call: Omit<DayCall, 'session'>, limits: readonly DayLimit[]): Promise<void>;
  /** The call that was prepared is reserved or is not made: nothing more is kept for it. */
  release?(call: CallId): void;
  /** Reserves `call` against all `limits` atomically across processes. Returns the exceeded limit, or null when reserved. */
  reserve(call: DayCall, limits: readonly DayLimit[]): DayOver | null;
  /** Records the actual use; 0 for a call that was never made. An unsettled reservation stays charged. */
  settle(call: Pick<DayCall, 'session' | 'call' | 'tokens' | 'cost'>): void;
  /** Used and reserved today (local time), in total or for the models that `matches` accepts. `limit`: what it is compared with; where the day is
   * shared, all that is not granted to this process counts as used. */
  today(matches?: (model: ModelId) => boolean, limit?: DayLimit): { readonly tokens: number; readonly cost: Usd };
  close(): void;
}
