/** Pauses of providers that the runs of a pool share: who begins later knows of them, and the longest counts. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, migrate, openDatabase, openPauses, type Pauses } from '../../src/distributed/index.ts';
import { needs } from '../support/needs.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

needs('postgres');

let postgres: Postgres | null = null;
let db: Database | null = null;
const open: Pauses[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
  db = openDatabase(postgres.url);
  await migrate(db);
});
afterAll(async () => {
  for (const one of open) one.close();
  await db?.close();
  await postgres?.remove();
});

async function pauses(pool = 'default'): Promise<Pauses> {
  if (db === null) throw new Error('no database');
  const made = await openPauses(db, pool);
  open.push(made);
  return made;
}

it('are told to the runs of the same pool, at once and to those that begin later', async () => {
  const [one, other, elsewhere] = [await pauses(), await pauses(), await pauses('other')];
  expect([one.left('local'), other.left('local')]).toEqual([0, 0]);
  await one.note('local', 60_000);
  await until(() => other.left('local') > 0);
  const later = await pauses();
  for (const known of [one, other, later]) {
    expect(known.left('local')).toBeGreaterThan(30_000);
    expect(known.left('local')).toBeLessThanOrEqual(60_000);
    expect(known.left('anthropic')).toBe(0);
  }
  expect(elsewhere.left('local')).toBe(0);
});

it('last as long as the longest, and are over then', async () => {
  const [one, other] = [await pauses(), await pauses()];
  await one.note('openai', 60_000);
  await other.note('openai', 1);
  expect((await pauses()).left('openai')).toBeGreaterThan(30_000);
  await one.note('google', 1);
  await until(() => one.left('google') === 0);
  expect((await pauses()).left('google')).toBe(0);
});
