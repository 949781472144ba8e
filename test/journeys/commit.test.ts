/** A commit at the end of a run: decided with the plan, behind the work and its reviews, with a message that main writes. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import { ACCEPT, LEDGER } from '../support/journey.ts';
import { pressesUntil } from '../support/questions.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const TASK = 'Say in the README what the cache is for';
const MESSAGE = 'Say what the cache is for\n\nReaders asked for it.';
const commits = (project: string): readonly string[] =>
  execFileSync('git', ['log', '--format=%s'], { cwd: project, encoding: 'utf8' }).trim().split('\n');

const planner: Rule = {
  when: { first: '# Roles' },
  answer: { text: planText(['Change the README', 'code'], ['Look at the tests', 'finder', 'task-1']) },
};
const writes: Rule = {
  when: { first: '^Change the README', turn: 1 },
  answer: { calls: [{ tool: 'write_file', input: { path: 'NOTES.md', content: 'The cache keeps balances.\n' } }] },
};
const commit: Rule = {
  when: { first: '^The work of this run is done and reviewed', turn: 1 },
  answer: { calls: [{ tool: 'git_commit', input: { message: MESSAGE } }] },
};
const done: Rule = { answer: { text: 'Done.' } };
const fails: Rule = { when: { first: '^Look at the tests' }, answer: { text: 'I can not.', stop: 'refused' } };

async function machineWith(...rules: readonly Rule[]): ReturnType<typeof ownModel> {
  const own = await ownModel('anthropic', { script: { rules: [planner, writes, ...rules, done] }, files: LEDGER });
  for (const [key, value] of [
    ['user.name', 'Tester'],
    ['user.email', 'tester@example.org'],
  ] as const)
    execFileSync('git', ['config', key, value], { cwd: own.machine.project });
  return own;
}

describe.concurrent('a run with --commit', () => {
  it('commits what the agents changed, with the message that main wrote, and says so in its report', async () => {
    const { machine } = await machineWith(commit);
    const { code, events } = await runOn(machine, TASK, '--allow', 'edits', '--commit');
    expect(code).toBe(0);
    expect(commits(machine.project)[0]).toBe('Say what the cache is for');
    expect(of(events, 'plan.approved').length).toBe(1);
    expect(of(events, 'plan.proposed')[0]).toMatchObject({ plan: { commit: true } });
    expect(String(of(events, 'session.finished')[0]?.['summary'])).toMatch(
      /## Commit\n\ncommitted [0-9a-f]{12} on \S+: Say what the cache is for\n {2}NOTES\.md/,
    );
  });

  it('commits nothing where a task failed, and says why', async () => {
    const { machine } = await machineWith(fails, commit);
    const { code, events } = await runOn(machine, TASK, '--allow', 'edits', '--commit');
    expect(code).toBe(1);
    expect(commits(machine.project)).toHaveLength(1);
    expect(String(of(events, 'session.finished')[0]?.['summary'])).toContain(
      '## Commit\n\nNot committed: finder did not complete.',
    );
  });

  it('commits nothing without the flag', async () => {
    const { machine } = await machineWith(commit);
    const { code, events } = await runOn(machine, TASK, '--allow', 'edits');
    expect(code).toBe(0);
    expect(commits(machine.project)).toHaveLength(1);
    expect(String(of(events, 'session.finished')[0]?.['summary'])).not.toContain('## Commit');
  });
});

describe('a commit that a person decides on with the plan', () => {
  it('is switched on by c, and its message is shown before it is made', async () => {
    const { machine } = await machineWith(commit);
    const person = machine.opens([TASK], { cols: 120, rows: 40 });
    await person.sees(ACCEPT);
    person.press('c');
    await person.sees('main commits at the end');
    person.press('enter');
    await person.sees('code wants to change files', '+The cache keeps balances.');
    await pressesUntil(person, '1', 'main wants to change the git repository');
    await person.sees('Readers asked for it.');
    await pressesUntil(person, '1', /committed [0-9a-f]{12}/);
    expect(commits(machine.project)[0]).toBe('Say what the cache is for');
    person.terminal.kill();
  });
});
