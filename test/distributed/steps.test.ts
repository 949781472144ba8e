/** Steps of agents on workers, over everything that happens to a worker or its database. Real PostgreSQL, real processes. */
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openWorker, runsIn, workersIn } from '../../src/distributed/index.ts';
import { needs } from '../support/needs.ts';
import { wayTo } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type Bench, openBench } from './scripted.ts';

needs('postgres');

let open: Bench | null = null;
afterEach(() => open?.end());
const bench = async (): Promise<Bench> => (open = await openBench());

it('carries out each step once, in the order in which an agent asks for them', async () => {
  const at = await bench();
  await at.worker('a');
  for (const id of ['1', '2', '3']) expect(await at.step('one', id, { repeat: 'never' })).toBe('done on a');
  expect(at.lines()).toEqual(['1', '2', '3']);
});

it('carries out several steps of an agent at the same time', async () => {
  const at = await bench();
  await at.worker('a');
  const seen: string[] = [];
  const long = at.step('one', 'long', { ms: 60_000, signal: stopOn(seen, 'short') });
  await until(() => at.lines().includes('long'));
  expect(await at.step('one', 'short', { onLive: (text) => seen.push(text) })).toBe('done on a');
  seen.push('short');
  expect(await long).toBe('stopped on a');
});

/** Aborted when `seen` has the text. */
function stopOn(seen: string[], text: string): AbortSignal {
  const control = new AbortController();
  void until(() => seen.includes(text)).then(() => control.abort());
  return control.signal;
}

it('shows output of a step while it runs', async () => {
  const at = await bench();
  await at.worker('a');
  const control = new AbortController();
  const told: string[] = [];
  const onLive = (text: string): void => {
    told.push(text);
    control.abort();
  };
  expect(await at.step('one', 'slow', { ms: 60_000, signal: control.signal, onLive })).toBe('stopped on a');
  expect(told).toEqual(['slow']);
});

it('waits for a worker, and says so', async () => {
  const at = await bench();
  const step = at.step('one', '1');
  await until(() => at.troubles.length > 0);
  await at.worker('a');
  expect(await step).toBe('done on a');
  await until(() => at.troubles.length > 1);
  expect(at.troubles).toEqual(['no worker is there in pool default: `mimir worker` starts one', null]);
});

it('goes on for other agents when a run is resumed while one of its steps runs, which ends', async () => {
  const at = await bench();
  const a = await at.worker('a');
  const old = at.step('one', 'old', { ms: 600_000 });
  await until(() => at.lines().includes('old'));
  await at.resume();
  await a.printed('no longer works for one of run run');
  expect(await at.step('one', 'new')).toBe('done on a');
  expect(await at.step('two', 'other')).toBe('done on a');
  expect([a.child.exitCode, a.child.signalCode, at.lines()]).toEqual([null, null, ['old', 'new', 'other']]);
  await at.end();
  open = null;
  expect(await old).toBe('nothing');
});

it('begins the workflow of an agent again that had nothing to do for a while', async () => {
  const at = await bench();
  await at.worker('a', { idle: 1 });
  expect(await at.step('one', '1')).toBe('done on a');
  while ((await workersIn(at.db))[0]?.agents !== 0);
  expect(await at.step('one', '2')).toBe('done on a');
  expect(at.lines()).toEqual(['1', '2']);
});

it('continues on another worker after a kill: recorded steps stay, an effect without a record is unknown, the rest is repeated', async () => {
  const at = await bench();
  const a = await at.worker('a');
  expect(await at.step('one', 'recorded', { repeat: 'never' })).toBe('done on a');
  await at.worker('b');
  const effect = at.step('one', 'effect', { repeat: 'never', ms: 600_000 });
  const read = at.step('one', 'read', {
    ms: 600_000,
    signal: after(() => at.lines().filter((line) => line === 'read').length === 2),
  });
  await until(() => at.lines().length === 3);
  a.child.kill('SIGKILL');
  expect(await effect).toBe('unknown');
  expect(await read).toBe('stopped on b');
  expect(await at.step('one', 'next', { repeat: 'never' })).toBe('done on b');
  expect(at.lines().toSorted()).toEqual(['effect', 'next', 'read', 'read', 'recorded']);
});

