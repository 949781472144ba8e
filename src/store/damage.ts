/** Decides whether a session may be resumed, and implements `audit verify`: checks records against the hash chain and the checkpoints. An old copy
 * of a log is valid in itself but lacks later checkpointed records, so a resumed run would repeat effects. A person may accept damage; nothing is
 * deleted then. */
import type { DatabaseSync } from 'node:sqlite';
import { SessionId } from '../domain/ids.ts';
import type { MimirEvent } from '../events/index.ts';
import { LogFault } from '../ports/log.ts';
import { acceptHead, type Head, readCheckpoints } from './checkpoints.ts';
import { databaseOf, inWords, type Place, readFrom, writeTo } from './database.ts';
import * as records from './record.ts';

type Hear = (event: MimirEvent) => void;

export interface Damage {
  /** The first record that is missing, was changed, or differs from its checkpoint. */
  readonly seq: number;
  readonly problem: string;
  /** The last record that a resumed run would have. */
  readonly last: number;
  readonly file: string;
}

/** Null where every record is there and as it was written. Reads all records once, one at a time, and gives each to `hear` that follows, without
 * its output. Throws `LogFault`. */
export function damageOf(place: Place, session: SessionId, hear?: Hear): Damage | null {
  const file = databaseOf(place);
  // The checkpoints first: a record is in the database before its checkpoint is written.
  const heads = standingHeads(file, session);
  const found = readFrom(file, (database) => damageIn(database, session, heads, hear));
  return found === null ? null : { ...found, file };
}

/** Shortens the session to the records before the damage. Later records stay in the database under another name, for `audit verify`. The next resume
 * finds no damage. Throws `LogFault`. */
export function acceptDamage(place: Place, session: SessionId, now: string): void {
  const file = databaseOf(place);
  const heads = standingHeads(file, session);
  const head = writeTo(file, (database) => {
    const found = damageIn(database, session, heads);
    if (found === null) return null;
    database
      .prepare('UPDATE events SET session = ? WHERE session = ? AND seq > ?')
      .run(`${session} (set aside ${now})`, session, found.last);
    const row = database.prepare(records.HASH_AT).get(session, found.last);
    return { session, seq: found.last, hash: String(row?.['hash'] ?? '') };
  });
  if (head !== null) acceptHead(file, head, now);
}

/** The checkpoints of a session since a person last accepted damage. */
function standingHeads(file: string, session: SessionId): readonly Head[] {
  const { heads } = readCheckpoints(file, session);
  const last = heads.findLastIndex(({ accepted }) => accepted !== undefined);
  return heads.slice(Math.max(0, last));
}

function damageIn(
  database: DatabaseSync,
  session: SessionId,
  heads: readonly Head[],
  hear?: Hear,
): Omit<Damage, 'file'> | null {
  const broken = brokenRecord(database, session, hear);
  const at = database.prepare(records.HASH_AT);
  const wrong = heads.find(({ seq, hash }) => seq > 0 && at.get(session, seq)?.['hash'] !== hash);
  const newest = Number(
    database.prepare('SELECT max(seq) AS seq FROM events WHERE session = ?').get(session)?.['seq'] ?? 0,
  );
  if (broken !== null && broken <= (wrong?.seq ?? broken))
    return { seq: broken, problem: records.DAMAGE.changed, last: broken - 1 };
  if (wrong === undefined) return null;
  const isGone = wrong.seq > newest;
  const problem = isGone ? records.DAMAGE.gone : records.DAMAGE.other;
  // Another history is valid in itself; only a person can decide which one is right.
  return { seq: wrong.seq, problem, last: broken === null ? newest : broken - 1 };
}

/** The number of the first record that is missing or was changed; null where there is none. */
function brokenRecord(database: DatabaseSync, session: SessionId, hear: Hear = () => undefined): number | null {
  const rows = database.prepare(`SELECT ${records.COLUMNS} FROM events WHERE session = ? ORDER BY seq`);
  const text = records.textsIn(database);
  try {
    const checked = records.withTexts(session, rows.iterate(session).map(records.rowIn), records.bytesIn(database));
    for (const event of records.eventsOf(session, checked, records.START, text, { outputs: false })) hear(event);
    return null;
  } catch (error) {
    if (error instanceof records.DamagedRecord) return error.seq;
    throw error;
  }
}

// Verifies a project's whole log: the hash chain of each session, the checkpoints, and the database itself. Changes nothing.

export interface AuditFault {
  readonly session: string | null;
  /** The number of the record, if the fault is about one. */
  readonly seq: number | null;
  readonly problem: string;
}

/** Verifies all sessions, or those that `wanted` accepts. Throws `LogFault` if the database cannot be read at all. */
export function verifyLog(place: Place, wanted: (session: string) => boolean = () => true) {
  const file = databaseOf(place);
  const { heads: known, damaged } = readCheckpoints(file);
  const heads = known.filter(({ session }) => wanted(session));
  const lines = damaged.map((line) => whole(`line ${line} of the checkpoints is damaged`));
  const found = readFrom(file, (database) => {
    // The index is what records are found by: one that leaves some out would hide them.
    const sound = database.prepare('PRAGMA integrity_check(5)').all();
    const words = sound.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
    const counts = database.prepare('SELECT session, count(*) AS records FROM events GROUP BY session').all();
    const at = database.prepare(records.HASH_AT);
    const sessions = counts.filter((row) => wanted(String(row['session'])));
    const faults = [
      ...words.map((text) => whole(`the database is damaged: ${text}`)),
      ...lines,
      ...sessions.flatMap((row) => chainFaults(database, file, String(row['session']))),
      ...heads.flatMap((head) => headFaults(head, at.get(head.session, head.seq)?.['hash'])),
    ];
    const all = sessions.reduce((sum, row) => sum + Number(row['records']), 0);
    return { sessions: sessions.length, records: all, checkpoints: heads.length, faults };
  });
  return found ?? { sessions: 0, records: 0, checkpoints: heads.length, faults: [...lines, ...heads.map(missing)] };
}

const whole = (problem: string): AuditFault => ({ session: null, seq: null, problem });

function chainFaults(database: DatabaseSync, file: string, name: string): readonly AuditFault[] {
  const session = SessionId.safeParse(name).data;
  if (session === undefined) return [whole('a record has no valid session id')];
  try {
    const seq = inWords(file, () => brokenRecord(database, session));
    return seq === null ? [] : [{ session, seq, problem: records.DAMAGE.changed }];
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return [{ session, seq: null, problem: error.message }];
  }
}

function headFaults(head: Head, hash: unknown): readonly AuditFault[] {
  if (hash === undefined) return [missing(head)];
  return hash === head.hash ? [] : [{ ...of(head), problem: records.DAMAGE.other }];
}

const of = ({ session, seq }: Head): Pick<AuditFault, 'session' | 'seq'> => ({ session, seq });
const missing = (head: Head): AuditFault => ({ ...of(head), problem: records.DAMAGE.gone });
