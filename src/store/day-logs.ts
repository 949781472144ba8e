/**
 * What the logs of all projects say of a day: calls of models that began, and what they used. The ledger of the day is made
 * from them where it is gone or behind; they are only read.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SQLOutputValue } from 'node:sqlite';
import { limitTokens } from '../domain/budget.ts';
import type { Millis, Usd } from '../domain/ids.ts';
import { CallId, ModelId, SessionId } from '../domain/ids.ts';
import { LogFault } from '../ports/log.ts';
import { inWords, openToRead, orClose } from './database.ts';
import { exists } from './log-path.ts';

/** One thing that a log says of a call: that it began, or what it used. */
export interface Logged {
  readonly session: SessionId;
  readonly call: CallId;
  /** Set where the call began: the tokens and the cost are what was reserved for it. */
  readonly model: ModelId | null;
  readonly tokens: number;
  readonly cost: Usd;
}

type Columns = Readonly<Record<string, SQLOutputValue>>;

const FIELDS = {
  call: 'call',
  model: 'model',
  tokens: 'reserved.tokens',
  promised: 'reserved.cost',
  input: 'usage.input',
  output: 'usage.output',
  read: 'usage.cacheRead',
  written: 'usage.cacheWrite',
  cost: 'cost',
};

const ROWS = `
  SELECT session, time, type, ${Object.entries(FIELDS)
    .map(([name, path]) => `CASE WHEN wanted THEN data ->> '$.${path}' END AS ${name}`)
    .join(', ')}
  FROM (SELECT *, rowid AS id, type IN ('model.started', 'model.finished', 'model.failed') AS wanted FROM events)
  WHERE id > ? AND id <= ? ORDER BY id DESC`;

export interface LogOfDay {
  /** The folder of the project in the state directory. */
  readonly name: string;
  /** The row up to which `calls` tells everything. */
  readonly upTo: number;
  /** In the order of the log. */
  readonly calls: readonly Logged[];
}

/**
 * The calls since the moment `from`, of each log that has changed since. `known`: the row that a caller has read up to, by name of
 * the log. A log that can't be read is left out: it is told of where it is used.
 */
export function logsSince(
  stateDir: string,
  from: Millis,
  known: (name: string) => number | undefined,
): readonly LogOfDay[] {
  return namesIn(join(stateDir, 'projects')).flatMap((name): readonly LogOfDay[] => {
    const file = join(stateDir, 'projects', name, 'log.db');
    if (!hasChanged(file, from)) return [];
    try {
      const log = logSince(file, new Date(from).toISOString(), known(name));
      return log === null ? [] : [{ name, ...log }];
    } catch (error) {
      if (error instanceof LogFault) return [];
      throw error;
    }
  });
}

function logSince(file: string, from: string, known: number | undefined): Omit<LogOfDay, 'name'> | null {
  const database = exists(file) ? openToRead(file) : null;
  if (database === null) return null;
  return inWords(file, () =>
    orClose(database, () => {
      const upTo = Number(database.prepare('SELECT max(rowid) AS last FROM events').get()?.['last'] ?? 0);
      // A log with fewer rows than were read is another one.
      const after = known !== undefined && known <= upTo ? known : 0;
      // The content is only looked at in the rows that are wanted: most of a log is what tools gave.
      const rows = database.prepare(ROWS);
      const calls: Logged[] = [];
      for (const row of rows.iterate(after, upTo)) {
        if (String(row['time']) < from) break;
        if (row['call'] !== null) calls.push(...loggedIn(row));
      }
      database.close();
      return { upTo, calls: calls.toReversed() };
    }),
  );
}

function loggedIn(row: Columns): readonly Logged[] {
  const session = SessionId.safeParse(row['session']).data;
  const call = CallId.safeParse(row['call']).data;
  if (session === undefined || call === undefined) return [];
  const number = (name: string): number => Number(row[name] ?? 0);
  if (row['type'] === 'model.started') {
    const model = ModelId.safeParse(row['model']).data;
    return model === undefined ? [] : [{ session, call, model, tokens: number('tokens'), cost: number('promised') }];
  }
  const [input, output, cacheRead, cacheWrite] = [number('input'), number('output'), number('read'), number('written')];
  const tokens = limitTokens({ input, output, cacheRead, cacheWrite });
  return [{ session, call, model: null, tokens, cost: number('cost') }];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** Is there something in it that was written since? */
const hasChanged = (file: string, from: Millis): boolean =>
  ['', '-wal'].some((end) => (statSync(file + end, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= from);
