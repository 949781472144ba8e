/** Runs whose agents work on other machines: the real program, workers, a real database. */
import { appendFileSync, existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/distributed/index.ts';
import { tried } from '../../src/domain/result.ts';
import { jsonLines } from '../support/cli.ts';
import { openTestCluster, type TestCluster } from '../support/cluster.ts';
import type { Rule } from '../support/double/script.ts';
import { LEDGER } from '../support/journey.ts';
import { needs, skipWithout } from '../support/needs.ts';
import type { Machine } from '../support/journey.ts';
import { of, planText, runOn } from '../support/on-the-wire.ts';
import { runsFirst, saysDone } from '../support/own-tree-plans.ts';
import { until } from '../support/until.ts';

needs('git', 'bubblewrap', 'postgres');

let open: TestCluster | null = null;
// Workers that have nothing to do ask their database all the same.
afterEach(() => open?.end());

const plans = (...tasks: readonly (readonly [string, string, ...string[]])[]): Rule => ({
  when: { first: '# Roles' },
  answer: { text: planText(...tasks) },
});

async function cluster(...rules: readonly Rule[]): Promise<TestCluster> {
  return (open = await openTestCluster([...rules, saysDone]));
}

it('agents work on a worker: what they read, change and run there is in the project after the merge', async () => {
  const made = await cluster(
    plans(['Find the cache', 'finder'], ['Name it memory', 'code', 'task-1']),
    runsFirst('Name it memory', "sed -i 's/cache.set/memory.set/' src/cache.js; echo made > made.txt"),
    {
      when: { first: 'Find the cache', turn: 1 },
      answer: { calls: [{ tool: 'search', input: { pattern: 'cache' } }] },
    },
  );
  const one = await made.worker();
  const { code, err, events } = await runOn(made.machine, 'Rename the cache', '--cluster', '--mode', 'yolo');
  expect([code, err]).toEqual([0, '']);
  expect(readFileSync(path.join(made.machine.project, 'src/cache.js'), 'utf8')).toContain('memory.set');
  expect(readFileSync(path.join(made.machine.project, 'made.txt'), 'utf8')).toBe('made\n');
  expect(of(events, 'tool.finished').map(({ tool, ok }) => [tool, ok])).toEqual([
    ['search', true],
    ['bash', true],
  ]);
  expect(of(events, 'session.started')).toMatchObject([
    { notes: ['the agents work on the workers of pool default: 1 worker now'] },
  ]);
  expect(one.out()).not.toContain('took over');
  one.child.kill('SIGTERM');
  expect(await one.ended).toBe(0);
});

it('the agents of a killed worker continue on another, where their trees are as they were', async () => {
  const made = await cluster(
    plans(['Count in a file', 'code']),
    ...[1, 2, 3, 4].map((turn) => ({
      when: { first: 'Count in a file', turn },
      answer: { calls: [{ tool: 'bash', input: { command: `echo ${turn} >> counted.txt; sleep 1` } }] },
    })),
  );
  const workers = [await made.worker()];
  const run = runOn(made.machine, 'Count in a file', '--cluster', '--mode', 'yolo');
  await until(() => made.double.bill().answered.calls >= 3);
  workers.push(await made.worker());
  workers[0]?.child.kill('SIGKILL');
  const { code, events } = await run;
  expect(code).toBe(0);
  const known = of(events, 'tool.finished').filter(({ ok }) => ok === true).length;
  const counted = readFileSync(path.join(made.machine.project, 'counted.txt'), 'utf8').trim().split('\n');
  // A command that was cut off is told as unknown and not repeated; every other one counts once.
  expect(counted.length).toBe(known);
  expect(new Set(counted).size).toBe(counted.length);
  expect(known).toBeGreaterThanOrEqual(3);
  expect(workers[1]?.out()).toContain('took over from');
  const of1 = of(events, 'agent.worker').filter(({ agent }) => agent === 'ROOT::S1');
  expect(of1.map(({ worker }) => worker)).toEqual(workers.map(({ id }) => id));
});

it('says before anything runs what is missing: a database, its tables, a worker', async () => {
  const made = await cluster(plans(['Find it', 'finder']));
  const start = (...flags: readonly string[]) => made.machine.mimir('run', 'Find it', '--yes', '--cluster', ...flags);
  expect(await start()).toMatchObject({
    code: 3,
    err: 'mimir: no worker is there in pool default\n  start one on any machine that reaches the database: mimir worker --pool default\n',
  });
  // What was typed is not lost.
  const person = made.machine.opens(['--cluster', 'Find it']);
  await person.sees('no worker is there in pool default', '❯ Find it');
  person.terminal.kill();
  await made.postgres.stop();
  expect((await start()).err).toContain('the database cannot be used: nothing answers there');
  expect(await made.machine.mimir('cluster', 'status')).toMatchObject({ code: 3 });
  await made.postgres.start();
  const { out } = await made.machine.mimir('doctor');
  expect(out).toContain('cluster   the database is ready; workers: none');
  expect(await made.machine.mimir('cluster')).toMatchObject({
    code: 0,
    out: 'No worker is there: `mimir worker` starts one.\n',
  });
});

it('on the screen: plan, approval, cards of agents that wait with a reason while the database is away, and the result', async () => {
  const made = await cluster(
    plans(['Wait a little', 'code'], ['Wait as well', 'code']),
    runsFirst('Wait a little', 'sleep 4; echo one > one.txt'),
    runsFirst('Wait as well', 'sleep 4; echo two > two.txt'),
  );
  await Promise.all([made.worker(), made.worker()]);
  const person = made.machine.opens(['--cluster', '--mode', 'yolo', 'Wait in two ways']);
  await person.sees('⏎ accept', 'in a tree of its own');
  person.press('Y');
  await until(() => made.double.bill().answered.calls >= 3);
  await person.sees('sleep 4');
  await made.postgres.stop();
  await person.sees('the database');
  await made.postgres.start();
  await until(() => made.double.bill().answered.calls >= 6);
  await person.sees('1 Answer');
  const ends = of(jsonLines((await made.machine.mimir('events', '--json')).out), 'tool.finished');
  // Where the outage has lasted too long for the workers, they have ended the commands, which is told.
  const [done, lost] = [ends.filter(({ ok }) => ok === true), ends.filter(({ ok }) => ok === false)];
  expect([
    done.length + lost.length,
    lost.filter(({ output }) => !String(output).startsWith('The worker that ran')),
  ]).toEqual([2, []]);
  const files = ['one', 'two'].filter((name) => existsSync(path.join(made.machine.project, `${name}.txt`)));
  expect(files.length).toBe(done.length);
});

it('a worker keeps to its own rules as well', async () => {
  const made = await cluster(plans(['Make a file', 'code']), runsFirst('Make a file', 'touch made.txt'));
  await made.worker({ config: 'commands: { deny: ["touch *"] }\n' });
  const { events } = await runOn(made.machine, 'Make a file', '--cluster', '--mode', 'yolo');
  const [{ ok, output } = {}] = of(events, 'tool.finished');
  expect([ok, String(output)]).toEqual([false, expect.stringMatching(/^Not run: denied on the worker: .*config.yml/)]);
  expect(existsSync(path.join(made.machine.project, 'made.txt'))).toBe(false);
});

it('a worker keeps to what its administrator and its person write while it works, and to nothing else while that cannot be read', async ({
  skip,
}) => {
  skipWithout('root', skip);
  const made = await cluster(plans(['Make a file', 'code']), runsFirst('Make a file', 'touch made.txt'));
  const one = await made.worker({ policy: 'ui: {}\n' });
  const config = one.config();
  const comes = async (): Promise<unknown> => {
    const { code, err, events } = await runOn(made.machine, 'Make a file', '--cluster', '--mode', 'yolo');
    const [used] = of(events, 'tool.finished');
    return [code, used?.['ok'], used?.['output'] ?? err];
  };
  const because = (text: string): unknown => [
    0,
    false,
    expect.stringMatching(`^Not run: denied on the worker: ${text}`),
  ];
  const noModel = (text: string): unknown => [6, undefined, expect.stringContaining(text)];
  expect(await comes()).toEqual([0, true, expect.anything()]);
  one.writes('policy.yml', 'commands: { deny: ["touch *"] }\n');
  expect(await comes()).toEqual(because('.*policy.yml:1'));
  one.writes('policy.yml', 'commands: {');
  expect(await comes()).toEqual(noModel('its configuration cannot be read: the configuration has faults'));
  one.writes('policy.yml', 'ui: {}\n');
  one.writes('config.yml', `${config}commands: { deny: ["touch *"] }\n`);
  expect(await comes()).toEqual(because('.*config.yml:4'));
  one.writes('config.yml', config);
  one.writes('policy.yml', 'enforcement: { deniedModels: [local/coder] }\n');
  expect(await comes()).toEqual(noModel('the worker may not use local/coder: '));
  one.writes('policy.yml', 'ui: {}\n');
  expect(await comes()).toEqual([0, true, expect.anything()]);
  const told = Array.from(one.out().matchAll(/has read its configuration|refuses steps: its/g), ([text]) => text);
  expect(told.map((text) => text.startsWith('refuses'))).toEqual([false, false, true, false, false, false]);
});

it('the paths that the rules of a run close stay closed, also where its worker has no such rules', async () => {
  const command = 'cat src/parse.js; git show HEAD:src/parse.js; echo changed >> README.md; echo made > made.txt';
  const made = await cluster(plans(['Look and change', 'code']), runsFirst('Look and change', command));
  await made.worker();
  const rules = 'sandbox: { fs: { denyRead: ["src/parse.js"], denyWrite: ["README.md"] } }\n';
  appendFileSync(path.join(made.machine.home, 'config/mimir/config.yml'), rules);
  const { code, events } = await runOn(made.machine, 'Look and change', '--cluster', '--mode', 'yolo');
  const [{ output } = {}] = of(events, 'tool.finished');
  expect([code, String(output)]).toEqual([0, expect.not.stringContaining('eval(text)')]);
  const inProject = (name: string): string => readFileSync(path.join(made.machine.project, name), 'utf8');
  expect([inProject('made.txt'), inProject('README.md')]).toEqual(['made\n', LEDGER['README.md']]);
});

it('an agent is told of what it may not change in the same words on a worker and on one machine', async () => {
  const calls = [
    { tool: 'bash', input: { command: 'echo no > src/new.md; echo yes > src/cache.js' } },
    { tool: 'bash', input: { command: 'echo no > README.md' } },
    { tool: 'bash', input: { command: 'rm src/report.js; mkdir src/deep; echo no > src/deep/x.txt' } },
    { tool: 'write_file', input: { path: 'docs/new.md', content: 'no' } },
    { tool: 'write_file', input: { path: 'src/fresh.js', content: 'yes' } },
    { tool: 'read_file', input: { path: 'src/parse.js' } },
    { tool: 'bash', input: { command: 'echo no > src/parse.js' } },
    { tool: 'write_file', input: { path: 'src/parse.js', content: 'no' } },
    { tool: 'write_file', input: { path: 'src/hidden.js', content: 'no' } },
    { tool: 'bash', input: { command: 'cat src/hidden.js; echo no > test/parse.test.js' } },
  ];
  const made = await cluster({ when: { first: 'Change one file', turn: 1 }, answer: { calls } });
  await made.worker();
  const plan = path.join(made.machine.home, 'plan.json');
  const task = { id: 'one', description: 'Change one file', role: 'code', writes: ['src/*.js'], tree: 'own' };
  writeFileSync(plan, JSON.stringify({ reason: 'It is little.', tasks: [task] }));
  const toldOf = async (machine: Machine, ...flags: readonly string[]): Promise<readonly (readonly unknown[])[]> => {
    const { events } = await runOn(machine, 'Change', '--plan', plan, '--mode', 'yolo', ...flags);
    const kept = /(?<=the versions of the command are in )[^;]*(?=\. If this)/;
    return of(events, 'tool.finished').map(({ ok, output, changed }) => [
      ok,
      String(output)
        .replace(/after [\d.]+ s/, 'after 0 s')
        .replace(kept, 'a folder'),
      z
        .object({ files: z.array(z.object({ path: z.string() })) })
        .optional()
        .parse(changed)
        ?.files.map((one) => one.path),
    ]);
  };
  const rules =
    'sandbox: { fs: { denyRead: ["src/hidden.js"], denyWrite: ["src/parse.js"], allowWrite: ["src", "docs"] } }\n';
  appendFileSync(path.join(made.machine.home, 'config/mimir/config.yml'), rules);
  const here = await toldOf(made.elsewhere());
  expect(await toldOf(made.machine, '--cluster')).toEqual(here);
  expect(here.map(([ok]) => ok)).toEqual([false, false, false, false, true, true, false, false, false, false]);
});

it('a person talks to an agent on a worker, kills another, and a second terminal shows the run', async () => {
  const made = await cluster(
    plans(['Wait for news', 'code'], ['Go on forever', 'code']),
    runsFirst('Wait for news', 'sleep 3; echo first > first.txt'),
    {
      when: { first: 'Wait for news', last: 'the second file' },
      answer: { calls: [{ tool: 'bash', input: { command: 'echo second > second.txt' } }] },
    },
    runsFirst('Go on forever', 'sleep 600'),
  );
  await Promise.all([made.worker(), made.worker()]);
  const person = made.machine.opens(['--cluster', '--mode', 'yolo', 'Do two things']);
  await person.sees('⏎ accept', 'in a tree of its own');
  person.press('Y');
  await person.sees('sleep 3', 'sleep 600', /code 1 +works on \S+/);
  const other = made.machine.opens(['attach']);
  await other.sees('sleep 600');
  const status = await made.machine.mimir('cluster', 'status', '--json');
  const counts = Array.from(status.out.matchAll(/"agents":\s*(\d+)/g), ([, agents]) => Number(agents));
  expect([counts.length, counts.reduce((sum, agents) => sum + agents, 0)]).toEqual([2, 3]);
  expect(await made.machine.mimir('send', 'code 1', 'Make the second file as well')).toMatchObject({ code: 0 });
  expect(await made.machine.mimir('kill', 'code 2')).toMatchObject({ code: 0 });
  await person.sees('killed');
  const fileOf = (name: string): string => path.join(made.machine.project, name);
  await until(() => existsSync(fileOf('first.txt')) && existsSync(fileOf('second.txt')));
});

it('a terminal on another machine attaches through the database, if it has the key of the person', async () => {
  const made = await cluster(
    plans(['Wait for a visitor', 'code']),
    runsFirst('Wait for a visitor', 'until [ -e came ]; do sleep 0.2; done; echo there > there.txt'),
  );
  await made.worker();
  const run = made.machine.mimir('run', 'Wait for a visitor', '--cluster', '--yes', '--mode', 'yolo');
  await until(() => made.double.bill().answered.calls >= 2);
  const { out } = await made.machine.mimir('cluster', 'status');
  const [, session = ''] = /^run (\w+) on /m.exec(out) ?? [];
  const elsewhere = made.elsewhere();
  const stranger = await elsewhere.mimir('attach', session, '--cluster');
  expect([stranger.code, stranger.err]).toEqual([2, expect.stringContaining('accept the keys of their own people')]);
  made.giveKey(elsewhere);
  await getsAnotherProcess(made, session);
  const person = elsewhere.opens(['attach', session, '--cluster']);
  await person.sees('Wait for a visitor', 'until [ -e');
  // The command ends when somebody has come, however long that takes.
  const [readme = ''] = globSync('cache-*/**/README.md', { cwd: made.machine.home });
  writeFileSync(path.join(made.machine.home, path.dirname(readme), 'came'), '');
  await person.sees('completed');
  expect((await run).code).toBe(0);
});

/** The run gets another process as soon as the next terminal has spoken to the one before. */
async function getsAnotherProcess({ postgres }: TestCluster, session: string): Promise<void> {
  const db = openDatabase(postgres.url);
  await db.run(`create table named as select body from mimir.line where id = '${session}'`);
  await db.run(`create function change() returns trigger language plpgsql as
    'begin update mimir.line set body = (select body from named) where id = new.run; return new; end'`);
  await db.run(
    `create trigger change after insert on mimir.line for each row when (new.side = 'client') execute function change()`,
  );
  await db.run(`update mimir.line set body = 'the one before' where id = '${session}'`);
  await db.close();
}

it('a day that is used up on one machine is used up on another', async () => {
  const made = await cluster(plans(['Find it', 'finder']));
  await made.worker();
  const other = made.elsewhere();
  const { out: key } = await made.machine.mimir('cluster', 'key');
  made.giveKey(other);
  expect((await other.mimir('cluster', 'key')).out).toBe(key);
  for (const { home } of [made.machine, other])
    appendFileSync(path.join(home, 'config/mimir/config.yml'), 'budgets: { day: { maxTokens: 24000 } }\n');
  expect((await runOn(made.machine, 'Find it', '--cluster')).code).toBe(0);
  const codes: (number | null)[] = [];
  for (let run = 0; run < 20 && codes.at(-1) !== 5; run += 1)
    codes.push((await runOn(run % 2 === 0 ? other : made.machine, 'Find it', '--cluster')).code);
  // Each of the two has used about half of it.
  expect(codes.at(-1)).toBe(5);
  const { out } = await other.mimir('doctor');
  expect(Number(/and (\d+) tokens used/.exec(out)?.[1])).toBeLessThan(18_000);
});

it('an agent on a worker sees neither the trees of other agents there nor what the worker knows', async () => {
  const made = await cluster(
    plans(['Keep a secret', 'code'], ['Look for it', 'code']),
    runsFirst('Keep a secret', 'echo s > secret-of-one.txt; sleep 6'),
    runsFirst(
      'Look for it',
      'sleep 3; find / -name "secret-of-*" 2>/dev/null; env | grep -c -e MIMIR_DATABASE -e LOCAL_KEY; cat /proc/*/environ 2>/dev/null | grep -ac LOCAL_KEY; ls ../../../../.. 2>/dev/null | grep -c config.yml',
    ),
  );
  await made.worker();
  const { events } = await runOn(made.machine, 'Look for a secret', '--cluster', '--mode', 'yolo');
  const looked = of(events, 'tool.finished').find(({ agent }) => agent === 'ROOT::S2');
  expect(
    String(looked?.['output'])
      .split('\n')
      .filter((line) => !line.startsWith('exit code')),
  ).toEqual(['0', '0', '0']);
});

it('is refused where the tables, or a worker, are of another Mimir', async () => {
  const made = await cluster(plans(['Find it', 'finder']));
  const one = await made.worker();
  const db = openDatabase(made.postgres.url);
  const faultAfter = async (change: string): Promise<string> => {
    await db.run(change);
    const { code, err } = await made.machine.mimir('run', 'Find it', '--yes', '--cluster');
    expect(code).toBe(3);
    return err;
  };
  expect(await faultAfter('update mimir.version set version = 3')).toContain(
    'the tables in the database are of a newer Mimir',
  );
  expect((await made.machine.mimir('cluster', 'migrate')).err).toContain('use the same version of Mimir everywhere');
  expect(await faultAfter('update mimir.version set version = 0')).toContain(
    '`mimir cluster migrate` brings them up to date',
  );
  expect(await made.machine.mimir('cluster', 'migrate')).toMatchObject({ code: 0, err: '' });
  expect(await faultAfter(`update mimir.worker set version = '0.0.1'`)).toContain(`worker ${one.id} is Mimir 0.0.1`);
  expect((await made.machine.mimir('doctor')).out).toMatch(/✗ cluster +worker .* is Mimir 0\.0\.1/);
  await db.close();
});

it('a run in the background whose process was killed is continued by another on the workers', async () => {
  const made = await cluster(
    plans(['Count up', 'code']),
    ...[1, 2, 3].map((turn) => ({
      when: { first: 'Count up', turn },
      answer: { calls: [{ tool: 'bash', input: { command: `echo ${turn} >> counted.txt; sleep 1` } }] },
    })),
  );
  await made.worker();
  const { out } = await made.machine.mimir('run', 'Count up', '--cluster', '--detach', '--yes', '--mode', 'yolo');
  const [, session = ''] = /^Session (\w+) runs/.exec(out) ?? [];
  await until(() => made.double.bill().answered.calls >= 3);
  killRunsBelow(made.machine.home);
  const again = await made.machine.mimir('resume', session, '--cluster', '--json');
  expect([again.code, again.err]).toEqual([0, '']);
  const ends = of(jsonLines((await made.machine.mimir('events', session, '--json')).out), 'tool.finished');
  const known = ends.filter(({ ok }) => ok === true).length;
  const counted = readFileSync(path.join(made.machine.project, 'counted.txt'), 'utf8').trim().split('\n');
  expect([ends.length, counted.length, new Set(counted).size]).toEqual([3, known, known]);
});

/** Kills the processes of runs whose state lies below `home`, which are not workers. */
function killRunsBelow(home: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const of = (what: string): string => tried(() => readFileSync(`/proc/${pid}/${what}`, 'utf8'), '');
    if (of('cmdline').includes('--hosted') && of('environ').includes(`HOME=${home}`))
      process.kill(Number(pid), 'SIGKILL');
  }
}