/** Aborted when `is` holds. */
function after(is: () => boolean): AbortSignal {
  const control = new AbortController();
  void until(is).then(() => control.abort());
  return control.signal;
}

it('takes its lock again when the connection of it was lost, so that only its lease decides whether it is there', async () => {
  const at = await bench();
  await at.worker('a');
  const text = `select pid as n from pg_locks where locktype = 'advisory' and granted
    and ((classid::bigint << 32) | objid::bigint) = hashtextextended('mimir worker a', 0)`;
  const pids = async (): Promise<readonly number[]> =>
    (await at.db.rows(z.object({ n: z.number() }), text)).map(({ n }) => n);
  while ((await pids()).length === 0);
  const [first] = await pids();
  await at.db.run('select pg_terminate_backend($1)', [first]);
  let now = [first];
  while (now.length === 0 || now[0] === first) now = [...(await pids())];
  expect(now).toHaveLength(1);
});

it('takes over from a worker that stands still, which records nothing when it comes back', async () => {
  const at = await bench();
  const a = await at.worker('a');
  expect(await at.step('one', '1')).toBe('done on a');
  const b = await at.worker('b');
  a.child.kill('SIGSTOP');
  const step = at.step('one', '2', { repeat: 'never' });
  expect(await step).toBe('done on b');
  a.child.kill('SIGCONT');
  await a.printed('lost');
  expect(await at.step('one', '3', { repeat: 'never' })).toBe('done on b');
  expect(at.lines()).toEqual(['1', '2', '3']);
  expect(b.out()).toContain('took over from a: 1 agent\n');
});

it('takes over from a worker that stands still in the middle of recording, and holds locks in the database', async () => {
  const at = await bench();
  const a = await at.worker('a');
  expect(await at.step('one', '1')).toBe('done on a');
  await at.worker('b');
  const lock = await at.db.pool.connect();
  await lock.query('begin; select * from mimir_dbos.workflow_status for no key update');
  const step = at.step('one', '2');
  const waits = z.object({ n: z.coerce.number() });
  const waiting = `select count(*) as n from pg_stat_activity where application_name = 'mimir a' and wait_event_type = 'Lock'`;
  while ((await at.db.rows(waits, waiting))[0]?.n === 0);
  a.child.kill('SIGSTOP');
  await lock.query('rollback');
  lock.release();
  expect(await step).toBe('done on b');
  // The lease ends after 8 s; the engine would keep the locks for a minute.
  const silent = `select extract(epoch from clock_timestamp() - renewed) as n from mimir.worker where id = 'a'`;
  expect((await at.db.rows(waits, silent))[0]?.n).toBeLessThan(40);
});

it('hands agents over between steps when a worker is drained, and ends it', async () => {
  const at = await bench();
  const a = await at.worker('a');
  expect(await at.step('one', '1')).toBe('done on a');
  await at.worker('b');
  const running = at.step('one', '2', { ms: 1000 });
  await until(() => at.lines().includes('2'));
  a.child.kill('SIGTERM');
  const next = at.step('one', '3', { repeat: 'never' });
  expect(await running).toBe('done on a');
  await a.ended;
  expect(await next).toBe('done on b');
  expect(at.lines()).toEqual(['1', '2', '3']);
});

it('hands over what has no running step at once when it is drained, and takes nothing more', async () => {
  const at = await bench();
  const a = await at.worker('a');
  const control = new AbortController();
  expect([await at.step('one', '1'), await at.step('two', '2')]).toEqual(['done on a', 'done on a']);
  const running = at.step('one', 'running', { ms: 600_000, signal: control.signal });
  await until(() => at.lines().includes('running'));
  a.child.kill('SIGTERM');
  await a.printed('hands its agents over and ends');
  await at.worker('b');
  const steps = ['two', 'three', 'four', 'five'].map((agent) => at.step(agent, agent, { repeat: 'never' }));
  expect(await Promise.all(steps)).toEqual(['done on b', 'done on b', 'done on b', 'done on b']);
  expect(a.child.exitCode).toBe(null);
  control.abort();
  expect(await running).toBe('stopped on a');
  await a.ended;
  expect(at.lines().toSorted()).toEqual(['1', '2', 'five', 'four', 'running', 'three', 'two']);
});

