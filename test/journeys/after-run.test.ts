/** What a person decides after a run: its pull request, and a tree that was not merged; on the screen and in line mode, each shown before it is done. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Rule } from '../support/double/script.ts';
import { type Host, makeHost } from '../support/forge.ts';
import { LEDGER, type Machine, type Person } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';
import { git } from '../support/repos.ts';

needs('git', 'bubblewrap');

const task = (id: string, description: string, more: object = {}): object => ({
  id,
  description,
  role: 'code',
  writes: ['src/**'],
  tree: 'own',
  ...more,
});
const PLAN = {
  reason: '',
  tasks: [task('one', 'Name the cache', { checks: ['grep -q one src/cache.js'] }), task('two', 'Log the cache')],
};
const renames = (first: string, word: string): Rule => ({
  when: { first, turn: 1 },
  answer: {
    calls: [{ tool: 'bash', input: { command: `sed -i 's/^const cache .*/const ${word} = 1;/' src/cache.js` } }],
  },
});
const rules = [renames('^Name the cache', 'one'), renames('^Log the cache', 'two'), { answer: { text: 'Done.' } }];

/** A machine after a run whose second tree is not merged. */
async function afterRun(host: Host): Promise<Machine> {
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER, env: { PATH: host.path } });
  const { project } = machine;
  git(project, 'config', 'user.name', 'Tester');
  git(project, 'config', 'user.email', 'tester@example.org');
  git(project, 'remote', 'add', 'origin', host.remote);
  git(project, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  writeFileSync(join(machine.home, 'plan.json'), JSON.stringify(PLAN));
  const plan = join(machine.home, 'plan.json');
  const { code, err } = await runOn(machine, 'Name and log', '--plan', plan, '--allow', 'edits,commands');
  expect({ code, err }).toMatchObject({ code: 1 });
  return machine;
}

const cacheOf = ({ project }: Machine): string => readFileSync(join(project, 'src/cache.js'), 'utf8');

/** A person who opens an ended session from the start screen, sees its answer and opens the review. */
async function reviewing(machine: Machine, task: string, answer: string): Promise<Person> {
  const person = machine.opens([]);
  await person.sees(/press 1-\d/, 'Recent sessions');
  person.press('tab', 'tab');
  await person.sees(new RegExp(`▌ .*${task}`));
  person.press('enter');
  await person.sees(answer, 'files changed');
  person.press('D');
  return person;
}

