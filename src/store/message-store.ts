/** Messages that wait for a run, in a table of the log's database. Each operation opens the database by itself, because messages are rare. Delivery is
 * left to the readers, which detect duplicates by id. */
import type { DatabaseSync } from 'node:sqlite';
import { AgentId, type SessionId } from '../domain/ids.ts';
import { databaseOf, type Place, prepare, readFrom, writeTo } from './database.ts';
import type { StoredMessage, MessageStore } from '../ports/log.ts';
import { Delivery } from '../ports/controls.ts';

const TABLE = `
  CREATE TABLE IF NOT EXISTS letters (
    place INTEGER PRIMARY KEY, session TEXT NOT NULL, id TEXT NOT NULL UNIQUE, recipient TEXT NOT NULL,
    text TEXT NOT NULL, delivery TEXT NOT NULL, at TEXT NOT NULL
  ) STRICT;
`;

/** The message store of a project, created with the first message; reading creates nothing. All operations throw `LogFault` on SQLite errors. */
export const openMessageStore = (place: Place): MessageStore => ({
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
});

function writing(place: Place, act: (database: DatabaseSync) => void): void {
  writeTo(prepare(place), (database) => {
    // Removed messages must not remain in free pages: they may contain text that the log redacts.
    database.exec('PRAGMA secure_delete = ON');
    database.exec(TABLE);
    act(database);
  });
}

const reading = (place: Place, session: SessionId): readonly StoredMessage[] =>
  readFrom(databaseOf(place), (database) => {
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'letters'").get() === undefined) return [];
    return database
      .prepare('SELECT id, recipient, text, delivery, at FROM letters WHERE session = ? ORDER BY place')
      .all(session)
      .flatMap(letterOf);
  }) ?? [];

function letterOf(row: Readonly<Record<string, unknown>>): readonly StoredMessage[] {
  const to = AgentId.safeParse(row['recipient']);
  const delivery = Delivery.safeParse(row['delivery']);
  const text: unknown = JSON.parse(String(row['text']));
  if (!to.success || !delivery.success || typeof text !== 'string') return [];
  return [{ id: String(row['id']), to: to.data, text, delivery: delivery.data, at: String(row['at']) }];
}
