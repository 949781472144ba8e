/** A worker: carries out the steps of agents. Each agent is a workflow of the durable engine that receives steps and records the result of each, so
 * that a recorded step never runs again, on whichever worker the workflow continues. What a step does is the performer's. */
import { randomUUID } from 'node:crypto';
import { DBOS, Error as EngineError } from '@dbos-inc/dbos-sdk';
import { messageOf } from '../domain/result.ts';
import { ClusterFault, type Database, ENGINE_NAME, engineOn, openDatabase } from './database.ts';
import { holdLease, type Lease, queueOf, type WorkerRow, workersIn } from './liveness.ts';
import { AgentOrder, isSigned, Message, type SignedStep, type StepResult } from './step.ts';
import { openStore, repeating, type SharedStore, type TreeState } from './store.ts';

/** What a performer needs for one step. */
export interface PerformedStep extends Pick<SignedStep, 'body' | 'tree'> {
  /** The agent's workflow; another that follows it may have begun before this one has ended. */
  readonly workflow: string;
  readonly parts: readonly Buffer[];
}

/** Carries out steps: the models, tools and trees of a worker. */
export interface Performer {
  /** Resolves with the output, and the new state of the agent's tree if the step may have changed it. Aborting `signal` ends what was started.
   * Rejects where the step could not be begun, which refuses it with that reason. */
  perform(
    step: PerformedStep,
    signal: AbortSignal,
    onLive: (text: string) => void,
  ): Promise<{ readonly output: string; readonly tree?: TreeState }>;
  /** The workflow continues elsewhere or has ended. */
  ended(workflow: string): void;
}

export interface WorkerOptions extends WorkerRow {
  readonly db: Database;
  /** Public keys of the people whose steps are carried out; empty: of everybody, but of one person in each run. Rejects where that is not known,
   * which refuses the step. */
  readonly people: () => Promise<readonly string[]>;
  /** The calls of `store` wait while the database is away. */
  readonly performer: (store: SharedStore) => Performer;
  /** Seconds without a step after which an agent gives its slot back; 30 if absent. */
  readonly idle?: number;
  /** What people read about the worker. */
  readonly say: (line: string) => void;
}

export interface OpenWorker {
  /** `drained`: everything is handed over. `lost`: others may have taken over, and everything that ran here was ended. */
  readonly ended: Promise<'drained' | 'lost'>;
  drain(): void;
}

const IDLE_SECONDS = 30;
/** How often an agent looks for a step of which no notification has told it. */
const LOOK_MS = 5000;
/** How long after a fault of the database an access is repeated. */
const AGAIN_MS = 500;
/** How long steps have to end when the lease is lost. */
const END_MS = 2000;

/** Opens the worker of this process; there is one at most. Rejects with a `ClusterFault`. */
export async function openWorker(options: WorkerOptions): Promise<OpenWorker> {
  const { db, say, pool, slots } = options;
  await checkSlots(options);
  const ended = Promise.withResolvers<'drained' | 'lost'>();
  const drainage = new AbortController();
  const lease = await holdLease(db, options, {
    draining: () => drainage.abort(),
    trouble: (text) => say(text ?? 'the database answers again'),
    tookOver: (from, agents) => say(`took over from ${from}: ${agents === 1 ? '1 agent' : `${agents} agents`}`),
  });
  const running = new Running(options, lease, drainage.signal);
  DBOS.registerWorkflow((given: unknown) => running.agent(AgentOrder.parse(given)), { name: 'agent' });
  const own = openDatabase(db.url, Math.max(4, Math.min(20, Math.ceil(slots / 4))), `mimir ${options.id}`);
  DBOS.setConfig({
    ...engineOn(own),
    name: ENGINE_NAME,
    applicationVersion: options.version,
    executorID: options.id,
    listenQueues: [queueOf(pool)],
  });
  const shutDown = (): Promise<void> => DBOS.shutdown({ deregister: true }).then(() => own.close());
  try {
    await DBOS.launch();
    const polled = { minPollingIntervalMs: 200, onConflict: 'always_update' } as const;
    await DBOS.registerQueue(queueOf(pool), { workerConcurrency: slots, ...polled });
  } catch (error) {
    await shutDown().catch(() => undefined);
    await lease.end().catch(() => lease.unlock());
    throw error;
  }
  whenAborted(lease.lost, () => {
    say(`ends its steps: ${String(lease.lost.reason)}`);
    void running
      .settled(END_MS)
      .then(() => lease.unlock())
      .then(shutDown)
      .catch(() => undefined)
      .then(() => ended.resolve('lost'));
  });
  whenAborted(drainage.signal, () => {
    say('hands its agents over and ends');
    // From now on it takes no agents from the queue. The process ends before this does.
    void DBOS.shutdown({ workflowCompletionTimeoutMS: 2 ** 31 - 1 }).catch(() => undefined);
    void running
      .handOver()
      .then(() => lease.end())
      .then(
        () => ended.resolve('drained'),
        () => ended.resolve('lost'),
      );
  });
  return { ended: ended.promise, drain: () => drainage.abort() };
}

