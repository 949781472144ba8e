/** Who works: each worker holds a lease in the database and a lock of its own connection. The workflows of a worker that has lost them are taken
 * over by the others. The engine's owner token keeps a worker that was judged wrongly from recording anything. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { z } from 'zod';
import { type Database, databaseText, holdSession } from './database.ts';

/** A worker renews its lease this often; it lasts four times as long. */
const RENEW_MS = 2000;
const LEASE = `interval '8 seconds'`;
/** Without a renewal for so long, a worker ends its own steps, before others may take them over. */
const GIVE_UP_MS = 6000;
/** How long after an outage nobody is judged. */
const GRACE_MS = 4000;
/** A worker whose lock is free has died if it has missed a renewal as well. */
const MISSED = `interval '3 seconds'`;

/** A worker as it registers; `facts` (JSON) is shown and compared, but not interpreted here. */
export interface WorkerRow {
  readonly id: string;
  readonly pool: string;
  readonly host: string;
  readonly pid: number;
  readonly slots: number;
  readonly version: string;
  readonly facts: string;
}

const Row = z.object({
  id: z.string(),
  pool: z.string(),
  host: z.string(),
  pid: z.number(),
  slots: z.number(),
  version: z.string(),
  facts: z.string(),
  state: z.enum(['live', 'draining']),
  /** How many agents it works for, and which: `RUN/AGENT`. */
  agents: z.coerce.number(),
  works: z.array(z.string()),
  /** Milliseconds since its last sign of life. */
  silent: z.coerce.number(),
});

/** A worker whose lease has not ended. `silent`: milliseconds since its last sign of life. */
export type Worker = z.output<typeof Row>;

/** The workers with a lease, by pool and start. */
export const workersIn = (db: Database): Promise<Worker[]> =>
  db.rows(
    Row,
    `select id, pool, host, pid, slots, version, facts, state,
      cardinality(works) as agents, works, extract(epoch from clock_timestamp() - renewed) * 1000 as silent
     from mimir.worker w cross join lateral (
       select array(
         select regexp_replace(s.workflow_uuid, '/[^/]*$', '') from mimir_dbos.workflow_status s
         where s.executor_id = w.id and s.status = 'PENDING' order by s.created_at) as works) as of
     where state in ('live', 'draining') and lease > clock_timestamp() order by pool, started`,
  );

/** Whether the process of a run is there, as SQL. */
export const IS_ALIVE = `run.process is not null and run.seen > clock_timestamp() - interval '30 seconds'`;

const RunRow = z.object({
  run: z.string(),
  key: z.string(),
  /** Of its process, or of the last one that it had. */
  host: z.string(),
  alive: z.boolean(),
  seconds: z.coerce.number(),
});

/** Runs whose processes are there, and those that can be continued, oldest first. `seconds`: since its start. */
export const runsIn = (db: Database): Promise<z.output<typeof RunRow>[]> =>
  db.rows(
    RunRow,
    `select run, key, host, ${IS_ALIVE} as alive, extract(epoch from clock_timestamp() - started) as seconds from mimir.run
     where ${IS_ALIVE} or not ended and exists (select from mimir.event where event.run = run.run) order by started`,
  );

/** That a run has a process, and how to reach it. */
export const runsText = (run: string, host: string): string =>
  `run ${run} runs on ${host}\n  \`mimir attach ${run} --cluster\` shows it`;

/** Takes the run from a process that is lost, which writes its log no more. False: it is there. */
export const releaseRun = async (db: Database, run: string): Promise<boolean> =>
  (await db.run(`update mimir.run set process = null where run = $1 and not (${IS_ALIVE})`, [run])) > 0;

/** Agents that no worker has begun with yet, by pool. */
export const queuedIn = (db: Database): Promise<{ queue: string; agents: number }[]> =>
  db.rows(
    z.object({ queue: z.string(), agents: z.coerce.number() }),
    `select queue_name as queue, count(*) as agents from mimir_dbos.workflow_status
     where status = 'ENQUEUED' and queue_name like 'agents.%' group by queue_name order by queue_name`,
  );

/** Tells a worker to end its steps, hand its agents over and end. False: there is no such worker. */
export const drainWorker = async (db: Database, id: string): Promise<boolean> =>
  (await db.run(`update mimir.worker set state = 'draining' where id = $1 and state in ('live', 'draining')`, [id])) >
  0;

