/** What a person is told of who looks elsewhere: the bytes that a terminal makes a notice of, few of them, and none while one looks. */
import { describe, expect, it } from 'vitest';
import type { Person } from '../support/journey.ts';
import { LEDGER } from '../support/journey.ts';
import { pressesUntil } from '../support/questions.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';

const ESC = '\u001b';
const looksAway = (person: Person): void => {
  person.terminal.type(`${ESC}[O`);
};
const looksBack = (person: Person): void => {
  person.terminal.type(`${ESC}[I`);
};
const NOTICE = new RegExp(`${ESC}\\]9;([^\\u0007]*)\\u0007`, 'g');
const notices = ({ terminal }: Person): readonly string[] =>
  [...terminal.output().matchAll(NOTICE)].map(([, text = '']) => text);
const isTold = (person: Person, what: RegExp): Promise<void> =>
  person.sees(() => notices(person).some((one) => what.test(one)));

const TASKS = planText(['Run the checks', 'tester'], ['Read the sources', 'finder']);
const rules = {
  planner: { when: { first: '# Roles' }, answer: { text: TASKS } },
  rest: { answer: { text: 'All is well.' } },
};
const refused = { is: 'status', status: 400, body: '{"error":{"message":"no"}}' } as const;

describe.concurrent('notices', () => {
  it('tell of a plan, a question and the end, each once, while nobody looks; and nothing to who looks', async () => {
    const call = { tool: 'bash', input: { command: 'npm run release' } };
    const asks = { when: { first: '^Run the checks', turn: 1 }, answer: { calls: [call] } };
    const { machine } = await ownModel('anthropic', {
      script: { rules: [rules.planner, asks, rules.rest] },
      files: LEDGER,
      config: 'notifications: { bell: true, desktop: true }\n',
    });
    const person = machine.opens(['Look after the ledger']);
    looksAway(person);
    await person.sees('⏎ accept');
    await isTold(person, /^Mimir: the plan is ready: 2 tasks to approve/);
    person.press('enter');
    await isTold(person, /^Mimir: tester asks: may I run npm run release\?/);
    expect(person.terminal.output()).toContain('npm run release? · $0.00\u0007\u0007');
    expect(notices(person)).toHaveLength(2);
    looksBack(person);
    await person.sees('A to answer');
    await pressesUntil(person, '1', 'Completed');
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(notices(person)).toHaveLength(2);
  });

  it('tell of all that comes at once as one: agents that failed, and what became of the run', async () => {
    const fails = { when: { first: '^R' }, answer: { fault: refused } };
    const { machine } = await ownModel('anthropic', {
      script: { rules: [rules.planner, fails, rules.rest] },
      files: LEDGER,
    });
    const person = machine.opens(['Look after the ledger']);
    await person.sees('⏎ accept');
    looksAway(person);
    person.press('enter');
    await isTold(person, /^Mimir: (the run|2 agents) failed/);
    expect(notices(person)).toHaveLength(1);
    person.terminal.kill();
  });

  it('tell of a budget that is nearly used', async () => {
    const { machine } = await ownModel('anthropic', {
      script: { rules: [rules.planner, { answer: { text: 'All is well. '.repeat(200), rate: 100 } }] },
      files: LEDGER,
    });
    const person = machine.opens(['Look after the ledger', '--max-tokens', '24000']);
    await person.sees('⏎ accept');
    looksAway(person);
    person.press('enter');
    await isTold(person, /^Mimir: the run has used or reserved \d+% of its budget/);
    person.terminal.kill();
  });

  it('are not asked for where the person wants none', async () => {
    const { machine } = await ownModel('anthropic', {
      script: { rules: [rules.planner, rules.rest] },
      files: LEDGER,
      config: 'notifications: { bell: false, desktop: false }\n',
    });
    const person = machine.opens(['Look after the ledger']);
    looksAway(person);
    await person.sees('⏎ accept');
    person.press('enter');
    await person.sees('Completed');
    person.press('q');
    await person.leaves();
    expect(notices(person)).toEqual([]);
  });
});