/** The engine keeps one number of slots for a pool: that of the worker that began last would hold for all. */
async function checkSlots({ db, pool, slots }: WorkerOptions): Promise<void> {
  const other = (await workersIn(db)).find((one) => one.pool === pool && one.state === 'live' && one.slots !== slots);
  if (other !== undefined)
    throw new ClusterFault(
      `all workers of a pool have the same number of slots: worker ${other.id} of pool ${pool} has ${other.slots}, this one would have ${slots}\n  use --slots ${other.slots}, or another --pool`,
    );
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}

const never = (): Promise<never> => new Promise(() => undefined);

class Running {
  private readonly options: WorkerOptions;
  private readonly lease: Lease;
  private readonly store: SharedStore;
  private readonly performer: Performer;
  private readonly draining: AbortSignal;
  /** By run: the key that it was found to have. */
  private readonly keys = new Map<string, string>();
  private readonly idle: number;
  private readonly steps = new Set<Promise<unknown>>();
  /** The steps that run, by workflow. */
  private readonly workflows = new Map<string, Set<Promise<void>>>();

  constructor(options: WorkerOptions, lease: Lease, draining: AbortSignal) {
    this.options = options;
    this.lease = lease;
    this.store = repeating(openStore(options.db), (act) => this.patiently(act));
    this.performer = options.performer(this.store);
    this.draining = draining;
    this.idle = options.idle ?? IDLE_SECONDS;
  }

  /** Resolves when no step runs that is not recorded, or after `most` milliseconds. */
  async settled(most: number): Promise<void> {
    const limit = new Promise((done) => setTimeout(done, most));
    const all = async (): Promise<void> => {
      while (this.steps.size > 0) await Promise.allSettled(this.steps);
    };
    await Promise.race([all(), limit]);
  }

  /** Puts agents back into the queue as soon as they have no running step; resolves when none is left that has one. Where that fails, others take
   * them over when the lease ends. Called outside of any workflow, which would record it. */
  async handOver(): Promise<void> {
    for (;;) {
      const ids = [...this.workflows].filter(([, { size }]) => size === 0).map(([id]) => id);
      for (const id of ids) this.workflows.delete(id);
      const queueName = queueOf(this.options.pool);
      if (ids.length > 0) await DBOS.resumeWorkflows(ids, { queueName }).catch(() => undefined);
      if (this.steps.size === 0) return;
      await Promise.race([...this.steps, new Promise((done) => setTimeout(done, AGAIN_MS))]);
    }
  }

  /** The workflow of an agent. It is deterministic: what it does next depends only on recorded messages and results. Receiving and beginning a step
   * take turns, so that a replay counts as the first time did, also where steps run in parallel. */
  async agent(order: AgentOrder): Promise<void> {
    const controls = new Map<string, AbortController>();
    const { say } = this.options;
    say(`works for ${order.agent} of run ${order.run}`);
    const open = new Set<Promise<void>>();
    const id = DBOS.workflowID ?? '';
    this.workflows.set(id, open);
    try {
      // It was taken from the queue when the drain began.
      if (this.draining.aborted) await never();
      await this.receive(order, controls, open);
    } finally {
      this.workflows.delete(id);
      // Of a workflow that was cancelled, steps may still run.
      for (const control of controls.values()) control.abort('stopped');
      this.performer.ended(id);
      say(`no longer works for ${order.agent} of run ${order.run}`);
    }
  }

  private async receive(
    order: AgentOrder,
    controls: Map<string, AbortController>,
    open: Set<Promise<void>>,
  ): Promise<void> {
    const stopped = new Set<string>();
    for (;;) {
      const given = await DBOS.recv('steps', { timeoutSeconds: this.idle, pollingIntervalMs: LOOK_MS });
      if (given === null) {
        if (await DBOS.runStep(() => Promise.resolve(open.size === 0), { name: 'is idle' })) break;
        continue;
      }
      const message = Message.parse(given);
      if (message.is === 'end') break;
      if (message.is === 'stop') {
        stopped.add(message.id);
        controls.get(message.id)?.abort('stopped');
        continue;
      }
      // The message is recorded: who continues the workflow begins with it.
      if (this.draining.aborted || this.lease.lost.aborted) await never();
      const control = new AbortController();
      controls.set(message.id, control);
      if (stopped.has(message.id)) control.abort('stopped');
      const work = this.carryOut(order, message, control.signal)
        .catch((error: unknown) => this.unrecorded(order, error))
        .finally(() => {
          controls.delete(message.id);
          open.delete(work);
          this.steps.delete(work);
        });
      open.add(work);
      this.steps.add(work);
    }
    await Promise.all(open);
  }

  /** A step whose workflow was cancelled or goes on elsewhere cannot record its result. */
  private unrecorded({ agent, run }: AgentOrder, error: unknown): void {
    const isElsewhere =
      error instanceof EngineError.DBOSWorkflowConflictError || error instanceof EngineError.DBOSWorkflowCancelledError;
    if (!isElsewhere) this.options.say(`a step for ${agent} of run ${run} has failed: ${messageOf(error)}`);
  }

