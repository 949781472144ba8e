/**
 * What all runs of this person use in a day, on this machine: one SQLite database in the state directory for all projects.
 * A promise and the look at its limits are one transaction across processes; a promise that nobody settles stays charged.
 * The logs are the truth: a ledger that is gone, replaced or behind is made from them anew. Which limits there are is policy's.
 */
import { closeSync, constants, lstatSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CallId, Millis, ModelId, SessionId, Usd } from '../domain/ids.ts';
import { fromMicro, ModelId as ModelIdOf, toMicro } from '../domain/ids.ts';
import { entryHolds } from '../policy/models.ts';
import type { DayCall, DayLedger, DayLimit, DayOver } from '../ports/daily-budget.ts';
import { LogFault } from '../ports/log.ts';
import { logsSince } from './day-logs.ts';

/** Milliseconds to wait for another process that is writing. */
const PATIENCE: Millis = 5000;
/** Days that calls are remembered for. */
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

/** Opens the ledger, or makes it, private to its owner. `now`: the wall clock. Throws `LogFault`. */
export function openDayLedger(stateDir: string, now: () => Millis): DayLedger {
  const file = join(stateDir, 'days.db');
  return inWords(file, () => new SqliteLedger(stateDir, file, now));
}

interface Sum {
  readonly tokens: number;
  readonly micro: number;
}

class SqliteLedger implements DayLedger {
  private readonly stateDir: string;
  private readonly file: string;
  private readonly now: () => Millis;
  private database: DatabaseSync;
  private statements: ReturnType<typeof statementsOf>;
  /** The file that is open: another one may come to stand in its place. */
  private inode: number;

  constructor(stateDir: string, file: string, now: () => Millis) {
    this.stateDir = stateDir;
    this.file = file;
    this.now = now;
    this.database = opened(stateDir, file, now());
    this.statements = statementsOf(this.database);
    this.inode = inodeOf(file);
    this.inOneStep(() => this.catchUp());
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
      this.statements.insert.run(call.session, call.call, day, call.model, asked.tokens, asked.micro);
      this.statements.add.run(day, call.model, asked.tokens, asked.micro);
      return null;
    });
  }

  settle({ session, call, tokens, cost }: Parameters<DayLedger['settle']>[0]): void {
    this.whole(() => {
      this.put(session, call, { tokens, cost });
    });
  }

  today(matches?: (model: ModelId) => boolean): { readonly tokens: number; readonly cost: number } {
    return inWords(this.file, () => {
      this.stillThere();
      const { tokens, micro } = this.sum(this.day(), matches ?? (() => true));
      return { tokens, cost: fromMicro(micro) };
    });
  }

  close(): void {
    this.database.close();
  }

  /** The local day, or the last one that anything was charged to: a clock that goes back makes nothing free again. */
  private day(): string {
    const last = this.statements.last.get()?.['day'];
    const today = dayOf(this.now());
    return typeof last === 'string' && last > today ? last : today;
  }

  private sum(day: string, matches: (model: ModelId) => boolean): Sum {
    let [tokens, micro] = [0, 0];
    for (const row of this.statements.totals.all(day)) {
      if (!matches(ModelIdOf.parse(row['model']))) continue;
      tokens += Number(row['tokens']);
      micro += Number(row['micro']);
    }
    return { tokens, micro };
  }

  /** The calls of today that only the logs know: of a ledger that was lost, of a run without limits, of a process that was killed. */
  private catchUp(): void {
    const { insert, add, knownLog, keepLog } = this.statements;
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
    const row = this.statements.find.get(session, call);
    if (row === undefined) return;
    const spent = { tokens: whole(tokens), micro: whole(toMicro(cost)) };
    const more = { tokens: spent.tokens - Number(row['tokens']), micro: spent.micro - Number(row['micro']) };
    this.statements.update.run(spent.tokens, spent.micro, session, call);
    this.statements.add.run(String(row['day']), String(row['model']), more.tokens, more.micro);
  }

  /** Opens the file that stands in the place of the one that was open, if it was deleted or replaced. */
  private stillThere(): void {
    if (inodeOf(this.file) === this.inode) return;
    this.database.close();
    this.database = opened(this.stateDir, this.file, this.now());
    this.statements = statementsOf(this.database);
    this.inode = inodeOf(this.file);
    this.inOneStep(() => this.catchUp());
  }

  private whole<T>(act: () => T): T {
    return inWords(this.file, () => {
      this.stillThere();
      return this.inOneStep(act);
    });
  }

  /** Whole or not at all, holding the only right to write from its start. */
  private inOneStep<T>(act: () => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const value = act();
      this.database.exec('COMMIT');
      return value;
    } catch (error) {
      // A full disk has already undone it.
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }
}

const inodeOf = (file: string): number => lstatSync(file, { throwIfNoEntry: false })?.ino ?? 0;

function statementsOf(database: DatabaseSync): {
  readonly [K in 'insert' | 'add' | 'find' | 'update' | 'totals' | 'last' | 'knownLog' | 'keepLog']: ReturnType<
    DatabaseSync['prepare']
  >;
} {
  return {
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
  };
}

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

/** What can't be counted exactly is a bug of who counted: it never gets as far as the table. */
function whole(amount: number): number {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new Error(`not an amount to be charged: ${amount}`);
  return amount;
}

/** `2026-01-31`, by the clock on the wall where this runs. */
function dayOf(now: Millis): string {
  const at = new Date(now);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function opened(stateDir: string, file: string, now: Millis): DatabaseSync {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  closeSync(openSync(file, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600));
  checkPrivate(file);
  const database = new DatabaseSync(file, { timeout: PATIENCE });
  try {
    database.exec('PRAGMA journal_mode = WAL');
    // A crash of the machine may take back the last promises, never a crash of a process.
    database.exec('PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF');
    database.exec(TABLES);
    const oldest = dayOf(now - KEPT_DAYS * DAY);
    database.prepare('DELETE FROM calls WHERE day < ?').run(oldest);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function checkPrivate(file: string): void {
  const { mode, uid } = lstatSync(file);
  const own = process.getuid?.();
  if ((own !== undefined && uid !== own) || (mode & 0o077) !== 0)
    throw new LogFault(
      `${file} can be reached by others: it must belong to you with rights 0600; remove or correct it`,
    );
}

/** What `act` returns; an error of SQLite's or the system's as a `LogFault` that says what to do. */
function inWords<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof LogFault || !(error instanceof Error) || !('code' in error)) throw error;
    const text = `the record of what a day may use, ${file}, can't be written: ${error.message}`;
    throw new LogFault(`${text}\n  no model is called without it; check the disk, or take the limits of the day away`, {
      cause: error,
    });
  }
}
