/** A run's side of the cluster: gives steps of its agents to the workers of a pool and waits for their results. The workflow of an agent is begun
 * with its first step, and again after it has ended because nothing was to do. */
import type { KeyObject } from 'node:crypto';
import { DBOSClient } from '@dbos-inc/dbos-sdk';
import { z } from 'zod';
import { fail, messageOf, ok, type Result } from '../domain/result.ts';
import { ClusterFault, type Database, databaseText, ENGINE_NAME, engineOn } from './database.ts';
import { IS_ALIVE, queueOf, runsIn, runsText } from './liveness.ts';
import { type LogOptions, type LogWriter, openLogWriter } from './log.ts';
import { type AgentOrder, type Message, publicKeyOf, signed, type Step, StepResult, workflowId } from './step.ts';
import { openStore, repeating, type SharedStore } from './store.ts';

export interface ClusterOptions {
  readonly db: Database;
  readonly pool: string;
  readonly version: string;
  readonly run: string;
  /** Another name for each process that continues the run. */
  readonly process: string;
  readonly key: KeyObject;
  /** The machine of the run, as people read it, and a name of the project's folder there. */
  readonly host: string;
  readonly place: string;
  readonly log: Pick<LogOptions, 'head' | 'lost'>;
  /** Told when the database does not answer, and when it does again (null). */
  readonly trouble: (text: string | null) => void;
}

export interface Cluster {
  /** As with steps, it waits as long as the database does not answer. */
  readonly store: SharedStore;
  readonly log: LogWriter;
  /**
   * Has the step carried out by a worker; `parts` is the content that its body refers to. Aborting `signal` tells the worker to end it; resolves with null where that had no result in time.
   * Waits as long as no worker or no database is there. Rejects only on a bug. */
  perform(
    agent: string,
    step: Omit<Step, 'parts'> & { readonly parts: readonly string[] },
    signal: AbortSignal,
    onLive: (text: string) => void,
  ): Promise<StepResult | null>;
  /** Ends the agent's workflow: it has no further step. */
  ended(agent: string): Promise<void>;
  /** Forgets what the run has left in the database, except for its log; if it `goesOn`, all that is needed to continue it stays. */
  close(goesOn: boolean): Promise<void>;
}

interface Waiting {
  readonly agent: string;
  /** Aborted: it was stopped, so that it is not begun again. */
  readonly signal: AbortSignal;
  readonly resolve: (result: StepResult) => void;
  readonly onLive: (text: string) => void;
  readonly message: Message;
}

interface OpenAgent {
  readonly order: AgentOrder;
  attempt: number;
  begun: boolean;
}

/** How often results are looked for that no notification has told, and workflows that have ended. */
const LOOK_MS = 2000;
const AGAIN_MS = 500;
/** How long content and records are kept that no run uses any more. */
const KEPT_DAYS = 7;
/** How often the run tells that it is there. */
const SEEN_MS = 10_000;
/** How long a stopped step may take to tell what it has done: within the two seconds that an agent has to end. */
const STOP_MS = 1500;
/** How long the end of a run may wait for its last events and its project to be in the database. */
const LAST_MS = 5000;

/** The tables of what only the process of a run uses, and of its trees. */
const OF_PROCESS = ['result', 'begun', 'line'] as const;
const OF_TREES = ['tree', 'place'] as const;
const Result = z.object({ step: z.string(), body: z.string() });

