/** Commands: what they see, how they end, and that nothing of them is left. Real processes. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleepers } from '../living.ts';
import { makeFolder } from '../../support/repos.ts';
import { workbench } from '../workbench.ts';

const timeless = (text: string): string => text.replace(/after [0-9.]+ s/, 'after T');

describe('the bash tool', () => {
  it('gives both streams, the exit code and the duration', async () => {
    const tools = workbench(makeFolder({ 'a.txt': 'hello\n' }));
    const good = await tools.use('bash', { command: 'cat a.txt; pwd | xargs basename | wc -l' });
    expect({ ...good, text: timeless(good.text) }).toEqual({ ok: true, text: 'exit code 0 after T\nhello\n1' });
    const bad = await tools.use('bash', { command: 'echo out; echo err >&2; exit 3' });
    expect({ ...bad, text: timeless(bad.text) }).toEqual({
      ok: false,
      text: 'exit code 3 after T\nout\n--- stderr ---\nerr',
    });
  });

  it('refuses to run where a box was promised: there is none yet', async () => {
    const folder = makeFolder();
    for (const box of ['read-only', 'read-write'] as const) {
      const run = await workbench(folder).use('bash', { command: 'touch made' }, { sandbox: box });
      expect(run).toEqual({
        ok: false,
        text: `not run: the sandbox could not start the command: not probed`,
        unsandboxedCommand: true,
      });
    }
    expect(existsSync(path.join(folder, 'made'))).toBe(false);
  });

  it('passes an allow-list of the environment: no keys, no sockets, no PATH into the project (S154, D32)', async () => {
    const folder = makeFolder({ 'bin/git': 'evil' });
    const tools = workbench(folder, {
      HOME: '/nowhere/home',
      LANG: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      PATH: `${folder}/bin:.::relative/bin:${process.env['PATH'] ?? ''}`,
      ANTHROPIC_API_KEY: 'canary',
      SSH_AUTH_SOCK: '/run/agent',
      NODE_OPTIONS: '--require=/evil.js',
      LD_PRELOAD: '/evil.so',
      BASH_ENV: '/evil.sh',
      TERM: 'xterm',
      GIT_DIR: '/elsewhere',
      DBUS_SESSION_BUS_ADDRESS: 'unix:',
    });
    const run = await tools.use('bash', { command: 'env' });
    const names = run.text
      .split('\n')
      .slice(1)
      .map((line) => line.split('=')[0]);
    expect(new Set(names)).toEqual(
      new Set(['HOME', 'LANG', 'LC_ALL', 'MIMIR_CALL', 'PATH', 'PWD', 'SHLVL', 'TERM', 'TZ', '_']),
    );
    expect(run.text).toContain('TERM=dumb');
    expect(run.text).not.toContain(folder + '/bin');
    expect(/^PATH=(?:\/[^:\n]*)(?::\/[^:\n]*)*$/m.test(run.text)).toBe(true);
  });

  it('has no input, no terminal and no start-up files', async () => {
    const tools = workbench(makeFolder());
    const run = await tools.use('bash', {
      command: 'read x; echo "$?"; tty; (: </dev/tty) 2>/dev/null || echo none; shopt -q login_shell || echo plain',
    });
    expect(run.text.split('\n').slice(1)).toEqual(['1', 'not a tty', 'none', 'plain']);
  });

  it('streams what it prints', async () => {
    const chunks: string[] = [];
    await workbench(makeFolder()).use(
      'bash',
      { command: 'echo né; echo two >&2' },
      { onOutput: (chunk) => chunks.push(chunk) },
    );
    expect(chunks.sort()).toEqual(['né\n', 'two\n']);
  });

  it('keeps head and tail of a flood within 64 KiB', async () => {
    const run = await workbench(makeFolder()).use('bash', {
      command: 'echo first; head -c 30000000 /dev/zero | tr "\\0" "x"; echo; echo last',
    });
    expect(Buffer.byteLength(run.text)).toBeLessThanOrEqual(64 * 1024);
    const many = await workbench(makeFolder()).use('bash', { command: 'seq 1 2000000; seq 1 2000000 >&2' });
    expect(Buffer.byteLength(many.text)).toBeLessThanOrEqual(64 * 1024);
    expect(many.text).toMatch(/^exit code 0 after [0-9.]+ s\n1\n2\n/);
    expect(many.text).toMatch(/bytes left out …\]\n[^]*--- stderr ---\n1\n2\n[^]*\n2000000$/);
  });

  it('shows bytes that are no text as replacement characters', async () => {
    const run = await workbench(makeFolder()).use('bash', { command: String.raw`printf 'a\xff\xfeb'` });
    expect(run.text.split('\n')[1]).toBe('a\ufffd\ufffdb');
  });

  it('ends at its time limit with all it started, although it ignores TERM', async () => {
    const folder = makeFolder();
    const begun = performance.now();
    const run = await workbench(folder).use('bash', {
      command:
        'trap "" TERM; sleep 987 & env -i setsid sleep 988 & setsid sleep 986 & (setsid bash -c "trap \\"\\" TERM; sleep 985" &) ; echo started; while :; do sleep 0.1; done',
      timeout: 3,
    });
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(run.ok).toBe(false);
    expect(run.text).toMatch(
      /^stopped: the time limit of 3 s was reached, after [0-9.]+ s; processes ended: \d+\nstarted$/,
    );
    expect(sleepers(/sleep 98[5-8]/)).toEqual([]);
  });

  it('ends at once when it is stopped', async () => {
    const stop = new AbortController();
    const folder = makeFolder();
    const begun = performance.now();
    const run = await workbench(folder).use(
      'bash',
      { command: 'echo going; setsid sleep 984 & sleep 983' },
      { signal: stop.signal, onOutput: () => stop.abort() },
    );
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(run.text).toMatch(/^stopped after [0-9.]+ s; processes ended: \d\ngoing$/);
    expect(sleepers(/sleep 98[34]/)).toEqual([]);
    const late = await workbench(folder).use('bash', { command: 'touch made' }, { signal: stop.signal });
    expect(late.ok).toBe(false);
    expect(existsSync(path.join(folder, 'made'))).toBe(false);
  });

  it('does not wait for what it left in the background, and leaves none of it', async () => {
    const folder = makeFolder();
    const begun = performance.now();
    const run = await workbench(folder).use('bash', {
      command: 'sleep 982 & (setsid sleep 981 >/dev/null 2>&1 &) ; sleep 0.1; echo done',
    });
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(run.ok).toBe(true);
    expect(run.text).toMatch(/; processes ended: 2\ndone$/);
    expect(sleepers(/sleep 98[12]/)).toEqual([]);
  });

  it('says so when a signal ended it or it could not be started', async () => {
    const tools = workbench(makeFolder());
    expect(timeless((await tools.use('bash', { command: 'kill -9 $$' })).text)).toBe('ended by SIGKILL after T');
    const long = await tools.use('bash', { command: `: ${'é'.repeat(90_000)}` });
    expect(timeless(long.text)).toContain('could not be started after T');
    await expect(tools.use('bash', { command: 'a\0b' })).rejects.toThrow('NUL');
  });

  it('shows the whole command before it is run', async () => {
    const command = `echo ${' '.repeat(300)}; rm x`;
    expect(await workbench(makeFolder()).preview('bash', { command })).toBe(command);
  });

  it('runs in the project root', async () => {
    const folder = makeFolder();
    await workbench(folder).use('bash', { command: 'echo here > made' });
    expect(readFileSync(path.join(folder, 'made'), 'utf8')).toBe('here\n');
  });
});
