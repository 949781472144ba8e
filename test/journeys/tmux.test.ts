/** The same program inside tmux, as many run it. */
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeMachine, TASK } from '../support/journey.ts';
import { needs, whyNot } from '../support/needs.ts';

const CLI = join(import.meta.dirname, '../../src/cli.ts');
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
    await sees('What should be done?');
    await tmux('send-keys', '-t', 'journey', '-l', TASK);
    await sees(`❯ ${TASK}`);
    await tmux('send-keys', '-t', 'journey', 'Enter');
    await sees(/⏎ accept/, '┏━ Plan 3 agents');
    await tmux('resize-window', '-t', 'journey', '-x', '120', '-y', '40');
    await sees('┌─ Schedule');
    await tmux('send-keys', '-t', 'journey', 'Enter');
    await sees('Message main', '● finder');
    await tmux('send-keys', '-t', 'journey', 'Down');
    await sees(/┏ \S finder/);
    await tmux('send-keys', '-t', 'journey', 's');
    await sees(/┏ ⏸ finder/);
    await tmux('send-keys', '-t', 'journey', 'q');
    await sees('Leave Mimir?');
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
