/** Screens on a run that a process of its own carries: several at once, one less, none; and that process lost. */
import { describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import type { Person } from '../support/journey.ts';
import { ACCEPT, newest, sessionsOf } from '../support/journey.ts';
import type { LeftRunning } from '../support/left-running.ts';
import { ANSWER, leftRunning, WORK } from '../support/left-running.ts';
import { needs } from '../support/needs.ts';
import { of } from '../support/on-the-wire.ts';
import { startTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';

/** The command runs, in a process that a script has started. */
async function hosted(rate?: number): Promise<LeftRunning> {
  const run = await leftRunning(rate);
  const started = await run.machine.mimir('run', WORK, '--yes', '--mode', 'yolo', '--detach');
  expect(started).toMatchObject({ code: 0, err: '' });
  await until(() => run.effects() === 1);
  return run;
}

async function watching({ machine }: LeftRunning, ...args: readonly string[]): Promise<Person> {
  const person = machine.opens(['attach', ...args]);
  await person.sees(/● main/);
  return person;
}

describe.concurrent('screens on a run of another process', () => {
  needs('bubblewrap');

  it('S001, S004: begin with a script, without any terminal, and follow it to its end', async () => {
    const run = await leftRunning();
    const { code, out } = await run.machine.mimir('run', WORK, '--yes', '--mode', 'yolo', '--detach', '--json');
    expect(code).toBe(0);
    const session = await newest(run.machine);
    expect(JSON.parse(out)).toEqual({ session, attach: `mimir attach ${session}`, stop: `mimir kill ${session}` });
    await until(() => run.effects() === 1);
    expect(await sessionsOf(run.machine)).toEqual([expect.stringContaining('running')]);
    const { project: cwd, env } = run.machine;
    const lines = startTerminal('/bin/sh', ['-c', `${process.execPath} ${bundled()} attach | cat`], { cwd, env });
    await lines.waitFor(`Attached to session ${session}`, { timeout: 30_000 });
    run.go();
    await lines.waitFor('completed', { timeout: 30_000 });
    await lines.exit;
    await until(() => run.hosts().length === 0);
    expect(run.effects()).toBe(1);
  });

  it('S002: are two on one run; closing one, or killing it, ends nothing', async () => {
    const run = await hosted();
    const [one, other, third] = await Promise.all([watching(run), watching(run), watching(run)]);
    one.press('q');
    await one.sees('Quit?', 'The run continues in its own process', 'mimir attach');
    one.press('y');
    expect(await one.leaves()).toBe(0);
    expect(one.screen()).toMatch(/Session \w+ continues/);
    third.terminal.signal('SIGKILL');
    await third.terminal.exit;
    run.go();
    await other.sees('┌─ 1 Answer', ANSWER);
    other.press('q');
    expect(await other.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
    expect(of(await run.events(), 'session.finished').map(({ status }) => status)).toEqual(['completed']);
  });

  it('S006: opens the agent that was named, by its place, its id or its name', async () => {
    const run = await hosted();
    const session = await newest(run.machine);
    const person = run.machine.opens(['attach', session, 'main']);
    await person.sees('┏━ ● main');
    person.press('d');
    expect(await person.leaves()).toBe(0);
    const wrong = await run.machine.mimir('attach', session, 'nobody');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain(`there is no session "nobody"\n`);
    run.go();
    await run.stands('finished');
  });

  it('S126: stop it from there, which is its end; r goes on with it here', async () => {
    const run = await hosted();
    const person = await watching(run);
    person.press('X');
    await person.sees('Stop the run?');
    person.type('kill');
    person.press('enter');
    await person.sees('stopped');
    await until(() => run.hosts().length === 0);
    run.go();
    person.press('r');
    await person.sees('┌─ 1 Answer', ANSWER);
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
  });

  it('say that its process was lost, and go on with the run here', async () => {
    const run = await hosted();
    const person = await watching(run);
    for (const pid of run.hosts()) process.kill(pid, 'SIGKILL');
    await person.sees('Run process lost', 'continue here');
    person.press('esc');
    await person.doesNotSee('The recorded state');
    await person.sees('! The process that hosted the run has ended', 'R continues here');
    run.go();
    person.press('R');
    await person.sees('┌─ 1 Answer', ANSWER);
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
    expect(of(await run.events(), 'session.finished').map(({ status }) => status)).toEqual(['completed']);
  });

  it('are offered to go on with a run that nobody carries', async () => {
    const run = await hosted();
    for (const pid of run.hosts()) process.kill(pid, 'SIGKILL');
    const session = await newest(run.machine);
    const script = await run.machine.mimir('attach', session);
    expect(script).toEqual({
      code: 2,
      out: '',
      err: `mimir: session ${session} is not running\n  \`mimir resume ${session}\` continues it\n`,
    });
    run.go();
    const person = run.machine.opens(['attach']);
    await person.sees(`Session ${session}: `, 'Continue it here?');
    person.type('y');
    person.press('enter');
    await person.sees('┌─ 1 Answer', ANSWER);
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
  });

  it('are reached from the list of sessions; and are followed when the run moves to another process', async () => {
    const run = await leftRunning();
    const carrier = run.machine.opens([WORK, '--mode', 'yolo']);
    await carrier.sees(ACCEPT);
    carrier.press('enter');
    await until(() => run.effects() === 1);
    const other = run.machine.opens([]);
    await other.sees('What do you want to do?', 'Suggestions', 'running');
    other.press('tab');
    await other.sees(/▌ +1/);
    other.press('tab');
    await other.sees(/▌ ●/);
    other.press('enter');
    await other.sees(/● main/);
    carrier.press('d');
    await carrier.sees('Detaching');
    run.go();
    expect(await carrier.leaves()).toBe(0);
    await other.sees('┌─ 1 Answer', ANSWER);
    other.press('q');
    expect(await other.leaves()).toBe(0);
    expect(run.effects()).toBe(1);
  });
});
