/** `mimir worker`: carries out what agents of runs do, for everybody who shares the database, until it is ended. */
import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Loaded } from '../../config/index.ts';
import { type Arguments, EXIT, Exit, invalidFlag, type Io, packageVersion, world } from '../../app/process/index.ts';
import { plural } from '../../app/views/index.ts';
import { tried } from '../../domain/result.ts';
import { configOf, environmentOf, projectOf, type ProjectPlace } from '../../app/workspace/index.ts';
import { trySandbox } from '../../app/workspace/sandbox.ts';
import { command } from '../verb.ts';

export const workerVerb = command('worker', async (args, io) => {
  const slots = slotsOf(args);
  const { places } = projectOf(args, io);
  const host = hostname().split('.')[0] ?? '';
  const id = `${host}-${world.name(6)}`;
  const all = path.join(cacheOf(io, places.home), 'mimir-workers');
  sweep(all, host);
  const folder = path.join(all, `${host}.${process.pid}.${id.slice(-6)}`);
  const root = path.join(folder, 'settings');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const project: ProjectPlace = { root: realpathSync(root), places };
  try {
    return await serve({ project, folder, id, slots, pool: args.get('pool'), env: args.get('database-env') }, io);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Removes what workers of this machine have left that were killed. */
function sweep(all: string, host: string): void {
  for (const name of tried(() => readdirSync(all), [])) {
    const [of, pid = '0'] = name.split('.');
    if (of === host && !isRunning(Number(pid))) rmSync(path.join(all, name), { recursive: true, force: true });
  }
}

const isRunning = (pid: number): boolean => tried(() => process.kill(pid, 0), false);

interface WorkerStart {
  readonly project: ProjectPlace;
  readonly folder: string;
  readonly id: string;
  readonly slots: number;
  readonly pool: string | undefined;
  /** The variable with the address of the database, in place of the configured one. */
  readonly env: string | undefined;
}

async function serve({ project, folder, id, slots, pool: named, env }: WorkerStart, io: Io): Promise<number> {
  const read = (): Loaded => databaseIn(configOf(project, io, {}), env, environmentOf(project, io));
  const config = read();
  const { sandbox } = await trySandbox(project, config.rules);
  if (sandbox.state.is === 'none')
    throw new Exit(EXIT.refused, `a worker needs a sandbox, and there is none: ${sandbox.state.because}`);
  const cluster = await import('../../app/cluster/index.ts');
  const distributed = await import('../../distributed/index.ts');
  const say = (line: string): void => io.say(`${new Date(world.now()).toISOString()}  ${line}`);
  const settings = cluster.openSettings(config, read, say);
  const usable = cluster.usableIds((await settings()).models.models());
  const db = cluster.openConfigured(config);
  const pool = named ?? cluster.poolOf(config);
  const ended = new AbortController();
  const isThere = (): Promise<boolean> =>
    distributed.checkDatabase(db).then(
      () => true,
      () => false,
    );
  let drain = (): void => undefined;
  const onSignal = (): void => {
    // The second time nothing is waited for.
    if (ended.signal.aborted) process.exit(EXIT.terminated);
    ended.abort();
    drain();
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
  try {
    await distributed.checkDatabase(db);
    for (let attempt = 1; !ended.signal.aborted; attempt += 1) {
      const worker = await distributed.openWorker({
        db,
        id: attempt === 1 ? id : `${id}.${attempt}`,
        pool,
        host: hostname(),
        pid: process.pid,
        slots,
        version: packageVersion(),
        facts: JSON.stringify({ models: usable, sandbox: null }),
        people: async () => (await settings()).config.preferences.cluster?.people ?? [],
        // What the one before has left may not have ended yet.
        performer: (store) =>
          cluster.openPerformer({ project, settings, folder: path.join(folder, `${attempt}`) }, store),
        say,
      });
      drain = () => worker.drain();
      say(`worker ${id} is ready in pool ${pool}: ${plural(slots, 'slot')}, ${plural(usable.length, 'model')}`);
      if ((await worker.ended) === 'drained') return EXIT.done;
      while (!ended.signal.aborted && !(await isThere())) await world.sleep(AGAIN_MS, ended.signal);
    }
    return EXIT.done;
  } catch (error) {
    throw cluster.asExit(error);
  } finally {
    await db.close();
  }
}

/** How often a worker looks whether a lost database can be used again. */
const AGAIN_MS = 2000;

/** The configuration with another variable for the database. */
function databaseIn(config: Loaded, name: string | undefined, env: Io['env']): Loaded {
  if (name === undefined) return config;
  const value = env[name] ?? '';
  const secrets = value === '' ? config.secrets : [...config.secrets, { name, value }];
  return {
    ...config,
    secrets,
    preferences: { ...config.preferences, cluster: { ...config.preferences.cluster, databaseEnv: name } },
  };
}

function slotsOf(args: Arguments): number {
  const said = args.get('slots') ?? '8';
  const slots = Number(said);
  if (!Number.isInteger(slots) || slots < 1 || slots > MOST_SLOTS)
    throw invalidFlag('slots', said, `a number from 1 to ${MOST_SLOTS}`);
  return slots;
}

const MOST_SLOTS = 1000;

const cacheOf = ({ env }: Io, home: string): string => {
  const given = env['XDG_CACHE_HOME'] ?? '';
  return path.isAbsolute(given) ? given : path.join(home, '.cache');
};
