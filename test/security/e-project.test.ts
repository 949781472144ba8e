/** What is, and what is not, the project: mounts in it, another folder in its place, repositories that a command makes (C09, D07, L03). */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRoot, openPlace, runCommands } from '../support/boxes.ts';
import { freshFolder, writeFiles } from '../support/repos.ts';
import { workbench } from '../tools/workbench.ts';

const USER = isRoot ? 'root' : 'ordinary';

describe('a file system that is mounted in the project', () => {
  it('is read and not written by commands, also where a rule makes a folder in it writable', async ({ skip }) => {
    if (!isRoot) skip('needs root: an ordinary user has no sandbox within the one that mounts something');
    const place = openPlace(USER);
    mkdirSync(path.join(place.project, 'sub/mnt dir'), { recursive: true });
    mkdirSync(path.join(place.other, 'in'));
    const within = ['bwrap', '--dev-bind', '/', '/', '--bind', place.other, path.join(place.project, 'sub/mnt dir')];
    const commands = ["cat 'sub/mnt dir/b.txt'; touch 'sub/mnt dir/made' 'sub/mnt dir/in/made'; touch sub/made"];
    const { texts } = await runCommands(place, commands, { within });
    expect(texts[0]).toContain('other');
    expect(texts[0]).toContain('Read-only file system');
    const listed = { denyRead: [], denyWrite: [], allowWrite: [['sub/mnt dir/in', 'a.txt']] };
    await runCommands(place, ["touch 'sub/mnt dir/in/made'; echo two >a.txt"], { within, paths: listed });
    expect([readdirSync(place.other).toSorted(), readdirSync(path.join(place.other, 'in'))]).toEqual([
      ['b.txt', 'in'],
      [],
    ]);
    expect(existsSync(path.join(place.project, 'sub/made'))).toBe(true);
    expect(readFileSync(path.join(place.project, 'a.txt'), 'utf8')).toBe('two\n');
  });
});

describe('another folder in the place of the project', () => {
  it('is not worked in: neither by tools for files nor by commands', async () => {
    const folder = path.join(freshFolder(), 'project');
    writeFiles(folder, { 'a.txt': 'one\n' });
    const tools = workbench(folder, process.env);
    renameSync(folder, `${folder}-before`);
    writeFiles(folder, { 'a.txt': 'two\n' });
    const said = [
      await tools.use('read_file', { path: 'a.txt' }),
      await tools.use('write_file', { path: 'b.txt', content: 'x' }),
      await tools.use('bash', { command: 'touch b.txt' }),
    ];
    for (const { ok, text } of said)
      expect([ok, text.includes('is no longer the folder in which this session started')]).toEqual([false, true]);
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });
});

describe('a repository, or a .mimir, that a command makes within the project', () => {
  it('gets another name when the command has ended, and its result says so; one that was there stays', async () => {
    const place = openPlace(USER, { 'a.txt': 'one\n', 'old/.git/HEAD': 'ref: refs/heads/main\n' });
    const { texts } = await runCommands(place, [
      'mkdir -p sub/.git deep/er/.MIMIR .GIT && echo x >sub/.git/config',
      'mkdir sub/.git; echo "gitdir: /x" >old/git~1',
    ]);
    const names = (folder: string): readonly string[] => readdirSync(path.join(place.project, folder)).toSorted();
    expect([names('.'), names('sub'), names('deep/er'), names('old')]).toEqual([
      ['a.txt', 'deep', 'old', 'set-aside-GIT', 'sub'],
      ['1-set-aside-git', 'set-aside-git'],
      ['set-aside-MIMIR'],
      ['.git', 'set-aside-git~1'],
    ]);
    expect(texts[0]).toContain('sub/.git was created by this command');
    expect(texts[0]).toContain('it was renamed to sub/set-aside-git');
  });

  it('is not written by tools for files in any spelling of NTFS', async () => {
    const folder = freshFolder();
    writeFileSync(path.join(folder, 'a.txt'), 'one\n');
    const tools = workbench(folder, process.env);
    for (const name of [
      '.git::$INDEX_ALLOCATION/config',
      '.GIT:$I30:$INDEX_ALLOCATION/config',
      'sub/.mimir::$INDEX_ALLOCATION/x',
      '.env::$DATA',
    ]) {
      const { ok } = await tools.use('write_file', { path: name, content: 'x' });
      expect({ name, ok }).toEqual({ name, ok: false });
    }
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });
});
