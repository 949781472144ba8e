/** What commands change in the project: real commands, real git; nothing that somebody else changed counts. */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CommandChanges } from '../../../src/domain/changes/changes.ts';
import { needs } from '../../support/needs.ts';
import { git, makeFolder, makeRepository } from '../../support/repos.ts';
import { until } from '../../support/until.ts';
import { agent, type Workbench, workbench } from '../workbench.ts';

needs('git');

const ALICE = agent('ROOT::S1');
const BOB = agent('ROOT::S2');

/** git's id of this content. */
const blobOf = (text: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex');
const by = (tools: Workbench, command: string, who = ALICE): Promise<CommandChanges | null> =>
  tools.changes('bash', { command }, { agent: who });
const counts = (changes: CommandChanges | null): readonly string[] =>
  (changes?.files ?? []).map(({ path: file, is, added, removed }) => `${is} ${file} +${added} -${removed}`);

describe('an act', () => {
  it.each([
    ['a repository', makeRepository],
    ['a folder without one', makeFolder],
  ])('has each content before and after, so that one follows from the other, in %s', async (_, make) => {
    const folder = make({ 'a.txt': 'one\ntwo\n', 'dos.txt': 'one\r\n' });
    const tools = workbench(folder);
    await tools.use('read_file', { path: 'a.txt' });
    const edit = await tools.changes('edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' });
    const sed = await by(tools, 'sed -i s/one/1/ a.txt; chmod +x a.txt; echo three >> dos.txt');
    const made = await tools.changes('write_file', { path: 'new/b.txt', content: 'x\r\n' });
    const gone = await by(tools, 'rm -r new; mv a.txt c.txt', BOB);
    const versions = [edit, sed, made, gone].map((changes) =>
      (changes?.files ?? []).map(({ path: name, before, after }) => ({ name, before, after })),
    );
    const version = (text: string, mode = '100644'): object => ({ blob: blobOf(text), mode });
    expect(versions).toEqual([
      [{ name: 'a.txt', before: version('one\ntwo\n'), after: version('one\n2\n') }],
      [
        { name: 'a.txt', before: version('one\n2\n'), after: version('1\n2\n', '100755') },
        { name: 'dos.txt', before: version('one\r\n'), after: version('one\r\nthree\n') },
      ],
      [{ name: 'new/b.txt', before: null, after: version('x\r\n') }],
      [
        { name: 'a.txt', before: version('1\n2\n', '100755'), after: null },
        { name: 'c.txt', before: null, after: version('1\n2\n', '100755') },
        { name: 'new/b.txt', before: version('x\r\n'), after: null },
      ],
    ]);
  });

  it('has the content as git stores it, where that has other line ends', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', '.gitattributes': '*.txt text\n' });
    const tools = workbench(folder);
    const made = await tools.changes('write_file', { path: 'b.txt', content: 'x\r\n' });
    const changes = await by(tools, 'echo two >> b.txt');
    expect([made?.files[0]?.after, changes?.files[0]?.before]).toEqual([
      { blob: blobOf('x\n'), mode: '100644' },
      { blob: blobOf('x\n'), mode: '100644' },
    ]);
  });
});

