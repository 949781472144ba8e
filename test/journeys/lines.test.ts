/** Without a full screen: plain lines in a terminal, and no terminal at all. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { makeMachine, sessionsOf } from '../support/journey.ts';
import type { Ended, Machine, Person } from '../support/journey.ts';

const SMALL = 'Find balanceOf';
const LOOK = { cols: 120, rows: 50 };
const PLAIN = ['--plain', SMALL];

describe.concurrent('line mode', () => {
  it('shows the plan with its options and proceeds with Enter; the report can be asked for, and quit quits (O099 to O102, O108)', async () => {
    const person = makeMachine().opens(PLAIN, LOOK);
    await person.sees('Multi-Agent Execution Plan', '1. main', 'Estimate:', 'Total:', 'Options:', 'Proceed? [Y/n/e/m]');
    expect(person.terminal.output()).not.toContain('\u001b[?1049h');
    person.press('enter');
    await person.sees('Plan approved (person)', /\[main\] done \(\d+ tools, [\d.]+s\)/, 'completed: 1 agent');
    await says(person, 'agents', '#1 main: completed');
    await says(person, 'quit');
    expect(await person.leaves()).toBe(0);
  });

  it.each(['n', 'what?'])('is cancelled by "%s", and runs nothing (O103, O107)', async (answer) => {
    const person = makeMachine().opens(PLAIN, LOOK);
    await person.sees('Proceed? [Y/n/e/m]');
    await says(person, answer, 'User rejected plan');
    await says(person, 'quit');
    expect(await person.leaves()).toBe(4);
    expect(person.terminal.output()).not.toContain('Plan approved');
  });

  it('breaks long lines at blanks, and indents them as they begin', async () => {
    const person = makeMachine().opens(['--plain', 'Find parse'], { cols: 60, rows: 60 });
    await person.sees('Proceed? [Y/n/e/m]');
    const rows = person.terminal.screen().map((row) => row.trimEnd());
    const from = rows.findIndex((row) => row.startsWith('   Find where'));
    expect(rows.slice(from, from + 2)).toEqual([
      '   Find where parse is defined and used in this repository',
      '   (6 files).',
    ]);
    person.terminal.kill();
  });

  it('edits with e: current text and model, Enter keeps, and the run uses what was typed (O104, O105, O112)', async () => {
    const person = makeMachine().opens(PLAIN, LOOK);
    await person.sees('Proceed? [Y/n/e/m]');
    await says(person, 'e', 'Current: Find where');
    await says(person, 'Find where parse is defined', 'Current model: sonnet-4.5');
    person.press('enter');
    await person.sees('[main] Find where parse is defined', 'completed: 1 agent');
    person.terminal.kill();
  });

  it('sets model and tokens by hand with m, and says what it could not take (O106)', async () => {
    const person = makeMachine().opens(['run', SMALL], LOOK);
    await person.sees('Proceed? [Y/n/e/m]');
    await says(person, 'm', 'New description');
    person.press('enter');
    await person.sees('New model');
    await says(person, 'offline', 'Max tokens');
    await says(person, 'many', '"many" is not a number of tokens');
    await person.sees('completed: 1 agent');
    expect(await person.leaves()).toBe(0);
  });

  it('is what a dumb terminal gets: suggestions by number, nothing that moves a cursor', async () => {
    const machine = makeMachine();
    const person = machine.opens([], { ...LOOK, env: { TERM: 'dumb' } });
    await person.sees('Suggestions:', '1. Explain', 'Type a task');
    await says(person, '1', 'Proceed? [Y/n/e/m]');
    person.press('ctrl-c');
    await person.sees('Press Ctrl-C again to quit');
    person.press('ctrl-c');
    expect(await person.leaves()).toBe(1);
    expect(person.terminal.output()).not.toContain('\u001b');
    expect(await sessionsOf(machine)).toMatchObject([expect.stringContaining('stopped')]);
  });
});

describe.concurrent('without a terminal', () => {
  it('prints the plan, runs nothing and ends with 4 unless it was approved beforehand', async () => {
    const machine = makeMachine();
    const { code, out } = await machine.mimir('run', SMALL);
    expect(code).toBe(4);
    expect(out).toContain('Multi-Agent Execution Plan');
    expect(out).not.toContain('- done');
    const approved = await machine.mimir('run', SMALL, '--yes');
    expect(approved.code).toBe(0);
    expect(approved.out).toContain('completed: 1 agent');
  });

  it('takes nothing from a pipe for a yes, and says all as lines: a log (O099)', async () => {
    const machine = makeMachine();
    const asked = await piped(machine, ['--plain', SMALL], 'Y\nY\n');
    expect(asked.code).toBe(4);
    expect(asked.err).toContain('no terminal to ask for approval');
    const run = await piped(machine, ['run', SMALL, '--yes', '--plain'], 'stop\nkill\n');
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/\[main\] done \(\d+ tools, [\d.]+s\)/);
    expect(run.out + run.err).not.toContain('\u001b');
    expect(run.out).not.toContain('Proceed?');
  });

  it('says what is missing when there is no task', async () => {
    const { code, err } = await makeMachine().mimir();
    expect(code).toBe(2);
    expect(err).toContain('missing argument: task');
  });

  it('runs two sessions of one project at once, each with its own log', async () => {
    const machine = makeMachine();
    const runs = await Promise.all([
      machine.mimir('run', SMALL, '--yes', '--json'),
      machine.mimir('run', 'Find parse', '--yes', '--json'),
    ]);
    expect(runs.map(({ code, err }) => ({ code, err }))).toEqual([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    const all = await sessionsOf(machine);
    expect(all.filter((line) => line.includes('finished'))).toHaveLength(2);
  });
});

/** `mimir …` with these lines in its stdin, to its end. */
function piped(machine: Machine, args: readonly string[], input: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [bundled(), ...args], { cwd: machine.project, env: machine.env });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.once('close', (code) => {
      resolve({ code, out, err });
    });
    child.stdin.end(input);
  });
}

/** Types a line, and waits for what it leads to. */
async function says(person: Person, text: string, ...sees: readonly string[]): Promise<void> {
  person.type(text);
  await person.sees(text);
  person.press('enter');
  await person.sees(...sees);
}