  /** Runs the step, unless its result is recorded, and delivers the result. */
  private async carryOut(order: AgentOrder, step: SignedStep, signal: AbortSignal): Promise<void> {
    const run = async (): Promise<StepResult> => {
      const result = await this.result(order, step, signal);
      // Others may carry it out by now: there must be no second record.
      return this.lease.holds() ? result : never();
    };
    await this.deliver(order, step.id, await DBOS.runStep(run, { name: step.name }));
  }

  private async result(order: AgentOrder, step: SignedStep, signal: AbortSignal): Promise<StepResult> {
    const live = step.live ? openLive(this.options.db, order.run, step.id) : null;
    try {
      const problem = await this.patiently(() => this.problemOf(order, step));
      if (problem !== null) return { is: 'refused', because: problem };
      if (step.repeat === 'never' && !(await this.begin(order, step))) return { is: 'unknown' };
      return await this.perform(order, step, signal, live?.add ?? (() => undefined));
    } catch (error) {
      return { is: 'refused', because: messageOf(error) };
    } finally {
      live?.end();
    }
  }

  /** Records that a step with an effect begins; false where an attempt before has recorded that. */
  private begin({ run }: AgentOrder, { id }: SignedStep): Promise<boolean> {
    // A repetition after a lost answer of the database is no other attempt.
    const attempt = `${this.options.id} ${randomUUID()}`;
    const begin = `insert into mimir.begun (step, run, worker) values ($1, $2, $3)
      on conflict (step) do update set worker = excluded.worker where begun.worker = excluded.worker`;
    return this.patiently(async () => (await this.options.db.run(begin, [id, run, attempt])) > 0);
  }

  private async perform(
    order: AgentOrder,
    { body, parts: ids, tree }: SignedStep,
    signal: AbortSignal,
    onLive: (text: string) => void,
  ): Promise<StepResult> {
    const parts = await this.store.read(ids);
    if (!this.lease.holds()) await never();
    const either = AbortSignal.any([signal, this.lease.lost]);
    const workflow = DBOS.workflowID ?? '';
    const { output, tree: now } = await this.performer.perform({ workflow, body, parts, tree }, either, onLive);
    const done = { is: 'done', output, worker: this.options.id } as const;
    if (now === undefined || tree === undefined) return done;
    const { chain } = tree;
    await this.store.keepTree(order.run, chain, now);
    return { ...done, tree: { chain, n: now.n, commit: now.commit } };
  }

  /** Why the step is not carried out; null if it is. A run keeps the key of its first step. */
  private async problemOf({ run }: AgentOrder, step: SignedStep): Promise<string | null> {
    const { db } = this.options;
    if (!isSigned(step, run)) return 'its signature is wrong';
    const people = await this.options.people();
    if (people.length > 0 && !people.includes(step.key))
      return 'the worker’s configuration does not name the key that signed it (cluster.people)';
    if (this.keys.get(run) === step.key) return null;
    const keep = `insert into mimir.run (run, key) values ($1, $2) on conflict (run) do update set run = excluded.run where run.key = excluded.key`;
    if ((await db.run(keep, [run, step.key])) === 0) return 'another person has begun this run';
    this.keys.set(run, step.key);
    return null;
  }

  /** Puts the result where the run reads it. */
  private async deliver({ run }: AgentOrder, step: string, result: StepResult): Promise<void> {
    const insert = `with given as (insert into mimir.result (step, run, body) values ($1, $2, $3) on conflict do nothing)
      select pg_notify('mimir_result', $2 || ' ' || $1)`;
    await this.patiently(() => this.options.db.run(insert, [step, run, JSON.stringify(result)]));
  }

  /** A database whose disk is full still passes notifications on, and what a run only reads. */
  private tell(trouble: string): void {
    this.options.say(`a step waits: ${trouble}`);
    void this.options.db.run(`select pg_notify('mimir_trouble', $1)`, [trouble.slice(0, 1000)]).catch(() => undefined);
  }

  /** Repeats `act` while the database does not answer. Never resolves once the lease is lost. */
  private async patiently<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ClusterFault)) throw error;
        if (this.lease.lost.aborted) return await never();
        if (tries === 1) this.tell(error.message);
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  }
}

/** Sends output of a step while it comes, a few times a second. */
function openLive(db: Database, run: string, step: string) {
  let text = '';
  const send = (): void => {
    if (text === '') return;
    const payload = JSON.stringify([run, step, text.slice(0, LIVE_CHARACTERS)]);
    text = '';
    void db.run(`select pg_notify('mimir_live', $1)`, [payload]).catch(() => undefined);
  };
  const timer = setInterval(send, LIVE_MS);
  return {
    add: (more: string) => void (text += more),
    end(): void {
      clearInterval(timer);
      send();
    },
  };
}

const LIVE_MS = 250;
/** A notification has at most 8,000 bytes; a character has up to six as JSON. */
const LIVE_CHARACTERS = 1200;