describe('a command', () => {
  it('is told to have changed what sed, mv, rm, chmod and a generator changed, with the hunks', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'run.sh': 'echo\n' });
    const tools = workbench(folder);
    const command =
      'sed -i s/two/2/ a.txt; mv b.txt moved.txt; rm c.txt; chmod +x run.sh; printf "\\0\\1" > made.bin; printf "x\\ny\\n" > made.txt';
    const changes = await by(tools, command);
    expect(counts(changes)).toEqual([
      'changed a.txt +1 -1',
      'removed b.txt +0 -1',
      'removed c.txt +0 -1',
      'added made.bin +0 -0',
      'added made.txt +2 -0',
      'added moved.txt +1 -0',
      'changed run.sh +0 -0',
    ]);
    expect(changes?.files[0]?.diff).toBe('@@ -1,2 +1,2 @@\n one\n-two\n+2');
    expect(changes?.files.at(-1)?.diff).toBeUndefined();
    expect([changes?.more, changes?.also]).toEqual([0, []]);
  });

  it('counts in a folder without a repository, and beside changes that were not committed', async () => {
    const tools = workbench(makeFolder({ 'a.txt': 'one\n' }));
    expect(counts(await by(tools, 'echo two >> a.txt'))).toEqual(['changed a.txt +1 -0']);
    const folder = makeRepository({ 'a.txt': 'one\n' });
    writeFileSync(path.join(folder, 'a.txt'), 'mine\n');
    expect(counts(await by(workbench(folder), 'echo two >> a.txt'))).toEqual(['changed a.txt +1 -0']);
  });

  it('has changed nothing where it wrote the same, only read, or wrote what git ignores', async () => {
    const tools = workbench(makeRepository({ 'a.txt': 'one\n', '.gitignore': 'out/\n' }));
    expect(await by(tools, 'cat a.txt; echo one > a.txt; mkdir out; echo x > out/x')).toBeNull();
  });

  it('that fails, or is ended at its time limit, has changed what it wrote until then', async () => {
    const tools = workbench(makeRepository({ 'a.txt': 'one\n' }));
    expect(counts(await by(tools, 'echo two >> a.txt; exit 3'))).toEqual(['changed a.txt +1 -0']);
    const changes = await tools.changes('bash', { command: 'echo three >> a.txt; sleep 60', timeout: 1 });
    expect(counts(changes)).toEqual(['changed a.txt +1 -0']);
  });

  it('commits: what it committed before counts no more, what it changed does', async () => {
    const tools = workbench(makeRepository({ 'a.txt': 'one\n' }));
    const commit = 'git add -A; git -c user.name=a -c user.email=a@example.com commit -qm second';
    expect(counts(await by(tools, `echo two >> a.txt; ${commit}`))).toEqual(['changed a.txt +1 -0']);
    expect(await by(tools, 'git log -1 --format=%s')).toBeNull();
    expect(counts(await by(tools, 'git checkout -q HEAD~1'))).toEqual(['changed a.txt +0 -1']);
  });

  it('does not show the content of a .env file, nor list more than 500 files', async () => {
    const tools = workbench(makeRepository({ 'a.txt': 'one\n' }));
    const secret = await by(tools, 'echo KEY=canary > .env');
    expect(counts(secret)).toEqual(['added .env +1 -0']);
    expect(JSON.stringify(secret)).not.toContain('canary');
    const many = await by(tools, 'for i in $(seq 600); do echo $i > f$i; done');
    expect([many?.files.length, many?.more]).toEqual([500, 100]);
  });

  it('runs as ever where too much is neither committed nor ignored, or becomes so, and none of it is stored', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    for (let at = 0; at <= 5000; at += 1) writeFileSync(path.join(folder, `f${at}`), '');
    const many = workbench(folder);
    const { changed, unseen } = await many.use('bash', { command: 'echo two >> a.txt' });
    expect([changed, unseen]).toEqual([
      undefined,
      'too many files here are neither committed nor ignored, so changes by commands cannot be shown',
    ]);
    const later = await many.use('bash', { command: 'cat a.txt' });
    expect([later.text, later.unseen]).toEqual([expect.stringContaining('one\ntwo'), undefined]);
    const tools = workbench(makeRepository({ 'a.txt': 'one\n' }));
    expect(counts(await by(tools, 'echo two >> a.txt'))).toEqual(['changed a.txt +1 -0']);
    expect(await by(tools, 'truncate --size=100M data.bin')).toBeNull();
    expect(await by(tools, 'echo three >> a.txt')).toBeNull();
  });

  it.each([['sed -i s/a/b/ x.txt'], ['true']])(
    'does not count what a person changed between commands: then %s',
    async (command) => {
      const folder = makeRepository({ 'a.txt': 'one\n', 'x.txt': 'a\n' });
      const tools = workbench(folder);
      await by(tools, 'echo two >> a.txt');
      writeFileSync(path.join(folder, 'a.txt'), 'a person wrote this\n');
      expect(counts(await by(tools, command))).toEqual(command === 'true' ? [] : ['changed x.txt +1 -1']);
    },
  );

  it('does not count what a file tool of another agent wrote meanwhile', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const tools = workbench(folder);
    const running = by(tools, 'echo begun > begun; while [ ! -e go ]; do sleep 0.05; done; echo mine > mine');
    await until(() => existsSync(path.join(folder, 'begun')));
    expect((await tools.use('write_file', { path: 'theirs', content: 'x\n' }, { agent: BOB })).ok).toBe(true);
    writeFileSync(path.join(folder, 'go'), '');
    expect(counts(await running)).toEqual(['added begun +1 -0', 'added go +0 -0', 'added mine +1 -0']);
  });

  it('shares its changes with commands of others that ran at the same time, and says so', async () => {
    const tools = workbench(makeRepository({ 'a.txt': 'one\n' }));
    const wait = 'while [ "$(cat one two 2>/dev/null | wc -l)" != 2 ]; do sleep 0.05; done; sleep 0.3';
    const [first, second] = await Promise.all([
      by(tools, `echo 1 > one; ${wait}`),
      by(tools, `echo 2 > two; ${wait}`, BOB),
    ]);
    expect([first?.also, second?.also]).toEqual([[BOB], [ALICE]]);
    expect(new Set([...counts(first), ...counts(second)])).toEqual(new Set(['added one +1 -0', 'added two +1 -0']));
  });

  it('has the same counts as git, whatever it does to the files', { timeout: 240_000 }, async () => {
    const file = fc.constantFrom('a.txt', 'b.txt', 'sub/c.txt', 'new.txt');
    const act = fc.oneof(
      fc
        .record({ file, text: fc.constantFrom('x', 'one', 'two words') })
        .map(({ file, text }) => `echo ${text} >> ${file}`),
      file.map((name) => `rm -f ${name}`),
      fc.tuple(file, file).map(([from, to]) => `mv -f ${from} ${to} 2>/dev/null; true`),
      file.map((name) => `[ -e ${name} ] && sed -i 1d ${name}; true`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 6 }), async (acts) => {
        const folder = makeRepository({ 'a.txt': 'one\ntwo\n', 'b.txt': 'one\n', 'sub/c.txt': 'c\n' });
        const changes = await by(workbench(folder), acts.join('; '));
        git(folder, 'add', '-A');
        const told = git(folder, 'diff', '--cached', '--numstat', '--no-renames').trim().split('\n');
        const expected = told.flatMap((line) => {
          const [added, removed, name] = line.split('\t');
          return name === undefined ? [] : [`${name} +${added ?? ''} -${removed ?? ''}`];
        });
        expect(counts(changes).map((line) => line.replace(/^\w+ /, ''))).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });
});
