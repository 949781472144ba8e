/** A word that is nearly a command, typed at a terminal. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundled } from '../support/bundled.ts';
import type { Home } from '../support/cli.ts';
import { openHome, SMALL } from '../support/cli.ts';
import type { TestTerminal } from '../support/pty.ts';
import { startTerminal } from '../support/pty.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

function typed(...words: readonly string[]): TestTerminal {
  const args = [bundled(), ...words];
  const terminal = startTerminal(process.execPath, args, { cols: 120, rows: 40, cwd: home.project, env: home.env });
  onTestFinished(() => {
    terminal.kill();
  });
  return terminal;
}

const QUESTION =
  'There is no command "versoin". Did you mean `mimir version`? y yes, t plan the task "versoin", anything else no:';

const rowsOf = (terminal: TestTerminal): readonly string[] =>
  terminal
    .screen()
    .map((row) => row.trimEnd())
    .filter((row) => row !== '');

describe('a word that is nearly a command, at a terminal', () => {
  it('is asked about, and y runs the command', async () => {
    const terminal = typed('versoin');
    await terminal.waitFor(QUESTION);
    terminal.type('y\r');
    expect(await terminal.exit).toMatchObject({ code: 0 });
    expect(rowsOf(terminal)).toEqual([`${QUESTION} y`, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
  });

  it('is no command by Enter alone: refused, with both ways to say what is meant', async () => {
    const terminal = typed('versoin');
    await terminal.waitFor(QUESTION);
    terminal.press('enter');
    expect(await terminal.exit).toMatchObject({ code: 2 });
    expect(rowsOf(terminal)).toEqual([
      QUESTION,
      'mimir: there is no command "versoin"',
      '  did you mean `mimir version`? To run it as a task: mimir run "versoin"',
    ]);
  });

  it('is planned as a task by t', async () => {
    const terminal = typed('versoin', '--plain', '--color', 'never');
    await terminal.waitFor(QUESTION);
    terminal.type('t\r');
    await terminal.waitFor('Proceed? [Y/n/e/m]');
  });

  it('is no task where more words follow', async () => {
    const terminal = typed('versoin', 'now');
    await terminal.waitFor('Did you mean `mimir version`? y yes, anything else no:');
    terminal.type('t\r');
    expect(await terminal.exit).toMatchObject({ code: 2 });
  });
});
