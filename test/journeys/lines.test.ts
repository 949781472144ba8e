/** Without a full screen: plain lines in a terminal, and no terminal at all. */
import { describe, expect, it } from 'vitest';
import { makeMachine, sessionsOf } from '../support/journey.ts';
import type { Person } from '../support/journey.ts';

const SMALL = 'Find balanceOf';
const LOOK = { cols: 120, rows: 50 };
const PLAIN = ['--plain', SMALL];

describe.concurrent('line mode', () => {
  it('shows the plan with its options and proceeds with Enter (O099, O100, O101, O102, O108)', async () => {
    const person = makeMachine().opens(PLAIN, LOOK);
    await person.sees(
      'Multi-Agent Execution Plan',
      '1. finder',
      'Estimate:',
      'Total:',
      'Options:',
      'Proceed? [Y/n/e/m]',
    );
    expect(person.terminal.output()).not.toContain('\u001b[?1049h');
    person.press('enter');
    await person.sees('Plan approved (person)', /\[finder\] .* - done \(\d+ tools, [\d.]+s\)/, 'completed: 1 agent');
    expect(await person.leaves()).toBe(0);
  });

  it.each(['n', 'what?'])(
    'is cancelled by the answer "%s", ends with 4, and runs nothing (O103, O107)',
    async (answer) => {
      const machine = makeMachine();
      const person = machine.opens(PLAIN, LOOK);
      await person.sees('Proceed? [Y/n/e/m]');
      person.type(answer);
      person.press('enter');
      expect(await person.leaves()).toBe(4);
      expect(person.screen()).not.toContain('Plan approved');
    },
  );

  it('edits with e: current text and model, Enter keeps, and the run uses what was typed (O104, O105, O112)', async () => {
    const person = makeMachine().opens(PLAIN, LOOK);
    await person.sees('Proceed? [Y/n/e/m]');
    await answers(person, ['e', '']);
    await person.sees('Edit Task 1', 'Current: Find where');
    await answers(person, ['Find where parse is defined', '']);
    await person.sees('Current model: haiku-4.5');
    await answers(person, ['', '']);
    await person.sees('[finder] Find where parse is defined', 'completed: 1 agent');
    expect(await person.leaves()).toBe(0);
  });

  it('sets model and tokens by hand with m, and says what it could not take (O106)', async () => {
    const person = makeMachine().opens(PLAIN, LOOK);
    await person.sees('Proceed? [Y/n/e/m]');
    await answers(person, ['m', '']);
    await person.sees('New description');
    person.press('enter');
    await person.sees('New model');
    await answers(person, ['offline', '']);
    await person.sees('Max tokens');
    await answers(person, ['many', '']);
    await person.sees('"many" is not a number of tokens', 'completed: 1 agent');
    expect(await person.leaves()).toBe(0);
  });

  it('is what a dumb terminal gets, which is asked for the task', async () => {
    const machine = makeMachine();
    const person = machine.opens([], { ...LOOK, env: { TERM: 'dumb' } });
    await person.sees('what should be done here?');
    await answers(person, [SMALL, '']);
    await person.sees('Proceed? [Y/n/e/m]');
    person.press('ctrl-c');
    expect(await person.leaves()).toBe(130);
    expect(person.terminal.output()).not.toContain('\u001b[?');
  });
});

describe.concurrent('without a terminal', () => {
  it('prints the plan, runs nothing and ends with 4 unless it was approved beforehand', async () => {
    const machine = makeMachine();
    const { code, out } = await machine.mimir('run', SMALL);
    expect(code).toBe(4);
    expect(out).toContain('Multi-Agent Execution Plan');
    expect(out).not.toContain('- done');
    const approved = await machine.mimir('run', SMALL, '--yes');
    expect(approved.code).toBe(0);
    expect(approved.out).toContain('completed: 1 agent');
  });

  it('says what is missing when there is no task', async () => {
    const { code, err } = await makeMachine().mimir();
    expect(code).toBe(2);
    expect(err).toContain('a task is missing');
  });

  it('runs two sessions of one project at once, each with its own log', async () => {
    const machine = makeMachine();
    const runs = await Promise.all([
      machine.mimir('run', SMALL, '--yes', '--json'),
      machine.mimir('run', 'Find parse', '--yes', '--json'),
    ]);
    expect(runs.map(({ code, err }) => ({ code, err }))).toEqual([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    const all = await sessionsOf(machine);
    expect(all.filter((line) => line.includes('finished'))).toHaveLength(2);
  });
});

/** Types each line, with Enter between them. */
async function answers(person: Person, [text = '', ...rest]: readonly string[]): Promise<void> {
  if (text !== '') {
    person.type(text);
    await person.sees(text);
  }
  if (rest.length === 0) return;
  person.press('enter');
  await answers(person, rest);
}
