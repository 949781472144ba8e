/** The team's PostgreSQL database: connection, schema, notifications. Everything of Mimir lies in the schema `mimir`, everything of the durable
 * engine in `mimir_dbos`. A fault is a `ClusterFault`, in words for a person. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { Socket } from 'node:net';
import { Client, Pool, type QueryResult, type QueryResultRow } from 'pg';
import { z } from 'zod';
import { codeOf, messageOf } from '../domain/result.ts';

/** What is wrong with the database or its workers, and what to do. */
export class ClusterFault extends Error {}

export interface Database {
  readonly url: string;
  readonly pool: Pool;
  /** The rows of a statement. Rejects with a `ClusterFault`. */
  rows<T>(row: z.ZodType<T>, text: string, values?: readonly unknown[]): Promise<T[]>;
  /** Executes a statement; the number of rows that it changed. Rejects with a `ClusterFault`. */
  run(text: string, values?: readonly unknown[]): Promise<number>;
  /** Calls `on` for each notification on `channel`, and `reconnected` after each new connection, because some may be missed before. Returns its end. */
  listen(channel: string, on: (payload: string) => void, reconnected?: () => void): () => void;
  close(): Promise<void>;
}

/** The schema of the durable engine, apart from what the team may run with it. */
const ENGINE_SCHEMA = 'mimir_dbos';

/** How long a transaction may stand still. One that is left open keeps its locks and would hold back everybody else when its process stands still;
 * shorter than a worker's lease, so that nothing is locked any more when its agents are taken over. */
const TRANSACTION_MS = 4000;

/** The name under which the durable engine knows Mimir's workflows and queues. */
export const ENGINE_NAME = 'mimir';

/** How the durable engine is opened on a database, whose connections it does not end. */
export const engineOn = ({ url, pool }: Database) => ({
  systemDatabaseUrl: url,
  systemDatabasePool: pool,
  systemDatabaseSchemaName: ENGINE_SCHEMA,
  logger: { info: () => undefined, debug: () => undefined, warn: () => undefined, error: () => undefined },
});

/** Raised with each change of the tables below. */
const SCHEMA_VERSION = 2;

const SCHEMA = `
create schema if not exists mimir;
create table if not exists mimir.version (one boolean primary key default true check (one), version int not null);
create table if not exists mimir.worker (
  id text primary key, pool text not null, host text not null, pid int not null, slots int not null, version text not null,
  facts text not null, state text not null, started timestamptz not null default clock_timestamp(),
  renewed timestamptz not null default clock_timestamp(), lease timestamptz not null);
create table if not exists mimir.run (
  run text primary key, key text not null, host text not null default '', started timestamptz not null default clock_timestamp(),
  seen timestamptz not null default clock_timestamp());
alter table mimir.run add column if not exists process text, add column if not exists ended boolean not null default false, add column if not exists place text not null default '';
create table if not exists mimir.event (
  run text not null, first int not null, last int not null, body text not null, key text not null, before text not null,
  signature text not null, xid xid8 not null default pg_current_xact_id(), primary key (run, first));
create table if not exists mimir.place (
  run text not null, tree text not null, chain text not null, body text not null, packs text[] not null, primary key (run, tree));
create table if not exists mimir.begun (step text primary key, run text not null, worker text not null);
create table if not exists mimir.result (step text primary key, run text not null, body text not null);
create table if not exists mimir.blob (id text primary key, body bytea not null, used timestamptz not null default clock_timestamp());
create table if not exists mimir.tree (
  chain text not null, n int not null, run text not null, commit text not null, pack text not null, primary key (chain, n));
create table if not exists mimir.day (
  person text not null, key text not null, granted numeric not null default 0, primary key (person, key));
create table if not exists mimir.pause (
  pool text not null, provider text not null, until timestamptz not null, primary key (pool, provider));
create table if not exists mimir.line (
  id text not null, run text not null, side text not null, n int not null, body text, primary key (id, side, n));
create index if not exists event_xid on mimir.event (xid, run, first);
create index if not exists line_run on mimir.line (run);
create index if not exists begun_run on mimir.begun (run);
create index if not exists result_run on mimir.result (run);
`;