it('refuses another number of slots than the workers of its pool have', async () => {
  const at = await bench();
  await at.worker('a', { slots: 2 });
  const other = { id: 'b', pool: 'default', host: 'here', pid: 1, slots: 3, version: '1', facts: '{}' };
  const nothing = (): never => {
    throw new Error('it was opened');
  };
  await expect(openWorker({ ...other, db: at.db, people: nothing, performer: nothing, say: nothing })).rejects.toThrow(
    'all workers of a pool have the same number of slots: worker a of pool default has 2, this one would have 3\n  use --slots 2, or another --pool',
  );
});

it('waits while the database is away, says so, and continues', async () => {
  const at = await bench();
  const worker = await at.worker('a');
  expect(await at.step('one', '1')).toBe('done on a');
  await at.postgres.stop();
  const step = at.step('one', '2', { repeat: 'never' });
  await until(() => at.troubles.length > 0);
  await at.postgres.start();
  expect(await step).toBe('done on a');
  expect(at.troubles).toEqual([expect.stringMatching(/^the database cannot be used: (?!the database)/), null]);
  expect(worker.out()).not.toContain('cannot be used: the database cannot be used');
  expect(at.lines()).toEqual(['1', '2']);
});

it('waits while the database has fallen silent, says so, and continues', async () => {
  const at = await bench();
  await at.worker('a');
  expect(await at.step('one', '1')).toBe('done on a');
  at.way.fallSilent();
  const step = at.step('one', '2', { repeat: 'never' });
  await until(() => at.troubles.length > 0);
  at.way.mend();
  expect(await step).toBe('done on a');
  expect(await at.step('two', '3')).toBe('done on a');
  await until(() => at.troubles.length > 1);
  expect(at.troubles).toEqual([expect.stringMatching(/^the database cannot be used: /), null]);
  expect(at.lines()).toEqual(['1', '2', '3']);
});

it('lets steps be stopped and the run end while the database is away, within the time that agents have', async () => {
  const at = await bench();
  await at.worker('a');
  const control = new AbortController();
  const ids = ['one', 'two', 'three'];
  for (const id of ids) expect(await at.step(id, id)).toBe('done on a');
  const running = at.step('one', 'running', { ms: 600_000, signal: control.signal });
  await until(() => at.lines().includes('running'));
  at.way.cut();
  const asked = ids.map((id) => at.step(id, `${id} later`, { signal: control.signal }));
  await until(() => at.troubles.length > 0);
  const before = performance.now();
  control.abort();
  expect(await Promise.all([running, ...asked])).toEqual(['nothing', 'nothing', 'nothing', 'nothing']);
  const stopped = performance.now();
  await at.cluster.close(false);
  expect([stopped - before < 2000, performance.now() - stopped < 3000]).toEqual([true, true]);
});

it('does not refuse a step that has run while the database is away: it waits with what it has to keep', async () => {
  const at = await bench();
  const worker = await at.worker('a');
  const step = at.step('one', 'kept', { repeat: 'never', ms: 500, keeps: true });
  await until(() => at.lines().includes('kept'));
  await at.postgres.stop();
  await until(() => worker.out().includes('cannot be used'));
  await at.postgres.start();
  expect(await step).toBe('done on a');
  expect(at.lines()).toEqual(['kept']);
});

