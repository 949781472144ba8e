/** The pull request of a run: shown first, made once whatever is cut off, with nothing but the changes of the run. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import { makeHost, type Host } from '../support/forge.ts';
import { LEDGER, type Machine } from '../support/journey.ts';
import { holding } from '../support/like.ts';
import { ownModel, planText, runOn } from '../support/on-the-wire.ts';
import { git } from '../support/repos.ts';

const TASK = 'Say in the NOTES what the cache is for';
const URL = 'https://host.example/team/ledger/7';
const KEY = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';

const planner: Rule = { when: { first: '# Roles' }, answer: { text: planText(['Change the NOTES', 'code']) } };
const writes: Rule = {
  when: { first: '^Change the NOTES', turn: 1 },
  answer: {
    calls: [
      { tool: 'write_file', input: { path: 'NOTES.md', content: 'The cache keeps balances.\n' } },
      { tool: 'write_file', input: { path: '.env.local', content: 'A=b\n' } },
      { tool: 'read_file', input: { path: 'src/parse.js' } },
    ],
  },
};
const edits: Rule = {
  when: { first: '^Change the NOTES', turn: 2 },
  answer: {
    calls: [
      { tool: 'edit_file', input: { path: 'src/parse.js', old_text: 'eval(text)', new_text: 'JSON.parse(text)' } },
    ],
  },
};
const done: Rule = { answer: { text: `The cache is explained; its key is ${KEY}.` } };

/** A machine whose remote is of this host. */
async function machineOf(host: Host, rules: readonly Rule[] = [planner, writes, edits, done]): Promise<Machine> {
  const script = { rules: [...rules] };
  const { machine } = await ownModel('anthropic', { script, files: LEDGER, env: { PATH: host.path } });
  git(machine.project, 'config', 'user.name', 'Tester');
  git(machine.project, 'config', 'user.email', 'tester@example.org');
  git(machine.project, 'remote', 'add', 'origin', host.remote);
  git(machine.project, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  return machine;
}

/** The same after a run that changed two files. */
async function afterRun(host: Host): Promise<Machine> {
  const machine = await machineOf(host);
  const { code, err } = await runOn(machine, TASK, '--allow', 'edits');
  expect({ code, err }).toMatchObject({ code: 0 });
  return machine;
}

const branchOf = (host: Host): string => host.branches().find((branch) => branch !== 'main') ?? '';
const created = (host: Host): readonly string[] => host.calls().filter((call) => / create /.test(call));
const changedBy = (host: Host): string =>
  git(host.remote, 'diff-tree', '-r', '--name-status', 'main', branchOf(host)).trim();

describe('mimir pr', () => {
  it('shows the request and sends nothing before a yes; then opens one with the files of the run alone', async () => {
    const host = makeHost('gh');
    const machine = await afterRun(host);
    appendFileSync(join(machine.project, 'README.md'), 'A line of mine.\n');
    const shown = await machine.mimir('pr');
    expect(shown).toMatchObject({ code: 4, err: holding('nobody can be asked here') });
    expect(shown.out).toMatch(/^Files {3}2 files, \+2 -1\n {2}NOTES\.md {2}\+1 -0\n {2}src\/parse\.js {2}\+1 -1$/m);
    expect({ branches: host.branches(), calls: host.calls() }).toEqual({ branches: ['main'], calls: [] });

    const person = machine.opens(['pr']);
    await person.sees('Push this branch and open it?');
    person.type('y\r');
    await person.sees(`Pull request is open: ${URL}`);
    expect(await person.leaves()).toBe(0);
    expect(changedBy(host)).toBe('A\tNOTES.md\nM\tsrc/parse.js');
    expect(host.body()).toContain('The cache is explained; its key is [key].');
    expect(git(machine.project, 'status', '--porcelain')).toContain(' M README.md');

    expect(await machine.mimir('pr', '--yes')).toMatchObject({ code: 0, out: `Pull request is open: ${URL}\n` });
    expect(created(host)).toHaveLength(1);
  });
});

describe('mimir run --open-pr', () => {
  const START = ['run', TASK, '--yes', '--allow', 'edits', '--open-pr'];

  it('shows the request when the run has ended well, and opens it after a yes', async () => {
    const host = makeHost('gh');
    const machine = await machineOf(host);
    const person = machine.opens(START);
    await person.sees('Push this branch and open it?');
    expect(person.terminal.output()).toMatch(/completed: 1 agent[^]*NOTES\.md {2}\+1 -0/);
    expect({ branches: host.branches(), calls: created(host) }).toEqual({ branches: ['main'], calls: [] });
    person.type('y\r');
    await person.sees(`Pull request is open: ${URL}`);
    expect(await person.leaves()).toBe(0);
    expect(changedBy(host)).toBe('A\tNOTES.md\nM\tsrc/parse.js');
    expect(await machine.mimir('pr', '--yes')).toMatchObject({ code: 0, out: `Pull request is open: ${URL}\n` });
    expect(created(host)).toHaveLength(1);
  });

  it('opens none after a no, nor after a run that failed', async () => {
    const host = makeHost('gh');
    const refusing = (await machineOf(host)).opens(START);
    await refusing.sees('Push this branch and open it?');
    refusing.type('n\r');
    await refusing.leaves();
    const fails: Rule = { when: { first: '^Change the NOTES' }, answer: { text: 'I can not.', stop: 'refused' } };
    const other = makeHost('gh');
    const failed = (await machineOf(other, [planner, fails])).opens(START);
    await failed.sees(/failed: /);
    expect(await failed.leaves()).toBe(1);
    expect(failed.terminal.output()).not.toContain('Push this branch');
    expect([host, other].map((one) => [one.branches(), created(one)])).toEqual([
      [['main'], []],
      [['main'], []],
    ]);
  });
});
