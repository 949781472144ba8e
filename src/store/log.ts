/** The durable log of a project: one SQLite database in the state directory (contract: ports/log.ts). Orders and appends records; database.ts handles
 * the file, record.ts the content of rows. */
import { firstLine } from '../domain/text/text.ts';
import { readFileSync } from 'node:fs';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { SessionId } from '../domain/ids.ts';
import { codeOf, tried } from '../domain/result.ts';
import type { EventBody, MimirEvent } from '../events/index.ts';
import type { Log, SessionSummary, Some } from '../ports/log.ts';
import { type Checkpoints, checkpointsBeside, USUAL_CHECKPOINT } from './checkpoints.ts';
import * as databases from './database.ts';
import { type Disk, durableIn, type WalSync, walSyncOf } from './durability.ts';
import { type Before, COLUMNS, decode, eventsOf, HASH_AT, type Row, rowIn, rowOf, START, textsIn } from './record.ts';

export type LogReader = Pick<Log, 'read' | 'each' | 'at' | 'sessions' | 'close'>;

/** Opens a project's log for writing, and creates it if missing; there is a checkpoint at least every `checkpointEvery` records of a session. Throws
 * `LogFault` with a message for a person. */
export function openLog(place: databases.Place, disk?: Disk, checkpointEvery: number = USUAL_CHECKPOINT): Log {
  const file = databases.prepare(place);
  const database = databases.openToWrite(file);
  const heads = checkpointsBeside(file, checkpointEvery);
  return databases.inWords(file, () =>
    databases.orClose(database, () => logOf(database, file, walSyncOf(`${file}-wal`, disk), heads)),
  );
}

/** Opens the log for reading: creates and changes nothing; a missing log has no sessions. Throws `LogFault`. */
export function openLogReadOnly(place: databases.Place): LogReader {
  const file = databases.databaseOf(place);
  if (!databases.exists(file)) return NOTHING;
  const database = databases.openToRead(file);
  return database === null
    ? NOTHING
    : databases.inWords(file, () => databases.orClose(database, () => readerOf(database, file)));
}

const NOTHING: LogReader = {
  read: () => [],
  each: () => [],
  at: () => null,
  sessions: () => [],
  close: () => undefined,
};

function logOf(database: DatabaseSync, file: string, trail: WalSync, heads: Checkpoints): Log {
  const claims = claimsIn(database);
  const reader = readerOf(database, file);
  const write = writerOf(database, trail, heads, databases.stillThere(file));
  return {
    ...reader,
    append: (session, time, bodies) => databases.inWords(file, () => write(session, time, bodies)),
    claim: (session) => databases.inWords(file, () => claims.claim(session)),
    release: (session) => databases.inWords(file, () => claims.release(session)),
    close: () => {
      try {
        trail.close();
      } finally {
        reader.close();
      }
    },
  };
}

function writerOf(database: DatabaseSync, trail: WalSync, heads: Checkpoints, checkPlace: () => void): Log['append'] {
  const lasts = durableIn();
  const put = putterOf(database, heads);
  return (session, time, bodies) => {
    if (bodies.length === 0) return [];
    checkPlace();
    trail.check();
    heads.check();
    const onDisk = lasts(session, bodies);
    const events = put(session, time, bodies, onDisk);
    if (onDisk) trail.reached();
    else trail.behind();
    return events;
  };
}

type Put = (...given: [...Parameters<Log['append']>, onDisk: boolean]) => readonly MimirEvent[];

