/**
 * Letters that wait for a run, a table beside the log in the same database. Each act opens it for itself: letters are few, and who
 * only leaves one has nothing else to do there. Decides nothing about readers; they know a letter that comes twice by its id.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AgentId } from '../domain/ids.ts';
import type { SessionId } from '../domain/ids.ts';
import type { Letter, Mailbox } from '../ports/message-store.ts';
import { inWords, openToRead, openToWrite, transactionsIn } from './database.ts';
import type { Place } from './log-path.ts';
import { databaseOf, exists, prepare } from './log-path.ts';

const TABLE = `
  CREATE TABLE IF NOT EXISTS letters (
    place INTEGER PRIMARY KEY, session TEXT NOT NULL, id TEXT NOT NULL UNIQUE, recipient TEXT NOT NULL,
    text TEXT NOT NULL, delivery TEXT NOT NULL, at TEXT NOT NULL
  ) STRICT;
`;

/** The mailbox of a project, made with the first letter. Reading makes nothing. Everything throws `LogFault` where SQLite refuses. */
export function openMailbox(place: Place): Mailbox {
  return {
    put: (session, { id, to, text, delivery, at }) => {
      writing(place, (database) => {
        database
          .prepare('INSERT INTO letters (session, id, recipient, text, delivery, at) VALUES (?, ?, ?, ?, ?, ?)')
          .run(session, id, to, JSON.stringify(text), delivery, at);
      });
    },
    waiting: (session) => reading(place, session),
    taken: (session, ids) => {
      if (ids.length === 0) return;
      writing(place, (database) => {
        const drop = database.prepare('DELETE FROM letters WHERE session = ? AND id = ?');
        for (const id of ids) drop.run(session, id);
      });
    },
  };
}

/** All of it on the disk when it returns, or nothing of it done. */
function writing(place: Place, act: (database: DatabaseSync) => void): void {
  const file = prepare(place);
  const database = openToWrite(file);
  try {
    inWords(file, () => {
      transactionsIn(database).onDisk(() => {
        // What was taken is not to be found in free pages of the file: a letter may say what the log takes out.
        database.exec('PRAGMA secure_delete = ON');
        database.exec(TABLE);
        act(database);
      });
    });
  } finally {
    database.close();
  }
}

function reading(place: Place, session: SessionId): readonly Letter[] {
  const file = databaseOf(place);
  if (!exists(file)) return [];
  const database = openToRead(file);
  if (database === null) return [];
  try {
    return inWords(file, () => {
      const there = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'letters'").get();
      if (there === undefined) return [];
      return database
        .prepare('SELECT id, recipient, text, delivery, at FROM letters WHERE session = ? ORDER BY place')
        .all(session)
        .flatMap(letterOf);
    });
  } finally {
    database.close();
  }
}

const DELIVERIES = ['sequential', 'important', 'urgent'] as const;

/** Rows that another version wrote otherwise are left where they are. */
function letterOf(row: Readonly<Record<string, unknown>>): readonly Letter[] {
  const to = AgentId.safeParse(row['recipient']);
  const delivery = DELIVERIES.find((one) => one === row['delivery']);
  const text: unknown = JSON.parse(String(row['text']));
  if (!to.success || delivery === undefined || typeof text !== 'string') return [];
  return [{ id: String(row['id']), to: to.data, text, delivery, at: String(row['at']) }];
}
