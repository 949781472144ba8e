/** Line mode and runs that outlive it: given away, followed, left, lost. */
import { describe, expect, it } from 'vitest';
import { newest } from '../support/journey.ts';
import type { Person } from '../support/journey.ts';
import type { LeftRunning } from '../support/left-running.ts';
import { ANSWER, leftRunning, WORK } from '../support/left-running.ts';
import { needs } from '../support/needs.ts';
import { of } from '../support/on-the-wire.ts';
import { until } from '../support/until.ts';

const PLAIN = { cols: 100, rows: 40 };

async function atWork(run: LeftRunning, ...args: readonly string[]): Promise<Person> {
  const person = run.machine.opens([...args, '--mode', 'yolo'], PLAIN);
  await person.sees('Proceed?');
  person.type('Y');
  person.press('enter');
  await until(() => run.effects() === 1);
  return person;
}

async function hosted(run: LeftRunning): Promise<string> {
  await run.machine.mimir('run', WORK, '--yes', '--mode', 'yolo', '--detach');
  await until(() => run.effects() === 1);
  return newest(run.machine);
}

describe.concurrent('line mode', () => {
  needs('bubblewrap');

  it('S002: gives its run away with detach, says what it waits for, and how to come back', async () => {
    const run = await leftRunning();
    const person = await atWork(run, WORK, '--plain');
    person.type('detach');
    person.press('enter');
    await person.sees('Current calls finish', '- main:', 'detach stay keeps the run here');
    run.go();
    await person.sees(/session \w+ continues in the background/, /mimir attach \w+/);
    expect(await person.leaves()).toBe(0);
    await run.stands('finished');
    expect(run.effects()).toBe(1);
    expect(of(await run.events(), 'session.finished').map(({ status }) => status)).toEqual(['stopped', 'completed']);
  });

  it('S002: does so under `mimir run` as well', async () => {
    const run = await leftRunning();
    const person = await atWork(run, 'run', WORK);
    person.type('detach');
    person.press('enter');
    await person.sees('detach now cuts these calls off');
    person.type('detach now');
    person.press('enter');
    await person.sees(/mimir attach \w+/);
    expect(await person.leaves()).toBe(0);
    await run.stands('finished');
    expect(run.effects()).toBe(1);
  });

  it('S004: follows a run of another process, leaves it with words, and finds it again', async () => {
    const run = await leftRunning();
    const session = await hosted(run);
    const person = run.machine.opens(['attach', '--plain'], PLAIN);
    await person.sees(`Attached to session ${session}`);
    person.type('quit');
    person.press('enter');
    await person.sees(`The run continues: mimir attach ${session} shows it again.`);
    expect(await person.leaves()).toBe(0);
    const again = run.machine.opens(['--plain'], PLAIN);
    await again.sees('Type a task');
    again.type('attach 1');
    again.press('enter');
    await again.sees(`Attached to session ${session}`);
    run.go();
    await again.sees(ANSWER);
    again.type('quit');
    again.press('enter');
    await again.leaves();
    expect(run.effects()).toBe(1);
  });

  it('says that the process of a run was lost, and goes on with it here', async () => {
    const run = await leftRunning();
    await hosted(run);
    const person = run.machine.opens(['attach', '--plain'], PLAIN);
    await person.sees('Attached to session');
    for (const pid of run.hosts()) process.kill(pid, 'SIGKILL');
    await person.sees('The run has no process: the process that hosted the run has ended', 'here continues it');
    run.go();
    person.type('here');
    person.press('enter');
    await person.sees('Resuming session', ANSWER);
    person.type('quit');
    person.press('enter');
    expect(await person.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
  });

  it('ends with the exit code of the run of another process: 1 where it was stopped', async () => {
    const run = await leftRunning();
    await hosted(run);
    const person = run.machine.opens(['attach', '--plain'], PLAIN);
    await person.sees('Attached to session');
    person.type('stop');
    person.press('enter');
    await person.sees('Type kill to stop');
    person.type('kill');
    person.press('enter');
    await person.sees('stopped by the person');
    person.type('quit');
    person.press('enter');
    expect(await person.leaves()).toBe(1);
  });

  it('says of a run that is gone on with in a pipe only what is new, and its report once', async () => {
    const run = await leftRunning();
    run.go();
    await run.machine.mimir('run', WORK, '--yes', '--mode', 'yolo');
    const session = await newest(run.machine);
    await run.machine.mimir('send', 'ROOT::S1', 'And the docs?');
    const { out } = await run.machine.mimir('resume', session, '--mode', 'yolo');
    const lines = out.split('\n');
    expect(lines[0]).toBe(`Resuming session ${session}: ${WORK}`);
    expect(lines[1]).toMatch(/^0 running, 1 completed, .*no open questions\.$/);
    expect(lines.filter((line) => line.startsWith('completed: 1 agent'))).toHaveLength(1);
    expect(out).not.toContain('Execution Plan');
  });
});