const CONNECT_WITHIN = 10_000;
/** How long nothing may pass while a statement has no answer, and the bytes that it has sent for which it may take a second longer. */
const [SILENT_MS, SECOND_BYTES] = [10_000, 1024 * 1024];

/** Ends a connection that does not answer as if it were cut: where a machine is gone, nobody else does. */
function endSilent(client: Client): void {
  const { stream } = client.connection;
  if (!(stream instanceof Socket)) return;
  let answered = 0;
  stream.setTimeout(SILENT_MS);
  client.on('drain', () => {
    answered = stream.bytesWritten;
    stream.setTimeout(SILENT_MS);
  });
  stream.on('timeout', () => {
    const sent = stream.bytesWritten - answered;
    const most = SILENT_MS + Math.floor(sent / SECOND_BYTES) * 1000;
    if (sent === 0 || (stream.timeout ?? 0) < most) stream.setTimeout(most);
    else stream.destroy(Object.assign(new Error('it does not answer'), { code: 'ETIMEDOUT' }));
  });
}

/** Opens a pool of at most `max` connections, which the server lists under `name`. Nothing is connected before the first statement. */
export function openDatabase(url: string, max = 10, name = 'mimir'): Database {
  // The durable engine uses its driver in a way that a later version of the driver will not allow, which is no concern of who runs Mimir.
  process.noDeprecation = true;
  const pool = new Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_WITHIN,
    keepAlive: true,
    application_name: name,
    idle_in_transaction_session_timeout: TRANSACTION_MS,
  });
  // Connections that the server ends while they are idle are replaced when they are needed.
  pool.on('error', () => undefined);
  pool.on('connect', endSilent);
  const query = async (text: string, values: readonly unknown[] = []): Promise<QueryResult<QueryResultRow>> => {
    try {
      return await pool.query<QueryResultRow>(text, [...values]);
    } catch (error) {
      throw new ClusterFault(databaseText(error));
    }
  };
  return {
    url,
    pool,
    rows: async (row, text, values) => (await query(text, values)).rows.map((one) => row.parse(one)),
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
    listen: (channel, on, reconnected) => holdSession(url, `listen ${channel}`, on, reconnected),
    close: () => pool.end(),
  };
}

/** How long after a lost connection the next one is tried, and how often one is tried in which nothing is said. */
const [RECONNECT_MS, BEAT_MS] = [500, 5000];

/** Keeps a connection in which `statement` was executed; made anew where it is lost. Returns its end. */
export function holdSession(
  url: string,
  statement: string,
  on: (payload: string) => void = () => undefined,
  reconnected: () => void = () => undefined,
): () => void {
  let over = false;
  let client: Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  const connect = async (): Promise<void> => {
    // Of the lock of a session that has fallen silent, the server would go on to wait.
    const limits = { connectionTimeoutMillis: CONNECT_WITHIN, lock_timeout: BEAT_MS };
    const fresh = new Client({ connectionString: url, keepAlive: true, application_name: 'mimir', ...limits });
    client = fresh;
    const beat = setInterval(() => void fresh.query('select 1').catch(lost), BEAT_MS);
    const lost = (): void => {
      clearInterval(beat);
      if (over || client !== fresh) return;
      client = null;
      timer = setTimeout(() => void connect(), RECONNECT_MS);
      void fresh.end().catch(() => undefined);
    };
    fresh.on('error', lost);
    fresh.on('end', lost);
    fresh.on('notification', ({ payload }) => on(payload ?? ''));
    try {
      await fresh.connect();
      endSilent(fresh);
      await fresh.query(statement);
      reconnected();
    } catch {
      lost();
    }
    if (over) await fresh.end().catch(() => undefined);
  };
  void connect();
  return () => {
    over = true;
    clearTimeout(timer);
    void client?.end().catch(() => undefined);
  };
}

