/** Runs that lose their machine: another machine of the same person continues them, with what the database has of their log, project and trees. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/distributed/index.ts';
import { tried } from '../../src/domain/result.ts';
import { jsonLines } from '../support/cli.ts';
import { openTestCluster, type TestCluster } from '../support/cluster.ts';
import { git } from '../support/repos.ts';
import { freshFolder } from '../support/folder.ts';
import type { Machine } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { type Event, of, planText } from '../support/on-the-wire.ts';
import { runsFirst, saysDone } from '../support/own-tree-plans.ts';
import { until } from '../support/until.ts';

needs('git', 'bubblewrap', 'postgres');

const open: TestCluster[] = [];
afterAll(() => Promise.all(open.map((one) => one.end())));

const eventsIn = async (machine: Machine, session: string, folder: string): Promise<readonly Event[]> =>
  jsonLines((await machine.mimir('events', session, '--json', '--cwd', folder)).out);

/** A run of three tasks: one whose changes are in the project, one that counts in its tree, and one that waits for it. */
async function runThatCounts(): Promise<{
  readonly made: TestCluster;
  readonly session: string;
  readonly pids: number[];
}> {
  const made = await openTestCluster([
    {
      when: { first: '# Roles' },
      answer: {
        text: planText(['Make a file', 'code'], ['Count up', 'code', 'task-1'], ['Look at it', 'finder', 'task-2']),
      },
    },
    { when: { first: 'Look at it' }, answer: { text: 'Seen.' } },
    ...[1, 2, 3, 4].map((turn) => ({
      when: { first: 'Count up', turn },
      answer: { calls: [{ tool: 'bash', input: { command: `echo ${turn} >> counted.txt; sleep 1` } }] },
    })),
    // After the others, because their agents are told of it.
    runsFirst('Make a file', 'echo made > made.txt'),
    saysDone,
  ]);
  open.push(made);
  await made.worker();
  writeFileSync(path.join(made.machine.project, 'not-committed.txt'), 'mine\n');
  const { out } = await made.machine.mimir('run', 'Do the work', '--cluster', '--detach', '--yes', '--mode', 'yolo');
  const [, session = ''] = /^Session (\w+) runs/.exec(out) ?? [];
  // The first task, and two turns of the second.
  await until(() => existsSync(path.join(made.machine.project, 'made.txt')));
  const calls = made.double.bill().answered.calls;
  await until(() => made.double.bill().answered.calls >= calls + 2);
  return { made, session, pids: runsBelow(made.machine.home) };
}

/** The processes of runs whose state lies below `home`, which are not workers. */
function runsBelow(home: string): number[] {
  const of = (pid: string, what: string): string => tried(() => readFileSync(`/proc/${pid}/${what}`, 'utf8'), '');
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && of(pid, 'cmdline').includes('--hosted'))
    .filter((pid) => of(pid, 'environ').includes(`HOME=${home}`))
    .map(Number);
}

/** As after half a minute without a sign of the run's process. */
async function longAgo({ postgres }: TestCluster): Promise<void> {
  const db = openDatabase(postgres.url);
  await db.run(`update mimir.run set seen = clock_timestamp() - interval '1 minute'`);
  await db.close();
}

it('a run whose machine is lost is continued on another, where nothing that was done is done again', async () => {
  const { made, session, pids } = await runThatCounts();
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  const before = readFileSync(path.join(made.machine.project, 'made.txt'), 'utf8');
  const head = git(made.machine.project, 'rev-parse', 'HEAD');
  for (const gone of [made.machine.project, path.join(made.machine.home, 'state/mimir/projects')])
    rmSync(gone, { recursive: true });
  const other = made.elsewhere();
  const folder = path.join(freshFolder(), 'continued');
  const go = () => other.mimir('resume', session, '--cluster', '--into', folder, '--json', '--mode', 'yolo');
  const alive = await go();
  expect([alive.code, alive.err]).toEqual([2, expect.stringContaining(`run ${session} runs on`)]);
  await longAgo(made);
  const stranger = await go();
  expect([stranger.code, stranger.err]).toEqual([3, expect.stringContaining('was not signed by its person')]);
  made.giveKey(other);
  const { code, err } = await go();
  expect([code, err]).toEqual([0, `mimir: run ${session} continues in ${folder}\n`]);
  const files = ['made.txt', 'not-committed.txt'].map((name) => readFileSync(path.join(folder, name), 'utf8'));
  expect([files, git(folder, 'rev-parse', 'HEAD')]).toEqual([[before, 'mine\n'], head]);
  const events = await eventsIn(other, session, folder);
  const ends = of(events, 'tool.finished');
  const known = ends.filter(({ ok }) => ok === true).length - 1;
  const counted = readFileSync(path.join(folder, 'counted.txt'), 'utf8').trim().split('\n');
  expect([counted.length, new Set(counted).size]).toEqual([known, known]);
  expect(of(events, 'session.resumed').length).toBe(1);
  expect(of(events, 'agent.finished').map(({ outcome }) => outcome)).toEqual(Array(4).fill('completed'));
  // The plan, 2 and 5 turns, the look, the report; and one that may have been on its way.
  expect(made.double.bill().answered.calls).toBeLessThanOrEqual(11);
});

