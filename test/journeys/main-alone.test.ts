/** A single task in a dumb terminal: main does it with a child of the Task tool and a commit, and answers a follow-up after the end. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { LEDGER, newest } from '../support/journey.ts';
import { jsonLines } from '../support/cli.ts';
import { needs } from '../support/needs.ts';
import { of, ownModel, planText } from '../support/on-the-wire.ts';

const DUMB = { cols: 100, rows: 60, env: { TERM: 'dumb' } };
const TASK = 'Write down what the cache is for';
const CHILD = 'Look at src/cache.js and say what it keeps.';

const SCRIPT = {
  rules: [
    { when: { first: '# Roles' }, answer: { text: planText([TASK, 'finder']) } },
    { when: { first: `^${CHILD}` }, answer: { text: 'It keeps balances, src/cache.js:3.' } },
    { when: { last: 'Who reads it' }, answer: { text: 'The report reads it, src/report.js:1.' } },
    {
      when: { first: `^${TASK}`, turn: 1 },
      answer: { calls: [{ tool: 'Task', input: { description: 'cache', prompt: CHILD, subagent_type: 'explore' } }] },
    },
    {
      when: { first: `^${TASK}`, turn: 2 },
      answer: { calls: [{ tool: 'write_file', input: { path: 'NOTES.md', content: 'The cache keeps balances.\n' } }] },
    },
    {
      when: { first: `^${TASK}`, turn: 3 },
      answer: { calls: [{ tool: 'git_commit', input: { message: 'Say what the cache is for' } }] },
    },
    { when: { first: `^${TASK}` }, answer: { text: 'NOTES.md says it, and is committed.' } },
  ],
};

describe('a single task', () => {
  needs('git', 'bubblewrap');

  it('is done by main with a Task child and a commit, and a follow-up after the result continues it (D37, O065)', async () => {
    const { machine } = await ownModel('anthropic', { script: SCRIPT, files: LEDGER });
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-C', machine.project, ...args], { encoding: 'utf8' }).trim();
    git('config', 'user.name', 'Ada');
    git('config', 'user.email', 'ada@example.org');
    const person = machine.opens(['--mode', 'yolo'], DUMB);
    await person.sees('Type a task');
    await person.says(TASK, '1. main', 'Proceed?');
    await person.says('Y', 'Plan approved', 'NOTES.md says it, and is committed.');
    const session = await newest(machine);
    const begun = jsonLines((await machine.mimir('events', session, '--json')).out);
    expect(of(begun, 'tool.finished').flatMap(({ ok, output }) => (ok === true ? [] : [output]))).toEqual([]);
    expect(git('log', '-1', '--format=%s')).toBe('Say what the cache is for');
    expect(git('status', '--porcelain')).toBe('');
    await person.says('main Who reads it?', 'The report reads it, src/report.js:1.');
    await person.says('quit');
    expect(await person.leaves()).toBe(0);
    const events = jsonLines((await machine.mimir('events', session, '--json')).out);
    expect(of(events, 'agent.created').map(({ agent, role }) => [agent, role])).toEqual([
      ['ROOT', 'main'],
      ['ROOT::S1', 'main'],
      ['ROOT::S1::S1', 'explore'],
    ]);
    expect(of(events, 'session.finished').map(({ status }) => status)).toEqual(['completed', 'completed']);
    const { out } = await machine.mimir('report', session);
    expect(out).toContain('## main, later\n\nThe report reads it, src/report.js:1.');
    const again = await machine.mimir('resume', session, 'Who reads it now?', '--json', '--mode', 'confirm');
    // The whole log, with the three ends of the run.
    const ends = of(jsonLines(again.out), 'session.finished').map(({ status }) => status);
    expect([again.code, ends]).toEqual([0, ['completed', 'completed', 'completed']]);
  });

  it('asked of main directly has no planner, and is approved by that', async () => {
    const { machine, double } = await ownModel('anthropic', { script: SCRIPT, files: LEDGER });
    const ended = await machine.mimir('run', TASK, '--direct', '--json', '--mode', 'yolo');
    const events = jsonLines(ended.out);
    expect([ended.code, of(events, 'plan.approved').map(({ by }) => by)]).toEqual([
      0,
      ['person (main was asked directly)'],
    ]);
    expect(of(events, 'model.started').map(({ agent, purpose }) => `${String(agent)} ${String(purpose)}`)).toEqual([
      'ROOT::S1 work',
      'ROOT::S1::S1 work',
      'ROOT::S1 work',
      'ROOT::S1 work',
      'ROOT::S1 work',
    ]);
    expect(double.asked).toHaveLength(5);
  });
});
