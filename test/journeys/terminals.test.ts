/** Terminals of every size and kind, what is pasted into them, and what must never reach them. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, LEDGER, makeMachine, planFor, TASK } from '../support/journey.ts';

const ESC = '\u001b';

describe.concurrent('a terminal', () => {
  it('may be resized as one likes: too small, huge, and a storm of sizes', async () => {
    const person = await planFor(makeMachine(), TASK);
    person.terminal.resize(39, 9);
    await person.sees(/small/i);
    person.press('enter');
    person.terminal.resize(300, 100);
    await person.sees(ACCEPT, 'budget $10.00');
    expect(person.terminal.screen()).toHaveLength(100);
    for (let step = 0; step < 60; step += 1) person.terminal.resize(20 + ((step * 37) % 200), 5 + ((step * 13) % 60));
    person.terminal.resize(80, 24);
    await person.sees(
      ([header = '', ...rest]) =>
        header.startsWith(' MIMIR  Plan ›') &&
        rest.slice(0, 21).every((row) => /^[┏┃┗┌│└].*[┓┃┛┐│┘]$/.test(row)) &&
        rest.slice(21).join('\n').startsWith(' Estimate') &&
        rest.at(-1)?.startsWith(' ⏎ accept') === true,
    );
    person.press('esc');
    await person.sees('What do you want to do?');
    person.press('ctrl-c');
    await person.sees('Press Ctrl-C again to quit');
    person.press('ctrl-c');
    expect(await person.leaves()).toBe(4);
  });

  it('takes a paste with line breaks and a q as text, and nothing is triggered', async () => {
    const machine = makeMachine();
    const person = machine.opens();
    await person.sees('What do you want to do?');
    person.terminal.paste('q\nFind the report\nq and y\n');
    await person.sees('❯ q', 'Find the report', 'q and y');
    expect(person.terminal.isAltScreen()).toBe(true);
    person.press('enter');
    await person.sees(ACCEPT);
    person.terminal.kill();
    await person.terminal.exit;
  });

  it('never gets the escape sequences of file names and contents', async () => {
    const title = `${ESC}]0;PWNED\u0007`;
    const machine = makeMachine({
      ...LEDGER,
      [`src/evil ${title}.js`]: `export const evil = '${title}${ESC}[2J\u009b2J'; // balanceOf ${ESC}[31m\n`,
      'src/幅広い 文字 👩‍👩‍👧.js': "export const 残高 = 'balanceOf 👩‍👩‍👧'; // balanceOf 幅広い\n",
      'src/two\nlines.js': 'export const balanceOf = 3;\n',
    });
    const person = await planFor(machine, 'Find balanceOf', { cols: 100, rows: 40 });
    person.press('enter');
    await person.sees('┌─ 1 Answer', '幅広い');
    person.press('G');
    await person.sees('Uses of');
    expect(person.terminal.title()).not.toContain('PWNED');
    const output = person.terminal.output();
    expect([output.includes(`${ESC}]0;PWNED`), output.includes(`${ESC}[2J\u009b`), output.includes('\u009b')]).toEqual([
      false,
      false,
      false,
    ]);
    person.press('q');
    expect(await person.leaves()).toBe(0);
  });

  it('without colour gets none (NO_COLOR)', async () => {
    const person = await planFor(makeMachine(), TASK, { env: { NO_COLOR: '1' } });
    const output = person.terminal.output();
    const colours = [...output.matchAll(new RegExp(`${ESC}\\[([\\d;]*)m`, 'g'))].flatMap(([, codes = '']) =>
      codes.split(';').map(Number),
    );
    expect(colours.filter((code) => (code >= 30 && code < 39) || (code >= 40 && code < 49) || code >= 90)).toEqual([]);
    person.terminal.kill();
    await person.terminal.exit;
  });

  it('without Unicode gets ASCII only (LANG=C)', async () => {
    const person = await planFor(makeMachine(), TASK, { env: { LANG: 'C' } });
    person.press('enter');
    await person.sees('Message main', /\* finder/);
    expect(person.screen()).toMatch(/^[\n -~]*$/);
    person.terminal.kill();
    await person.terminal.exit;
  });

  it('gets nothing while nothing happens', async () => {
    const person = await planFor(makeMachine(), TASK);
    // What is said of the plan may still have to go; what comes again and again leaves no two seconds free.
    expect(await isStill(() => person.terminal.output().length)).toBe(true);
    person.terminal.kill();
    await person.terminal.exit;
  });
});

/** Does nothing come for two seconds, soon? Of the clock: time itself is what is looked at here. */
async function isStill(come: () => number): Promise<boolean> {
  for (let tries = 0; tries < 8; tries += 1) {
    const before = come();
    await new Promise((resolve) => void setTimeout(resolve, 2000));
    if (come() === before) return true;
  }
  return false;
}