/** Makes or completes the tables of Mimir and of the engine. Rejects with a `ClusterFault`. */
export async function migrate(db: Database): Promise<void> {
  const found = await versionIn(db);
  if (found !== null && found > SCHEMA_VERSION) throw new ClusterFault(newerText(found));
  // The engine says on the console that it begins; only the caller knows what may be printed.
  const { log } = console;
  Object.assign(console, { log: () => undefined });
  try {
    await DBOS.migrate(db.url, { schemaName: ENGINE_SCHEMA });
  } catch (error) {
    throw new ClusterFault(databaseText(error));
  } finally {
    Object.assign(console, { log });
  }
  await db.run(SCHEMA);
  const set =
    'insert into mimir.version (version) values ($1) on conflict (one) do update set version = excluded.version';
  await db.run(set, [SCHEMA_VERSION]);
}

/** Refuses a database that cannot be used as it is. Rejects with a `ClusterFault`. */
export async function checkDatabase(db: Database): Promise<void> {
  const [server] = await db.rows(
    z.object({ version: z.coerce.number() }),
    `select current_setting('server_version_num') as version`,
  );
  if ((server?.version ?? 0) < OLDEST)
    throw new ClusterFault(
      `the database is PostgreSQL ${Math.floor((server?.version ?? 0) / 10_000)}; 13 or later is needed`,
    );
  const found = await versionIn(db);
  if (found === null)
    throw new ClusterFault('the database has no tables of Mimir yet\n  `mimir cluster migrate` makes them');
  if (found > SCHEMA_VERSION) throw new ClusterFault(newerText(found));
  if (found < SCHEMA_VERSION)
    throw new ClusterFault(
      `the tables in the database are of an older Mimir (${found}, this one needs ${SCHEMA_VERSION})\n  \`mimir cluster migrate\` brings them up to date`,
    );
}

/** `server_version_num` of PostgreSQL 13. */
const OLDEST = 130_000;

const newerText = (found: number): string =>
  `the tables in the database are of a newer Mimir (${found}, this one knows ${SCHEMA_VERSION})\n  use the same version of Mimir everywhere`;

async function versionIn(db: Database): Promise<number | null> {
  const [there] = await db.rows(
    z.object({ there: z.boolean() }),
    `select to_regclass('mimir.version') is not null as there`,
  );
  if (there?.there !== true) return null;
  const [row] = await db.rows(z.object({ version: z.number() }), 'select version from mimir.version');
  return row?.version ?? null;
}

/** Milliseconds by which the clock of the database is ahead of `now`. */
export async function clockDifference(db: Database, now: () => number): Promise<number> {
  const before = now();
  const [row] = await db.rows(
    z.object({ at: z.coerce.number() }),
    'select extract(epoch from clock_timestamp()) * 1000 as at',
  );
  return (row?.at ?? before) - (before + now()) / 2;
}

const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there: start it, or correct the address',
  ENOTFOUND: 'its host is not known',
  ETIMEDOUT: 'it does not answer',
  '28P01': 'the password is wrong',
  '28000': 'the user may not log in',
  '3D000': 'there is no such database: create it with createdb',
  '42501': 'the user may not do that: its owner has to run `mimir cluster migrate`',
  '53100': 'its disk is full',
  '57P03': 'it is starting',
};

/** A fault of the database in words. Neither the address nor the password is in it. */
export function databaseText(error: unknown): string {
  if (error instanceof ClusterFault) return error.message;
  const code = codeOf(error);
  const [known, said] = [REMEDIES[code], messageOf(error).split('\n')[0] ?? ''];
  return `the database cannot be used: ${known ?? said}${known === undefined || code.startsWith('E') ? '' : ` (${said})`}`;
}
