/** A database that falls silent: its machine is gone, or what lies between, and nobody ends the connections. Real PostgreSQL behind a proxy. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../src/distributed/index.ts';
import { needs } from '../support/needs.ts';
import { type Postgres, startPostgres, type Way, wayTo } from '../support/postgres.ts';
import { until } from '../support/until.ts';

needs('postgres');

let postgres: Postgres;
let way: Way;
let db: Database;
beforeEach(async () => {
  postgres = await startPostgres();
  way = await wayTo(postgres);
  db = openDatabase(way.url);
});
afterEach(async () => {
  await db.close();
  way.close();
  await postgres.remove();
});

const One = z.object({ one: z.number() });
const SILENT = 'the database cannot be used: it does not answer';

it('gives up a statement without an answer, and makes the next one on a connection that works', async () => {
  expect(await db.rows(One, 'select 1 as one')).toEqual([{ one: 1 }]);
  way.fallSilent();
  const asked = db.rows(One, 'select 2 as one');
  await expect(asked).rejects.toThrow(SILENT);
  const again = db.rows(One, 'select 3 as one');
  await expect(again).rejects.toThrow(/^the database cannot be used/);
  way.mend();
  expect(await db.rows(One, 'select 4 as one')).toEqual([{ one: 4 }]);
});

it('waits longer for what was sent much', async () => {
  const sleeps = (bytes: number): Promise<unknown> =>
    db.rows(One, 'select 1 as one from pg_sleep(13) where length($1::bytea) > 0', [Buffer.alloc(bytes, 'x')]);
  const [little, much] = await Promise.allSettled([sleeps(1000), sleeps(20 * 1024 * 1024)]);
  expect(little).toMatchObject({ status: 'rejected', reason: { message: SILENT } });
  expect(much).toEqual({ status: 'fulfilled', value: [{ one: 1 }] });
});

it('listens again where a connection has fallen silent in which nothing is said', async () => {
  const heard: string[] = [];
  let connected = 0;
  const end = db.listen(
    'news',
    (text) => heard.push(text),
    () => void (connected += 1),
  );
  await until(() => connected === 1);
  way.fallSilent();
  way.mend();
  await until(() => connected === 2);
  await db.run(`select pg_notify('news', 'back')`);
  await until(() => heard.length > 0);
  expect(heard).toEqual(['back']);
  end();
});
