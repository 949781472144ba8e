/** What a task may change, with the real tools in the real sandbox on a real repository. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFile } from '../../../src/tools/process/kept-folders.ts';
import { git } from '../../support/repos.ts';
import { until } from '../../support/until.ts';
import { heldProject } from '../../support/writes.ts';

const FILES = {
  '.gitignore': 'target/\n/dist\n*.log\nnode_modules/\n',
  'docs/a.md': 'docs\n',
  'src/auth/a3.js': 'auth\n',
  'src/a.ts': 'code\n',
  'src/notes.md': 'notes\n',
  'package.json': '{}\n',
  'target/old.o': 'object\n',
};
const contentOf = (folder: string, name: string): string => readFileSync(path.join(folder, name), 'utf8');
const statusOf = (folder: string): string => git(folder, 'status', '--porcelain', '--untracked-files=all');

describe('A task that may change docs/**', () => {
  it('D41: is told so by the file tools for any other file, new or old, also through a link', async () => {
    const { project, use } = await heldProject(FILES);
    symlinkSync('../src/auth', path.join(project, 'docs/link'));
    const only =
      'this task may only change docs/**. If this has to change, say so in your answer, or ask with ask_user: a person can extend what the task may change.';
    const write = (name: string): Promise<{ readonly ok: boolean; readonly text: string }> =>
      use(['docs/**'], 'write_file', { path: name, content: 'x' });
    expect(await write('src/auth/new.js')).toEqual({ ok: false, text: `src/auth/new.js: ${only}` });
    expect(await write('docs/link/new.js')).toEqual({ ok: false, text: `src/auth/new.js: ${only}` });
    await use(['docs/**'], 'read_file', { path: 'src/auth/a3.js' });
    expect(await use(['docs/**'], 'edit_file', { path: 'src/auth/a3.js', old_text: 'auth', new_text: 'x' })).toEqual({
      ok: false,
      text: `src/auth/a3.js: ${only}`,
    });
    expect(await write('docs/b/new.md')).toMatchObject({ ok: true });
    expect([contentOf(project, 'src/auth/a3.js'), existsSync(path.join(project, 'src/auth/new.js'))]).toEqual([
      'auth\n',
      false,
    ]);
  });

  it.each([
    ['by printing into it', 'echo x > src/auth/a3.js'],
    ['through a link that is there', 'echo x > docs/link/a3.js'],
    ['through a link that it makes', 'ln -s ../src docs/l && echo x > docs/l/auth/a3.js'],
    ['by moving another file over it', 'echo x > docs/x && mv docs/x src/auth/a3.js'],
    ['by moving its folder', 'mv src docs/src'],
    ['by deleting it', 'rm -f src/auth/a3.js'],
    ['by its permissions', 'chmod 777 src/auth/a3.js'],
    ['by git', 'git checkout HEAD~0 -- src; git stash; git rm -f src/auth/a3.js'],
    ['by a new file at the top', 'echo x > new.txt'],
    ['by a hard link', 'ln src/auth/a3.js docs/hard && echo x > docs/hard'],
  ])('D41: can not change src/auth/a3.js %s', async (_, command) => {
    const { project, bash } = await heldProject(FILES);
    symlinkSync('../src/auth', path.join(project, 'docs/link'));
    const before = statSync(path.join(project, 'src/auth/a3.js'));
    await bash(['docs/**'], command);
    const after = statSync(path.join(project, 'src/auth/a3.js'));
    expect(contentOf(project, 'src/auth/a3.js')).toBe('auth\n');
    expect([after.mode, after.ino]).toEqual([before.mode, before.ino]);
    expect(
      statusOf(project)
        .split('\n')
        .filter((line) => line !== '' && !line.includes(' docs/')),
    ).toEqual([]);
  });

  it('may write what it may change and the build output that git ignores, also where that is not there yet', async () => {
    const { project, bash } = await heldProject(FILES);
    const made = await bash(
      ['docs/**'],
      'echo x > docs/new.md && echo o > target/new.o && echo d > dist/d.js && rm docs/a.md',
    );
    expect(made).toMatchObject({ ok: true });
    expect([
      contentOf(project, 'docs/new.md'),
      contentOf(project, 'target/new.o'),
      contentOf(project, 'dist/d.js'),
    ]).toEqual(['x\n', 'o\n', 'd\n']);
    await bash(['docs/**'], 'rm dist/d.js');
    expect(readdirSync(project).toSorted()).toEqual([
      '.git',
      '.gitignore',
      'dist',
      'docs',
      'package.json',
      'src',
      'target',
    ]);
  });

  it('can make a folder that is not there yet, and nothing stays of it where it does not', async () => {
    const { project, bash } = await heldProject(FILES);
    expect(await bash(['web/pages/**'], 'true')).toMatchObject({ ok: true });
    expect(existsSync(path.join(project, 'web'))).toBe(false);
    expect(await bash(['web/pages/**'], 'echo x > web/pages/a.html; echo y > web/b.html')).toMatchObject({ ok: false });
    expect([contentOf(project, 'web/pages/a.html'), readdirSync(path.join(project, 'web'))]).toEqual([
      'x\n',
      ['pages'],
    ]);
  });
});

describe('A task whose globs are narrower than their folders', () => {
  it('D41: has what its command made beside them put back, and is told so', async () => {
    const { project, state, bash } = await heldProject(FILES);
    const done = await bash(['src/*.ts'], 'echo x > src/x.md; echo y > src/b.ts; echo z > src/a.ts');
    expect(done.ok).toBe(false);
    expect(done.text).toContain(
      'PUT BACK as it was before the command: src/x.md (new). This task may only change src/*.ts',
    );
    expect([
      existsSync(path.join(project, 'src/x.md')),
      contentOf(project, 'src/b.ts'),
      contentOf(project, 'src/a.ts'),
    ]).toEqual([false, 'y\n', 'z\n']);
    // What it had made is kept for the person.
    const [, folder = ''] = / are in (\S+)\. /.exec(done.text) ?? [];
    expect([folder.startsWith(state), contentOf(folder, 'src/x.md')]).toEqual([true, 'x\n']);
  });

  it('D41: has deleted, moved and changed files put back exactly, large ones as well, with their permissions and times', async () => {
    const { project, bash } = await heldProject(FILES);
    const large = path.join(project, 'src/large.bin');
    writeFileSync(large, Buffer.alloc(20 * 1024 * 1024, 'abc'));
    chmodSync(large, 0o751);
    symlinkSync('notes.md', path.join(project, 'src/link'));
    const before = [lstatSync(large), lstatSync(path.join(project, 'src/notes.md'))];
    const done = await bash(
      ['src/*.ts'],
      'printf x >> src/large.bin; chmod 600 src/large.bin; rm src/notes.md; rm src/link; mkdir -p src/new/deep; echo x > src/new/deep/y',
    );
    expect(done.text).toContain(
      'src/large.bin (changed), src/link (deleted), src/notes.md (deleted), src/new/deep/y (new)',
    );
    const after = [lstatSync(large), lstatSync(path.join(project, 'src/notes.md'))];
    expect(after.map(({ mode, size, mtimeMs }) => [mode, size, Math.floor(mtimeMs / 10)])).toEqual(
      before.map(({ mode, size, mtimeMs }) => [mode, size, Math.floor(mtimeMs / 10)]),
    );
    expect(readFileSync(large).equals(Buffer.alloc(20 * 1024 * 1024, 'abc'))).toBe(true);
    expect([contentOf(project, 'src/link'), readdirSync(path.join(project, 'src')).toSorted()]).toEqual([
      'notes\n',
      ['a.ts', 'auth', 'large.bin', 'link', 'notes.md'],
    ]);
  });

  it('can not even try it in folders that no glob reaches into', async () => {
    const { project, bash } = await heldProject(FILES);
    const done = await bash(['src/*.ts'], 'echo x > src/auth/a3.js');
    expect(done.text).toContain('Read-only file system');
    expect(contentOf(project, 'src/auth/a3.js')).toBe('auth\n');
  });

  it('is held at the top of the project as well, where its file may not be there yet', async () => {
    const { project, bash } = await heldProject(FILES);
    mkdirSync(path.join(project, 'src/target'));
    const done = await bash(
      ['README.md'],
      'echo r > README.md; echo x > new.txt; mkdir more; echo x > more/x; echo y >> package.json; echo o > src/target/o; echo x > src/a.ts',
    );
    expect(done.text).toContain('package.json (changed), new.txt (new), more/x (new)');
    expect(statusOf(project)).toBe('?? README.md\n');
    expect([contentOf(project, 'src/target/o'), existsSync(path.join(project, 'more'))]).toEqual(['o\n', false]);
  });

  it('may leave what git ignores, but not by a list of its own', async () => {
    const { project, bash } = await heldProject(FILES);
    const done = await bash(['**/*.ts'], 'echo x > src/run.log; echo "*.md" > src/.gitignore; echo x > src/sly.md');
    expect(done.text).toContain('src/.gitignore (new), src/sly.md (new)');
    expect(statusOf(project)).toBe('');
    expect(contentOf(project, 'src/run.log')).toBe('x\n');
  });

  it('leaves what another agent may change in the same folder meanwhile', async () => {
    const { project, use, bash } = await heldProject(FILES);
    const slow = bash(
      ['src/*.ts'],
      'while [ ! -e src/other.md ] || [ ! -e src/tool.md ]; do sleep 0.02; done; echo x > src/c.ts',
    );
    const beside = bash(['src/*.md'], 'while [ ! -e src/c.ts ]; do echo x > src/other.md; sleep 0.02; done');
    await use(['src/*.md'], 'write_file', { path: 'src/tool.md', content: 'tool\n' });
    expect([(await slow).ok, (await beside).ok]).toEqual([true, true]);
    expect([
      contentOf(project, 'src/other.md'),
      contentOf(project, 'src/tool.md'),
      contentOf(project, 'src/c.ts'),
    ]).toEqual(['x\n', 'tool\n', 'x\n']);
  });

  it('leaves the file beside it that another agent is just writing', async () => {
    const { project, state, bash } = await heldProject(FILES);
    const [first, second] = ['a', 'b'].map(() => path.join(project, 'src', freshFile(state, `${project}/src`).base));
    if (first === undefined || second === undefined) throw new Error('there are two');
    writeFileSync(first, 'half');
    const command = bash(['src/*.ts'], `echo x > src/c.ts; while [ -e ${first} ]; do sleep 0.02; done`);
    await until(() => existsSync(path.join(project, 'src/c.ts')));
    writeFileSync(second, 'half');
    rmSync(first);
    const { ok, text } = await command;
    expect([ok, text.replace(/[\d.]+ s$/, '0 s')]).toEqual([true, 'exit code 0 after 0 s']);
    expect([existsSync(first), readFileSync(second, 'utf8')]).toEqual([false, 'half']);
  });

  it('is held without git as well', async () => {
    const { project, bash } = await heldProject(FILES, { repository: false });
    const done = await bash(['src/*.ts'], 'echo x > src/x.md; echo y > src/b.ts');
    expect(done.text).toContain('src/x.md (new)');
    expect(readdirSync(path.join(project, 'src')).toSorted()).toEqual(['a.ts', 'auth', 'b.ts', 'notes.md']);
  });
});

describe('A task that may change the whole project', () => {
  it('is not held', async () => {
    const { project, bash } = await heldProject(FILES);
    expect(await bash(null, 'echo x > src/auth/a3.js && echo x > new.txt')).toMatchObject({ ok: true });
    expect(contentOf(project, 'new.txt')).toBe('x\n');
  });
});
