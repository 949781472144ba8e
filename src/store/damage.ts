/**
 * Whether a session may be resumed: its records against the hash chain, and against the checkpoints beside the database. A
 * copy of an older day is sound in itself and misses what was checkpointed since: a run that goes on with it would do again
 * what it had done. A person may accept the damage; nothing is deleted then.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../domain/ids.ts';
import { inWords, openToRead, openToWrite, orClose, transactionsIn } from './database.ts';
import { acceptHead, type Head, readHeads } from './checkpoints.ts';
import { databaseOf, exists, type Place } from './log-path.ts';
import { DAMAGE, DamagedRecord, rowIn, HASH_AT, START, TEXT, verifyRows } from './record.ts';

export interface Damage {
  /** The first record that is missing, was changed, or is not the one that was checkpointed. */
  readonly seq: number;
  readonly problem: string;
  /** The last record that a resumed run would know. */
  readonly last: number;
  /** The database file. */
  readonly file: string;
}

/** Null where every record is there and as it was written. Reads all records once, one at a time. Throws `LogFault`. */
export function damageOf(place: Place, session: SessionId): Damage | null {
  const file = databaseOf(place);
  // The checkpoints first: a record is in the database before its checkpoint is written.
  const heads = standingHeads(file, session);
  const database = exists(file) ? openToRead(file) : null;
  if (database === null) return null;
  return inWords(file, () =>
    orClose(database, () => {
      const found = damageIn(database, session, heads);
      database.close();
      return found === null ? null : { ...found, file };
    }),
  );
}

/**
 * From now on the session consists of the records before the damage. Records behind it stay in the database under another
 * name, for `audit verify`. The next resume finds no damage. Throws `LogFault`.
 */
export function acceptDamage(place: Place, session: SessionId, now: string): void {
  const file = databaseOf(place);
  const heads = standingHeads(file, session);
  const database = openToWrite(file);
  try {
    inWords(file, () => {
      const head = transactionsIn(database).onDisk(() => {
        const found = damageIn(database, session, heads);
        if (found === null) return null;
        database
          .prepare('UPDATE events SET session = ? WHERE session = ? AND seq > ?')
          .run(`${session} (set aside ${now})`, session, found.last);
        const last = database.prepare(HASH_AT);
        const row = last.get(session, found.last);
        return { session, seq: found.last, hash: String(row?.['hash'] ?? '') };
      });
      if (head !== null) acceptHead(file, head, now);
    });
  } finally {
    database.close();
  }
}

/** The checkpoints of a session since a person last accepted damage. */
function standingHeads(file: string, session: SessionId): readonly Head[] {
  const { heads } = readHeads(file, session);
  return heads.slice(
    Math.max(
      0,
      heads.findLastIndex(({ accepted }) => accepted !== undefined),
    ),
  );
}

function damageIn(database: DatabaseSync, session: SessionId, heads: readonly Head[]): Omit<Damage, 'file'> | null {
  const broken = brokenRecord(database, session);
  const at = database.prepare(HASH_AT);
  const wrong = heads.find(({ seq, hash }) => seq > 0 && at.get(session, seq)?.['hash'] !== hash);
  const newest = Number(
    database.prepare('SELECT max(seq) AS seq FROM events WHERE session = ?').get(session)?.['seq'] ?? 0,
  );
  if (broken !== null && broken <= (wrong?.seq ?? broken))
    return { seq: broken, problem: DAMAGE.changed, last: broken - 1 };
  if (wrong === undefined) return null;
  const isGone = wrong.seq > newest;
  const problem = isGone ? DAMAGE.gone : DAMAGE.other;
  // What another history has in its place is sound in itself: only a person can say which of both is the right one.
  return { seq: wrong.seq, problem, last: broken === null ? newest : broken - 1 };
}

function brokenRecord(database: DatabaseSync, session: SessionId): number | null {
  const rows = database.prepare(
    'SELECT session, seq, time, type, agent, data, prev, hash FROM events WHERE session = ? ORDER BY seq',
  );
  const text = database.prepare(TEXT);
  const textOf = (hash: string): string | undefined => {
    const json = text.get(hash)?.['json'];
    return typeof json === 'string' ? json : undefined;
  };
  try {
    verifyRows(session, rowsIn(rows.iterate(session)), START, textOf);
    return null;
  } catch (error) {
    if (error instanceof DamagedRecord) return error.seq;
    throw error;
  }
}

function* rowsIn(found: Iterable<Parameters<typeof rowIn>[0]>): Generator<ReturnType<typeof rowIn>> {
  for (const row of found) yield rowIn(row);
}
