/** Terminals that say how light they are or say nothing, that are narrow, high or wide, that stall, are killed, or are none. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import type { Machine, Person } from '../support/journey.ts';
import { makeMachine, planFor, TASK } from '../support/journey.ts';
import type { StartOptions } from '../support/pty.ts';
import { startTerminal } from '../support/pty.ts';

const CLI = bundled();
const ESC = '\u001b';
const ASKS = `${ESC}]11;?`;

async function opens(look: StartOptions = {}, machine: Machine = makeMachine()): Promise<Person> {
  const person = machine.opens([], { ...look, env: { COLORTERM: 'truecolor', ...look.env } });
  await person.sees('What do you want to do?');
  return person;
}

/** The colour of the badge in the first row, which every theme has its own of. */
const badge = ({ terminal }: Person): unknown => terminal.cell(2, 0).bg;
const DARK = '#56c7d9';
const LIGHT = '#0a5a6b';

async function ends(person: Person): Promise<void> {
  person.press('ctrl-c', 'ctrl-c');
  expect(await person.leaves()).toBe(0);
}

// One after the other: an answer counts for a second after it was asked for.
describe('the background of a terminal', () => {
  it.each([
    { is: 'light', answer: 'rgb:ffff/ffff/ffff', colour: LIGHT },
    { is: 'dark', answer: 'rgb:1111/1111/1111', colour: DARK },
  ])('is asked for, and $is means the $is theme', async ({ answer, colour }) => {
    const machine = makeMachine();
    const person = machine.opens([], { answers: false, env: { COLORTERM: 'truecolor' } });
    await person.terminal.waitFor(() => person.terminal.output().includes(ASKS), { timeout: 30_000 });
    person.terminal.type(`${ESC}]11;${answer}\u0007`);
    await person.sees('What do you want to do?', () => badge(person) === colour);
    person.type('zebra');
    // The answer is no text.
    await person.sees('❯ zebra');
    person.press('ctrl-c');
    await person.doesNotSee('zebra');
    await ends(person);
  });

  it('is dark where nobody answers, and nothing waits for it', async () => {
    const person = await opens({ answers: false });
    person.type('at once');
    await person.sees('❯ at once');
    expect(badge(person)).toBe(DARK);
    person.press('ctrl-c');
    await person.doesNotSee('at once');
    await ends(person);
  });

  it.each([
    { COLORFGBG: '0;15', colour: LIGHT },
    { COLORFGBG: '15;default;0', colour: DARK },
  ])('is what COLORFGBG=$COLORFGBG says until then', async ({ COLORFGBG, colour }) => {
    const person = await opens({ answers: false, env: { COLORFGBG } });
    expect(badge(person)).toBe(colour);
    await ends(person);
  });
});

describe('a theme of the project', () => {
  it('paints the first screen once the project is trusted', async () => {
    const machine = makeMachine({
      '.mimir/config.yml': 'ui: { theme: ours }\n',
      '.mimir/themes/ours.yml': 'name: ours\nextends: mimir-dark\ntokens: { focus: "#ff8800" }\n',
    });
    expect((await machine.mimir('trust', '--yes')).code).toBe(0);
    const person = await opens({}, machine);
    expect(badge(person)).toBe('#ff8800');
    await ends(person);
  });
});

describe.concurrent('a terminal that was left by kill -9', () => {
  it('has its mouse and keyboard again with the next start, and with `mimir reset`', async () => {
    const machine = makeMachine();
    const shell = startTerminal('/bin/bash', ['--norc', '--noprofile', '-i'], {
      cwd: machine.project,
      env: { ...machine.env, PS1: 'shell> ' },
    });
    await shell.waitFor('shell>');
    const mimir = `${process.execPath} ${CLI}`;
    const dies = async (): Promise<void> => {
      shell.type(`${mimir} & fg\r`);
      await shell.waitFor('What do you want to do?', { timeout: 30_000 });
      shell.type('half a thought');
      await shell.waitFor('❯ half a thought');
      execFileSync('pkill', ['-9', '-P', String(shell.pid)]);
      await shell.waitFor('shell>', { timeout: 30_000 });
    };
    await dies();
    const left = shell.output().length;
    shell.type(`stty sane; ${mimir}\r`);
    await shell.waitFor(() => shell.output().slice(left).includes('Describe the task in your own words'), {
      timeout: 30_000,
    });
    const entered = shell.output().slice(left);
    // All of the former one is taken back before anything is asked for.
    for (const mode of [1000, 1002, 1006, 1004, 2004])
      expect([mode, entered.includes(`${ESC}[?${mode}l`)]).toEqual([mode, true]);
    expect(entered.indexOf(`${ESC}[?1000l`)).toBeLessThan(entered.indexOf(`${ESC}[?1000h`));
    expect(entered).toContain(`${ESC}[<u`);
    shell.press('ctrl-c', 'ctrl-c');
    await shell.waitFor(() => !shell.isAltScreen());
    await dies();
    const again = shell.output().length;
    shell.type(`stty sane; ${mimir} reset\r`);
    await shell.waitFor('the terminal is restored', { timeout: 30_000 });
    expect(shell.isAltScreen()).toBe(false);
    const reset = shell.output().slice(again);
    for (const mode of [1049, 1000, 1002, 1003, 1006, 1004, 2026])
      expect([mode, reset.includes(`${ESC}[?${mode}l`)]).toEqual([mode, true]);
    expect(reset.lastIndexOf(`${ESC}[?25h`)).toBeGreaterThan(0);
    shell.kill();
  });
});

