/** What agents change by commands: in the log, in the report, and on the Diffs tab, each with its author. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import type { Rule } from '../support/double/script.ts';
import { LEDGER } from '../support/journey.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

needs('git');

const planner: Rule = {
  when: { first: '# Roles' },
  answer: { text: planText(['Rename the helper', 'code'], ['Format the sources', 'refactoring', 'task-1']) },
};
const bash = (first: string, command: string): Rule => ({
  when: { first, turn: 1 },
  answer: { calls: [{ tool: 'bash', input: { command } }] },
});

it('has each change by a command with its author, and the edits of a person with nobody', async () => {
  const rules = [
    planner,
    bash('^Rename the helper', 'printf "a\\n" > made.txt && mv made.txt renamed.txt && echo // end >> src/cache.js'),
    bash('^Format the sources', 'echo b >> renamed.txt'),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
  writeFileSync(path.join(machine.project, 'mine.txt'), 'a person wrote this\n');
  const { code, events } = await runOn(machine, 'Rename the helper', '--allow', 'edits,commands');
  expect(code).toBe(0);
  const ends = of(events, 'tool.finished').filter(({ changed }) => changed !== undefined);
  expect(ends.map(({ changed }) => changed)).toMatchObject([
    {
      files: [
        { path: 'renamed.txt', is: 'added', added: 1, removed: 0, diff: '@@ -0,0 +1 @@\n+a' },
        { path: 'src/cache.js', is: 'changed', added: 1, removed: 0 },
      ],
      more: 0,
      also: [],
    },
    { files: [{ path: 'renamed.txt', is: 'changed', added: 1, removed: 0 }] },
  ]);
  const { out } = await machine.mimir('report', '--format', 'json');
  const report: unknown = JSON.parse(out);
  expect(report).toHaveProperty('files', [
    { path: 'renamed.txt', added: 2, removed: 0, made: true, gone: false, by: ['code', 'refactoring'] },
    { path: 'src/cache.js', added: 1, removed: 0, made: false, gone: false, by: ['code'] },
  ]);
  expect(readFileSync(path.join(machine.project, 'renamed.txt'), 'utf8')).toBe('a\nb\n');
});
