/** The log of a run in the database: its process writes it in signed batches, before workers carry out what the events lead to, so that the run can be
 * continued on another machine. Each batch is signed with the signature of the one before, since every worker can write to the database. */
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { tried } from '../domain/result.ts';
import { ClusterFault, type Database } from './database.ts';
import { isSignedText, publicKeyOf, signText } from './step.ts';

/** Events that were appended at once as JSON values, with their time (ISO, UTC). What they mean is not known here. */
export type LogEntry = readonly [time: string, bodies: readonly unknown[]];

/** Events `first` to `last` of a run. */
export interface LogBatch {
  readonly run: string;
  readonly first: number;
  readonly last: number;
  readonly entries: readonly LogEntry[];
  readonly signature: string;
}

export interface LogWriter {
  /** Takes the events that follow those before. `prepare` is called before they are written. */
  append(entry: LogEntry, prepare?: () => Promise<void>): void;
  /** Resolves when all that was taken is in the database. Never does so once the run is over or another process writes its log. */
  written(): Promise<void>;
}

export interface LogOptions {
  readonly db: Database;
  readonly run: string;
  /** The name under which this process has registered the run. */
  readonly process: string;
  readonly key: KeyObject;
  /** The last batch that the database has. */
  readonly head: LogBatch | null;
  /** Carries out an access to the database until it takes it; rejects when the run is over. */
  readonly sure: <T>(act: () => Promise<T>) => Promise<T>;
  /** Another process has registered the run, and writes its log from now on. */
  readonly lost: () => void;
}

/** The most entries of one batch, and batches that are read at once. */
const [ENTRIES, BATCHES] = [200, 100];

/** Writes nothing once another process has registered the run. The same batch may be there, after an answer that was lost. */
const INSERT = `with mine as (select run from mimir.run where run = $1 and process = $8 for share)
  insert into mimir.event (run, first, last, body, key, before, signature) select run, $2, $3, $4, $5, $6, $7 from mine
  on conflict (run, first) do update set last = excluded.last where event.signature = excluded.signature`;

export function openLogWriter(options: LogOptions): LogWriter {
  const { db, run, process, key, sure } = options;
  const queue: { readonly entry: LogEntry; readonly prepare: (() => Promise<void>) | undefined }[] = [];
  let { last, signature: before } = options.head ?? { last: 0, signature: '' };
  const insert = async (entries: readonly LogEntry[]): Promise<void> => {
    const [first, body] = [last + 1, JSON.stringify(entries)];
    const count = entries.flatMap(([, bodies]) => bodies).length;
    const signature = signText(batchText(run, first, body, before), key);
    const values = [run, first, last + count, body, publicKeyOf(key), before, signature, process];
    if ((await sure(() => db.run(INSERT, values))) === 0) {
      options.lost();
      throw new ClusterFault('another process continues the run');
    }
    [last, before] = [last + count, signature];
  };
  const write = async (): Promise<void> => {
    // Removed only after they are written, so that nothing that comes meanwhile overtakes them.
    for (let some = queue.slice(0, ENTRIES); some.length > 0; some = queue.slice(0, ENTRIES)) {
      // One is enough for all: what it does is never older than the last of them.
      await some.findLast(({ prepare }) => prepare !== undefined)?.prepare?.();
      await insert(some.map(({ entry }) => entry));
      queue.splice(0, some.length);
    }
  };
  let writing = Promise.resolve();
  return {
    append(entry, prepare) {
      queue.push({ entry, prepare });
      // Nothing may follow what could not be written.
      writing = writing.then(write).catch(() => new Promise(() => undefined));
    },
    written: () => writing,
  };
}

const batchText = (run: string, first: number, body: string, before: string): string =>
  JSON.stringify(['log', run, first, body, before]);

const Row = z.object({
  xid: z.string(),
  run: z.string(),
  first: z.number(),
  last: z.number(),
  body: z.string(),
  key: z.string(),
  before: z.string(),
  signature: z.string(),
});
type Row = z.output<typeof Row>;
const Entries = z.array(z.tuple([z.string(), z.array(z.unknown())]));
const COLUMNS = 'xid::text as xid, run, first, last, body, key, before, signature';

/** The last batch of a run, as it stands there; null: it has none. */
export async function lastBatch(db: Database, run: string): Promise<LogBatch | null> {
  const text = `select ${COLUMNS} from mimir.event where run = $1 order by first desc limit 1`;
  const [row] = await db.rows(Row, text, [run]);
  return row === undefined ? null : batchOf(row);
}

const batchOf = ({ run, first, last, body, signature }: Row): LogBatch => ({
  run,
  first,
  last,
  entries: Entries.parse(JSON.parse(body)),
  signature,
});

/** Batches in the order in which their transactions were numbered. One that commits later may have a lower number: so only those below the oldest
 * transaction that still runs are read, and none is missed. One run has one writer at a time, so its own batches are read at once. */
const AFTER = `select ${COLUMNS} from mimir.event where (xid, run, first) > ($1::xid8, $2, $3)
  and (run = $4 or $4 is null and xid < pg_snapshot_xmin(pg_current_snapshot())) order by event.xid, run, first limit ${BATCHES}`;

export interface LogReader {
  /** What has come since the last call, at most a hundred batches; of each run in order and without a gap. */
  next(): Promise<readonly LogBatch[]>;
}

/** Reads the logs of the runs of these people, or one of them. Rejects with a `ClusterFault` where that one was changed by somebody else; among all, it
 * is left out. */
export function openLogReader(db: Database, people: readonly string[], run: string | null = null): LogReader {
  let at: readonly [xid: string, run: string, first: number] = ['0', '', 0];
  const ends = new Map<string, Row | null>();
  const isSound = (row: Row): boolean => {
    const end = ends.get(row.run);
    const follows = end === undefined ? row.first === 1 && row.before === '' : end !== null && isNext(end, row);
    return follows && people.includes(row.key) && hasContent(row);
  };
  return {
    async next() {
      for (;;) {
        const rows = await db.rows(Row, AFTER, [...at, run]);
        const last = rows.at(-1);
        if (last !== undefined) at = [last.xid, last.run, last.first];
        const sound = rows.filter((row) => {
          const isOne = isSound(row);
          if (!isOne && run !== null) throw new ClusterFault(changedText(run));
          ends.set(row.run, isOne ? row : null);
          return isOne;
        });
        // Those of others alone are not the end.
        if (sound.length > 0 || rows.length === 0) return sound.map(batchOf);
      }
    },
  };
}

const isNext = (end: Row, row: Row): boolean =>
  row.first === end.last + 1 && row.before === end.signature && row.key === end.key;

function hasContent({ run, first, last, body, key, before, signature }: Row): boolean {
  if (!isSignedText(batchText(run, first, body, before), key, signature)) return false;
  const entries = tried(() => Entries.parse(JSON.parse(body)), []);
  return first + entries.flatMap(([, bodies]) => bodies).length === last + 1;
}

const changedText = (run: string): string =>
  `the log of run ${run} in the database cannot be used: it was not signed by its person, or a part is missing\n  only runs of your own key and of \`cluster.people\` can be read: \`mimir cluster key\` prints the key of this machine`;
