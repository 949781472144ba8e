/** N. What becomes of a command in its box when the person leaves, in whatever way: the real program in a real terminal. */
import { describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { ACCEPT, LEDGER, newest, sessionsOf } from '../support/journey.ts';
import type { Machine, Person } from '../support/journey.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';
import { startTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';
import { sleepers } from '../tools/living.ts';
import { needs } from '../support/needs.ts';

const TASK = 'Run the checks';

/** Ignores what polite ends send, and leaves its session; each test's own by how long it sleeps. */
const command = (seconds: number): string =>
  `trap '' TERM HUP INT; setsid sleep ${seconds} & sleep ${seconds} & echo started; while [ ! -e go ]; do sleep 0.05; done; echo went on`;
const living = (seconds: number): number => sleepers(new RegExp(`^sleep ${seconds}$`)).length;

/** A machine whose one agent runs that command. */
async function machineFor(seconds: number): Promise<Machine> {
  const call = { tool: 'bash', input: { command: command(seconds) } };
  const { machine } = await ownModel('anthropic', {
    script: {
      rules: [
        { when: { first: '# Roles' }, answer: { text: planText([TASK, 'oracle']) } },
        { when: { first: `^${TASK}`, turn: 1 }, answer: { calls: [call] } },
        { answer: { text: 'All is well.' } },
      ],
    },
    files: LEDGER,
  });
  return machine;
}

/** Somebody whose command runs, on the screen. */
async function atWork(machine: Machine, seconds: number): Promise<Person> {
  const person = machine.opens([TASK, '--mode', 'yolo']);
  await person.sees(ACCEPT);
  person.press('enter');
  await until(() => living(seconds) === 2);
  return person;
}

describe('a command that runs in its box', () => {
  needs('bubblewrap');

  it('N04: ends when the terminal is closed, and what was done is kept', async () => {
    const machine = await machineFor(7201);
    const person = await atWork(machine, 7201);
    person.terminal.hangUp();
    await person.terminal.exit;
    expect(living(7201)).toBe(0);
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('stopped')]);
  });

  it('N04: ends with the first Ctrl-C on the screen; the second asks, and the terminal is given back', async () => {
    const machine = await machineFor(7202);
    const person = await atWork(machine, 7202);
    person.press('j');
    await person.sees(/(?:┏ |▌)● main/);
    person.press('ctrl-c');
    await person.sees(/(?:┏ |▌)⏸ main/);
    await until(() => living(7202) === 0);
    // Twice is within two seconds, and the command took as long to end.
    for (let presses = 0; presses < 60 && !person.screen().includes('Quit?'); presses += 1) {
      person.press('ctrl-c');
      await person.terminal.waitFor('Quit?', { timeout: 400 }).catch(() => undefined);
    }
    await person.sees('Quit?');
    person.press('y');
    expect(await person.leaves()).toBe(1);
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('stopped')]);
  });

  it('N04: ends with two Ctrl-C where there is no screen', async () => {
    const machine = await machineFor(7203);
    const person = machine.opens(['run', TASK, '--yes', '--mode', 'yolo']);
    await until(() => living(7203) === 2);
    person.press('ctrl-c');
    await person.sees('No report was written: stopped by Ctrl-C');
    person.press('ctrl-c');
    expect(await person.leaves()).toBe(130);
    await until(() => living(7203) === 0);
    expect(await sessionsOf(machine)).toEqual([expect.stringContaining('stopped')]);
  });

  it('N04: goes on behind Ctrl-Z, with the terminal the shell’s, and is there with `fg`', async () => {
    const machine = await machineFor(7204);
    const env = { ...machine.env, PS1: 'shell> ' };
    const terminal = startTerminal('/bin/bash', ['--norc', '--noprofile', '-i'], { cwd: machine.project, env });
    await terminal.waitFor('shell>');
    terminal.type(`clear; ${process.execPath} ${bundled()} '${TASK}' --mode yolo\r`);
    await terminal.waitFor(ACCEPT, { timeout: 30_000 });
    terminal.press('enter');
    await until(() => living(7204) === 2);
    terminal.press('ctrl-z');
    await terminal.waitFor('Stopped');
    expect(terminal.isAltScreen()).toBe(false);
    expect(living(7204)).toBe(2);
    terminal.type('touch go; fg\r');
    await terminal.waitFor('Completed', { timeout: 30_000 });
    expect(terminal.isAltScreen()).toBe(true);
    terminal.press('q');
    await terminal.waitFor(() => !terminal.isAltScreen());
    expect(living(7204)).toBe(0);
    terminal.type('exit\r');
    await terminal.exit;
    const { out } = await machine.mimir('events', await newest(machine), '--json');
    expect(out).toContain('went on');
  });
});
