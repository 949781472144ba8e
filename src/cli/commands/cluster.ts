/** `mimir cluster`: the workers and the database that they share. */
import { asExit, continueText, openConfigured, signingKey, WorkerFacts } from '../../app/cluster/index.ts';
import { type Arguments, type Io, wrongUse } from '../../app/process/index.ts';
import { formatDuration, plural } from '../../app/views/index.ts';
import { configOf, projectOf } from '../../app/workspace/index.ts';
import * as distributed from '../../distributed/index.ts';
import { command, tell } from '../verb.ts';

export const clusterVerb = command('cluster', async (args, io) => {
  const [what = 'status', worker] = args.words;
  const act = ACTS.get(what);
  if (act === undefined) throw wrongUse(`there is no "mimir cluster ${what}"\n  use ${[...ACTS.keys()].join(', ')}`);
  const project = projectOf(args, io);
  const config = configOf(project, io, {});
  if (what === 'key') {
    const key = distributed.publicKeyOf(signingKey(project.places.state));
    return tell(args, io, { key }, [key]);
  }
  const db = openConfigured(config);
  try {
    await act(db, args, io, worker);
  } catch (error) {
    throw asExit(error);
  } finally {
    await db.close();
  }
});

type Act = (db: distributed.Database, args: Arguments, io: Io, worker: string | undefined) => Promise<void>;

const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['status', status],
  [
    'migrate',
    async (db, args, io) => {
      await distributed.migrate(db);
      tell(args, io, { migrated: true }, ['The database has the tables that this Mimir needs.']);
    },
  ],
  [
    'drain',
    async (db, args, io, worker) => {
      if (worker === undefined) throw wrongUse('missing argument: worker\n  `mimir cluster status` lists them');
      await distributed.checkDatabase(db);
      if (!(await distributed.drainWorker(db, worker)))
        throw wrongUse(`there is no worker "${worker}"\n  \`mimir cluster status\` lists them`);
      tell(args, io, { draining: worker }, [`${worker} ends its steps, hands its agents over, and ends.`]);
    },
  ],
  ['key', () => Promise.resolve()],
]);

async function status(db: distributed.Database, args: Arguments, io: Io): Promise<void> {
  await distributed.checkDatabase(db);
  const [workers, queued, runs] = await Promise.all([
    distributed.workersIn(db),
    distributed.queuedIn(db),
    distributed.runsIn(db),
  ]);
  const waiting = queued.map(({ queue, agents }) => ({ pool: queue.replace('agents.', ''), agents }));
  const rows = workers.map(({ facts, ...worker }) => ({
    ...worker,
    models: WorkerFacts.parse(JSON.parse(facts)).models,
  }));
  tell(args, io, { workers: rows, waiting, runs: runs.map(({ key: _key, ...run }) => run) }, [
    ...(workers.length === 0 ? ['No worker is there: `mimir worker` starts one.'] : workers.flatMap(linesOf)),
    ...waiting.map(({ pool, agents }) => `pool ${pool}: ${plural(agents, 'agent')} waiting for a worker`),
    ...runs.map(({ run, host, alive, seconds }) =>
      alive
        ? `run ${run} on ${host} for ${formatDuration(seconds * 1000)}: \`mimir attach ${run} --cluster\` shows it`
        : `run ${run} of ${host} has no process any more: ${continueText(run)} continues it here`,
    ),
  ]);
}

const linesOf = (worker: distributed.Worker): readonly string[] => [
  lineOf(worker),
  ...[...Map.groupBy(worker.works, (one) => one.split('/')[0] ?? '')].map(
    ([run, works]) => `  ${run}: ${works.map((one) => one.slice(run.length + 1)).join(', ')}`,
  ),
];

/** `build-1-k2j4x9  default  live  3 of 8 agents  build-1  pid 4211  1.0.0  1s ago` */
const lineOf = ({ id, pool, state, agents, slots, host, pid, version, silent }: distributed.Worker): string =>
  [id, pool, state, `${agents} of ${slots} agents`, host, `pid ${pid}`, version, `${formatDuration(silent)} ago`].join(
    '  ',
  );
