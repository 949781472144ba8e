/** Workers with scripted steps, and a run that gives them to it, on a database of the test's own. */
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Cluster, type Database, migrate, openCluster, openDatabase } from '../../src/distributed/index.ts';
import { tried } from '../../src/domain/result.ts';
import { start } from '../support/child.ts';
import { freshFolder } from '../support/folder.ts';
import { type Postgres, startPostgres, type Way, wayTo } from '../support/postgres.ts';

export interface ScriptedWorker {
  readonly child: ChildProcess;
  readonly id: string;
  out(): string;
  /** Resolves when it has printed the text. */
  printed(text: string): Promise<void>;
  readonly ended: Promise<unknown>;
}

/** What a scripted step did: by which worker, and whether it was stopped. */
const Output = z.object({ workflow: z.string(), line: z.string(), by: z.string(), stopped: z.boolean() });

export interface StepOptions {
  readonly repeat?: 'safe' | 'never';
  readonly ms?: number;
  readonly signal?: AbortSignal;
  /** It keeps something in the database when it has run. */
  readonly keeps?: boolean;
  /** Absent: nobody watches. */
  readonly onLive?: (text: string) => void;
}

export interface Bench {
  readonly postgres: Postgres;
  /** The connection of the run; workers have their own. */
  readonly way: Way;
  readonly db: Database;
  readonly cluster: Cluster;
  /** What the run was told about the database. */
  readonly troubles: (string | null)[];
  worker(
    id: string,
    options?: {
      readonly url?: string;
      readonly idle?: number;
      readonly slots?: number;
      readonly people?: readonly string[];
    },
  ): Promise<ScriptedWorker>;
  /** A step that appends a line with its id to a file; what came of it. */
  step(agent: string, id: string, options?: StepOptions): Promise<string>;
  /** The process of the run is cut off, and another continues it, to which steps are given from now on. */
  resume(): Promise<void>;
  /** The lines that steps have appended, in order. */
  lines(): readonly string[];
  end(): Promise<void>;
}

/** The runs of these tests record nothing. */
export const NO_LOG = { head: null, lost: () => undefined };

const never = new AbortController().signal;

/** `folder`: for the lines of its steps. */
export async function openBench(folder = freshFolder()): Promise<Bench> {
  const postgres = await startPostgres();
  const way = await wayTo(postgres);
  const db = openDatabase(way.url);
  await migrate(db);
  const key = generateKeyPairSync('ed25519').privateKey;
  const troubles: (string | null)[] = [];
  const trouble = (text: string | null): void => void troubles.push(text);
  const of = { pool: 'default', version: '1', run: 'run', host: 'here', place: 'here', key, trouble, log: NO_LOG };
  let cluster = await openCluster({ ...of, db, process: 'p' });
  const ends = [() => cluster.close(false), () => db.close()];
  const file = join(folder, 'lines');
  const workers: ScriptedWorker[] = [];
  return {
    postgres,
    way,
    db,
    get cluster() {
      return cluster;
    },
    troubles,
    async worker(id, { url = postgres.url, idle = 30, slots = 50, people = [] } = {}) {
      const worker = startWorker([url, id, String(slots), String(idle), ...people]);
      workers.push(worker);
      await worker.printed('open');
      return worker;
    },
    async step(agent, id, { repeat = 'safe', signal = never, onLive, ...how } = {}) {
      const body = JSON.stringify({ file, line: id, ...how });
      const step = { id, name: 'step', repeat, body, parts: ['part'], live: onLive !== undefined };
      const result = await cluster.perform(agent, step, signal, onLive ?? (() => undefined));
      if (result?.is !== 'done') return result === null ? 'nothing' : result.is;
      const { workflow, by, stopped } = Output.parse(JSON.parse(result.output));
      if (!workflow.startsWith(`run/${agent}/`)) return `done for ${workflow}`;
      return stopped ? `stopped on ${by}` : `done on ${by}`;
    },
    async resume() {
      way.cut();
      const [first, own] = [cluster, openDatabase(postgres.url)];
      cluster = await openCluster({ ...of, db: own, process: 'q' });
      ends.push(
        () => first.close(false),
        () => own.close(),
      );
    },
    lines: () => tried(() => readFileSync(file, 'utf8').trim().split('\n'), []),
    async end() {
      for (const { child } of workers) child.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      for (const end of ends) await end();
      way.close();
      await postgres.remove();
    },
  };
}

function startWorker(args: readonly string[]): ScriptedWorker {
  const [, id = ''] = args;
  const program = join(import.meta.dirname, '../support/worker-child.ts');
  const child = start(process.execPath, [program, ...args]);
  child.stderr.pipe(process.stderr);
  let out = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (more) => {
    out += String(more);
    for (const look of waiting) look();
  });
  return {
    child,
    id,
    out: () => out,
    printed: (text) =>
      new Promise((done) => {
        const look = (): void => {
          if (!out.includes(text)) return;
          waiting.delete(look);
          done();
        };
        waiting.add(look);
        look();
      }),
    ended: new Promise((done) => child.once('exit', done)),
  };
}
