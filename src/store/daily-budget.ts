/** What all runs of this person use in a day, on this machine: one SQLite database in the state directory for all projects.
 * A promise and the look at its limits are one transaction across processes; a promise that nobody settles stays charged.
 * The logs are the truth: a ledger that is gone, replaced or behind is made from them anew. Which limits there are is policy's. */
import { tried } from '../domain/result.ts';
import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { limitTokens } from '../domain/budget.ts';
import { CallId, fromMicro, type Millis, ModelId, SessionId, toMicro, type Usd } from '../domain/ids.ts';
import { entryHolds } from '../policy/index.ts';
import type { DayCall, DayLedger, DayLimit, DayOver } from '../ports/daily-budget.ts';
import { LogFault } from '../ports/log.ts';
import { orClose, readFrom, type Transaction, transactionsIn } from './database.ts';

/** How long to wait for another writing process, in milliseconds. */
const PATIENCE: Millis = 5000;
const KEPT_DAYS = 40;
const DAY: Millis = 86_400_000;

const TABLES = `
  CREATE TABLE IF NOT EXISTS calls (
    session TEXT NOT NULL, call TEXT NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL,
    tokens INTEGER NOT NULL, micro INTEGER NOT NULL, PRIMARY KEY (session, call)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS totals (
    day TEXT NOT NULL, model TEXT NOT NULL, tokens INTEGER NOT NULL, micro INTEGER NOT NULL, PRIMARY KEY (day, model)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS logs (name TEXT PRIMARY KEY, day TEXT NOT NULL, upto INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Opens or creates the ledger, private to its owner. `now` is the wall clock. Throws `LogFault`. */
export function openDayLedger(stateDir: string, now: () => Millis): DayLedger {
  const file = join(stateDir, 'days.db');
  return inOwnWords(file, () => new SqliteLedger(stateDir, file, now));
}

interface Sum {
  readonly tokens: number;
  readonly micro: number;
}

class SqliteLedger implements DayLedger {
  private readonly stateDir: string;
  private readonly file: string;
  private readonly now: () => Millis;
  private open: Opened;

  constructor(stateDir: string, file: string, now: () => Millis) {
    this.stateDir = stateDir;
    this.file = file;
    this.now = now;
    this.open = opened(stateDir, file, now());
    this.open.inOneStep(() => this.catchUp());
  }

  reserve(call: DayCall, limits: readonly DayLimit[]): DayOver | null {
    return this.whole(() => {
      const day = this.day();
      const asked = { tokens: whole(call.tokens), micro: whole(toMicro(call.cost)) };
      for (const limit of limits) {
        const matches = matcherOf(limit);
        const over = matches(call.model) ? overOf(limit, this.sum(day, matches), asked) : null;
        if (over !== null) return over;
      }
      this.open.statements.insert.run(call.session, call.call, day, call.model, asked.tokens, asked.micro);
      this.open.statements.add.run(day, call.model, asked.tokens, asked.micro);
      return null;
    });
  }

  settle({ session, call, tokens, cost }: Parameters<DayLedger['settle']>[0]): void {
    this.whole(() => this.put(session, call, { tokens, cost }));
  }

  today(matches?: (model: ModelId) => boolean): { readonly tokens: number; readonly cost: number } {
    return inOwnWords(this.file, () => {
      this.stillThere();
      const { tokens, micro } = this.sum(this.day(), matches ?? (() => true));
      return { tokens, cost: fromMicro(micro) };
    });
  }

  close(): void {
    this.open.database.close();
  }

  /** The local day, or a later one that was already charged: setting the clock back frees nothing. */
  private day(): string {
    const last = this.open.statements.last.get()?.['day'];
    const today = dayOf(this.now());
    return typeof last === 'string' && last > today ? last : today;
  }

  private sum(day: string, matches: (model: ModelId) => boolean): Sum {
    let [tokens, micro] = [0, 0];
    for (const row of this.open.statements.totals.all(day)) {
      if (!matches(ModelId.parse(row['model']))) continue;
      tokens += Number(row['tokens']);
      micro += Number(row['micro']);
    }
    return { tokens, micro };
  }

  /** Adds today's calls that only the logs have: after a lost ledger, a run without limits, or a killed process. */
  private catchUp(): void {
    const { insert, add, knownLog, keepLog } = this.open.statements;
    const day = dayOf(this.now());
    const from = new Date(this.now()).setHours(0, 0, 0, 0);
    const known = (name: string): number | undefined => {
      const upTo = knownLog.get(name, day)?.['upto'];
      return upTo === undefined ? undefined : Number(upTo);
    };
    for (const { name, upTo, calls } of logsSince(this.stateDir, from, known)) {
      for (const { session, call, model, tokens, cost } of calls) {
        if (model === null) this.put(session, call, { tokens, cost });
        else if (insert.run(session, call, day, model, whole(tokens), whole(toMicro(cost))).changes > 0)
          add.run(day, model, tokens, toMicro(cost));
      }
      keepLog.run(name, day, upTo);
    }
  }

  private put(session: SessionId, call: CallId, { tokens, cost }: { tokens: number; cost: Usd }): void {
    const row = this.open.statements.find.get(session, call);
    if (row === undefined) return;
    const spent = { tokens: whole(tokens), micro: whole(toMicro(cost)) };
    const more = { tokens: spent.tokens - Number(row['tokens']), micro: spent.micro - Number(row['micro']) };
    this.open.statements.update.run(spent.tokens, spent.micro, session, call);
    this.open.statements.add.run(String(row['day']), String(row['model']), more.tokens, more.micro);
  }

  /** Opens the file that stands in the place of the one that was open, if it was deleted or replaced. */
  private stillThere(): void {
    if (inodeOf(this.file) === this.open.inode) return;
    this.open.database.close();
    this.open = opened(this.stateDir, this.file, this.now());
    this.open.inOneStep(() => this.catchUp());
  }

  private whole<T>(act: () => T): T {
    return inOwnWords(this.file, () => {
      this.stillThere();
      return this.open.inOneStep(act);
    });
  }
}

/** The file that is open: another one may come to stand in its place. */
interface Opened {
  readonly database: DatabaseSync;
  readonly statements: ReturnType<typeof statementsOf>;
  /** Runs atomically with the exclusive right to write from its start. */
  readonly inOneStep: Transaction;
  readonly inode: number;
}

const inodeOf = (file: string): number => lstatSync(file, { throwIfNoEntry: false })?.ino ?? 0;

const statementsOf = (database: DatabaseSync) => ({
  insert: database.prepare('INSERT OR IGNORE INTO calls VALUES (?, ?, ?, ?, ?, ?)'),
  add: database.prepare(
    `INSERT INTO totals VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, micro = micro + excluded.micro`,
  ),
  find: database.prepare('SELECT day, model, tokens, micro FROM calls WHERE session = ? AND call = ?'),
  update: database.prepare('UPDATE calls SET tokens = ?, micro = ? WHERE session = ? AND call = ?'),
  totals: database.prepare('SELECT model, tokens, micro FROM totals WHERE day = ?'),
  last: database.prepare('SELECT max(day) AS day FROM totals'),
  knownLog: database.prepare('SELECT upto FROM logs WHERE name = ? AND day = ?'),
  keepLog: database.prepare('INSERT OR REPLACE INTO logs VALUES (?, ?, ?)'),
});

const matcherOf = ({ model }: DayLimit): ((id: ModelId) => boolean) =>
  model === null ? () => true : (id) => entryHolds({ pattern: model }, id);

function overOf(limit: DayLimit, used: Sum, asked: Sum): DayOver | null {
  const { maxTokens, maxCost } = limit.budget;
  if (maxTokens !== undefined && !(used.tokens + asked.tokens <= maxTokens))
    return { limit, what: 'tokens', spent: used.tokens, most: maxTokens };
  if (maxCost !== undefined && !(used.micro + asked.micro <= toMicro(maxCost)))
    return { limit, what: 'cost', spent: fromMicro(used.micro), most: maxCost };
  return null;
}

/** Rejects an amount that is not an exact count, which is a bug of the caller. */
function whole(amount: number): number {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new Error(`not a valid amount to charge: ${amount}`);
  return amount;
}

function dayOf(now: Millis): string {
  const at = new Date(now);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function opened(stateDir: string, file: string, now: Millis): Opened {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  closeSync(openSync(file, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600));
  checkPrivate(file);
  const database = new DatabaseSync(file, { timeout: PATIENCE });
  return orClose(database, () => {
    database.exec('PRAGMA journal_mode = WAL');
    // A crash of the machine may lose the last reservations, a crash of the process never does.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF');
    database.exec(TABLES);
    database.prepare('DELETE FROM calls WHERE day < ?').run(dayOf(now - KEPT_DAYS * DAY));
    const { onDisk: inOneStep } = transactionsIn(database);
    return { database, statements: statementsOf(database), inOneStep, inode: inodeOf(file) };
  });
}

function checkPrivate(file: string): void {
  const { mode, uid } = lstatSync(file);
  const own = process.getuid?.();
  if ((own !== undefined && uid !== own) || (mode & 0o077) !== 0)
    throw new LogFault(`${file} is accessible to other users: make yourself its owner with mode 0600, or remove it`);
}

/** What `act` returns; an error of SQLite's or the system's as a `LogFault` that says what to do. */
function inOwnWords<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LogFault || !(error instanceof Error) || !('code' in error)) throw error;
    const text = `the record of the daily budget, ${file}, cannot be written: ${error.message}`;
    throw new LogFault(`${text}\n  no model is called without it; check the disk, or remove the daily limits`, {
      cause: error,
    });
  }
}

// What the logs of all projects say of a day: calls of models that began, and what they used. The ledger of the day is made
// from them where it is gone or behind; they are only read.

/** An entry of a log about a call: that it started, or what it used. */
interface Logged {
  readonly session: SessionId;
  readonly call: CallId;
  /** Set for the start of a call: tokens and cost are then its reservation. */
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

interface LogOfDay {
  /** The project's folder in the state directory. */
  readonly name: string;
  /** The last row that `calls` covers. */
  readonly upTo: number;
  /** In log order. */
  readonly calls: readonly Logged[];
}

/** The calls since `from`, of each log that has changed since. `known` returns the row up to which the caller has read a log. An unreadable log is
 * skipped; the commands that use it report it. */
const logsSince = (stateDir: string, from: Millis, known: (name: string) => number | undefined): readonly LogOfDay[] =>
  tried(() => readdirSync(join(stateDir, 'projects')).toSorted(), []).flatMap((name): readonly LogOfDay[] => {
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

const logSince = (file: string, from: string, known: number | undefined): Omit<LogOfDay, 'name'> | null =>
  readFrom(file, (database) => {
    const upTo = Number(database.prepare('SELECT max(rowid) AS last FROM events').get()?.['last'] ?? 0);
    // A log with fewer rows than were read has been replaced.
    const after = known !== undefined && known <= upTo ? known : 0;
    // Only the content of relevant rows is parsed: most of a log is tool output.
    const rows = database.prepare(ROWS);
    const calls: Logged[] = [];
    for (const row of rows.iterate(after, upTo)) {
      if (String(row['time']) < from) break;
      if (row['call'] !== null) calls.push(...loggedIn(row));
    }
    return { upTo, calls: calls.toReversed() };
  });

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

const hasChanged = (file: string, from: Millis): boolean =>
  ['', '-wal'].some((end) => (statSync(file + end, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= from);