it('a provider that asks one run to wait is left alone by the next', async () => {
  const made = await cluster(plans(['Find the cache', 'finder']), {
    when: { first: 'Find the cache', times: 1 },
    answer: { fault: { is: 'status', status: 429, headers: { 'retry-after': '2' } } },
  });
  await made.worker();
  const first = await runOn(made.machine, 'Find the cache', '--cluster');
  expect(of(first.events, 'model.retry')).toMatchObject([{ cause: 'rate limited' }]);
  const db = openDatabase(made.postgres.url);
  const pause = (left: string): Promise<unknown> =>
    db.run(`update mimir.pause set until = clock_timestamp() + interval '${left}' where provider = 'local'`);
  // Longer than any start of the program takes.
  await pause('1 hour');
  const called = made.double.bill().answered.calls;
  const person = made.machine.opens(['run', 'Find the cache', '--yes', '--cluster']);
  await person.sees('rate limit');
  // The provider itself answers every call again.
  expect(made.double.bill().answered.calls).toBe(called);
  person.terminal.signal('SIGKILL');
  await person.terminal.exit;
  await pause('0 seconds');
  await db.close();
  const { code, events } = await runOn(made.machine, 'Find the cache', '--cluster');
  expect([code, of(events, 'model.retry')]).toEqual([0, []]);
});

it('a person without a key of the model works with that of the workers, also for the plan', async () => {
  const made = await cluster(plans(['Find it', 'finder']));
  await made.worker();
  const keyless = made.elsewhere({ LOCAL_KEY: undefined });
  expect((await keyless.mimir('run', 'Find it', '--yes')).err).toContain('LOCAL_KEY (not set)');
  const { code, events } = await runOn(keyless, 'Find it', '--cluster');
  expect([code, of(events, 'model.finished').map(({ model }) => model)]).toEqual([0, ['local/coder', 'local/coder']]);
  expect(made.double.bill().answered.calls).toBe(2);
});
