/**
 * The durable log of a project: one SQLite database in the state directory (ports/log.ts has the contract). Decides what
 * a record is and in which order; where it lies is place.ts's, what a row holds record.ts's.
 */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { SessionId } from '../domain/ids.ts';
import { SessionId as sessionId } from '../domain/ids.ts';
import type { EventBody, MimirEvent } from '../events/event.ts';
import type { Log, SessionSummary, Some } from '../ports/log.ts';
import { claimsIn, heldIn } from './session-lock.ts';
import { inWords, isTaken, openToRead, openToWrite, orClose, transactionsIn } from './database.ts';
import { lastingIn } from './durability.ts';
import { type Heads, headsBeside, USUAL_CHECKPOINT } from './checkpoints.ts';
import type { Place } from './log-path.ts';
import { databaseOf, exists, prepare, stillThere } from './log-path.ts';
import type { Before, Row } from './record.ts';
import { decode, eventsOf, HASH_AT, rowIn, rowOf, START, TEXT } from './record.ts';
import type { Disk, Trail } from './wal-sync.ts';
import { trailOf } from './wal-sync.ts';

/** What a reading verb may do with a log. */
export type LogReader = Pick<Log, 'read' | 'each' | 'at' | 'sessions' | 'close'>;

/**
 * Opens a project's log for writing, making it where there is none; `checkpointEvery` records of a session are between two
 * checkpoints. Throws `LogFault` with words for a person.
 */
export function openLog(place: Place, disk?: Disk, checkpointEvery: number = USUAL_CHECKPOINT): Log {
  const file = prepare(place);
  const database = openToWrite(file);
  const heads = headsBeside(file, checkpointEvery);
  return inWords(file, () => orClose(database, () => logOf(database, file, trailOf(`${file}-wal`, disk), heads)));
}

/** Opens it for reading only: nothing is made or changed, and a log that isn't there has no sessions. Throws `LogFault`. */
export function openLogReadOnly(place: Place): LogReader {
  const file = databaseOf(place);
  if (!exists(file)) return NOTHING;
  const database = openToRead(file);
  return database === null ? NOTHING : inWords(file, () => orClose(database, () => readerOf(database, file)));
}

const NOTHING: LogReader = {
  read: () => [],
  each: () => [],
  at: () => null,
  sessions: () => [],
  close: () => undefined,
};

function logOf(database: DatabaseSync, file: string, trail: Trail, heads: Heads): Log {
  const claims = claimsIn(database);
  const reader = readerOf(database, file);
  const write = writerOf(database, trail, heads, stillThere(file));
  return {
    ...reader,
    append: (session, time, bodies) => inWords(file, () => write(session, time, bodies)),
    claim: (session) => inWords(file, () => claims.claim(session)),
    release: (session) => {
      inWords(file, () => {
        claims.release(session);
      });
    },
    close: () => {
      try {
        trail.close();
      } finally {
        reader.close();
      }
    },
  };
}

function writerOf(database: DatabaseSync, trail: Trail, heads: Heads, checkPlace: () => void): Log['append'] {
  const { onDisk, inSystem } = transactionsIn(database);
  const lasts = lastingIn();
  const put = putterOf(database, heads);
  return (session, time, bodies) => {
    if (bodies.length === 0) return [];
    checkPlace();
    trail.check();
    heads.check();
    if (lasts(session, bodies)) {
      const events = put(session, time, bodies, { whole: onDisk, onDisk: true });
      trail.reached();
      return events;
    }
    const events = put(session, time, bodies, { whole: inSystem, onDisk: false });
    trail.behind();
    return events;
  };
}

type Put = (
  session: SessionId,
  time: string,
  bodies: readonly EventBody[],
  how: { readonly whole: <T>(act: () => T) => T; readonly onDisk: boolean },
) => readonly MimirEvent[];