it('a standby waits until the run has lost its process, and then continues it by itself', async () => {
  const { made, session, pids } = await runThatCounts();
  const other = made.elsewhere();
  made.giveKey(other);
  const folder = path.join(freshFolder(), 'continued');
  const standby = other.opens(['resume', session, '--cluster', '--into', folder, '--when-lost', '--plain', '--yes']);
  await standby.sees(`run ${session} runs on`, 'this continues it here as soon as it is lost');
  expect(existsSync(folder)).toBe(false);
  // The database is away for a moment, in which the run cannot tell that it is there.
  await made.postgres.stop();
  await standby.sees('the database cannot be used');
  await made.postgres.start();
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await longAgo(made);
  await standby.sees('continues in');
  await until(() => existsSync(path.join(folder, 'counted.txt')));
  await standby.terminal.exit;
});

it('a process that only stood still ends without a word to anybody when the run was continued elsewhere', async () => {
  const { made, session, pids } = await runThatCounts();
  const other = made.elsewhere();
  made.giveKey(other);
  const follower = other.mimir('events', session, '--cluster', '--follow', '--json');
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await longAgo(made);
  await follower;
  const folder = path.join(freshFolder(), 'continued');
  const { code } = await other.mimir('resume', session, '--cluster', '--into', folder, '--json', '--mode', 'yolo');
  expect(code).toBe(0);
  // What is read from the database is what the run has recorded, also when it has ended.
  const recorded = await eventsIn(other, session, folder);
  const there = await other.mimir('events', session, '--cluster', '--json');
  expect(jsonLines(there.out)).toEqual(recorded);
  const followed = jsonLines((await follower).out);
  expect(followed).toEqual(recorded.slice(0, followed.length));
  expect(of(recorded, 'session.resumed')[0]?.['seq']).toBe(followed.length + 1);
  const all = await other.mimir('events', '--cluster', '--json');
  expect(jsonLines(all.out)).toEqual(recorded);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)));
  const { type, status, summary } = (await eventsIn(made.machine, session, made.machine.project)).at(-1) ?? {};
  expect([type, status, summary]).toEqual([
    'session.finished',
    'stopped',
    expect.stringContaining('another process continues this run'),
  ]);
  expect(readFileSync(path.join(folder, 'counted.txt'), 'utf8').trim().split('\n').length).toBeGreaterThanOrEqual(3);
});

it('a run that was stopped continues on another machine, and the part of its log that stays behind is refused', async () => {
  const { made, session } = await runThatCounts();
  expect(await made.machine.mimir('kill', session)).toMatchObject({ code: 0 });
  await until(() => runsBelow(made.machine.home).length === 0);
  const { out } = await made.machine.mimir('cluster', 'status');
  expect(out).toContain(
    `has no process any more: \`mimir resume ${session} --cluster --into FOLDER\` continues it here`,
  );
  const other = made.elsewhere();
  made.giveKey(other);
  const folder = path.join(freshFolder(), 'continued');
  // It stays unfinished there as well.
  const person = other.opens(['resume', session, '--cluster', '--into', folder, '--plain', '--yes']);
  await until(() => existsSync(path.join(folder, '.git')) && made.double.bill().answered.calls >= 7);
  person.terminal.signal('SIGTERM');
  await person.terminal.exit;
  const back = await made.machine.mimir('resume', session, '--cluster', '--json');
  expect([back.code, back.err]).toEqual([3, expect.stringContaining('was continued on another machine')]);
});