it('removes what runs and workers have left a week ago', async () => {
  const at = await bench();
  await at.worker('a');
  expect(await at.step('one', '1')).toBe('done on a');
  await at.cluster.ended('one');
  while ((await workersIn(at.db))[0]?.agents !== 0);
  const long = `clock_timestamp() - interval '8 days'`;
  await at.db.run(`insert into mimir.run (run, key, seen) values ('old', 'k', ${long})`);
  await at.db.run(`insert into mimir.begun (step, run, worker) values ('old.1', 'old', 'w')`);
  await at.db.run(`update mimir.run set seen = ${long}`);
  await at.db.run(`update mimir.blob set used = ${long}`);
  await at.db.run(`update mimir_dbos.workflow_status set completed_at = 1000, updated_at = 1000, created_at = 1000`);
  await at.cluster.close(false);
  const counts = [
    'mimir.run',
    'mimir.begun',
    'mimir.blob',
    'mimir_dbos.workflow_status',
    'mimir_dbos.operation_outputs',
  ];
  for (const table of counts)
    expect([table, await at.db.rows(z.object({ n: z.coerce.number() }), `select count(*) as n from ${table}`)]).toEqual(
      [table, [{ n: 0 }]],
    );
});

it('content of a tree stays as long as its run is there, however long ago it came, and the log a week after the end', async () => {
  const at = await bench();
  const long = `clock_timestamp() - interval '8 days'`;
  const keep = async (text: string): Promise<string> => at.cluster.store.keep(text);
  const [pack, first, unused] = [await keep('a pack'), await keep('the first pack'), await keep('of nobody')];
  await at.db.run(`insert into mimir.run (run, key) values ('other', 'k')`);
  await at.cluster.store.keepTree('other', 'other/one', { n: 1, commit: 'c', pack });
  await at.cluster.store.keepPlace('other', { tree: 'one', chain: 'other/one', body: '', packs: [first] });
  await at.cluster.store.keepPlace('run', { tree: 'mine', chain: 'run/one', body: '', packs: [] });
  at.cluster.log.append(['2026-11-29T03:00:00.000Z', ['an event']]);
  await at.cluster.log.written();
  await at.db.run(`update mimir.blob set used = ${long}`);
  await at.cluster.close(false);
  const all = (text: string): Promise<unknown[]> => at.db.rows(z.object({ it: z.string() }), text);
  expect(await all('select id as it from mimir.blob order by body')).toEqual([{ it: pack }, { it: first }]);
  expect(await all('select tree as it from mimir.place')).toEqual([{ it: 'one' }]);
  expect(await all('select run as it from mimir.event')).toEqual([{ it: 'run' }]);
  expect(unused).not.toBe(pack);
});

it('a run that has ended is not there any more, and one that was stopped can be continued', async () => {
  const runsAfter = async (goesOn: boolean): Promise<unknown[]> => {
    const at = await bench();
    at.cluster.log.append(['2026-11-29T03:00:00.000Z', ['an event']]);
    await at.cluster.log.written();
    await at.cluster.close(goesOn);
    return (await runsIn(at.db)).map(({ run, alive }) => [run, alive]);
  };
  expect([await runsAfter(false), await runsAfter(true)]).toEqual([[], [['run', false]]]);
});

it('goes on after the connection of the run was cut, with what the worker has done meanwhile', async () => {
  const at = await bench();
  await at.worker('a');
  const step = at.step('one', '1', { repeat: 'never', ms: 1000 });
  await until(() => at.lines().includes('1'));
  at.way.cut();
  await until(() => at.troubles.length === 1);
  at.way.mend();
  expect(await step).toBe('done on a');
  expect(await at.step('one', '2', { repeat: 'never' })).toBe('done on a');
  expect(at.lines()).toEqual(['1', '2']);
});

it.each(['cut', 'fallSilent'] as const)(
  'another worker continues where the connection of one has %s, which ends what it had begun and comes back',
  async (how) => {
    const at = await bench();
    const way = await wayTo(at.postgres);
    const a = await at.worker('a', { url: way.url });
    expect(await at.step('one', '1')).toBe('done on a');
    await at.worker('b');
    const step = at.step('one', '2', { ms: 600_000, signal: after(() => at.lines().length === 3) });
    await until(() => at.lines().includes('2'));
    way[how]();
    expect(await step).toBe('stopped on b');
    await a.printed('ends its steps: the database did not answer');
    way.mend();
    await a.printed('lost');
    expect(at.lines()).toEqual(['1', '2', '2']);
    way.close();
  },
);
