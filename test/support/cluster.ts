/** A cluster of a test: a database, and the real program as workers beside the one that runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED } from './cli.ts';
import type { Double } from './double/double.ts';
import type { Rule } from './double/script.ts';
import { LEDGER, type Machine, makeMachine } from './journey.ts';
import { managed } from './managed.ts';
import { ownModel } from './on-the-wire.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import type { Files } from './repos.ts';

/** The program as a worker. */
export interface WorkerProcess {
  readonly child: ChildProcess;
  readonly id: string;
  /** Replaces its `config.yml`, or the managed policy that it was started with, as an editor does. */
  writes(file: 'config.yml' | 'policy.yml', text: string): void;
  /** Its `config.yml`. */
  config(): string;
  /** What it has printed. */
  out(): string;
  /** Resolves with its exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
}

export interface TestCluster {
  readonly machine: Machine;
  readonly double: Double;
  readonly postgres: Postgres;
  /** `config`: its configuration beside the models and the cluster. `policy`: the managed policy of its machine, which needs root. */
  worker(how?: { readonly config?: string; readonly policy?: string; readonly slots?: number }): Promise<WorkerProcess>;
  /** Another machine of the same person, with nothing but the configuration. */
  elsewhere(own?: Machine['env']): Machine;
  /** Copies the person's key there. */
  giveKey(machine: Machine): void;
  end(): Promise<void>;
}

/** A machine whose configuration names a cluster with a fresh database, which is prepared. `more`: of the person's configuration. */
export async function openTestCluster(rules: readonly Rule[], files: Files = LEDGER, more = ''): Promise<TestCluster> {
  const postgres = await startPostgres();
  const env = { MIMIR_DATABASE: postgres.url };
  const config = `cluster: { databaseEnv: MIMIR_DATABASE }\n${more}`;
  const { machine, double } = await ownModel('anthropic', { script: { rules }, files, config, env });
  const { code, err } = await machine.mimir('cluster', 'migrate');
  if (code !== 0) throw new Error(err);
  const workers: WorkerProcess[] = [];
  return {
    machine,
    double,
    postgres,
    async worker({ config: own = '', policy, slots = 8 } = {}) {
      const cache = mkdtempSync(join(machine.home, 'cache-'));
      const folder = join(cache, 'config');
      cpSync(join(machine.home, 'config'), folder, { recursive: true });
      appendFileSync(join(folder, 'mimir/config.yml'), own);
      const home = { root: machine.home, ordinary: [] };
      const seen = policy === undefined ? null : managed(home, { files: { 'policy.yml': policy }, as: 'root' });
      const env = {
        ...machine.env,
        XDG_CACHE_HOME: cache,
        XDG_CONFIG_HOME: folder,
        XDG_STATE_HOME: join(cache, 'state'),
      };
      const started = await startWorker(seen?.program ?? PUBLISHED, env, slots);
      const at = { 'config.yml': join(folder, 'mimir'), 'policy.yml': seen?.folder ?? '' };
      const worker: WorkerProcess = {
        ...started,
        config: () => readFileSync(join(at['config.yml'], 'config.yml'), 'utf8'),
        writes(file, text) {
          const fresh = join(at[file], `.${file}.new`);
          writeFileSync(fresh, text, { mode: file === 'config.yml' ? 0o600 : 0o644 });
          renameSync(fresh, join(at[file], file));
        },
      };
      workers.push(worker);
      return worker;
    },
    elsewhere(own = {}) {
      const other = makeMachine(files, { LOCAL_KEY: 'test-key', ...env, ...own });
      cpSync(join(machine.home, 'config'), join(other.home, 'config'), { recursive: true });
      return other;
    },
    giveKey(other) {
      const file = 'state/mimir/cluster-key.pem';
      cpSync(join(machine.home, file), join(other.home, file));
    },
    async end() {
      for (const { child } of workers) child.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      await postgres.remove();
    },
  };
}

async function startWorker(
  [first = '', ...program]: readonly string[],
  env: Machine['env'],
  slots: number,
): Promise<Omit<WorkerProcess, 'config' | 'writes'>> {
  const child = spawn(first, [...program, 'worker', '--slots', String(slots)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const ready = new Promise<string>((done, failed) => {
    const read = (more: Buffer): void => {
      out += String(more);
      const id = /worker (\S+) is ready/.exec(out)?.[1];
      if (id !== undefined) done(id);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => failed(new Error(`the worker ended: ${out}`)));
  });
  return { child, id: await ready, out: () => out, ended };
}
