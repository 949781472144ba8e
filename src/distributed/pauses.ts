/** Pauses that providers have asked for, shared by the runs of a pool, because their calls use the same keys: rows in the database, told at once. */
import { z } from 'zod';
import type { Millis } from '../domain/ids.ts';
import type { Database } from './database.ts';

export interface Pauses {
  /** For how long no call to the provider should be made, as far as is known here; 0: it may be called. */
  left(provider: string): Millis;
  /** The provider has asked for this pause. Never rejects: where the database is away, other runs ask by themselves. */
  note(provider: string, wait: Millis): Promise<void>;
  close(): void;
}

const CHANNEL = 'mimir_pause';
const Row = z.object({ provider: z.string(), left: z.coerce.number() });
const Told = z.tuple([z.string(), z.string(), z.number()]);

/** Resolves when the pauses of the pool that are in force are known. */
export async function openPauses(db: Database, pool: string): Promise<Pauses> {
  const until = new Map<string, Millis>();
  const take = (provider: string, wait: Millis): void =>
    void until.set(provider, Math.max(until.get(provider) ?? 0, performance.now() + wait));
  const read = async (): Promise<void> => {
    const rows = await db.rows(
      Row,
      `select provider, extract(epoch from until - clock_timestamp()) * 1000 as left from mimir.pause
       where pool = $1 and until > clock_timestamp()`,
      [pool],
    );
    for (const { provider, left } of rows) take(provider, left);
  };
  const quietly = (): void => void read().catch(() => undefined);
  const stop = db.listen(
    CHANNEL,
    (payload) => {
      const [of, provider, wait] = Told.parse(JSON.parse(payload));
      if (of === pool) take(provider, wait);
    },
    quietly,
  );
  try {
    await read();
  } catch (error) {
    stop();
    throw error;
  }
  return {
    left: (provider) => Math.max(0, Math.ceil((until.get(provider) ?? 0) - performance.now())),
    async note(provider, wait) {
      take(provider, wait);
      const text = `with kept as (
          insert into mimir.pause (pool, provider, until) values ($1, $2, clock_timestamp() + $3 * interval '1 ms')
          on conflict (pool, provider) do update set until = greatest(pause.until, excluded.until) returning 1)
        select pg_notify('${CHANNEL}', $4) from kept`;
      await db.run(text, [pool, provider, wait, JSON.stringify([pool, provider, wait])]).catch(() => undefined);
    },
    close: stop,
  };
}
