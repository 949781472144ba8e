/** The terminal is given back however the program ends, and taken again when it comes back. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { startTerminal, type TestTerminal } from '../../../support/pty.ts';

const tiny = new URL('tiny.ts', import.meta.url).pathname;
const env = { PATH: process.env['PATH'], COLORTERM: 'truecolor' };
const started: TestTerminal[] = [];
afterEach(() => {
  for (const terminal of started.splice(0)) terminal.kill();
});

async function start(args: readonly string[] = [], more: Readonly<Record<string, string>> = {}): Promise<TestTerminal> {
  const size = more['size'] === 'large' ? { cols: 240, rows: 120 } : { cols: 60, rows: 8 };
  const terminal = startTerminal(process.execPath, [tiny, ...args], { ...size, env: { ...env, ...more } });
  started.push(terminal);
  await terminal.waitFor('nothing yet');
  return terminal;
}

/** Node's own question whether a process is there. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Every mode that was switched on is off at the end, and the cursor is there. */
function restored(terminal: TestTerminal, { shell = false } = {}): boolean {
  const output = terminal.output();
  const left = ['1049', '1000', '1002', '1006', '1004', ...(shell ? [] : ['2004'])].filter(
    (mode) => output.lastIndexOf(`\u001b[?${mode}h`) > output.lastIndexOf(`\u001b[?${mode}l`),
  );
  return (
    left.length === 0 &&
    output.lastIndexOf('\u001b[?25h') > output.lastIndexOf('\u001b[?25l') &&
    !terminal.isAltScreen()
  );
}

describe('a program on the terminal', () => {
  it('paints in its colours and puts the cursor where it belongs', async () => {
    const terminal = await start();
    expect(terminal.isAltScreen()).toBe(true);
    expect(terminal.screen().slice(0, 2)).toEqual(['size 60x8', 'last nothing yet']);
    expect(terminal.cell(0, 0)).toMatchObject({ fg: '#7fca95', bg: null, bold: true });
    expect(terminal.cell(5, 1)).toMatchObject({ fg: '#c79bf0', bold: false });
    expect(terminal.cursor()).toEqual({ x: 2, y: 3 });
    expect(terminal.title()).toBe('tiny ');
  });

  it('hears keys and pastes, in which nothing is a key (F01)', async () => {
    const terminal = await start();
    terminal.press('up');
    await terminal.waitFor('key up');
    terminal.press('esc');
    await terminal.waitFor('key esc');
    terminal.paste('q \u001b[31mT');
    await terminal.waitFor('{"is":"paste","text":"q T"}');
    terminal.type('\u001b[<64;3;4M');
    await terminal.waitFor('{"is":"wheel","x":2,"y":3,"by":-1}');
    terminal.press('q');
    expect(await terminal.exit).toEqual({ code: 0, signal: 0 });
    expect(restored(terminal)).toBe(true);
  });

  it('follows the size of the window', async () => {
    const terminal = await start();
    for (let width = 20; width < 60; width += 1) terminal.resize(width, 5);
    terminal.resize(45, 6);
    await terminal.waitFor('size 45x6');
    terminal.resize(1, 1);
    terminal.resize(70, 10);
    await terminal.waitFor('size 70x10');
  });

  it('paints all of it again where a storm of sizes ends at the one where it began', async () => {
    const terminal = await start();
    terminal.resize(10, 4);
    terminal.resize(60, 8);
    await terminal.waitFor(([first, second]) => first === 'size 60x8' && second === 'last nothing yet');
  });

  it('shows attributes only without colour, and signs of ASCII only without UTF-8', async () => {
    const terminal = await start([], { NO_COLOR: '1', LC_ALL: 'C' });
    expect(terminal.cell(0, 0)).toMatchObject({ fg: null, bold: true });
    terminal.press('é');
    await terminal.waitFor('key ?');
  });

  it('goes on while the terminal stalls, and shows the sum when it is back', async () => {
    const folder = mkdtempSync(`${tmpdir()}/mimir-stall-`);
    const terminal = await start(['', `${folder}/done`], { size: 'large' });
    terminal.stall();
    terminal.press('S');
    // Two hundred paintings of 30 kB that nobody reads: waiting for one of them would stop everything.
    await expect.poll(() => existsSync(`${folder}/done`), { timeout: 20_000 }).toBe(true);
    terminal.unstall();
    await terminal.waitFor('turn 200');
    terminal.stall();
    terminal.press('S');
    terminal.signal('SIGTERM');
    await expect.poll(() => isAlive(terminal.pid), { timeout: 20_000 }).toBe(false);
    terminal.unstall();
    expect((await terminal.exit).code).toBe(143);
    rmSync(folder, { recursive: true });
  });
});

