/**
 * A person's day, shared by all machines: limits are rows in the database, from which each process draws allowances in chunks. Calls are reserved
 * against the allowance, so that the row is touched seldom, and the sum of all allowances never exceeds a limit. */
import { z } from 'zod';
import { fromMicro, toMicro } from '../domain/ids.ts';
import type { DayCall, DayLedger, DayLimit, DayOver } from '../ports/daily-budget.ts';
import { ClusterFault, type Database } from './database.ts';

export interface SharedDayOptions {
  readonly db: Database;
  /** Whose day it is: the public key of the person. */
  readonly person: string;
  /** The ledger of this machine, whose limits hold as well. */
  readonly own: DayLedger;
  /** The day of now, as the limits mean it: `2026-11-28`. */
  readonly today: () => string;
}

type What = 'tokens' | 'cost';
const WHATS = ['tokens', 'cost'] as const;

/** What one process was granted of a limit today, and what of it is used or reserved: tokens, or millionths of a dollar. */
interface Allowance {
  granted: number;
  used: number;
}

interface Open {
  readonly call: Pick<DayCall, 'tokens' | 'cost'>;
  readonly allowances: readonly (readonly [What, Allowance])[];
}

/** A chunk is this part of a limit, or the size of the call that needs it. */
const CHUNK = 0.01;
const AGAIN_MS = 500;

const amountOf = ({ tokens, cost }: Pick<DayCall, 'tokens' | 'cost'>, what: What): number =>
  what === 'tokens' ? tokens : toMicro(cost);

const mostOf = ({ budget }: DayLimit, what: What): number | undefined =>
  what === 'tokens' ? budget.maxTokens : budget.maxCost === undefined ? undefined : toMicro(budget.maxCost);

/** Opens the shared day. What was granted and not used is given back when it is closed. */
export const openSharedDay = (options: SharedDayOptions): DayLedger => new SharedDay(options);

/** A limit in one of its units; `most` is in that unit. */
interface Counted {
  readonly limit: DayLimit;
  readonly what: What;
  readonly most: number;
}

const countedIn = (limits: readonly DayLimit[]): readonly Counted[] =>
  limits.flatMap((limit) =>
    WHATS.flatMap((what) => {
      const most = mostOf(limit, what);
      return most === undefined ? [] : [{ limit, what, most }];
    }),
  );

class SharedDay implements DayLedger {
  private readonly options: SharedDayOptions;
  private readonly allowances = new Map<string, Allowance>();
  private readonly open = new Map<string, Open>();
  private preparing = Promise.resolve();
  private over = false;

  constructor(options: SharedDayOptions) {
    this.options = options;
  }

  prepare(call: Pick<DayCall, 'tokens' | 'cost'>, limits: readonly DayLimit[]): Promise<void> {
    const prepare = async (): Promise<void> => {
      for (const one of countedIn(limits)) await this.patiently(() => this.grant(one, amountOf(call, one.what)));
    };
    // One after the other: each sees what the one before was granted.
    this.preparing = this.preparing.then(prepare);
    return this.preparing;
  }

  reserve(call: DayCall, limits: readonly DayLimit[]): DayOver | null {
    const all = countedIn(limits);
    for (const { limit, what, most } of all) {
      const { granted, used } = this.allowanceOf(limit, what);
      if (used + amountOf(call, what) > granted)
        return { limit, what, spent: inUnits(most - (granted - used), what), most: inUnits(most, what) };
    }
    const refused = this.options.own.reserve(call, limits);
    if (refused !== null) return refused;
    const allowances = all.map(({ limit, what }) => [what, this.allowanceOf(limit, what)] as const);
    for (const [what, allowance] of allowances) allowance.used += amountOf(call, what);
    this.open.set(call.call, { call, allowances });
    return null;
  }

  settle(spent: Parameters<DayLedger['settle']>[0]): void {
    this.options.own.settle(spent);
    const reserved = this.open.get(spent.call);
    if (reserved === undefined) return;
    this.open.delete(spent.call);
    for (const [what, allowance] of reserved.allowances)
      allowance.used += amountOf(spent, what) - amountOf(reserved.call, what);
  }

  today(...[matches, limit]: Parameters<DayLedger['today']>): ReturnType<DayLedger['today']> {
    const here = this.options.own.today(matches);
    if (limit === undefined) return here;
    const usedOf = (what: What): number => {
      const { granted, used } = this.allowanceOf(limit, what);
      const most = mostOf(limit, what);
      return most === undefined ? 0 : inUnits(most - (granted - used), what);
    };
    return { tokens: Math.max(here.tokens, usedOf('tokens')), cost: Math.max(here.cost, usedOf('cost')) };
  }

  close(): void {
    this.over = true;
    const { db, person } = this.options;
    const back = 'update mimir.day set granted = granted - $3 where person = $1 and key = $2';
    for (const [key, { granted, used }] of this.allowances)
      void db.run(back, [person, key, granted - used]).catch(() => undefined);
  }

  private keyOf({ model }: DayLimit, what: What): string {
    return JSON.stringify([this.options.today(), model, what]);
  }

  private allowanceOf(limit: DayLimit, what: What): Allowance {
    const key = this.keyOf(limit, what);
    const known = this.allowances.get(key) ?? { granted: 0, used: 0 };
    this.allowances.set(key, known);
    return known;
  }

  /** Draws what is missing for `size`: a chunk, else what is missing, else what is left. */
  private async grant({ limit, what, most }: Counted, size: number): Promise<void> {
    const { db, person } = this.options;
    const allowance = this.allowanceOf(limit, what);
    const missing = size - (allowance.granted - allowance.used);
    if (missing <= 0) return;
    const key = this.keyOf(limit, what);
    await db.run('insert into mimir.day (person, key) values ($1, $2) on conflict do nothing', [person, key]);
    const chunk = Math.max(missing, Math.ceil(most * CHUNK));
    for (const wanted of [chunk, missing, 'the rest'] as const) {
      const amount = wanted === 'the rest' ? most - (await this.grantedInAll(key)) : wanted;
      if (amount <= 0 || !(await this.draw(key, amount, most))) continue;
      allowance.granted += amount;
      return;
    }
  }

  /** Adds `amount` to what is granted in all, if the limit allows that. */
  private async draw(key: string, amount: number, most: number): Promise<boolean> {
    const take = 'update mimir.day set granted = granted + $3 where person = $1 and key = $2 and granted + $3 <= $4';
    return (await this.options.db.run(take, [this.options.person, key, amount, most])) > 0;
  }

  private async grantedInAll(key: string): Promise<number> {
    const text = 'select granted from mimir.day where person = $1 and key = $2';
    const [row] = await this.options.db.rows(Granted, text, [this.options.person, key]);
    return row?.granted ?? 0;
  }

  /** Repeats `act` while the database does not answer; given up when the day is closed. */
  private async patiently(act: () => Promise<void>): Promise<void> {
    while (!this.over) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ClusterFault)) throw error;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  }
}

const inUnits = (amount: number, what: What): number => (what === 'cost' ? fromMicro(amount) : amount);

const Granted = z.object({ granted: z.coerce.number() });