export interface Lease {
  /** Aborted when others may take over: everything that was begun has to end. */
  readonly lost: AbortSignal;
  /** False as soon as others may have taken over, also just after this process stood still. */
  holds(): boolean;
  /** Gives the lease back, so that others take over at once what is not finished. */
  end(): Promise<void>;
  /** Frees the lock of a lease that was lost. */
  unlock(): void;
}

export interface LeaseEvents {
  draining(): void;
  /** The database did not answer, or answers again (null). */
  trouble(text: string | null): void;
  /** Agents of the worker `from` were taken over. */
  tookOver(from: string, agents: number): void;
}

/** Registers the worker and keeps its lease; also looks for workers that have lost theirs. Rejects with a `ClusterFault`. */
export async function holdLease(db: Database, worker: WorkerRow, on: LeaseEvents): Promise<Lease> {
  const { id, pool, host, pid, slots, version, facts } = worker;
  await db.run(
    `insert into mimir.worker (id, pool, host, pid, slots, version, facts, state, lease)
     values ($1, $2, $3, $4, $5, $6, $7, 'live', clock_timestamp() + ${LEASE})`,
    [id, pool, host, pid, slots, version, facts],
  );
  const lost = new AbortController();
  // It ends with this process. A pooler without sessions may not keep it: then only the lease counts.
  const unlock = holdSession(db.url, `select pg_advisory_lock(${keyOf(id)})`);
  let last = performance.now();
  // Since when the database has answered without a break; at first, it is taken to have done so for long.
  let since = last - GRACE_MS;
  let isInTrouble = false;
  const renew = async (): Promise<void> => {
    try {
      const [row] = await db.rows(
        z.object({ state: z.string() }),
        `update mimir.worker set renewed = clock_timestamp(), lease = clock_timestamp() + ${LEASE}
         where id = $1 and state in ('live', 'draining') and lease > clock_timestamp() returning state`,
        [id],
      );
      if (row === undefined) return lost.abort('its lease was lost');
      last = performance.now();
      if (isInTrouble) {
        isInTrouble = false;
        since = last;
        on.trouble(null);
      }
      if (row.state === 'draining') on.draining();
      // After an outage everybody has missed a renewal: nobody is judged before all had the time to come back.
      if (last - since >= GRACE_MS) await takeOver(db, id, pool, on);
    } catch (error) {
      if (!isInTrouble) on.trouble(databaseText(error));
      isInTrouble = true;
    }
  };
  let renewing = Promise.resolve();
  const holds = (): boolean => !lost.signal.aborted && performance.now() - last <= GIVE_UP_MS;
  const timer = setInterval(() => {
    if (!holds()) lost.abort('the database did not answer');
    if (!lost.signal.aborted) renewing = renewing.then(renew);
  }, RENEW_MS);
  lost.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    lost: lost.signal,
    holds,
    unlock,
    async end() {
      clearInterval(timer);
      await renewing;
      await db.run(`update mimir.worker set state = 'ended', lease = clock_timestamp() where id = $1`, [id]);
      unlock();
    },
  };
}

const keyOf = (id: string): string => `hashtextextended('mimir worker ' || '${id.replaceAll("'", '')}', 0)`;
const Lost = z.object({ id: z.string(), pool: z.string() });

/** Takes over the workflows of workers that are gone: their lease has ended, or they have missed a renewal and their lock is free. */
async function takeOver(db: Database, own: string, pool: string, on: LeaseEvents): Promise<void> {
  const gone = await db.rows(
    Lost,
    `select id, pool from mimir.worker where state <> 'gone' and id <> $1 and pool = $2
       and pg_postmaster_start_time() < clock_timestamp() - interval '${GRACE_MS} milliseconds' and (lease < clock_timestamp() or
       (renewed < clock_timestamp() - ${MISSED} and not exists (
         select 1 from pg_locks l where l.locktype = 'advisory' and l.granted
           and ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended('mimir worker ' || mimir.worker.id, 0))))`,
    [own, pool],
  );
  for (const one of gone) {
    // Marked only when the workflows are resumed: one that resumes and dies in between is followed by another.
    const left = await DBOS.listWorkflows({
      executorId: one.id,
      status: 'PENDING',
      loadInput: false,
      loadOutput: false,
    });
    const ids = left.map(({ workflowID }) => workflowID);
    const queueName = queueOf(one.pool);
    if (ids.length > 0) await DBOS.resumeWorkflows(ids, { queueName });
    await db.run(`update mimir.worker set state = 'gone' where id = $1`, [one.id]);
    if (ids.length > 0) on.tookOver(one.id, ids.length);
  }
}

/** The queue of the agents of a pool. */
export const queueOf = (pool: string): string => `agents.${pool}`;
