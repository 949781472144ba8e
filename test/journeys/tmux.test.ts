/** The same program inside tmux, as many run it. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { makeMachine, TASK } from '../support/journey.ts';
import type { TestTerminal } from '../support/pty.ts';
import { startTerminal } from '../support/pty.ts';
import { needs, whyNot } from '../support/needs.ts';

const CLI = bundled();
const run = promisify(execFile);
const socket = `mimir-test-${process.pid}`;
const machine = makeMachine();

async function tmux(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('tmux', ['-L', socket, '-f', '/dev/null', ...args], { env: machine.env });
  return stdout;
}

const screen = (...args: readonly string[]): Promise<string> => tmux('capture-pane', '-p', '-t', 'journey', ...args);

/** Looks until it is there; each look waits for tmux to answer. */
async function sees(...what: readonly (string | RegExp)[]): Promise<void> {
  for (const one of what) {
    await expect.poll(() => screen(), { timeout: 30_000, interval: 50 }).toMatch(one);
  }
}

needs('tmux');

beforeAll(async () => {
  if (whyNot('tmux') !== null) return;
  await tmux('new-session', '-d', '-s', 'journey', '-x', '80', '-y', '24', '-c', machine.project, '/bin/sh');
});

afterAll(() => {
  if (whyNot('tmux') === null) execFileSync('tmux', ['-L', socket, 'kill-server'], { env: machine.env });
});

describe('inside tmux', () => {
  it('shows plan and cards, follows its size, and leaves the pane as it was', async () => {
    await tmux('send-keys', '-t', 'journey', `'${process.execPath}' '${CLI}'; echo "ended $?"`, 'Enter');
    await sees('What do you want to do?');
    await tmux('send-keys', '-t', 'journey', '-l', TASK);
    await sees(`❯ ${TASK}`);
    await tmux('send-keys', '-t', 'journey', 'Enter');
    await sees(/⏎ accept/, '┏━ Plan 3 tasks');
    await tmux('resize-window', '-t', 'journey', '-x', '120', '-y', '40');
    await sees('┌─ Schedule');
    await tmux('send-keys', '-t', 'journey', 'Enter');
    await sees('Message main', '● finder');
    await tmux('send-keys', '-t', 'journey', 'Down');
    await sees(/(?:┏ |▌)\S finder/);
    await tmux('send-keys', '-t', 'journey', 's');
    await sees(/(?:┏ |▌)⏸ finder/);
    await tmux('send-keys', '-t', 'journey', 'q');
    await sees('Quit?');
    await tmux('send-keys', '-t', 'journey', 'y');
    await sees('ended 1', /mimir resume \w+/);
    const modes = await tmux(
      'display-message',
      '-p',
      '-t',
      'journey',
      '#{alternate_on} #{mouse_any_flag} #{cursor_flag}',
    );
    expect(modes.trim()).toBe('0 0 1');
  });
});

/** A person whose terminal shows a tmux that shows Mimir. */
async function attached(
  name: string,
): Promise<{ readonly outer: TestTerminal; readonly pane: (...what: readonly (string | RegExp)[]) => Promise<void> }> {
  const outer = startTerminal(
    'tmux',
    ['-L', socket, '-f', '/dev/null', 'new-session', '-s', name, '-c', machine.project, '/bin/sh'],
    {
      cols: 100,
      rows: 31,
      env: machine.env,
    },
  );
  await outer.waitFor(new RegExp(`\\[${name}\\]`), { timeout: 30_000 });
  await tmux('set-option', '-g', 'allow-passthrough', 'on');
  await tmux('set-option', '-g', 'set-clipboard', 'on');
  await tmux('set-option', '-g', 'focus-events', 'off');
  await tmux('set-option', '-g', 'mouse', 'on');
  return {
    outer,
    pane: async (...what) => {
      for (const one of what) {
        await expect.poll(() => tmux('capture-pane', '-p', '-t', name), { timeout: 30_000, interval: 50 }).toMatch(one);
      }
    },
  };
}
const asked = async (name: string, format: string): Promise<string> =>
  (await tmux('display-message', '-p', '-t', name, format)).trim();
const press = (name: string, ...keys: readonly string[]): Promise<string> => tmux('send-keys', '-t', name, ...keys);

describe('what reaches beyond tmux', () => {
  it('is the title, what is copied, and notices; F2 leaves the mouse to tmux', async () => {
    const name = 'beyond';
    const client = await attached(name);
    const { outer } = client;
    await press(name, `'${process.execPath}' '${CLI}'`, 'Enter');
    await client.pane('What do you want to do');
    // The terminal says to tmux that nobody looks, and tmux to who runs in it.
    await press(name, '-l', '\u001b[O');
    await press(name, '-l', TASK);
    await client.pane(`❯ ${TASK}`);
    await press(name, 'Enter');
    await outer.waitFor(() => outer.output().includes('\u001b]9;Mimir: the plan is ready: 3 tasks to approve'), {
      timeout: 30_000,
    });
    await press(name, '-l', '\u001b[I');
    await client.pane('⏎ accept');
    expect(await asked(name, '#{pane_title}')).toMatch(/mimir/i);
    expect(await asked(name, '#{mouse_any_flag}')).toBe('1');
    await press(name, 'F2');
    await client.pane('mouse off');
    expect(await asked(name, '#{mouse_any_flag}')).toBe('0');
    await press(name, 'F2');
    await expect.poll(() => asked(name, '#{mouse_any_flag}'), { timeout: 30_000 }).toBe('1');
    await press(name, 'F3');
    await client.pane('COPY 2:1');
    await press(name, 'y');
    await client.pane('Copied');
    expect(await tmux('show-buffer')).toContain('Plan 3 tasks');
    await press(name, 'q');
    await client.pane('Quit?');
    await press(name, 'y');
    await client.pane('mimir resume');
    outer.kill();
  });
});
