/** An agent that resolves the conflicts of its own merge, in a tree that has both sides, by the real program. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import { LEDGER, type Machine, type Person } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { saysDone, namesCache, runsFirst, TWO } from '../support/own-tree-plans.ts';
import { answersInLines, pressesUntil } from '../support/questions.ts';
import { ownModel, runOn } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

const RESOLVE = "sed -i -e '/^<<<<<<</,/^>>>>>>>/c const both = 1;' src/cache.js; echo resolved";
const RULES: readonly Rule[] = [
  { when: { first: '# Roles' }, answer: { text: JSON.stringify(TWO) } },
  runsFirst('Conflicts to resolve', RESOLVE),
  runsFirst('^Name the cache', namesCache('one')),
  runsFirst('^Log the cache', `${namesCache('two')}; echo "// logged" >> src/parse.js`),
  saysDone,
];

async function machineWith(): Promise<Machine & { readonly asked: () => readonly string[] }> {
  const { machine, double } = await ownModel('anthropic', { script: { rules: [...RULES] }, files: LEDGER });
  writeFileSync(path.join(machine.home, 'plan.json'), JSON.stringify(TWO));
  return { ...machine, asked: () => double.asked.map(({ first }) => first) };
}

/** After a run without a person, whose second tree is not merged. */
async function unmergedOn(): Promise<Machine> {
  const machine = await machineWith();
  const plan = path.join(machine.home, 'plan.json');
  const { code, err } = await runOn(machine, 'Name it', '--plan', plan, '--allow', 'edits,commands');
  expect({ code, err }).toMatchObject({ code: 1 });
  return machine;
}

const fileOf = (machine: Machine, name: string): string => readFileSync(path.join(machine.project, name), 'utf8');

const START = ['run', 'Name it', '--yes', '--allow', 'edits,commands'];
const opened = (machine: Machine, ...args: readonly string[]): Person =>
  machine.opens([...args], { cols: 120, rows: 60 });

describe.concurrent('a conflict of a merge', () => {
  it('is resolved by its agent in a new tree, shown, and merged when the person says so', async () => {
    const machine = await machineWith();
    const person = opened(machine, ...START, '--plan', path.join(machine.home, 'plan.json'));
    await person.sees('agent: code 2 resolves it in a new tree');
    await answersInLines(person, '3', 'it has resolved 1 conflict');
    await person.sees('-const one = 1;', '+const both = 1;', '+// logged');
    expect(fileOf(machine, 'src/cache.js')).toContain('const one = 1;');
    await answersInLines(person, '1', 'completed: 2 agents');
    expect(await person.leaves()).toBe(0);
    expect(fileOf(machine, 'src/cache.js')).toMatch(/^const both = 1;$/m);
    expect(fileOf(machine, 'src/parse.js')).toContain('// logged');
    const told = machine.asked().find((first) => first.includes('Conflicts to resolve')) ?? '';
    expect(told).toContain('- src/cache.js (contents)');
    expect(told).toContain('What came of your work before:\n\nDone.');
    expect((await machine.mimir('trees', 'clean')).out).toContain('removed 3 trees');
  });

  it('is asked about again where the run was stopped meanwhile, and its work before is not lost', async () => {
    const machine = await machineWith();
    const person = opened(machine, ...START, '--plan', path.join(machine.home, 'plan.json'));
    await person.sees('agent: code 2 resolves it in a new tree');
    await answersInLines(person, '3', 'it has resolved 1 conflict');
    person.terminal.kill();
    await person.terminal.exit;
    const listed = (await machine.mimir('trees')).out.trim().split('\n');
    expect(listed.map((each) => each.split(/\s+/).slice(0, 3).join(' ')).toSorted()).toEqual([
      'merged code 1',
      'unmerged code 2',
      'unmerged code 2',
    ]);
    const again = opened(machine, 'resume');
    await again.sees('it has resolved 1 conflict', '+const both = 1;');
    await pressesUntil(again, '2', /not merged: nobody has/);
    expect(fileOf(machine, 'src/cache.js')).toContain('const one = 1;');
    again.terminal.kill();
  });

  it('is resolved by its agent after the run has ended as well, from its result', async () => {
    const machine = await unmergedOn();
    const person = opened(machine);
    await person.sees(/press 1-\d/, 'Recent sessions');
    person.press('tab', 'tab');
    await person.sees(/▌ .*Name it/);
    person.press('enter');
    await person.sees('Failed run');
    person.press('enter');
    await person.sees(/code 2 +not merged: 1 file changed/);
    person.press('M');
    await person.sees('Merge this into the project?');
    person.press('y');
    await person.sees('it resolves them in a new tree');
    person.press('down', 'down', 'enter');
    await pressesUntil(person, 'A', 'it has resolved 1 conflict');
    await person.sees('+const both = 1;');
    expect(fileOf(machine, 'src/cache.js')).toContain('const one = 1;');
    await pressesUntil(person, '1', /Completed/);
    expect(fileOf(machine, 'src/cache.js')).toMatch(/^const both = 1;$/m);
    expect(fileOf(machine, 'src/parse.js')).toContain('// logged');
    person.terminal.kill();
  });

  it('is resolved so in line mode, and mimir merge says where', async () => {
    const machine = await machineWith();
    const dumb = { cols: 120, rows: 60, env: { TERM: 'dumb' } };
    const person = machine.opens(['Name it', '--mode', 'yolo'], dumb);
    await person.sees('Proceed?');
    await answersInLines(person, 'Y', 'agent: code 2 resolves it in a new tree');
    await answersInLines(person, '4', 'failed: 2 agents');
    const refused = await machine.mimir('merge');
    expect(refused.err).toContain('open the session in mimir and press M there (in line mode: merge --agent)');
    await answersInLines(person, 'merge code 3 --agent', 'There is no such tree to merge');
    await answersInLines(person, 'merge --agent', 'it has resolved 1 conflict');
    await person.sees('+const both = 1;');
    await answersInLines(person, '1', 'completed: 2 agents');
    expect(fileOf(machine, 'src/cache.js')).toMatch(/^const both = 1;$/m);
    person.terminal.kill();
  });
});
