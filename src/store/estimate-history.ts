/** The actual use of a project's agents compared with the estimates, in the database of its log. It is optional: errors are ignored, and nothing
 * waits for it. */
import type { DatabaseSync } from 'node:sqlite';
import { type AgentId, type Millis, ModelId, RoleName } from '../domain/ids.ts';
import type { Sample } from '../domain/plan/calibration.ts';
import { tried } from '../domain/result.ts';
import { databaseOf, exists, type Place, readFrom, writeTo } from './database.ts';

/** A sample of one agent; counted once, however often its run is resumed. */
export interface Lesson extends Sample {
  readonly agent: AgentId;
}

/** The number of samples to keep: estimates follow recent work. */
const MOST = 2000;
/** How long to wait for another process, in milliseconds. */
const PATIENCE: Millis = 250;

const TABLE = `
  CREATE TABLE IF NOT EXISTS learned (
    run TEXT NOT NULL, agent TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL,
    tokens REAL NOT NULL, seconds REAL NOT NULL, cost REAL, PRIMARY KEY (run, agent)
  ) STRICT;
`;

/** All samples of this project, oldest first; empty without a database or on any error. */
export function lessonsOf(place: Place): readonly Sample[] {
  const newest = 'SELECT * FROM (SELECT rowid AS at, * FROM learned ORDER BY rowid DESC LIMIT ?) ORDER BY at';
  const read = (database: DatabaseSync): readonly Sample[] => database.prepare(newest).all(MOST).flatMap(sampleOf);
  return tried(() => readFrom(databaseOf(place), read) ?? [], []);
}

/** Stores samples, replacing earlier ones of the same agents; false if they could not be written. */
export function keepLessons(place: Place, lessons: readonly Lesson[]): boolean {
  // An invalid sample would prevent the others from being written.
  const sound = lessons.filter(({ tokens, seconds, cost }) => isShare(tokens) && isShare(seconds) && (cost ?? 1) > 0);
  const write = (database: DatabaseSync): boolean => {
    database.exec(TABLE);
    const insert = database.prepare('INSERT OR REPLACE INTO learned VALUES (?, ?, ?, ?, ?, ?, ?)');
    for (const { run, agent, role, model, tokens, seconds, cost } of sound)
      insert.run(run, agent, role, model, tokens, seconds, cost);
    database.prepare('DELETE FROM learned WHERE rowid <= (SELECT max(rowid) FROM learned) - ?').run(MOST);
    return true;
  };
  const file = databaseOf(place);
  return sound.length === 0 || tried(() => exists(file) && writeTo(file, write, PATIENCE), false);
}

function sampleOf(row: Readonly<Record<string, unknown>>): readonly Sample[] {
  const [role, model] = [RoleName.safeParse(row['role']), ModelId.safeParse(row['model'])];
  const [run, tokens, seconds, cost] = [row['run'], row['tokens'], row['seconds'], row['cost']];
  if (!role.success || !model.success || typeof run !== 'string' || !isShare(tokens) || !isShare(seconds)) return [];
  return [{ run, role: role.data, model: model.data, tokens, seconds, cost: isShare(cost) ? cost : null }];
}

const isShare = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value > 0;
