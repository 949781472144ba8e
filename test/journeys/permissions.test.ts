/** What agents may do without asking is decided with the plan, or by an answer for the session; where nobody can be asked it shows in the end. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Answer, Script } from '../support/double/script.ts';
import { ACCEPT, LEDGER, newest } from '../support/journey.ts';
import { answersInLines } from '../support/questions.ts';
import { jsonLines } from '../support/cli.ts';
import { needs } from '../support/needs.ts';
import { of, ownModel, planText } from '../support/on-the-wire.ts';

const TASK = 'Write down what the cache is for';
const WRITES = { tool: 'write_file', input: { path: 'NOTES.md', content: 'The cache keeps balances.\n' } };
const runs = (command: string): Answer => ({ calls: [{ tool: 'bash', input: { command } }] });

const script = (...turns: readonly Answer[]): Script => ({
  rules: [
    { when: { first: '# Roles' }, answer: { text: planText([TASK, 'finder']) } },
    ...turns.map((answer, at) => ({ when: { first: `^${TASK}`, turn: at + 1 }, answer })),
    { when: { first: `^${TASK}` }, answer: { text: 'NOTES.md says it.' } },
  ],
});

describe('permissions', () => {
  needs('git', 'bubblewrap');

  it('D39: a key on the plan allows edits, and the agent writes without a question', async () => {
    const { machine } = await ownModel('anthropic', { script: script({ calls: [WRITES] }), files: LEDGER });
    const person = machine.opens([TASK], { cols: 120, rows: 40 });
    await person.sees(ACCEPT, 'asks before edits and commands');
    person.press('P');
    await person.sees('Permissions', 'Allow edits, all tasks');
    person.press('enter');
    await person.sees('edits allowed, asks before');
    person.press('enter');
    await person.sees('NOTES.md says it.');
    person.press('q');
    expect(readFileSync(join(machine.project, 'NOTES.md'), 'utf8')).toBe('The cache keeps balances.\n');
    const events = jsonLines((await machine.mimir('events', await newest(machine), '--json')).out);
    expect([of(events, 'approval.requested'), of(events, 'plan.edited').map(({ edit }) => edit)]).toEqual([
      [],
      ['all tasks: edits are allowed'],
    ]);
    person.terminal.kill();
  });

  it('D42: headless, what nobody could be asked about is said before and ends with 1; --allow lets it happen', async () => {
    const { machine } = await ownModel('anthropic', { script: script({ calls: [WRITES] }), files: LEDGER });
    const denied = await machine.mimir('run', TASK, '--yes');
    expect(denied.out).toContain(
      '1 task may change files and 1 may run commands; nobody can answer questions, so these are denied. Allow them with --allow edits,commands.',
    );
    expect(denied.out).toContain('## Not done');
    expect([denied.code, existsSync(join(machine.project, 'NOTES.md'))]).toEqual([1, false]);
    const allowed = await machine.mimir('run', TASK, '--yes', '--json', '--allow', 'edits');
    const events = jsonLines(allowed.out);
    expect(of(events, 'plan.proposed').map(({ unattended }) => unattended)).toEqual([
      { edits: [], commands: ['task-1'] },
    ]);
    expect(of(events, 'agent.finished').map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    expect([allowed.code, existsSync(join(machine.project, 'NOTES.md'))]).toEqual([0, true]);
    const wrong = await machine.mimir('run', TASK, '--yes', '--allow', 'network');
    expect([wrong.code, wrong.err]).toEqual([
      2,
      'mimir: --allow: "network" is not valid\n  expected edits, commands, or both: edits,commands\n',
    ]);
  });

  it('in lines: a program is allowed by its number for the session, listed and withdrawn', async () => {
    const turns = [runs('mkdir a'), runs('mkdir b'), runs('touch a/x')];
    const { machine } = await ownModel('anthropic', { script: script(...turns), files: LEDGER });
    const person = machine.opens([], { cols: 100, rows: 60, env: { TERM: 'dumb' } });
    await person.sees('Type a task');
    await person.says(TASK, 'Proceed?');
    await person.says('Y', '3  mkdir …: commands that run only mkdir …', 'allow it? 1, 2, 3, 4, 5, y or n?');
    await answersInLines(
      person,
      '3',
      /Always allowed mkdir … for this session: commands that run only mkdir[^]*3 {2}touch …/,
    );
    await person.says('grants', '1. commands that run only mkdir …');
    await person.says('grants withdraw 1', /[Ww]ithdrawn: commands that run only mkdir/);
    await answersInLines(person, '5 not in a', 'NOTES.md says it.');
    await person.says('quit');
    await person.leaves();
    const events = jsonLines((await machine.mimir('events', await newest(machine), '--json')).out);
    expect(of(events, 'tool.finished').map(({ ok, output }) => [ok, output])).toEqual([
      [true, expect.any(String)],
      [true, expect.any(String)],
      [false, 'The person denied this: not in a Do not try it in another way.'],
    ]);
    expect([existsSync(join(machine.project, 'a')), existsSync(join(machine.project, 'b'))]).toEqual([true, true]);
  });
});