describe.concurrent('a run on a terminal', () => {
  it('follows every size there is a layout for, from too small to three columns', async () => {
    const person = await planFor(makeMachine(), TASK);
    person.press('enter');
    await person.sees('Message main', /● finder/);
    // Held, it stays as long as we look.
    person.press('j');
    await person.sees(/(?:┏ |▌). finder/);
    person.press('s');
    await person.sees(/(?:┏ |▌)⏸ finder/);
    for (const [cols, rows, what] of SIZES) {
      person.terminal.resize(cols, rows);
      await person.sees(
        (screen) =>
          screen.length === rows && what.every((one) => screen.some((row) => one.test(row))) && fills(screen, cols),
      );
    }
    person.press('q');
    await person.sees('Quit?');
    person.press('y');
    await person.leaves();
  });

  it('is gone on with, stalled in mid-stream and stopped by SIGINT, the signal and not the key, with 130', async () => {
    const person = await planFor(makeMachine(), TASK);
    person.press('enter');
    await person.sees('Message main', /● finder/);
    person.terminal.stall();
    for (let step = 0; step < 40; step += 1) person.terminal.resize(60 + step, 20 + (step % 9));
    person.terminal.unstall();
    person.terminal.resize(80, 24);
    // At the size where it began: a terminal that was narrower meanwhile has lost what stood there.
    await person.sees(
      (rows) => rows[0]?.startsWith(' MIMIR') === true && /^ ↑↓ select.*\d\/4$/.test(rows.at(-1)?.trimEnd() ?? ''),
    );
    // An escape sequence that comes in two pieces is the key it is, and no Esc.
    person.terminal.type(ESC);
    person.terminal.type('[B');
    await person.sees(/(?:┏ |▌). finder/);
    person.terminal.signal('SIGINT');
    expect(await person.leaves()).toBe(130);
  });

  it('stands at the new size after Ctrl-Z, a resize and fg', async () => {
    const machine = makeMachine();
    const shell = startTerminal('/bin/bash', ['--norc', '--noprofile', '-i'], {
      cwd: machine.project,
      env: { ...machine.env, PS1: 'shell> ' },
    });
    await shell.waitFor('shell>');
    shell.type(`${process.execPath} ${CLI}\r`);
    await shell.waitFor('What do you want to do?', { timeout: 30_000 });
    shell.press('ctrl-z');
    await shell.waitFor('Stopped');
    expect(shell.isAltScreen()).toBe(false);
    shell.resize(100, 30);
    shell.type('fg\r');
    await shell.waitFor((rows) => rows.length === 30 && rows.at(-1)?.startsWith(' ⏎ plan  ') === true, {
      timeout: 30_000,
    });
    expect(shell.isAltScreen()).toBe(true);
    shell.press('ctrl-c', 'ctrl-c');
    await shell.waitFor(() => !shell.isAltScreen());
    shell.kill();
  });
});

/** The first row reaches from edge to edge, and no row beyond: the frame was drawn for this size. */
const fills = ([first = '']: readonly string[], cols: number): boolean =>
  first.length <= cols && (first.startsWith(' MIMIR') || cols < 40);

const CARD = /(?:[┏┌] |▌)\S+ finder/;
const SIZES: readonly (readonly [cols: number, rows: number, what: readonly RegExp[]])[] = [
  [40, 10, [CARD]],
  [39, 9, [/small/i]],
  [80, 24, [CARD]],
  [100, 30, [/[┏┌].*[┐┓].?[┌┏].*Transcript/, /Tokens by agent/]],
  [160, 50, [/[┏┌].*[┐┓].*Transcript/, /─ (?:Spend|Tokens) by agent ─/, /─ Log ─/]],
  [70, 60, [CARD, /^[┌┏].*Transcript/, /─ Log ─/]],
];
