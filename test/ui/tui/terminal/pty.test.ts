/** The driver of the journeys itself: it sees what a program shows, types into it, and says what it saw when it fails. */
import { afterEach, describe, expect, it } from 'vitest';
import { startTerminal, type TestTerminal } from '../../../support/pty.ts';

const started: TestTerminal[] = [];
afterEach(() => {
  for (const terminal of started.splice(0)) terminal.kill();
});

function start(script: string): TestTerminal {
  const terminal = startTerminal('/bin/sh', ['-c', script], { cols: 30, rows: 5 });
  started.push(terminal);
  return terminal;
}

describe('the driver of a terminal', () => {
  it('types and sees', async () => {
    const terminal = start('read line; printf "\\033[31mgot %s\\033[0m\\n" "$line"; exit 3');
    terminal.type('hello');
    terminal.press('enter');
    await terminal.waitFor('got hello');
    expect(await terminal.exit).toEqual({ code: 3, signal: 0 });
    expect(terminal.screen().slice(0, 2)).toEqual(['hello', 'got hello']);
    expect(terminal.cell(0, 1)).toMatchObject({ text: 'g', fg: 1, bold: false });
    expect(terminal.isAltScreen()).toBe(false);
  });

  it('shows the screen when what it waits for does not come', async () => {
    const terminal = start('echo something else');
    await expect(terminal.waitFor('this')).rejects.toThrow(/ended before it showed: this[^]*\|something else/);
  });

  it('sends signals and sizes', async () => {
    const terminal = start('trap "stty size; exit 9" WINCH; echo ready; while :; do sleep 0.01; done');
    await terminal.waitFor('ready');
    terminal.resize(40, 7);
    await terminal.waitFor('7 40');
    expect((await terminal.exit).code).toBe(9);
    const other = start('echo ready; sleep 100');
    await other.waitFor('ready');
    other.signal('SIGTERM');
    expect(await other.exit).toEqual({ code: 0, signal: 15 });
  });
});
