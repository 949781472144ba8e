/** A person's day, shared by all machines: limits are rows in the database, from which each process draws allowances in chunks. Calls are reserved
 * against the allowance, so that the row is touched seldom, and the sum of all allowances never exceeds a limit. */
import { z } from 'zod';
import { type CallId, fromMicro, toMicro } from '../domain/ids.ts';
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
  /** What calls need that are prepared. */
  readonly prepared: Map<CallId, number>;
  /** When the others were last asked for what they do not use (monotonic clock). */
  asked: number;
}

/** Negative: so much is missing. */
const freeIn = ({ granted, used, prepared }: Allowance): number =>
  [...prepared.values()].reduce((left, one) => left - one, granted - used);

interface Open {
  readonly call: Pick<DayCall, 'tokens' | 'cost'>;
  readonly allowances: readonly (readonly [What, Allowance])[];
}

/** A chunk is this part of a limit, or the size of the call that needs it. */
const CHUNK = 0.01;
const AGAIN_MS = 500;
/** How long others have to give back what they do not use, with looks in between. */
const LOOKS_MS = [20, 80, 300];
const CHANNEL = 'mimir_day';

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
  private readonly stop: () => void;
  private over = false;

  constructor(options: SharedDayOptions) {
    this.options = options;
    this.stop = options.db.listen(CHANNEL, (told) => {
      const [person, key] = Asked.parse(JSON.parse(told));
      if (person === options.person) this.giveBack(key);
    });
  }

  prepare(call: Omit<DayCall, 'session'>, limits: readonly DayLimit[]): Promise<void> {
    const all = countedIn(limits);
    for (const { limit, what } of all) this.allowanceOf(limit, what).prepared.set(call.call, amountOf(call, what));
    const since = performance.now();
    const prepare = async (): Promise<void> => {
      for (const one of all)
        while (!this.over && !(await this.grant(one, since).then(() => true, isAway))) await afterMs(AGAIN_MS);
    };
    // One after the other: each sees what the one before was granted.
    this.preparing = this.preparing.then(prepare);
    return this.preparing;
  }

  release(call: CallId): void {
    for (const { prepared } of this.allowances.values()) prepared.delete(call);
  }

  reserve(call: DayCall, limits: readonly DayLimit[]): DayOver | null {
    const all = countedIn(limits);
    this.release(call.call);
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
    this.stop();
    for (const [key, { prepared }] of this.allowances) {
      prepared.clear();
      this.giveBack(key);
    }
  }

  private giveBack(key: string): void {
    const allowance = this.allowances.get(key);
    const free = allowance === undefined ? 0 : freeIn(allowance);
    if (allowance === undefined || free <= 0) return;
    allowance.granted -= free;
    const back = 'update mimir.day set granted = granted - $3 where person = $1 and key = $2';
    void this.options.db.run(back, [this.options.person, key, free]).catch(() => undefined);
  }

  private keyOf({ model }: DayLimit, what: What): string {
    return JSON.stringify([this.options.today(), model, what]);
  }

  private allowanceOf(limit: DayLimit, what: What): Allowance {
    const key = this.keyOf(limit, what);
    const known = this.allowances.get(key) ?? { granted: 0, used: 0, prepared: new Map(), asked: -Infinity };
    this.allowances.set(key, known);
    return known;
  }

  /** Draws what is missing for the calls that are prepared; where too little is left, others give back what they do not use. */
  private async grant(one: Counted, since: number): Promise<void> {
    const { db, person } = this.options;
    const [allowance, key] = [this.allowanceOf(one.limit, one.what), this.keyOf(one.limit, one.what)];
    if (freeIn(allowance) >= 0) return;
    await db.run('insert into mimir.day (person, key) values ($1, $2) on conflict do nothing', [person, key]);
    await this.drawFor(one, allowance, key);
    if (allowance.asked >= since) return;
    for (const wait of LOOKS_MS) {
      if (freeIn(allowance) >= 0) return;
      allowance.asked = performance.now();
      // Each time, because another may have drawn a chunk meanwhile.
      await db.run('select pg_notify($1, $2)', [CHANNEL, JSON.stringify([person, key])]);
      await afterMs(wait);
      await this.drawFor(one, allowance, key);
    }
  }

  /** Draws a chunk, else what is missing, else what is left. */
  private async drawFor({ most }: Counted, allowance: Allowance, key: string): Promise<void> {
    const missing = -freeIn(allowance);
    const chunk = Math.max(missing, Math.ceil(most * CHUNK));
    const text = `with before as (select granted from mimir.day where person = $1 and key = $2 for update)
      update mimir.day as day set granted = greatest(day.granted, least($5::numeric,
        day.granted + case when day.granted + $3::numeric <= $5 then $3 else $4::numeric end))
      from before where person = $1 and key = $2 returning day.granted - before.granted as drawn`;
    const [row] = await this.options.db.rows(Drawn, text, [this.options.person, key, chunk, missing, most]);
    allowance.granted += row?.drawn ?? 0;
  }
}

const inUnits = (amount: number, what: What): number => (what === 'cost' ? fromMicro(amount) : amount);

/** False: the database does not answer, and is asked again. */
function isAway(error: unknown): false {
  if (error instanceof ClusterFault) return false;
  throw error;
}

const afterMs = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const Asked = z.tuple([z.string(), z.string()]);
const Drawn = z.object({ drawn: z.coerce.number() });
