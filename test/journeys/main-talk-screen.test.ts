/** The person and main on the screen: asked directly, written to after the result, and asked for a commit by one key. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import { ACCEPT, LEDGER } from '../support/journey.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';
import { pressesUntil } from '../support/questions.ts';

const TASK = 'Say what the cache is for';
const git = (project: string, ...args: readonly string[]): readonly string[] =>
  execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim().split('\n');
const lastCommit = (project: string): readonly string[] => git(project, 'show', '--name-only', '--format=%an: %s');

async function machineWith(...rules: readonly Rule[]): ReturnType<typeof ownModel> {
  const own = await ownModel('anthropic', { script: { rules: [...rules] }, files: LEDGER });
  for (const [key, value] of [
    ['user.name', 'Tester'],
    ['user.email', 'tester@example.org'],
  ] as const)
    git(own.machine.project, 'config', key, value);
  return own;
}

const planner: Rule = {
  when: { first: '# Roles' },
  answer: { text: planText(['Write the notes', 'code'], ['Look at the tests', 'finder', 'task-1']) },
};
const writes: Rule = {
  when: { first: '^Write the notes', turn: 1 },
  answer: { calls: [{ tool: 'write_file', input: { path: 'NOTES.md', content: 'The cache keeps balances.\n' } }] },
};
const commit: Rule = {
  when: { last: 'Commit the changes of this run' },
  answer: { calls: [{ tool: 'git_commit', input: { message: 'Say what the cache is for' } }] },
};
const followUp: Rule = { when: { last: 'And who calls it' }, answer: { text: 'The report calls it.' } };
const CHILD = 'Look at src/cache.js and say what it keeps.';
const child: Rule = { when: { first: `^${CHILD}` }, answer: { text: 'It keeps balances, src/cache.js:3.' } };
const asksChild: Rule = {
  when: { first: `^${TASK}`, turn: 1 },
  answer: { calls: [{ tool: 'Task', input: { description: 'cache', prompt: CHILD, subagent_type: 'explore' } }] },
};
const writesNotes: Rule = { when: { first: `^${TASK}`, turn: 2 }, answer: writes.answer };
const done: Rule = { answer: { text: 'It keeps balances.' } };

describe.concurrent('a person who talks to main on the screen', () => {
  it('asks it directly from the start screen: no planner, and the key is the approval', async () => {
    const { machine, double } = await machineWith(done);
    const person = machine.opens([], { cols: 120, rows: 40 });
    await person.sees('What do you want to do?', '^X ask main');
    person.type(TASK);
    await person.sees(TASK);
    person.press('ctrl-x');
    await person.sees('Result ›', 'It keeps balances.');
    expect(double.asked.filter(({ first }) => first.startsWith('# Roles'))).toEqual([]);
    person.terminal.kill();
  });

  it('follows its Task child on the screen to the answer, and has the change committed, all without a planner', async () => {
    const { machine, double } = await machineWith(commit, child, asksChild, writesNotes, done);
    const person = machine.opens([], { cols: 120, rows: 40 });
    await person.sees('What do you want to do?', '^X ask main');
    person.type(TASK);
    await person.sees(TASK);
    person.press('ctrl-x');
    await person.sees('main wants to change files', '+The cache keeps balances.', 'cache');
    await pressesUntil(person, '1', 'Result ›');
    await person.sees('all 2 agents completed', 'It keeps balances.');
    person.press('c');
    await person.sees('main wants to change the git repository', 'Say what the cache is for');
    await pressesUntil(person, '1', 'Result ›');
    expect(lastCommit(machine.project)).toEqual(['Tester: Say what the cache is for', '', 'NOTES.md']);
    expect(git(machine.project, 'status', '--porcelain')).toEqual(['']);
    expect(double.asked.filter(({ first }) => first.startsWith('# Roles'))).toEqual([]);
    expect(double.asked.map(({ first }) => first).filter((first) => first.startsWith(CHILD))).toHaveLength(1);
    person.terminal.kill();
  });

  it('writes to it after the result, and has the changes committed by c', async () => {
    const { machine } = await machineWith(commit, followUp, planner, writes, done);
    const person = machine.opens([TASK], { cols: 120, rows: 40 });
    await person.sees(ACCEPT);
    person.press('enter');
    await person.sees('code wants to change files');
    await pressesUntil(person, '1', 'Result ›');
    await person.sees('Message main (ROOT)', 'i message');
    person.press('i');
    await person.sees('it keeps its context');
    person.type('And who calls it?');
    await person.sees('And who calls it?');
    person.press('enter');
    await person.sees('The report calls it.', 'Result ›');
    person.press('c');
    await person.sees('wants to change the git repository');
    await pressesUntil(person, '1', 'Result ›');
    expect(lastCommit(machine.project)).toEqual(['Tester: Say what the cache is for', '', 'NOTES.md']);
    expect(git(machine.project, 'status', '--porcelain')).toEqual(['']);
    person.terminal.kill();
  });
});
