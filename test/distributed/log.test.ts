/** The log of runs in the database: what a run's process has written is read whole, in order and unchanged by everybody else, whoever writes beside it. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, migrate, openDatabase, openLogReader, publicKeyOf } from '../../src/distributed/index.ts';
import { lastBatch, type LogBatch, type LogReader, type LogWriter, openLogWriter } from '../../src/distributed/log.ts';
import { needs } from '../support/needs.ts';
import { type Postgres, startPostgres, type Way, wayTo } from '../support/postgres.ts';
import { until } from '../support/until.ts';

needs('postgres');

const PERSON = generateKeyPairSync('ed25519').privateKey;
const TIME = '2026-11-29T03:00:00.000Z';

let postgres: Postgres | null = null;
let way: Way | null = null;
const open: Database[] = [];
beforeEach(async () => {
  postgres = await startPostgres();
  way = await wayTo(postgres);
  await migrate(database());
});
afterEach(async () => {
  for (const db of open.splice(0)) await db.close();
  way?.close();
  await postgres?.remove();
});

/** `cuttable`: by the way that can be cut. */
function database(cuttable = false): Database {
  const url = cuttable ? way?.url : postgres?.url;
  const db = openDatabase(url ?? '');
  open.push(db);
  return db;
}

const register = async (db: Database, run: string, process: string): Promise<unknown> =>
  db.run(
    `insert into mimir.run (run, key, process) values ($1, 'key', $2) on conflict (run) do update set process = excluded.process`,
    [run, process],
  );

interface Writing {
  readonly writer: LogWriter;
  readonly lost: () => boolean;
}

/** The log of `run` as its process `process` writes it. */
async function writing(
  run: string,
  process: string,
  { db = database(), key = PERSON }: { readonly db?: Database; readonly key?: KeyObject } = {},
): Promise<Writing> {
  const head = await lastBatch(db, run);
  await register(db, run, process);
  let isLost = false;
  const sure = async <T>(act: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await act();
      } catch {
        await new Promise((done) => setTimeout(done, 20));
      }
    }
  };
  const writer = openLogWriter({ db, run, process, key, head, sure, lost: () => (isLost = true) });
  return { writer, lost: () => isLost };
}

const told = (text: string): unknown => ({ type: 'agent.message', text });
const Told = z.object({ text: z.string() });

const textsIn = (batches: readonly LogBatch[]): string[] =>
  batches.flatMap(({ entries }) => entries.flatMap(([, bodies]) => bodies.map((body) => Told.parse(body).text)));

/** Everything that a reader gets. */
async function all(reader: LogReader): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  for (let some = await reader.next(); some.length > 0; some = await reader.next()) batches.push(...some);
  return batches;
}

const readerOf = (run: string | null, people = [publicKeyOf(PERSON)]): LogReader =>
  openLogReader(database(), people, run);

it('a reader of all runs misses no event of sixteen that are written at the same time', async () => {
  const runs = Array.from({ length: 16 }, (_, at) => `run${at}`);
  const writers = await Promise.all(runs.map((run) => writing(run, 'p')));
  const reader = readerOf(null);
  const heard: string[] = [];
  const over = new AbortController();
  const hear = async (): Promise<void> => {
    while (!over.signal.aborted) heard.push(...textsIn(await reader.next()));
    heard.push(...textsIn(await all(reader)));
  };
  const hearing = hear();
  const events = Array.from({ length: 60 }, (_, at) => at);
  const write = async ({ writer }: Writing, of: number): Promise<void> => {
    for (const at of events) {
      writer.append([TIME, [told(`${of}.${at}`)]]);
      if (at % 3 === 0) await writer.written();
    }
    await writer.written();
  };
  await Promise.all(writers.map(write));
  over.abort();
  await hearing;
  // In the order of each run, and each once.
  for (const of of runs.keys())
    expect(heard.filter((text) => text.startsWith(`${of}.`))).toEqual(events.map((at) => `${of}.${at}`));
});

it('events stand in the database as soon as `written` says so, with their time and in their order', async () => {
  const { writer } = await writing('run', 'p');
  writer.append([TIME, [told('one'), told('two')]]);
  writer.append(['2026-11-29T03:00:01.000Z', [told('three')]]);
  await writer.written();
  const batches = await all(readerOf('run'));
  expect(batches.flatMap(({ entries }) => entries)).toEqual([
    [TIME, [told('one'), told('two')]],
    ['2026-11-29T03:00:01.000Z', [told('three')]],
  ]);
  expect([batches[0]?.first, batches.at(-1)?.last]).toEqual([1, 3]);
});

it('what is prepared for events is done before they stand there', async () => {
  const { writer } = await writing('run', 'p');
  const seen: number[] = [];
  const prepare = async (): Promise<void> => void seen.push((await all(readerOf('run'))).length);
  writer.append([TIME, [told('one')]], prepare);
  await writer.written();
  writer.append([TIME, [told('two')]], prepare);
  await writer.written();
  expect(seen).toEqual([0, 1]);
});

it('while the database is away events wait, and are there once each when it is back', async () => {
  const { writer } = await writing('run', 'p', { db: database(true) });
  writer.append([TIME, [told('before')]]);
  await writer.written();
  way?.cut();
  for (const text of ['a', 'b', 'c']) writer.append([TIME, [told(text)]]);
  expect(textsIn(await all(readerOf('run')))).toEqual(['before']);
  way?.mend();
  await writer.written();
  expect(textsIn(await all(readerOf('run')))).toEqual(['before', 'a', 'b', 'c']);
});

it('a process writes no more once another has registered the run, which continues where the database ends', async () => {
  const first = await writing('run', 'p');
  first.writer.append([TIME, [told('one')]]);
  await first.writer.written();
  const second = await writing('run', 'q');
  first.writer.append([TIME, [told('too late')]]);
  await until(first.lost);
  second.writer.append([TIME, [told('two')]]);
  await second.writer.written();
  expect(textsIn(await all(readerOf('run')))).toEqual(['one', 'two']);
  expect(second.lost()).toBe(false);
});

it.each([
  ['a text in it was changed', `update mimir.event set body = replace(body, 'two', 'six') where run = 'run'`],
  ['a batch is missing', `delete from mimir.event where run = 'run' and first = 2`],
  ['the first is missing', `delete from mimir.event where run = 'run' and first = 1`],
  [
    'two batches have changed places',
    `update mimir.event as one set body = other.body, signature = other.signature from mimir.event as other
     where one.run = 'run' and one.first > 1 and other.run = 'run' and other.first = 5 - one.first`,
  ],
  ['a batch counts more events than it has', `update mimir.event set last = 4 where run = 'run' and first = 3`],
])('a log is not read where %s', async (_, change) => {
  const { writer } = await writing('run', 'p');
  for (const text of ['one', 'two', 'three']) {
    writer.append([TIME, [told(text)]]);
    await writer.written();
  }
  const [other, db] = [await writing('other', 'p'), database()];
  other.writer.append([TIME, [told('of the other')]]);
  await other.writer.written();
  await db.run(change);
  await expect(all(readerOf('run'))).rejects.toThrow('the log of run run in the database cannot be used');
  // Those of others are read all the same.
  expect(textsIn(await all(readerOf(null))).at(-1)).toBe('of the other');
});

it('the log of somebody else is not read, neither by its name nor among all', async () => {
  const { writer } = await writing('run', 'p', { key: generateKeyPairSync('ed25519').privateKey });
  writer.append([TIME, [told('one')]]);
  await writer.written();
  await expect(all(readerOf('run'))).rejects.toThrow('it was not signed by its person');
  expect(await all(readerOf(null))).toEqual([]);
});