describe('after a run', () => {
  it('the result shows changes, checks and what is not merged first, and merges and sends what was shown', async () => {
    const host = makeHost('gh');
    const machine = await afterRun(host);
    const person = machine.opens([]);
    await person.sees('What do you want to do?', /press 1-\d/, 'Recent sessions');
    person.press('tab', 'tab');
    await person.sees(/▌ .*Name and log/);
    person.press('enter');
    await person.sees('Failed run');
    person.press('enter');
    await person.sees('1 file changed, +1 -1 · checks: 1 of 1 verified', /code 2 +not merged: 1 file changed/);
    person.press('M');
    await person.sees('Merge this into the project?', '! src/cache.js: changed on both sides (contents)');
    person.press('esc');
    await person.doesNotSee('Merge this into the project?');
    expect(cacheOf(machine)).toContain('const one = 1;');
    person.press('M');
    await person.sees('Merge this into the project?');
    person.press('y');
    await person.sees('Files that changed on both sides');
    person.press('down', 'enter');
    await person.sees('merged code 2: 1 file');
    await person.doesNotSee(/code 2 +not merged/);
    await person.sees('checks: 0 of 1 verified');
    expect(cacheOf(machine)).toContain('const two = 1;');

    person.press('P');
    await person.sees('Push this branch and open the pull request?', 'src/cache.js  +1 -1');
    person.press('esc');
    await person.doesNotSee('Push this branch');
    expect(host.branches()).toEqual(['main']);
    person.press('P');
    await person.sees('Push this branch and open the pull request?');
    person.press('y');
    await person.sees('Pull request is open: https://host.example/team/ledger/7');
    expect(host.branches()).toHaveLength(2);

    person.press('U');
    await person.sees('Undo the changes of', /▌ code/);
    person.press('down', 'enter');
    await person.sees('Undo the changes of code 2?', '-const two = 1;', '+const one = 1;');
    person.press('y');
    await person.sees('undid changes of code 2 in 1 file');
    // The project is again as it was when the check had passed.
    await person.sees('checks: 1 of 1 verified');
    expect(cacheOf(machine)).toContain('const one = 1;');
    person.press('q');
    expect(await person.leaves()).toBe(0);
  });

  it('the review shows each change by agent, task or file; accepts, undoes one, and comments to its agent', async () => {
    const files = { ...LEDGER, 'a.ts': 'const one = 1;\n\nconst two = 2;\n\nconst three = 3;\n' };
    const edit = (first: string, command: string): Rule => ({
      when: { first, turn: 1 },
      answer: { calls: [{ tool: 'bash', input: { command } }] },
    });
    const rules = [
      { when: { last: 'why not uno' }, answer: { text: 'Because of the style.' } },
      {
        when: { first: '# Roles' },
        answer: { text: planText(['Name it', 'code'], ['Log it', 'refactoring', 'task-1']) },
      },
      edit('^Name it', "sed -i 's/one = 1/first = 1/; s/three = 3/third = 3/' a.ts"),
      edit('^Log it', "sed -i 's/two = 2/second = 2/' a.ts; printf 'x\\n' > new.md"),
      { answer: { text: 'Done.' } },
    ];
    const { machine } = await ownModel('anthropic', { script: { rules }, files });
    expect((await runOn(machine, 'Name and log', '--allow', 'edits,commands')).code).toBe(0);
    const text = (): string => readFileSync(join(machine.project, 'a.ts'), 'utf8');
    const person = await reviewing(machine, 'Name and log', 'Done.');
    await person.sees(
      'Changes by agent',
      /code +2/,
      /▌ .*a.ts:1 +\+1 -1/,
      '- const one = 1;',
      '+ const first = 1;',
      '0 accepted',
    );
    person.press('a');
    await person.sees('1 accepted', /▌ .*a.ts:5/, '+ const third = 3;');
    person.press('g');
    await person.sees('Changes by task', 'Name it', 'Log it');
    person.press('g');
    await person.sees('Changes by file', /new\.md +1/, /▌ +5 /);
    person.press('U');
    await person.sees('Undo this hunk?', '-const third = 3;', '+const three = 3;');
    person.press('y');
    await person.sees('undid changes of code in 1 file', 'of 3 changes, 1 accepted');
    expect(text()).toBe('const first = 1;\n\nconst second = 2;\n\nconst three = 3;\n');
    person.press('esc');
    await person.doesNotSee('Changes by');
    person.press('U');
    await person.sees(/▌ code/);
    person.press('enter');
    await person.sees('Undo the changes of code?', '-const first = 1;', '+const one = 1;');
    person.press('y');
    await person.sees('take these changes back', 'what was last undone of this agent');
    person.press('down', 'enter');
    await person.sees('restored changes of code in 1 file');
    expect(text()).toBe('const first = 1;\n\nconst second = 2;\n\nconst third = 3;\n');
    person.press('D');
    await person.sees('Changes by');
    person.press('home', 'c');
    await person.sees('Comment on a.ts:1');
    person.type('why not uno');
    person.press('enter');
    await person.sees('Because of the style.');
    person.press('q');
    expect(await person.leaves()).toBe(0);
    const events = jsonLines((await machine.mimir('events', '--json')).out);
    expect(of(events, 'message.sent').at(-1)).toMatchObject({
      to: 'ROOT::S1',
      content: 'About your change of a.ts:1: why not uno',
    });
    // What was accepted is still so in the next session.
    const again = await reviewing(machine, 'Name and log', 'Because of the style.');
    await again.sees('Changes by agent', 'of 4 changes, 1 accepted');
    again.press('q');
    await again.leaves();
  });

  it('line mode lists each change with a number, marks and undoes one, and comments to its agent', async () => {
    const files = { ...LEDGER, 'a.ts': 'const one = 1;\n\nconst two = 2;\n' };
    const command = "sed -i 's/one = 1/first = 1/; s/two = 2/second = 2/' a.ts";
    const rules = [
      { when: { last: 'why not uno' }, answer: { text: 'Because of the style.' } },
      { when: { first: '# Roles' }, answer: { text: planText(['Name it', 'code']) } },
      { when: { first: '^Name it', turn: 1 }, answer: { calls: [{ tool: 'bash', input: { command } }] } },
      { answer: { text: 'Done.' } },
    ];
    const { machine } = await ownModel('anthropic', { script: { rules }, files });
    const dumb = { cols: 100, rows: 60, env: { TERM: 'dumb' } };
    const person = machine.opens(['Name it all', '--mode', 'yolo'], dumb);
    await person.sees('Proceed?');
    await person.says('Y', 'completed: 1 agent');
    await person.says('mark 1', 'There is no change 1: changes lists them.');
    await person.says('changes', /1\. a\.ts:1 \+1 -1/, /2\. a\.ts:3 \+1 -1/);
    await person.says('mark 1', 'Accepted: a.ts:1');
    await person.says('changes file', /1\. 1 .*main \+1 -1, accepted/, /2\. 3 .*main \+1 -1/);
    await person.says('reject 2', '-const second = 2;', '+const two = 2;', /Undo .*\?/);
    await person.says('y', /undid the changes of main/);
    expect(readFileSync(join(machine.project, 'a.ts'), 'utf8')).toBe('const first = 1;\n\nconst two = 2;\n');
    await person.says('comment 1 why not uno', 'Because of the style.');
    await person.says('quit');
    await person.leaves();
    const events = jsonLines((await machine.mimir('events', '--json')).out);
    expect(of(events, 'message.sent').at(-1)).toMatchObject({
      to: 'ROOT::S1',
      content: 'About your change of a.ts:1: why not uno',
    });
  });

  it('line mode opens an ended run of an earlier session again, and reviews it', async () => {
    const files = { ...LEDGER, 'a.ts': 'const one = 1;\n\nconst two = 2;\n' };
    const call = (first: string, command: string) => ({
      when: { first, turn: 1 },
      answer: { calls: [{ tool: 'bash', input: { command } }] },
    });
    const rules = [
      { when: { last: 'why not uno' }, answer: { text: 'Because of the style.' } },
      call('^Name it', "sed -i 's/one = 1/first = 1/; s/two = 2/second = 2/' a.ts"),
      call('^Other', 'echo other > other.ts'),
      { answer: { text: 'Done.' } },
    ];
    const { machine } = await ownModel('anthropic', { script: { rules }, files });
    for (const task of ['Name it all', 'Other work'])
      expect((await machine.mimir('run', '--direct', task, '--yes', '--mode', 'yolo')).code).toBe(0);
    const person = machine.opens([], { cols: 100, rows: 60, env: { TERM: 'dumb' } });
    await person.sees('Type a task');
    await person.says('sessions', /1\. finished, .*: Other work/, /2\. finished, .*: Name it all/);
    await person.says('open 2', '1 file changed, +2 -2', 'report shows it again');
    await person.says('changes', /1\. a\.ts:1 \+1 -1/, /2\. a\.ts:3 \+1 -1/);
    await person.says('mark 1', 'Accepted: a.ts:1');
    await person.says('diff main', '+const first = 1;');
    await person.says('reject 2', '-const second = 2;', '+const two = 2;', /Undo .*\?/);
    await person.says('y', /undid the changes of main/);
    expect(readFileSync(join(machine.project, 'a.ts'), 'utf8')).toBe('const first = 1;\n\nconst two = 2;\n');
    await person.says('comment 1 why not uno', 'Because of the style.');
    await person.says('quit');
    await person.leaves();
  });
});
