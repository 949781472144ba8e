/** The plan prompt of line mode in a real terminal: ways out of it. */
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

async function asked(): Promise<TestTerminal> {
  const args = [bundled(), 'run', 'Find balanceOf', '--color', 'never'];
  const terminal = startTerminal(process.execPath, args, { cols: 120, rows: 50, cwd: home.project, env: home.env });
  onTestFinished(() => {
    terminal.kill();
  });
  await terminal.waitFor('Proceed? [Y/n/e/m]');
  return terminal;
}

async function answer(terminal: TestTerminal, prompt: string, text: string): Promise<void> {
  await terminal.waitFor(prompt);
  terminal.type(`${text}\r`);
}

describe('the plan prompt', () => {
  it('ends by Ctrl-C with 130; the session stays and can be gone on with', async () => {
    const terminal = await asked();
    terminal.press('ctrl-c');
    expect(await terminal.exit).toMatchObject({ code: 130 });
    const resume = /mimir resume (\w+)/.exec(terminal.output())?.[1] ?? '';
    expect(await home.run(['resume', resume, '--yes', '--json'])).toMatchObject({ code: 0 });
  });

  it('goes on with the rest of the edits when one is refused', async () => {
    const terminal = await asked();
    await answer(terminal, 'Proceed?', 'e');
    await answer(terminal, 'New description', 'Find where balanceOf is used');
    await answer(terminal, 'New model', 'nonsense-9');
    await terminal.waitFor(/not changed: .*nonsense-9/);
    await terminal.waitFor('Plan approved');
    await terminal.waitFor('completed: 1 agent');
    expect(await terminal.exit).toMatchObject({ code: 0 });
    expect(terminal.output()).toContain('[main] Find where balanceOf is used');
  });

  it('goes on when every edit is refused', async () => {
    const terminal = await asked();
    await answer(terminal, 'Proceed?', 'e');
    await answer(terminal, 'New description', '');
    await answer(terminal, 'New model', 'nonsense-9');
    await terminal.waitFor('completed: 1 agent');
    expect(await terminal.exit).toMatchObject({ code: 0 });
  });

  it('counts the end of input as no', async () => {
    const terminal = await asked();
    terminal.press('ctrl-d');
    expect(await terminal.exit).toMatchObject({ code: 4 });
  });
});