/** Appends events to their session. Caches the last record, since another writer would have taken the next number. */
function putterOf(database: DatabaseSync, checkpoints: Checkpoints): Put {
  const last = database.prepare('SELECT seq, hash FROM events WHERE session = ? ORDER BY seq DESC LIMIT 1');
  const insert = database.prepare(
    'INSERT INTO events (session, seq, time, type, agent, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertText = database.prepare('INSERT OR IGNORE INTO texts (hash, json) VALUES (?, ?)');
  const transactions = databases.transactionsIn(database);
  const heads = new Map<SessionId, Before>();
  const putAll: Put = (session, time, bodies, onDisk) => {
    let head = heads.get(session);
    const events = transactions[onDisk ? 'onDisk' : 'inSystem'](() =>
      bodies.map((body) => {
        head ??= headOf(last.get(session));
        const event: MimirEvent = { v: 1, seq: head.seq + 1, time, session, ...body };
        const { row, texts } = rowOf(event, head.hash);
        for (const text of texts) insertText.run(text.hash, text.json);
        insert.run(row.session, row.seq, row.time, row.type, row.agent, row.data, row.prev, row.hash);
        head = row;
        return event;
      }),
    );
    if (head) {
      const to = { session, seq: head.seq, hash: head.hash };
      heads.set(session, to);
      checkpoints.reached({ from: head.seq - bodies.length, to, matters: bodies.some(mattersIn), onDisk });
    }
    return events;
  };
  return (session, ...more) => {
    try {
      return putAll(session, ...more);
    } catch (error) {
      // Nothing was written: another holder of the lock has appended records meanwhile, so the cached number was wrong.
      if (!heads.delete(session) || !databases.isTaken(error)) throw error;
      return putAll(session, ...more);
    }
  };
}

/** Ends of sessions, and calls that cannot be repeated: resuming an older copy of the log would repeat such a call. */
const mattersIn = (body: EventBody): boolean =>
  body.type === 'session.finished' || (body.type === 'tool.started' && body.repeat !== 'safe');

function readerOf(database: DatabaseSync, file: string): LogReader {
  const one = database.prepare(`SELECT ${COLUMNS} FROM events WHERE session = ? AND seq = ?`);
  const nextOf = rowsIn(database);
  const at = database.prepare(HASH_AT);
  const textOf = textsIn(database);
  const summarise = summariesOf(database, textOf);
  const text = (hash: string): string | undefined => databases.inWords(file, () => textOf(hash));
  /** The record at `seq`, after which a whole log is read; null for a selection, in which missing records go unnoticed. */
  const beforeOf = (session: SessionId, seq: number, { types, agents }: Some): Before | null => {
    if (types !== undefined || agents !== undefined) return null;
    return seq > 0 && database.isOpen ? databases.inWords(file, () => headOf(at.get(session, seq))) : START;
  };
  function* walk(session: SessionId, seq: number, some: Some): Generator<MimirEvent> {
    let before = beforeOf(session, seq, some);
    // Without a record at `seq` there is nothing after it.
    if (before !== null && before.seq !== Math.max(0, seq)) return;
    // A closed log has nothing more to read.
    const page = (after: number): readonly Row[] =>
      database.isOpen ? databases.inWords(file, () => nextOf(session, after, some)) : [];
    for (let rows = page(seq); rows.length > 0; rows = page(rows.at(-1)?.seq ?? seq)) {
      yield* eventsOf(session, rows, before, text, some);
      before &&= rows.at(-1) ?? before;
    }
  }
  const each: LogReader['each'] = (session, seq = 0, some = {}) => ({
    [Symbol.iterator]: () => walk(session, seq, some),
  });
  return {
    read: (session, seq) => [...each(session, seq)],
    each,
    at: (session, seq) => {
      const row = database.isOpen ? databases.inWords(file, () => one.get(session, seq)) : undefined;
      if (row === undefined) return null;
      for (const event of eventsOf(session, [rowIn(row)], null, text)) return event;
      return null;
    },
    sessions: () => databases.inWords(file, summarise),
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Rows that are read at once, so that no statement stays open during an iteration. */
const PAGE = 200;

function rowsIn(database: DatabaseSync): (session: SessionId, after: number, some: Some) => readonly Row[] {
  const next = database.prepare(
    `SELECT ${COLUMNS} FROM events WHERE session = :session AND seq > :after
     AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
     AND (:agents IS NULL OR agent IS NULL OR agent IN (SELECT value FROM json_each(:agents))) ORDER BY seq LIMIT :most`,
  );
  const listOf = (all: readonly string[] | undefined): string | null =>
    all === undefined ? null : JSON.stringify(all);
  return (session, after, { types, agents }) =>
    next.all({ session, after, types: listOf(types), agents: listOf(agents), most: PAGE }).map(rowIn);
}

function summariesOf(
  database: DatabaseSync,
  textOf: (hash: string) => string | undefined,
): () => readonly SessionSummary[] {
  const starts = database.prepare('SELECT session, seq, time, data FROM events WHERE seq = 1 ORDER BY rowid DESC');
  const last = database.prepare('SELECT seq, time FROM events WHERE session = ? ORDER BY seq DESC LIMIT 1');
  const end = database.prepare(
    "SELECT type, data ->> 'status' AS status, data ->> '$.totals.cost' AS cost, data ->> '$.totals.agents' AS agents FROM events WHERE session = ? AND type IN ('session.finished', 'session.resumed') ORDER BY seq DESC LIMIT 1",
  );
  const costs = database.prepare(
    "SELECT SUM(data ->> '$.cost') AS cost FROM events WHERE session = ? AND type IN ('model.finished', 'model.failed')",
  );
  const isHeld = heldIn(database);
  const askedIn = firstAsked(database, textOf);
  const stateOf = (session: SessionId, last: Columns | undefined): SessionSummary['state'] => {
    // A stopped run has an end record but can be resumed.
    if (last?.['type'] === 'session.finished' && last['status'] !== 'stopped') return 'finished';
    return isHeld(session) ? 'running' : 'stopped';
  };
  return () =>
    starts.all().flatMap((start) => {
      const session = SessionId.safeParse(start['session']).data;
      const head = session === undefined ? undefined : last.get(session);
      if (session === undefined || head === undefined) return [];
      const ending = end.get(session);
      const { idle, ...begun } = begunAs(String(start['data']), session, textOf);
      return {
        session,
        ...begun,
        ...(idle === true ? askedIn(session) : {}),
        startedAt: String(start['time']),
        lastAt: String(head['time']),
        state: stateOf(session, ending),
        events: Number(head['seq']),
        ...(endedIn(ending) ?? spentIn(costs.get(session))),
      };
    });
}

/** How the session last ended and what it had used by then; null if it did not end or the record is unreadable. */
function endedIn(ending: Columns | undefined): Pick<SessionSummary, 'ended'> | null {
  const status = ENDS.find((one) => one === ending?.['status']);
  const [cost, agents] = [ending?.['cost'], ending?.['agents']];
  if (status === undefined || typeof cost !== 'number' || typeof agents !== 'number') return null;
  return { ended: { status, cost, agents } };
}

/** The sum of its calls, for a run without an end record, whose process was killed. */
function spentIn(row: Columns | undefined): Pick<SessionSummary, 'cost'> {
  const cost = Number(row?.['cost'] ?? 0);
  return cost > 0 ? { cost: Math.round(cost * 1e6) / 1e6 } : {};
}

const ENDS = ['completed', 'failed', 'rejected', 'stopped'] as const;

/** The task of a session, from its first record. A damaged record must not hide other sessions; `read` reports it. */
function begunAs(
  data: string,
  session: SessionId,
  textOf: (hash: string) => string | undefined,
): Pick<SessionSummary, 'task' | 'draft'> & { readonly idle?: true } {
  try {
    const first = decode({ data, seq: 1 }, session, textOf);
    if (first.type !== 'session.started') return { task: '' };
    const { task, draft, idle } = first;
    return { task, ...(draft === true ? { draft } : {}), ...(idle === true ? { idle } : {}) };
  } catch {
    return { task: '(damaged record)' };
  }
}

/** The first request to a child or main in a session whose task does not distinguish it from others. */
function firstAsked(
  database: DatabaseSync,
  textOf: (hash: string) => string | undefined,
): (session: SessionId) => Pick<SessionSummary, 'asked'> {
  // Only the first records are searched, so that the cost does not depend on the length of the log.
  const first = database.prepare(
    "SELECT seq, data FROM events WHERE session = ? AND seq <= ? AND type IN ('agent.created', 'message.sent') ORDER BY seq",
  );
  return (session) => {
    try {
      for (const row of first.iterate(session, AMONG)) {
        const asked = askedBy(decode({ data: String(row['data']), seq: Number(row['seq']) }, session, textOf));
        if (asked !== '') return { asked };
      }
    } catch {
      // `read` reports a damaged record.
    }
    return {};
  };
}

const AMONG = 50;
const SHORT = 200;

function askedBy(body: EventBody): string {
  const words =
    body.type === 'agent.created' && body.spawned !== undefined
      ? body.task
      : body.type === 'message.sent' && body.from === 'person'
        ? body.content
        : '';
  return firstLine(words).trim().slice(0, SHORT);
}

type Columns = Readonly<Record<string, SQLOutputValue>>;

const headOf = (row: Columns | undefined): Before =>
  row ? { seq: Number(row['seq']), hash: String(row['hash']) } : START;

// The writer's lock of a session: pid, start time and boot id. It is stale when that process has ended, its pid was reused, or the machine was
// restarted. It is taken in a transaction, so only one process can win.

interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
}

/** Locks of this process in `database`. Taking one twice has no further effect. */
function claimsIn(database: DatabaseSync): Pick<Log, 'claim' | 'release'> {
  const own: Holder = { pid: process.pid, started: statOf(process.pid).started, boot: bootId() };
  const put = database.prepare('INSERT OR REPLACE INTO claims (session, pid, started, boot) VALUES (?, ?, ?, ?)');
  const drop = database.prepare('DELETE FROM claims WHERE session = ? AND pid = ? AND started = ?');
  const holder = holderOf(database);
  const { onDisk } = databases.transactionsIn(database);
  return {
    claim: (session) =>
      onDisk(() => {
        const other = holder(session);
        if (other !== null && other.pid !== own.pid && isAlive(other))
          return { ok: false, holder: `process ${other.pid} is writing session ${session}` };
        put.run(session, own.pid, own.started, own.boot);
        return { ok: true };
      }),
    release: (session) => void drop.run(session, own.pid, own.started),
  };
}

function heldIn(database: DatabaseSync): (session: string) => boolean {
  const holder = holderOf(database);
  return (session) => {
    const found = holder(session);
    return found !== null && isAlive(found);
  };
}

function holderOf(database: DatabaseSync): (session: string) => Holder | null {
  const find = database.prepare('SELECT pid, started, boot FROM claims WHERE session = ?');
  return (session) => {
    const row = find.get(session);
    return row ? { pid: Number(row['pid']), started: String(row['started']), boot: String(row['boot']) } : null;
  };
}

function isAlive(holder: Holder): boolean {
  if (holder.boot !== bootId() || !isRunning(holder.pid)) return false;
  const stat = statOf(holder.pid);
  // A zombie writes nothing any more.
  return stat.started === holder.started && !ENDED.has(stat.state);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists but belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

/** Zombie and dead, in the kernel's letters. */
const ENDED: ReadonlySet<string> = new Set(['Z', 'X']);

/** The state of a process and its start in kernel ticks; empty without /proc. */
function statOf(pid: number): { readonly state: string; readonly started: string } {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name in parentheses may contain anything; field 22 is the 20th after it.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, started: fields[18] ?? '' };
}

const bootId = (): string => textOf('/proc/sys/kernel/random/boot_id').trim();
const textOf = (file: string): string => tried(() => readFileSync(file, 'utf8'), '');