/** Puts events behind the last of their session. Remembers which that is: another writer would have taken the next number. */
function putterOf(database: DatabaseSync, checkpoints: Heads): Put {
  const last = database.prepare('SELECT seq, hash FROM events WHERE session = ? ORDER BY seq DESC LIMIT 1');
  const insert = database.prepare(
    'INSERT INTO events (session, seq, time, type, agent, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertText = database.prepare('INSERT OR IGNORE INTO texts (hash, json) VALUES (?, ?)');
  const heads = new Map<SessionId, Before>();
  const putAll: Put = (session, time, bodies, { whole, onDisk }) => {
    let head = heads.get(session);
    const events = whole(() =>
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
  return (session, time, bodies, how) => {
    try {
      return putAll(session, time, bodies, how);
    } catch (error) {
      // Nothing of it was kept. The number was another's: whoever held the claim in between has written behind our last.
      if (!heads.delete(session) || !isTaken(error)) throw error;
      return putAll(session, time, bodies, how);
    }
  };
}

/** Ends of sessions, and calls that are not repeated: a copy of the log from before such a call would make it happen again. */
const mattersIn = (body: EventBody): boolean =>
  body.type === 'session.finished' || (body.type === 'tool.started' && body.repeat !== 'safe');

const COLUMNS = 'session, seq, time, type, agent, data, prev, hash';

function readerOf(database: DatabaseSync, file: string): LogReader {
  const after = database.prepare(`SELECT ${COLUMNS} FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`);
  const one = database.prepare(`SELECT ${COLUMNS} FROM events WHERE session = ? AND seq = ?`);
  const someAfter = someIn(database);
  const at = database.prepare(HASH_AT);
  const text = database.prepare(TEXT);
  const textOf = (hash: string): string | undefined => stringOf(text.get(hash)?.['json']);
  const summarise = summariesOf(database, textOf);
  // Nothing is left to read of a log that was closed.
  const page = (session: SessionId, { seq }: Before): readonly Row[] =>
    database.isOpen ? inWords(file, () => after.all(session, seq, PAGE).map(rowIn)) : [];
  function* walk(session: SessionId, seq: number, how: Pick<Some, 'outputs'>): Generator<MimirEvent> {
    let before = seq > 0 && database.isOpen ? inWords(file, () => headOf(at.get(session, seq))) : START;
    // Nothing at `seq` itself: nothing behind it either.
    if (before.seq !== Math.max(0, seq)) return;
    for (let rows = page(session, before); rows.length > 0; rows = page(session, before)) {
      yield* eventsOf(session, rows, before, (hash) => inWords(file, () => textOf(hash)), how);
      before = rows.at(-1) ?? before;
    }
  }
  function* walkSome(session: SessionId, seq: number, some: Some): Generator<MimirEvent> {
    const page = (after: number): readonly Row[] =>
      database.isOpen ? inWords(file, () => someAfter(session, after, some)) : [];
    for (let rows = page(seq); rows.length > 0; rows = page(rows.at(-1)?.seq ?? seq))
      yield* eventsOf(session, rows, null, (hash) => inWords(file, () => textOf(hash)), some);
  }
  const each: LogReader['each'] = (session, seq = 0, some = {}) => ({
    [Symbol.iterator]: () =>
      some.types === undefined && some.agents === undefined ? walk(session, seq, some) : walkSome(session, seq, some),
  });
  return {
    read: (session, seq) => [...each(session, seq)],
    each,
    at: (session, seq) => {
      const row = database.isOpen ? inWords(file, () => one.get(session, seq)) : undefined;
      if (row === undefined) return null;
      for (const event of eventsOf(session, [rowIn(row)], null, (hash) => inWords(file, () => textOf(hash))))
        return event;
      return null;
    },
    sessions: () => inWords(file, summarise),
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Rows that are read at once: no statement stays open while somebody walks the log. */
const PAGE = 200;

/** The next rows behind `after` that are among `some`. */
function someIn(database: DatabaseSync): (session: SessionId, after: number, some: Some) => readonly Row[] {
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

/** Newest first, by the order in which they were begun. */
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
    // A run that was stopped has written its end, and can still be gone on with.
    if (last?.['type'] === 'session.finished' && last['status'] !== 'stopped') return 'finished';
    return isHeld(session) ? 'running' : 'stopped';
  };
  return () =>
    starts.all().flatMap((start) => {
      const session = sessionId.safeParse(start['session']).data;
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

/** How it ended last and what it had used by then; null where it didn't, or where that can't be read. */
function endedIn(ending: Columns | undefined): Pick<SessionSummary, 'ended'> | null {
  const status = ENDS.find((one) => one === ending?.['status']);
  const [cost, agents] = [ending?.['cost'], ending?.['agents']];
  if (status === undefined || typeof cost !== 'number' || typeof agents !== 'number') return null;
  return { ended: { status, cost, agents } };
}

/** The sum of its calls: of a run whose process was killed nobody wrote one. */
function spentIn(row: Columns | undefined): Pick<SessionSummary, 'cost'> {
  const cost = Number(row?.['cost'] ?? 0);
  return cost > 0 ? { cost: Math.round(cost * 1e6) / 1e6 } : {};
}

const ENDS = ['completed', 'failed', 'rejected', 'stopped'] as const;

/** What a session is for, by its first record. A damaged one doesn't hide the others: `read` says more about it. */
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

/** Of each session what a child, or main, was told first: its task tells one such run as little from another as its plan does. */
function firstAsked(
  database: DatabaseSync,
  textOf: (hash: string) => string | undefined,
): (session: SessionId) => Pick<SessionSummary, 'asked'> {
  // Its first records only: however long the log, a list costs the same.
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
      // A damaged record: `read` says more about it.
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
  const line = words.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.trim().slice(0, SHORT);
}

type Columns = Readonly<Record<string, SQLOutputValue>>;

const headOf = (row: Columns | undefined): Before =>
  row ? { seq: Number(row['seq']), hash: String(row['hash']) } : START;

const stringOf = (value: SQLOutputValue | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