describe('the end of a program', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const)('gives the terminal back at %s, after the state is saved, with %i', async (signal, code) => {
    const terminal = await start();
    terminal.signal(signal);
    expect(await terminal.exit).toEqual({ code, signal: 0 });
    expect(restored(terminal)).toBe(true);
    expect(terminal.screen().join('\n')).toContain(`saved at ${signal}`);
  });

  it('takes two signals at once for one press of Ctrl-C', async () => {
    const terminal = await start();
    terminal.signal('SIGINT');
    terminal.signal('SIGINT');
    expect((await terminal.exit).code).toBe(130);
    expect(terminal.output().split('saved at').length).toBe(2);
  });

  it('has a code of its own when nobody wants to save', async () => {
    const terminal = await start(['plain end']);
    terminal.signal('SIGTERM');
    expect((await terminal.exit).code).toBe(143);
    expect(restored(terminal)).toBe(true);
  });

  it.each(['T', 'R'])('prints where the report is after a crash (%s), on the restored screen', async (key) => {
    const folder = mkdtempSync(`${tmpdir()}/mimir-crash-`);
    const file = `${folder}/r`;
    const terminal = await start(['', file]);
    terminal.press(key);
    expect((await terminal.exit).code).toBe(70);
    expect(restored(terminal)).toBe(true);
    const text = terminal.screen().join('').replaceAll(' ', '');
    expect(text).toContain(`Areportisin${file}`);
    expect(text).toContain(key === 'T' ? 'abug' : 'rejected');
    expect(readFileSync(file, 'utf8')).toContain('tiny.ts');
    rmSync(folder, { recursive: true });
  });

  it('keeps warnings of libraries off the screen until then', async () => {
    const terminal = await start();
    terminal.press('W');
    await terminal.waitFor('key W');
    expect(terminal.screen().join('\n')).not.toContain('a warning');
    terminal.press('q');
    await terminal.exit;
    expect(terminal.screen().join('\n')).toContain('a warning of a library');
  });
});

describe('a program that is stopped', () => {
  it('gives the terminal to the shell and takes it again at the new size', async () => {
    const terminal = startTerminal('/bin/bash', ['--norc', '--noprofile', '-i'], {
      cols: 60,
      rows: 8,
      env: { ...env, PS1: 'shell> ' },
    });
    started.push(terminal);
    await terminal.waitFor('shell>');
    terminal.type(`clear; ${process.execPath} ${tiny}\r`);
    await terminal.waitFor('nothing yet');
    terminal.press('ctrl-z');
    await terminal.waitFor('Stopped');
    expect(terminal.isAltScreen()).toBe(false);
    // A shell takes pastes in brackets itself.
    expect(restored(terminal, { shell: true })).toBe(true);
    terminal.type('stty -a | grep -o " [-]*icanon"\r');
    await terminal.waitFor(/\n icanon/);
    terminal.resize(50, 7);
    terminal.type('fg\r');
    await terminal.waitFor('size 50x7');
    expect(terminal.isAltScreen()).toBe(true);
    terminal.press('x');
    await terminal.waitFor('key x');
    terminal.press('q');
    await terminal.waitFor(() => !terminal.isAltScreen());
    terminal.type('echo code $?\r');
    await terminal.waitFor('code 0');
  });

  it('comes back by itself where nobody could wake it', async () => {
    const terminal = await start();
    terminal.press('ctrl-z');
    await terminal.waitFor('key ctrl-z');
    terminal.press('x');
    await terminal.waitFor('key x');
    expect(terminal.isAltScreen()).toBe(true);
  });

  it('lends the terminal to an editor', async () => {
    const folder = mkdtempSync(`${tmpdir()}/mimir-editor-`);
    const editor = `${folder}/ed.sh`;
    writeFileSync(editor, '#!/bin/sh\nstat -c %a "$2" > "$1"\nprintf " and \\033[31mafter" >> "$2"\n', { mode: 0o700 });
    const terminal = await start([], { VISUAL: `${editor} ${folder}/mode` });
    terminal.press('E');
    await terminal.waitFor(/edited before/);
    expect(readFileSync(`${folder}/mode`, 'utf8')).toBe('600\n');
    expect(terminal.isAltScreen()).toBe(true);
    const other = await start([], { VISUAL: 'false' });
    other.press('E');
    await other.waitFor('not edited: "false" ended with 1.');
    const missing = await start([], { VISUAL: 'no-such-editor -w' });
    missing.press('E');
    await missing.waitFor('Editor "no-such-editor -w" not found');
    rmSync(folder, { recursive: true });
  });
});
