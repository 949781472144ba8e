/** Human mode: nothing happens without the person, and nothing is allowed by a slip of a key. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, makeMachine, newest } from '../support/journey.ts';
import { pressesUntil } from '../support/questions.ts';

const TURN = 'main is ready for its next turn';

describe.concurrent('questions to the person', () => {
  it('are asked for each turn and each act, and answered by numbers, and in words', async () => {
    const machine = makeMachine();
    const person = machine.opens(['Find balanceOf', '--mode', 'human'], { cols: 100, rows: 30 });
    await person.sees('A to answer', 'main is ready for its next turn');
    await pressesUntil(person, '1', ACCEPT);
    person.press('enter');
    await person.sees(TURN);
    await pressesUntil(person, '1', /main wants to read[^]*all files/);
    await pressesUntil(person, '1', TURN);
    await pressesUntil(person, '1', /main wants to read[^]*search .balanceOf/);
    await pressesUntil(person, '4', /main wants to read[^]*definitions of/);
    await pressesUntil(person, '3', TURN);
    await pressesUntil(person, '2', /(?<!send a )message, or !command/);
    person.type('Look at refresh too');
    await person.sees('Look at refresh too');
    person.press('enter');
    await person.sees('answered');
    await pressesUntil(person, 'ctrl-c', 'Quit?');
    person.press('y');
    expect(await person.leaves()).toBe(1);
    const { out } = await machine.mimir('events', await newest(machine), '--json');
    const answers = out
      .split('\n')
      .filter((line) => line.includes('"type":"approval.answered"'))
      .map((line) => /"answer":"(\w+)","scope":"(\w+)","text":"([^"]*)"/.exec(line)?.slice(1).join(' ').trim());
    expect(answers).toEqual([
      // The planner's turn; then a turn of main and the look it leads to; then a turn that leads to two of them.
      'allowed once',
      'allowed once',
      'allowed once',
      'allowed once',
      'denied once',
      'allowed session',
      'allowed once Look at refresh too',
      'withdrawn once',
    ]);
  });

  it('can wait: Esc puts them off, A brings them back', async () => {
    const person = makeMachine().opens(['Find balanceOf', '--mode', 'human'], { cols: 80, rows: 24 });
    await person.sees('is ready for its next turn', 'A to answer');
    await pressesUntil(person, 'esc', /◌ main is ready for its next turn: .*A to answer/);
    await pressesUntil(person, '1', ACCEPT);
    await person.sees(ACCEPT);
    person.press('esc');
    await person.sees('What do you want to do?');
    person.terminal.kill();
  });
});
