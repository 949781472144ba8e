/** A day that many processes share: whatever they reserve and use at the same time, the sum of it stays within the limit. */
import { afterEach, expect, it } from 'vitest';
import { migrate, openDatabase, openSharedDay } from '../../src/distributed/index.ts';
import { CallId, ModelId, SessionId } from '../../src/domain/ids.ts';
import type { DayLedger, DayLimit } from '../../src/ports/daily-budget.ts';
import { needs } from '../support/needs.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';

needs('postgres');

const MODEL = ModelId.parse('local/coder');
const LIMIT: DayLimit = { model: null, budget: { maxCost: 10, maxTokens: 100_000 } };
const SESSION = SessionId.parse('k7f3a2');

/** The ledger of a machine on which nothing else runs. */
const alone: DayLedger = {
  reserve: () => null,
  settle: () => undefined,
  today: () => ({ tokens: 0, cost: 0 }),
  close: () => undefined,
};

let postgres: Postgres | null = null;
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await postgres?.remove();
});

async function prepared(): Promise<string> {
  postgres = await startPostgres();
  const db = openDatabase(postgres.url);
  await migrate(db);
  await db.close();
  return postgres.url;
}

function day(url: string, person = 'ada', today = '2026-11-28'): DayLedger {
  const db = openDatabase(url);
  ends.push(() => db.close());
  return openSharedDay({ db, person, own: alone, today: () => today });
}

let calls = 0;
/** Reserves as the gate does, when all `others` are prepared; the call, or null where the day does not allow it. */
async function reserved(
  ledger: DayLedger,
  cost: number,
  tokens: number,
  others: Promise<unknown> = Promise.resolve(),
): Promise<CallId | null> {
  const call = CallId.parse(`call-${(calls += 1)}`);
  await ledger.prepare?.({ call, model: MODEL, cost, tokens }, [LIMIT]);
  await others;
  const refused = ledger.reserve({ session: SESSION, call, model: MODEL, cost, tokens }, [LIMIT]);
  ledger.release?.(call);
  return refused === null ? call : null;
}

it('never exceeds a limit with 32 processes that reserve and settle at the same time', async () => {
  const url = await prepared();
  const ledgers = Array.from({ length: 32 }, () => day(url));
  const sums = { spent: 0, held: 0, most: 0, refused: 0 };
  const look = (): void => void (sums.most = Math.max(sums.most, sums.spent + sums.held));
  await Promise.all(
    ledgers.map(async (ledger, seed) => {
      for (let n = 0; n < 20; n += 1) {
        const cost = ((seed * 7 + n * 13) % 20) / 100 + 0.01;
        const call = await reserved(ledger, cost, 100);
        if (call === null) {
          sums.refused += 1;
          continue;
        }
        sums.held += cost;
        look();
        await new Promise((done) => setImmediate(done));
        const used = cost / 2;
        ledger.settle({ session: SESSION, call, tokens: 50, cost: used });
        sums.held -= cost;
        sums.spent += used;
      }
    }),
  );
  expect(sums.most).toBeLessThanOrEqual(10.000_001);
  expect(sums.spent).toBeGreaterThan(7);
  expect(sums.refused).toBeGreaterThan(0);
});

it('gives back what a process was granted and has not used', async () => {
  const url = await prepared();
  const [first, second] = [day(url), day(url)];
  const call = await reserved(first, 9, 10);
  expect(await reserved(second, 5, 10)).toBeNull();
  if (call !== null) first.settle({ session: SESSION, call, tokens: 10, cost: 1 });
  first.close();
  // The rest comes back as soon as the database has it.
  let again: CallId | null = null;
  while (again === null) again = await reserved(second, 8, 10);
  expect(await reserved(second, 2, 10)).toBeNull();
});

it('counts each person and each day by itself, and all that is not granted as used', async () => {
  const url = await prepared();
  const ada = day(url);
  expect(await reserved(ada, 10, 10)).not.toBeNull();
  expect(ada.today(undefined, LIMIT).cost).toBe(10);
  expect(await reserved(ada, 1, 10)).toBeNull();
  expect(await reserved(day(url, 'grace'), 10, 10)).not.toBeNull();
  expect(await reserved(day(url, 'ada', '2026-11-29'), 10, 10)).not.toBeNull();
});

it('has room for calls of one process that begin together', async () => {
  const one = day(await prepared());
  const last = Promise.withResolvers<void>();
  const first = Array.from({ length: 31 }, () => reserved(one, 0.3125, 10, last.promise));
  const together = await Promise.all([...first, reserved(one, 0.3125, 10).finally(() => last.resolve())]);
  expect(together.filter((call) => call === null)).toEqual([]);
  expect(await reserved(one, 0.01, 10)).toBeNull();
});

it('refuses no call of 32 processes while there is room for it, whatever the others were granted and do not use', async () => {
  const url = await prepared();
  const ledgers = Array.from({ length: 32 }, () => day(url));
  // Each has used a little of what it was granted.
  for (const ledger of ledgers) {
    const call = await reserved(ledger, 0.4, 1000);
    if (call !== null) ledger.settle({ session: SESSION, call, tokens: 10, cost: 0.01 });
  }
  const room = (10 - 32 * 0.01) / 32;
  const all = await Promise.all(ledgers.map((ledger) => reserved(ledger, room, 10)));
  expect(all.filter((call) => call === null)).toEqual([]);
  expect(await Promise.all(ledgers.map((ledger) => reserved(ledger, 0.01, 10)))).toEqual(ledgers.map(() => null));
});

it('needs no room any more for a call that was prepared and is not made', async () => {
  const url = await prepared();
  const [one, other] = [day(url), day(url)];
  const call = CallId.parse('never-made');
  await one.prepare?.({ call, model: MODEL, cost: 9, tokens: 10 }, [LIMIT]);
  expect(await reserved(other, 9, 10)).toBeNull();
  one.release?.(call);
  expect(await reserved(other, 9, 10)).not.toBeNull();
});
