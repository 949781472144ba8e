/** The cluster of a configuration: its database and its workers, as far as a run or a person has to know them. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Loaded } from '../../config/index.ts';
import * as distributed from '../../distributed/index.ts';
import type { SessionId } from '../../domain/ids.ts';
import { codeOf } from '../../domain/result.ts';
import { ControlFault } from '../../ports/control.ts';
import { relayFromClients } from '../../remote/index.ts';
import { placeOf, reachRun } from '../client/index.ts';
import { EXIT, Exit, packageVersion, world, wrongUse } from '../process/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { WorkerFacts } from './body.ts';

/** The database of the configuration, by the value of its variable. Throws an `Exit`. */
export function openConfigured({
  preferences,
  secrets,
}: Pick<Loaded, 'preferences' | 'secrets'>): distributed.Database {
  const name = preferences.cluster?.databaseEnv;
  if (name === undefined)
    throw new Exit(
      EXIT.refused,
      'no cluster is configured\n  add "cluster: { databaseEnv: NAME }" to your config.yml, and set that variable to the address of the PostgreSQL database',
    );
  const url = secrets.find((secret) => secret.name === name)?.value;
  if (url === undefined)
    throw new Exit(
      EXIT.refused,
      `${name} is not set\n  cluster.databaseEnv names it for the address of the database: postgresql://USER@HOST/NAME`,
    );
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw new Exit(
      EXIT.refused,
      `${name} has no address of a PostgreSQL database\n  expected postgresql://USER@HOST/NAME`,
    );
  return distributed.openDatabase(url);
}

export const poolOf = ({ preferences }: Pick<Loaded, 'preferences'>): string => preferences.cluster?.pool ?? 'default';

/** A fault of the cluster as an `Exit`; anything else as it is. */
export const asExit = (error: unknown): unknown =>
  error instanceof distributed.ClusterFault ? new Exit(EXIT.refused, error.message) : error;

/** What the workers of a pool say of themselves. Rejects with an `Exit` where there are none, or one of another version. */
export async function checkWorkers(db: distributed.Database, pool: string): Promise<readonly WorkerFacts[]> {
  const all = (await distributed.workersIn(db)).filter((one) => one.pool === pool && one.state === 'live');
  const other = all.filter((one) => one.version !== packageVersion());
  if (other.length > 0) throw new Exit(EXIT.refused, otherVersion(other));
  if (all.length === 0)
    throw new Exit(
      EXIT.refused,
      `no worker is there in pool ${pool}\n  start one on any machine that reaches the database: mimir worker --pool ${pool}`,
    );
  return all.map(({ facts }) => WorkerFacts.parse(JSON.parse(facts)));
}

const otherVersion = (workers: readonly distributed.Worker[]): string =>
  `${workers.map(({ id, version }) => `worker ${id} is Mimir ${version}`).join(', ')}, and this is ${packageVersion()}\n  use the same version everywhere`;

/** What is wrong or in order with the cluster of a configuration, in a sentence. */
export async function lookAtCluster(config: Loaded): Promise<{ readonly ok: boolean; readonly words: string }> {
  try {
    const db = openConfigured(config);
    try {
      await distributed.checkDatabase(db);
      const workers = await distributed.workersIn(db);
      const ahead = await distributed.clockDifference(db, () => world.now());
      if (Math.abs(ahead) > CLOCK_MS)
        return {
          ok: false,
          words: `the clocks of this machine and of the database differ by ${Math.round(Math.abs(ahead) / 1000)} s`,
        };
      const other = workers.filter(({ version }) => version !== packageVersion());
      if (other.length > 0) return { ok: false, words: otherVersion(other) };
      const pools = [...new Set(workers.map(({ pool }) => pool))];
      const there = pools.map((pool) => `${workers.filter((one) => one.pool === pool).length} in pool ${pool}`);
      return { ok: workers.length > 0, words: `the database is ready; workers: ${there.join(', ') || 'none'}` };
    } finally {
      await db.close();
    }
  } catch (error) {
    const fault = asExit(error);
    if (fault instanceof Exit) return { ok: false, words: fault.message };
    throw error;
  }
}

/** The key with which the person signs the steps of runs, because every worker can write to the database: in the state folder, made where there is none,
 * readable only by its owner. Throws an error of the file system. */
export function signingKey(stateDir: string): KeyObject {
  const file = path.join(stateDir, 'cluster-key.pem');
  if (!existsSync(file)) make(file);
  return createPrivateKey(readFileSync(file));
}

function make(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** The public keys whose runs may be shown: the person's own, and those of `cluster.people`. */
export const peopleOf = ({ places }: ProjectPlace, { preferences }: Pick<Loaded, 'preferences'>): readonly string[] => [
  distributed.publicKeyOf(signingKey(places.state)),
  ...(preferences.cluster?.people ?? []),
];

/** Makes a run on another machine reachable as if it ran here; resolves with the end of that. Rejects with an `Exit` where there is no such run, or
 * where it does not accept the person's key. */
export async function reachElsewhere(
  { project, config }: { readonly project: ProjectPlace; readonly config: Loaded },
  session: SessionId,
): Promise<() => Promise<void>> {
  const db = openConfigured(config);
  try {
    await distributed.checkDatabase(db);
    const runs = await distributed.runsIn(db);
    const found = runs.find(({ run }) => run === session);
    const ids = runs.map(({ run }) => run).join(', ') || 'none';
    if (found === undefined)
      throw wrongUse(`no run ${session} is there\n  \`mimir cluster status\` lists the runs: ${ids}`);
    if (!found.alive)
      throw wrongUse(`run ${session} has no process any more\n  ${continueText(session)} continues it here`);
    const keys = { own: signingKey(project.places.state), others: peopleOf(project, config) };
    const end = await relayFromClients(placeOf(project, session), () => distributed.openLine(db, session, keys));
    const reached = await reachedBy(db, project, session);
    if (reached === null) {
      end();
      throw wrongUse(NOT_ACCEPTED);
    }
    reached.close();
    return async () => {
      end();
      await db.close();
    };
  } catch (error) {
    await db.close();
    throw error instanceof ControlFault ? wrongUse(error.message) : asExit(error);
  }
}

/** How a run that has lost its process is continued. */
export const continueText = (run: string): string => `\`mimir resume ${run} --cluster --into FOLDER\``;

/** The run, if it answers. Who asks while it gets another process may have spoken to the one before, and asks again. */
async function reachedBy(
  db: distributed.Database,
  project: ProjectPlace,
  session: SessionId,
  tries = 5,
): ReturnType<typeof reachRun> {
  const before = await distributed.processIn(db, session);
  const reached = await reachRun(project, session).catch(() => null);
  const isSame = before === (await distributed.processIn(db, session));
  return reached !== null || isSame || tries === 1 ? reached : reachedBy(db, project, session, tries - 1);
}

const NOT_ACCEPTED =
  'the run does not answer: a run and a terminal accept the keys of their own people, and those in their `cluster.people`\n  `mimir cluster key` prints the key of this machine';

/** Larger differences make times on the screen misleading. */
const CLOCK_MS = 5000;
