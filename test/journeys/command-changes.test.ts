/** What agents change by commands: in the log, in the report, and on the Diffs tab, each with its author. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { needs } from '../support/needs.ts';
import type { Rule } from '../support/double/script.ts';
import { LEDGER } from '../support/journey.ts';
import { holding } from '../support/like.ts';
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
  expect(out).not.toMatch(/"duration":\d+\./);
  const report: unknown = JSON.parse(out);
  const hunk = (agent: string, task: string, [from, to]: readonly number[], ...lines: readonly string[]): object => {
    const range = (at = 0): object => ({ at, lines: at === 0 ? 0 : 1 });
    return { agent, task, from: range(from), to: range(to), lines };
  };
  expect(report).toHaveProperty('files', [
    {
      path: 'renamed.txt',
      added: 2,
      removed: 0,
      made: true,
      gone: false,
      by: ['code', 'refactoring'],
      hunks: [hunk('ROOT::S1', 'task-1', [0, 1], '+a'), hunk('ROOT::S2', 'task-2', [0, 2], '+b')],
    },
    {
      path: 'src/cache.js',
      added: 1,
      removed: 0,
      made: false,
      gone: false,
      by: ['code'],
      hunks: [expect.objectContaining({ agent: 'ROOT::S1', lines: ['+// end'] })],
    },
  ]);
  expect(readFileSync(path.join(machine.project, 'renamed.txt'), 'utf8')).toBe('a\nb\n');
});

it('tells what is left of the changes of each agent: by tools, commands and a formatter, with a person in between', async () => {
  const formatted = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`src/f${at}.js`, 'a  =  1\n']));
  const files = { ...LEDGER, ...formatted, 'a.txt': 'one\ntwo\nthree\n', 'old.txt': 'o\n', 'gone.txt': 'g\n' };
  const call = (first: string, turn: number, tool: string, input: object): Rule => ({
    when: { first, turn },
    answer: { calls: [{ tool, input }] },
  });
  const rules = [
    planner,
    call('^Rename the helper', 1, 'read_file', { path: 'a.txt' }),
    call('^Rename the helper', 2, 'edit_file', { path: 'a.txt', old_text: 'two', new_text: 'two\nshort-lived' }),
    call('^Rename the helper', 3, 'edit_file', { path: 'a.txt', old_text: 'two\nshort-lived', new_text: '2' }),
    call('^Rename the helper', 4, 'bash', { command: 'mv old.txt new.txt; rm gone.txt; printf "\\0" > made.bin' }),
    call('^Format the sources', 1, 'bash', { command: "sed -i 's/  =  / = /' src/f*.js; chmod +x src/f0.js" }),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files });
  const { code } = await runOn(machine, 'Rename the helper', '--allow', 'edits,commands');
  expect(code).toBe(0);
  writeFileSync(path.join(machine.project, 'a.txt'), 'one\n2\n3\n');
  const report: unknown = JSON.parse((await machine.mimir('report', '--format', 'json')).out);
  const Report = z.object({
    files: z.array(
      z.object({
        path: z.string(),
        added: z.number(),
        removed: z.number(),
        hunks: z.array(z.object({ agent: z.string().nullable(), lines: z.array(z.string()) })),
        mode: z.object({ agent: z.string() }).optional(),
        whole: z.object({ agent: z.string() }).optional(),
      }),
    ),
  });
  const told = Report.parse(report).files.map((one) =>
    [
      `${one.path} +${one.added} -${one.removed}`,
      ...one.hunks.map(({ agent, lines }) => `${agent} ${lines.join(' ')}`),
      ...(one.whole === undefined ? [] : [`${one.whole.agent} whole`]),
      ...(one.mode === undefined ? [] : [`${one.mode.agent} mode`]),
    ].join('; '),
  );
  expect(told.filter((line) => !line.startsWith('src/'))).toEqual([
    'a.txt +2 -2; ROOT::S1 -two +2; null -three +3',
    'gone.txt +0 -1; ROOT::S1 -g',
    'made.bin +0 -0; ROOT::S1 whole',
    'new.txt +1 -0; ROOT::S1 +o',
    'old.txt +0 -1; ROOT::S1 -o',
  ]);
  const sources = told.filter((line) => line.startsWith('src/'));
  expect(sources.length).toBe(100);
  expect(sources.slice(0, 2)).toEqual([
    'src/f0.js +1 -1; ROOT::S2 -a  =  1 +a = 1; ROOT::S2 mode',
    'src/f1.js +1 -1; ROOT::S2 -a  =  1 +a = 1',
  ]);
});

const Diffs = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      added: z.number(),
      removed: z.number(),
      by: z.array(z.string()),
      person: z.literal(true).optional(),
      hunks: z.array(z.object({ agent: z.string().nullable(), lines: z.array(z.string()) })),
    }),
  ),
  uncovered: z.string().optional(),
});

it('tells all that differs from the start, with the files that only the person changed, as git does', async () => {
  const files = { ...LEDGER, 'a.txt': 'one\ntwo\nthree\n', 'mine.txt': 'm\n', 'gone.txt': 'g\n', 'same.txt': 's\n' };
  const rules = [
    planner,
    bash('^Rename the helper', 'sed -i s/one/1/ a.txt'),
    bash('^Format the sources', 'echo c > made.txt'),
    bash('^Later', 'echo later > later.txt'),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files });
  const at = (name: string): string => path.join(machine.project, name);
  const { code, events } = await runOn(machine, 'Rename the helper', '--allow', 'edits,commands');
  expect(code).toBe(0);
  writeFileSync(at('a.txt'), '1\ntwo\n3\n');
  writeFileSync(at('mine.txt'), 'm\nn\n');
  writeFileSync(at('new.txt'), 'n\n');
  rmSync(at('gone.txt'));
  const told = async (...session: readonly string[]) =>
    Diffs.parse(JSON.parse((await machine.mimir('report', ...session, '--format', 'json')).out)).files;
  const now = await told();
  expect(now.map((one) => [one.path, one.by, one.person ?? false, ...one.hunks.flatMap((hunk) => hunk.lines)])).toEqual(
    [
      ['a.txt', ['code'], true, '-one', '+1', '-three', '+3'],
      ['gone.txt', [], true, '-g'],
      ['made.txt', ['refactoring'], false, '+c'],
      ['mine.txt', [], true, '+n'],
      ['new.txt', [], true, '+n'],
    ],
  );
  const git = (...words: readonly string[]): string => execFileSync('git', words, { cwd: machine.project }).toString();
  git('add', '--intent-to-add', '.');
  const numbers = now.map((one) => `${one.added}\t${one.removed}\t${one.path}\n`).join('');
  expect(numbers).toBe(git('diff', '--numstat', 'HEAD'));
  const { out } = await machine.mimir('report');
  expect(out).toContain('| a.txt | +2 -2 | code, the person |\n| gone.txt (removed) | +0 -1 | the person |');
  expect((await runOn(machine, '--direct', 'Later', '--allow', 'edits,commands')).code).toBe(0);
  expect(await told(z.string().parse(events[0]?.['session']))).toEqual(now);
  expect(await told()).toMatchObject([{ path: 'later.txt', by: ['main'] }]);
});

it('lists the largest changes at the end of a run in line mode, and how many more there are', async () => {
  const make = 'for i in $(seq 12); do echo $i > f$i.txt; done; seq 20 > a.txt; git add f1.txt; rm gone.txt';
  const rules = [planner, bash('^Rename the helper', make), { answer: { text: 'Done.' } }];
  const files = { ...LEDGER, 'a.txt': '1\n', 'gone.txt': 'g\ng\n' };
  const { machine } = await ownModel('anthropic', { script: { rules }, files });
  const { code, out } = await machine.mimir('run', 'Rename the helper', '--yes', '--allow', 'edits,commands');
  expect(code).toBe(0);
  expect(out.split('\n').slice(-14)).toEqual([
    expect.stringContaining('mimir report'),
    '14 files changed, +31 -2',
    '  a.txt     +19 -0  code',
    '- gone.txt   +0 -2  code',
    ...['f1', 'f10', 'f11', 'f12', 'f2', 'f3', 'f4', 'f5'].map((name) => `+ ${`${name}.txt`.padEnd(8)}   +1 -0  code`),
    '  and 4 more',
    '',
  ]);
});

it('names the folders that git ignores in which a run has built something as not covered', async () => {
  const rules = [
    planner,
    bash('^Rename the helper', 'mkdir -p dist; touch dist/a dist/b'),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files: { ...LEDGER, '.gitignore': 'dist/\n' } });
  const run = await machine.mimir('run', 'Rename the helper', '--yes', '--allow', 'edits,commands');
  expect(run.code).toBe(0);
  const words = '"dist/" (2 files)';
  expect(run.out.split('\n').slice(-2)).toEqual([`  Not covered, because git ignores these folders: ${words}`, '']);
  const { out } = await machine.mimir('report');
  expect(out).toContain(`### Files changed\n\nNot covered, because git ignores these folders: ${words}\n`);
  const report = Diffs.parse(JSON.parse((await machine.mimir('report', '--format', 'json')).out));
  expect(report).toMatchObject({ files: [], uncovered: words });
});

it('gives the changes of one agent as a patch that git takes back, and leaves those of others and of the person', async () => {
  const files = { ...LEDGER, 'a.txt': 'one\ntwo\nthree\nfour\nfive\n', 'gone.txt': 'g\n' };
  const rules = [
    planner,
    bash('^Rename the helper', "sed -i s/one/1/ a.txt; rm gone.txt; printf 'n\\n' > new.txt; printf '\\0' > made.bin"),
    bash('^Format the sources', 'sed -i s/three/3/ a.txt'),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files });
  expect((await runOn(machine, 'Rename the helper', '--allow', 'edits,commands')).code).toBe(0);
  const at = (name: string): string => path.join(machine.project, name);
  writeFileSync(at('a.txt'), '1\ntwo\n3\nfour\n5\n');
  const { code, out, err } = await machine.mimir('diff', 'code');
  expect([code, err]).toEqual([0, 'made.bin: not in the patch: it is not shown as lines\n']);
  expect(out).toBe(
    [
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n-one\n+1\n two\n 3\n four',
      '--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-g',
      '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+n\n',
    ].join('\n'),
  );
  execFileSync('git', ['apply', '-R'], { cwd: machine.project, input: out });
  expect([readFileSync(at('a.txt'), 'utf8'), readFileSync(at('gone.txt'), 'utf8'), existsSync(at('new.txt'))]).toEqual([
    'one\ntwo\n3\nfour\n5\n',
    'g\n',
    false,
  ]);
  expect((await machine.mimir('diff', 'code')).out).toBe('');
  expect(await machine.mimir('diff', 'nobody')).toMatchObject({ code: 2, err: holding('there is no agent "nobody"') });
});

it('undoes the changes of one agent after it has shown them and was told to, and restores them', async () => {
  const files = { ...LEDGER, 'a.txt': 'one\ntwo\nthree\n', 'gone.txt': 'g\n' };
  const rules = [
    planner,
    bash('^Rename the helper', 'sed -i s/one/1/ a.txt; rm gone.txt; chmod +x a.txt'),
    bash('^Format the sources', 'sed -i s/three/3/ a.txt'),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files });
  expect((await runOn(machine, 'Rename the helper', '--allow', 'edits,commands')).code).toBe(0);
  const at = (name: string): string => path.join(machine.project, name);
  const read = () => [
    readFileSync(at('a.txt'), 'utf8'),
    (statSync(at('a.txt')).mode & 0o111) !== 0,
    existsSync(at('gone.txt')),
  ];
  expect((await machine.mimir('undo', 'code', '--at', 'a.txt:1', '--preview')).out).toBe(
    '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-1\n+one\n two\n 3\n',
  );
  expect((await machine.mimir('undo', 'code', '--at', 'gone.txt', '--preview')).out).toBe(
    '--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 @@\n+g\n',
  );
  const nowhere = 'code has no change at a.txt:3\n  `mimir diff code` shows its changes';
  expect(await machine.mimir('undo', 'code', '--at', 'a.txt:3')).toMatchObject({ code: 2, err: holding(nowhere) });
  expect(await machine.mimir('undo', 'code', '--at', 'b.txt')).toMatchObject({
    code: 2,
    err: holding('no agent has changed "b.txt"'),
  });
  const shown = [
    '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-1\n+one\n two\n 3\na.txt: mode 755 -> 644',
    '--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 @@\n+g\n',
  ].join('\n');
  expect(await machine.mimir('undo', 'code', '--preview')).toMatchObject({ code: 0, out: shown, err: '' });
  expect(await machine.mimir('undo', 'code')).toMatchObject({
    code: 4,
    out: shown,
    err: holding('nothing was undone: nobody can be asked here'),
  });
  expect(read()).toEqual(['1\ntwo\n3\n', true, false]);
  const restore = '`mimir undo code --back` restores them\n';
  expect(await machine.mimir('undo', 'code', '--yes')).toMatchObject({
    code: 0,
    out: `${shown}undid the changes of code in 2 files; ${restore}`,
  });
  expect(read()).toEqual(['one\ntwo\n3\n', false, true]);
  expect((await machine.mimir('undo', 'code')).out).toBe('code has no changes in the project\n');
  expect(await machine.mimir('undo', 'code', '--back')).toMatchObject({ code: 0, out: 'restored 2 files of code\n' });
  expect(read()).toEqual(['1\ntwo\n3\n', true, false]);
  expect(await machine.mimir('undo', 'code', '--back')).toMatchObject({
    code: 2,
    err: holding('nothing of code was undone'),
  });
  expect(await machine.mimir('undo')).toMatchObject({
    code: 2,
    err: holding('missing argument: AGENT\n  mimir undo AGENT'),
  });
});

it('keeps keys that an agent wrote into a file out of the report for programs', async () => {
  const key = 'sk-ant-api03-Zx8Kq2Lw9Rt4Vb7Nm1Pd6Hs3Jf5Gc0Ya';
  const rules = [
    planner,
    bash('^Rename the helper', `echo "token = ${key}" > conf.txt`),
    { answer: { text: 'Done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
  await runOn(machine, 'Rename the helper', '--allow', 'edits,commands');
  const { out } = await machine.mimir('report', '--format', 'json');
  expect([out.includes('conf.txt'), out.includes('+token = [key]'), out.includes(key)]).toEqual([true, true, false]);
});
