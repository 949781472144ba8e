/**
 * Checks a project's whole log: each record of each session against the hash chain, the heads against their checkpoints,
 * the database against itself. Changes nothing; what to say about it is the verb's.
 */
import { SessionId } from '../domain/ids.ts';
import { LogFault } from '../ports/log.ts';
import { inWords, openToRead, orClose } from './database.ts';
import { type Head, readHeads } from './checkpoints.ts';
import { openLogReadOnly } from './log.ts';
import { databaseOf, exists, type Place } from './log-path.ts';
import { DAMAGE, DamagedRecord, HASH_AT } from './record.ts';

export interface AuditFault {
  readonly session: string | null;
  /** The record, where it is one. */
  readonly seq: number | null;
  readonly problem: string;
}

export interface Verification {
  readonly sessions: number;
  readonly records: number;
  readonly checkpoints: number;
  readonly faults: readonly AuditFault[];
}

/** All sessions, or those that `wanted` names. Throws `LogFault` where the database can't be read at all. */
export function verifyLog(place: Place, wanted: (session: string) => boolean = () => true): Verification {
  const file = databaseOf(place);
  const { heads: known, damaged } = readHeads(file);
  const heads = known.filter(({ session }) => wanted(session));
  const lines = damaged.map((line) => whole(`line ${line} of the checkpoints is damaged`));
  if (!exists(file)) {
    const faults = [...lines, ...heads.map((head) => missing(head))];
    return { sessions: 0, records: 0, checkpoints: heads.length, faults };
  }
  return inWords(file, () => {
    const database = openToRead(file);
    if (database === null) return { sessions: 0, records: 0, checkpoints: heads.length, faults: heads.map(missing) };
    return orClose(database, () => {
      // The index is what records are found by: one that leaves some out would hide them.
      const sound = database.prepare('PRAGMA integrity_check(5)').all();
      const words = sound.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok');
      const counts = database.prepare('SELECT session, count(*) AS records FROM events GROUP BY session').all();
      const at = database.prepare(HASH_AT);
      const sessions = counts.filter((row) => wanted(String(row['session'])));
      const faults = [
        ...words.map((text) => whole(`the database is damaged: ${text}`)),
        ...lines,
        ...sessions.flatMap((row) => chainFaults(place, String(row['session']))),
        ...heads.flatMap((head) => headFaults(head, at.get(head.session, head.seq)?.['hash'])),
      ];
      const records = sessions.reduce((sum, row) => sum + Number(row['records']), 0);
      database.close();
      return { sessions: sessions.length, records, checkpoints: heads.length, faults };
    });
  });
}

const whole = (problem: string): AuditFault => ({ session: null, seq: null, problem });

/** What the hash chain of a session says. */
function chainFaults(place: Place, name: string): readonly AuditFault[] {
  const session = SessionId.safeParse(name).data;
  if (session === undefined) return [whole('a record names no session')];
  const reader = openLogReadOnly(place);
  try {
    for (const _ of reader.each(session));
    return [];
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    const seq = error instanceof DamagedRecord ? error.seq : null;
    return [{ session, seq, problem: seq === null ? error.message : DAMAGE.changed }];
  } finally {
    reader.close();
  }
}

function headFaults(head: Head, hash: unknown): readonly AuditFault[] {
  if (hash === undefined) return [missing(head)];
  return hash === head.hash ? [] : [{ ...of(head), problem: DAMAGE.other }];
}

const of = ({ session, seq }: Head): Pick<AuditFault, 'session' | 'seq'> => ({ session, seq });
const missing = (head: Head): AuditFault => ({ ...of(head), problem: DAMAGE.gone });