/** Opens the run's side. Rejects with a `ClusterFault`. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const client = await DBOSClient.create({ ...engineOn(options.db), applicationName: ENGINE_NAME });
  const cluster = new RunCluster(options, client);
  try {
    await cluster.register();
    return cluster;
  } catch (error) {
    await cluster.close(true);
    throw error instanceof ClusterFault ? error : new ClusterFault(databaseText(error));
  }
}

class RunCluster implements Cluster {
  readonly store: SharedStore;
  readonly log: LogWriter;
  private readonly options: ClusterOptions;
  private readonly client: DBOSClient;
  private readonly waiting = new Map<string, Waiting>();
  private readonly agents = new Map<string, OpenAgent>();
  private readonly ends: (() => void)[];
  private readonly over = new AbortController();
  /** `steps`: why a worker cannot record what it has done. */
  private beginning: Promise<void> | null = null;
  private troubles: Readonly<Record<'database' | 'steps' | 'workers', string | null>> = {
    database: null,
    steps: null,
    workers: null,
  };
  private told: string | null = null;
  private looking: 'no' | 'once' | 'again' = 'no';
  private isRegistered = false;

  constructor(options: ClusterOptions, client: DBOSClient) {
    const { db, run, process, key, log } = options;
    this.options = options;
    this.client = client;
    this.store = repeating(openStore(db), (act) => this.sure(act));
    this.log = openLogWriter({ db, run, process, key, ...log, sure: (act) => this.sure(act) });
    const look = (): void => this.look();
    const timer = setInterval(look, LOOK_MS);
    const seen = setInterval(() => void this.keepRegistered().catch(() => undefined), SEEN_MS);
    this.ends = [
      () => clearInterval(timer),
      () => clearInterval(seen),
      db.listen('mimir_result', (told) => (told.startsWith(`${run} `) ? look() : undefined), look),
      db.listen('mimir_live', (payload) => this.live(payload)),
      db.listen('mimir_trouble', (text) => (this.waiting.size > 0 ? this.report({ steps: text }) : undefined)),
    ];
  }

  async perform(
    agent: string,
    { parts, ...step }: Parameters<Cluster['perform']>[1],
    signal: AbortSignal,
    onLive: (text: string) => void,
  ): Promise<StepResult | null> {
    if (signal.aborted) return null;
    const done = Promise.withResolvers<StepResult | null>();
    const one = this.agentOf(agent);
    const send = async (): Promise<void> => {
      const ids = await this.patiently(() => Promise.all(parts.map((part) => this.store.keep(part))), signal);
      if (ids === null || signal.aborted) return done.resolve(null);
      const message = signed({ ...step, parts: ids }, this.options.run, this.options.key);
      this.waiting.set(step.id, { agent, signal, resolve: done.resolve, onLive, message });
      await this.patiently(() => this.begin(one).then(() => this.sendTo(one, message)), signal);
    };
    const sent = send();
    const stop = (): void => {
      // What is on its way may arrive: the stop follows it.
      if (this.waiting.has(step.id))
        void sent.then(() => (one.begun ? this.patiently(() => this.sendTo(one, { is: 'stop', id: step.id })) : null));
      setTimeout(() => done.resolve(null), STOP_MS);
    };
    signal.addEventListener('abort', stop, { once: true });
    const leave = (): void => done.resolve(null);
    this.over.signal.addEventListener('abort', leave, { once: true });
    try {
      // Both: a fault of the first is thrown, and the second ends also while the first waits for the database.
      return await Promise.race([sent.then(() => done.promise), done.promise]);
    } finally {
      signal.removeEventListener('abort', stop);
      this.over.signal.removeEventListener('abort', leave);
      this.waiting.delete(step.id);
    }
  }

  async ended(agent: string): Promise<void> {
    const one = this.agents.get(agent);
    if (one?.begun !== true) return;
    await this.patiently(() => this.sendTo(one, { is: 'end' }));
    // A message may revive the agent: then its next step begins another workflow.
    one.begun = false;
    one.attempt += 1;
  }

  async close(goesOn: boolean): Promise<void> {
    if (this.over.signal.aborted) return;
    const ends = Promise.all([...this.agents.keys()].map((agent) => this.ended(agent)));
    await Promise.race([ends, afterMs(STOP_MS)]);
    if (this.troubles.database === null) await Promise.race([this.log.written(), afterMs(LAST_MS)]);
    this.over.abort();
    for (const end of this.ends) end();
    // What stays because the database is away is removed a week later.
    if (this.isRegistered && this.troubles.database === null) await this.forget(goesOn).catch(() => undefined);
    await this.client.destroy();
  }

  private async forget(goesOn: boolean): Promise<void> {
    const { db, run, process } = this.options;
    const leave = 'update mimir.run set process = null, ended = $3 where run = $1 and process = $2';
    // Not what another process has, that continues the run.
    if ((await db.run(leave, [run, process, !goesOn])) === 0) return;
    for (const table of goesOn ? OF_PROCESS : [...OF_PROCESS, ...OF_TREES])
      await db.run(`delete from mimir.${table} where run = $1`, [run]);
    await this.cleanUp();
  }

  /** Removes what runs and workers have left long ago, a part of it each time. */
  private async cleanUp(): Promise<void> {
    const { db } = this.options;
    const old = `clock_timestamp() - interval '${KEPT_DAYS} days'`;
    for (const table of [...OF_PROCESS, ...OF_TREES, 'event', 'run'])
      await db.run(`delete from mimir.${table} where run in (select run from mimir.run where seen < ${old})`);
    await db.run(`delete from mimir.worker where state in ('gone', 'ended') and renewed < ${old}`);
    const used = 'select pack from mimir.tree union all select unnest(packs) from mimir.place';
    await db.run(`delete from mimir.blob where used < ${old} and id not in (${used})`);
    const completedBefore = new Date(Date.now() - KEPT_DAYS * 86_400_000).toISOString();
    const ended = await this.client.listWorkflows({ completedBefore, limit: 500, loadInput: false, loadOutput: false });
    if (ended.length > 0) await this.client.deleteWorkflows(ended.map(({ workflowID }) => workflowID));
  }

  private agentOf(agent: string): OpenAgent {
    const known = this.agents.get(agent);
    if (known !== undefined) return known;
    const { run, process } = this.options;
    const fresh = { order: { run, agent, process }, attempt: 1, begun: false };
    this.agents.set(agent, fresh);
    return fresh;
  }

  /** Begins the agent's workflow where it has none. */
  private async begin(one: OpenAgent): Promise<void> {
    if (one.begun) return;
    const { pool, version } = this.options;
    const workflowID = workflowId(one.order, one.attempt);
    const named = { workflowName: 'agent', queueName: queueOf(pool), workflowID, appVersion: version };
    await this.client.enqueue(named, one.order);
    one.begun = true;
  }

  /** Registers the run, and ends the workflows that an earlier process of it has left. */
  async register(): Promise<void> {
    const { db, run, key, host, place, process } = this.options;
    const register = `insert into mimir.run (run, key, host, place, process) values ($1, $2, $3, $4, $5)
      on conflict (run) do update set host = excluded.host, place = excluded.place, process = excluded.process, seen = clock_timestamp(), ended = false
      where run.key = excluded.key and (run.place = excluded.place or not (${IS_ALIVE}))`;
    this.isRegistered = (await db.run(register, [run, publicKeyOf(key), host, place, process])) > 0;
    if (!this.isRegistered) throw new ClusterFault(await whyNotRegistered(db, run, publicKeyOf(key)));
    const status: ('PENDING' | 'ENQUEUED')[] = ['PENDING', 'ENQUEUED'];
    const left = await this.client.listWorkflows({
      workflow_id_prefix: `${this.options.run}/`,
      status,
      loadInput: false,
      loadOutput: false,
    });
    if (left.length > 0) await this.client.cancelWorkflows(left.map(({ workflowID }) => workflowID));
  }

  private async keepRegistered(): Promise<void> {
    const { db, run, process } = this.options;
    const seen = 'update mimir.run set seen = clock_timestamp() where run = $1 and process = $2';
    if ((await db.run(seen, [run, process])) === 0 && !this.over.signal.aborted) this.options.log.lost();
  }

  private sendTo(one: OpenAgent, message: Message): Promise<void> {
    const id = workflowId(one.order, one.attempt);
    const key = message.is === 'end' ? `${id} end` : `${id} ${message.is} ${message.id}`;
    return this.client.send(id, message, 'steps', key);
  }

  private live(payload: string): void {
    const [run, step, text] = Live.parse(JSON.parse(payload));
    if (run === this.options.run) this.waiting.get(step)?.onLive(text);
  }

  /** Reads the results that have come, one look at a time; what comes meanwhile is read by one more. */
  private look(): void {
    if (this.looking !== 'no') {
      this.looking = 'again';
      return;
    }
    this.looking = 'once';
    void this.read()
      .catch((error: unknown) => this.fault(error))
      .finally(() => {
        const again = this.looking === 'again';
        this.looking = 'no';
        if (again) this.look();
      });
  }

  private async read(): Promise<void> {
    const { db } = this.options;
    const ids = [...this.waiting.keys()];
    if (ids.length === 0 && this.told === null) return;
    const rows = await db.rows(Result, 'select step, body from mimir.result where step = any($1)', [ids]);
    this.report({ database: null, ...(rows.length > 0 && { steps: null }) });
    for (const { step, body } of rows) this.waiting.get(step)?.resolve(StepResult.parse(JSON.parse(body)));
    // Removed only when they are read: an answer of the database may be lost on its way.
    await db.run('delete from mimir.result where step = any($1)', [rows.map(({ step }) => step)]);
    if (ids.length > rows.length || this.troubles.workers !== null) await this.lookForWorkers();
    // Apart, because the engine itself tries again while the database is away, and nobody would be told.
    this.beginning ??= this.beginAgain()
      .catch((error: unknown) => this.fault(error))
      .finally(() => (this.beginning = null));
  }

  /** Begins workflows again that have ended while a step was on its way to them, and sends the step to the new one. */
  private async beginAgain(): Promise<void> {
    const open = [...this.agents.values()].filter(({ begun }) => begun);
    const waitingFor = (agent: string) =>
      [...this.waiting.values()].filter((one) => one.agent === agent && !one.signal.aborted);
    const asked = open.filter(({ order }) => waitingFor(order.agent).length > 0);
    if (asked.length === 0) return;
    const workflowIDs = asked.map(({ order, attempt }) => workflowId(order, attempt));
    const found = await this.client.listWorkflows({ workflowIDs, loadInput: false, loadOutput: false });
    for (const one of asked) {
      const id = workflowId(one.order, one.attempt);
      const status = found.find(({ workflowID }) => workflowID === id)?.status;
      if (!isOver(status)) continue;
      one.begun = false;
      one.attempt += 1;
      await this.begin(one);
      for (const { message } of waitingFor(one.order.agent)) await this.sendTo(one, message);
    }
  }

  private async lookForWorkers(): Promise<void> {
    const { db, pool } = this.options;
    const text = 'select id from mimir.worker where pool = $1 and lease > clock_timestamp() limit 1';
    const isThere = (await db.rows(z.object({ id: z.string() }), text, [pool])).length > 0;
    this.report({ workers: isThere ? null : `no worker is there in pool ${pool}: \`mimir worker\` starts one` });
  }

  private fault(error: unknown): void {
    this.report({ database: messageOf(error) });
  }

  /** Tells what is wrong, where that has changed. */
  private report(now: Partial<RunCluster['troubles']>): void {
    this.troubles = { ...this.troubles, ...now };
    const text = this.troubles.database ?? this.troubles.steps ?? this.troubles.workers;
    // While the database is away, its words may change with each attempt.
    const isSame = text === this.told || (this.told !== null && now.database !== undefined && now.database !== null);
    if (isSame || this.over.signal.aborted) return;
    this.told = text;
    this.options.trouble(text);
  }

  /** What `act` gives, once the database takes it. Rejects when the run is over, and with what else goes wrong. */
  private async sure<T>(act: () => Promise<T>): Promise<T> {
    const faultOf = (error: unknown): Result<never, unknown> => {
      if (error instanceof ClusterFault) throw error;
      return fail(error);
    };
    const done = await this.patiently(() => act().then(ok<T>, faultOf));
    if (done === null) throw new ClusterFault('the run is over');
    if (!done.ok) throw done.fault;
    return done.value;
  }

  /** Repeats `act` until the database takes it; null when the run is over, or `signal` is aborted first. */
  private async patiently<T>(act: () => Promise<T>, signal = this.over.signal): Promise<T | null> {
    for (;;) {
      if (this.over.signal.aborted || signal.aborted) return null;
      try {
        return await act();
      } catch (error) {
        this.fault(error instanceof ClusterFault ? error : new ClusterFault(databaseText(error)));
        await afterMs(AGAIN_MS);
      }
    }
  }
}

async function whyNotRegistered(db: Database, run: string, key: string): Promise<string> {
  const other = (await runsIn(db)).find((one) => one.run === run);
  return other?.key !== key ? 'another person has begun a run of this name' : runsText(run, other.host);
}

const Live = z.tuple([z.string(), z.string(), z.string()]);

const isOver = (status: string | undefined): boolean =>
  ['SUCCESS', 'ERROR', 'CANCELLED', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'].includes(status ?? '');

const afterMs = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
