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

/** A machine after a run that changed two files; its remote is of this host. */
async function afterRun(host: Host): Promise<Machine> {
  const script = { rules: [planner, writes, edits, done] };
  const { machine } = await ownModel('anthropic', { script, files: LEDGER, env: { PATH: host.path } });
  git(machine.project, 'config', 'user.name', 'Tester');
  git(machine.project, 'config', 'user.email', 'tester@example.org');
  git(machine.project, 'remote', 'add', 'origin', host.remote);
  git(machine.project, 'push', '--quiet', '--set-upstream', 'origin', 'main');
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
