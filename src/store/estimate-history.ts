/**
 * What runs of a project really used against what was estimated, kept beside its log in the same database. Nothing depends on it:
 * where it can't be read nothing was learned, where it can't be written nothing is, and nobody waits for it.
 */
import { DatabaseSync } from 'node:sqlite';
import type { AgentId, Millis } from '../domain/ids.ts';
import { ModelId, RoleName } from '../domain/ids.ts';
import type { Sample } from '../domain/plan/calibration.ts';
import type { Place } from './log-path.ts';
import { databaseOf, exists } from './log-path.ts';

/** Who it was: an agent teaches once, however often its run is resumed. */
export interface Lesson extends Sample {
  readonly agent: AgentId;
}

/** The newest that are kept: estimates follow how work is done now. */
const MOST = 2000;
/** So long another process may hold the database before this is given up. */
const PATIENCE: Millis = 250;

const TABLE = `
  CREATE TABLE IF NOT EXISTS learned (
    run TEXT NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL,
    tokens REAL NOT NULL, seconds REAL NOT NULL, cost REAL, PRIMARY KEY (run, agent)
  ) STRICT;
`;

/** All that was learned here, oldest first; nothing where there is no database, no table, or anything wrong with them. */
export function lessonsOf(place: Place): readonly Sample[] {
  return (
    within(place, { readOnly: true }, (database) => {
      const newest = 'SELECT * FROM (SELECT rowid AS at, * FROM learned ORDER BY rowid DESC LIMIT ?) ORDER BY at';
      return database.prepare(newest).all(MOST).flatMap(sampleOf);
    }) ?? []
  );
}

/** Keeps them, replacing what the same agents taught before; false where it could not be written. */
export function keepLessons(place: Place, lessons: readonly Lesson[]): boolean {
  // What is no figure would keep the others out as well.
  const sound = lessons.filter(({ tokens, seconds, cost }) => isShare(tokens) && isShare(seconds) && (cost ?? 1) > 0);
  if (sound.length === 0) return true;
  const kept = within(place, { readOnly: false }, (database) => {
    database.exec(`PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF; ${TABLE} BEGIN IMMEDIATE`);
    const insert = database.prepare('INSERT OR REPLACE INTO learned VALUES (?, ?, ?, ?, ?, ?, ?)');
    for (const { run, agent, role, model, tokens, seconds, cost } of sound) {
      insert.run(run, agent, role, model, tokens, seconds, cost);
    }
    database.prepare('DELETE FROM learned WHERE rowid <= (SELECT max(rowid) FROM learned) - ?').run(MOST);
    database.exec('COMMIT');
    return true;
  });
  return kept ?? false;
}

/** What `act` makes of the database; undefined where there is none, or SQLite refuses. A transaction that is open is undone. */
function within<T>(
  place: Place,
  how: { readonly readOnly: boolean },
  act: (database: DatabaseSync) => T,
): T | undefined {
  const file = databaseOf(place);
  try {
    if (!exists(file)) return undefined;
    const database = new DatabaseSync(file, { ...how, timeout: PATIENCE });
    try {
      return act(database);
    } finally {
      database.close();
    }
  } catch {
    // Whatever is wrong with the database, the log says it: estimates only do without.
    return undefined;
  }
}

/** Rows that another version wrote otherwise are left out. */
function sampleOf(row: Readonly<Record<string, unknown>>): readonly Sample[] {
  const [role, model] = [RoleName.safeParse(row['role']), ModelId.safeParse(row['model'])];
  const [run, tokens, seconds, cost] = [row['run'], row['tokens'], row['seconds'], row['cost']];
  if (!role.success || !model.success || typeof run !== 'string' || !isShare(tokens) || !isShare(seconds)) return [];
  return [{ run, role: role.data, model: model.data, tokens, seconds, cost: isShare(cost) ? cost : null }];
}

const isShare = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value > 0;
