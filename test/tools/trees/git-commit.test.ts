/** The commit tool against real repositories: exactly the proposed tree or nothing, and no program of the repository. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, freshFolder, git, makeFolder, makeRepository, writeFiles } from '../../support/repos.ts';
import { workbench } from '../workbench.ts';
import { needs } from '../../support/needs.ts';

needs('git');

/** The home of a person whom git knows. */
function home(): string {
  return makeFolder({ '.gitconfig': '[user]\n\tname = Ada Person\n\temail = ada@example.org\n' });
}

const bench = (folder: string): ReturnType<typeof workbench> => workbench(folder, undefined, home());
const head = (folder: string): string => git(folder, 'rev-parse', 'HEAD').trim();
const commits = (folder: string): number => Number(git(folder, 'rev-list', '--count', '--all').trim());

/** All commit objects there are, reachable or not. */
const commitObjects = (folder: string): number =>
  git(folder, 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype)')
    .split('\n')
    .filter((type) => type === 'commit').length;

describe('the commit tool', () => {
  it('commits what changed, as the person, on top of the last commit, and leaves nothing to commit', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'gone.txt': 'x\n', 'b/c.txt': 'c\n' });
    const before = head(folder);
    writeFiles(folder, { 'a.txt': 'two\n', 'new/d.txt': 'd\n' });
    rmSync(path.join(folder, 'gone.txt'));
    const { ok, text } = await bench(folder).use('git_commit', { message: 'Say two\n\nBecause one was wrong.' });
    expect({ ok, text }).toEqual({
      ok: true,
      text: `committed ${head(folder).slice(0, 12)} on main: Say two\n  a.txt\n  gone.txt\n  new/d.txt`,
    });
    expect(git(folder, 'log', '-1', '--format=%an <%ae> %cn %P%n%B').trim()).toBe(
      `Ada Person <ada@example.org> Ada Person ${before}\nSay two\n\nBecause one was wrong.`,
    );
    expect(git(folder, 'status', '--porcelain')).toBe('');
    expect(git(folder, 'ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n')).toEqual([
      'a.txt',
      'b/c.txt',
      'new/d.txt',
    ]);
    expect(git(folder, 'fsck', '--strict')).toBe('');
  });

  it('commits only the paths it is given, and keeps what the person staged of others', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' });
    writeFiles(folder, { 'a.txt': 'two\n', 'b.txt': 'two\n', 'c.txt': 'two\n' });
    git(folder, 'add', 'b.txt');
    expect((await bench(folder).use('git_commit', { message: 'Only a', paths: ['a.txt'] })).ok).toBe(true);
    expect(git(folder, 'status', '--short')).toBe('M  b.txt\n M c.txt\n');
    expect(git(folder, 'show', '--format=', '--name-only', 'HEAD').trim()).toBe('a.txt');
  });

  it('makes the first commit of a repository, also one of SHA-256', async () => {
    for (const format of ['sha1', 'sha256']) {
      const folder = makeFolder({ 'a.txt': 'one\n' });
      git(folder, 'init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
      expect((await bench(folder).use('git_commit', { message: 'Begin' })).ok).toBe(true);
      expect([commits(folder), git(folder, 'status', '--short')]).toEqual([1, '']);
    }
  });

  it('commits in a worktree on its own branch', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const side = path.join(freshFolder(), 'side');
    git(folder, 'worktree', 'add', '--quiet', '-b', 'side', side);
    writeFiles(side, { 'a.txt': 'two\n' });
    expect((await bench(side).use('git_commit', { message: 'Aside' })).ok).toBe(true);
    expect(git(folder, 'log', '--format=%s', 'side').trim()).toBe('Aside\nBegin');
    expect(git(folder, 'log', '--format=%s', 'main').trim()).toBe('Begin');
  });

  it('takes the person from the repository where their own configuration says nothing, or says what to do', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    writeFiles(folder, { 'a.txt': 'two\n' });
    const nobody = workbench(folder, undefined, freshFolder());
    expect(await nobody.use('git_commit', { message: 'Who' })).toEqual({
      ok: false,
      text: 'nothing was committed: git does not know who you are: git config --global user.name "Your Name" and git config --global user.email you@example.org',
    });
    git(folder, 'config', 'user.name', 'Repo');
    git(folder, 'config', 'user.email', 'repo@example.org');
    expect((await nobody.use('git_commit', { message: 'Who' })).ok).toBe(true);
    expect(git(folder, 'log', '-1', '--format=%an').trim()).toBe('Repo');
  });
});

describe('a person who signs commits', () => {
  const UNSIGNED =
    'unsigned, although commit.gpgsign is set: Mimir runs no signing program; `git commit --amend --no-edit -S` signs it';

  it.each([
    ['in their own configuration', '[commit]\n\tgpgsign = yes\n', null, true],
    ['in the repository', '', 'true', true],
    ['nowhere in this repository', '[commit]\n\tgpgsign = true\n', 'false', false],
  ])('%s is told that the commit is unsigned, before and after it', async (_, own, ofRepository, told) => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    if (ofRepository !== null) git(folder, 'config', 'commit.gpgsign', ofRepository);
    writeFiles(folder, { 'a.txt': 'two\n' });
    const user = makeFolder({ '.gitconfig': `[user]\n\tname = Ada Person\n\temail = ada@example.org\n${own}` });
    const tools = workbench(folder, undefined, user);
    const proposed = await tools.propose('git_commit', { message: 'Say two' });
    expect(proposed.ok && proposed.value.words?.includes(UNSIGNED)).toBe(told);
    const { ok, text } = await tools.use('git_commit', { message: 'Say two' });
    expect([ok, text.includes(UNSIGNED)]).toEqual([true, told]);
    expect(git(folder, 'cat-file', 'commit', 'HEAD')).not.toContain('gpgsig');
  });
});

describe('what is committed', () => {
  it('A12 is the tree that was proposed and passed, or there is no commit object', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const tools = bench(folder);
    const from = git(folder, 'rev-parse', 'HEAD^{tree}').trim();
    writeFiles(folder, { 'a.txt': 'two\n' });
    const proposed = await tools.propose('git_commit', { message: 'Two' });
    if (!proposed.ok) throw new Error(proposed.fault);
    expect(proposed.value).toMatchObject({ from, files: ['a.txt'] });
    expect(proposed.value.patch).toContain('-one\n+two');
    expect(git(folder, 'status', '--short')).toBe(' M a.txt\n');
    writeFiles(folder, { 'a.txt': 'three\n' });
    expect(await tools.use('git_commit', { message: 'Two' }, { tree: proposed.value.tree })).toEqual({
      ok: false,
      text: 'nothing was committed: the files have changed since this commit was shown; request it again',
    });
    expect(commitObjects(folder)).toBe(1);
    writeFiles(folder, { 'a.txt': 'two\n' });
    expect((await tools.use('git_commit', { message: 'Two' }, { tree: proposed.value.tree })).ok).toBe(true);
    expect([commitObjects(folder), git(folder, 'rev-parse', 'HEAD^{tree}').trim()]).toEqual([2, proposed.value.tree]);
  });

  it('is shown to a person as a whole: branch, message, files and patch', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    writeFiles(folder, { 'a.txt': 'two\n' });
    const proposed = await bench(folder).propose('git_commit', { message: 'Two' });
    if (!proposed.ok) throw new Error(proposed.fault);
    expect(proposed.value.words).toBe('commit on main: 1 file\n\nTwo\n\n  a.txt');
    expect(proposed.value.patch).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n[^]*\n-one\n\+two\n$/);
  });

  it('never holds what an .env file says, nor what goes through a filter: both are named', async () => {
    const folder = makeRepository({ '.gitattributes': '*.key filter=crypt\n', 'a.txt': '', '.env': 'OLD=1\n' });
    writeFiles(folder, {
      '.env': 'KEY=canary\n',
      'app/.env.local': 'KEY=canary\n',
      'b.key': 'canary\n',
      'a.txt': 'a\n',
    });
    const { text } = await bench(folder).use('git_commit', { message: 'A' });
    expect(text.split('\n').slice(1)).toEqual([
      '  a.txt',
      'left out: .env (a .env file)',
      'left out: app/.env.local (a .env file)',
      'left out: b.key (it uses the filter "crypt", a program that Mimir does not run; commit it yourself)',
    ]);
    expect(git(folder, 'log', '-p', '--all')).not.toContain('canary');
    expect((await bench(folder).use('git_commit', { message: 'A', paths: ['.env'] })).ok).toBe(false);
  });

  it('D12 leaves submodules and repositories inside the project as they are', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    for (const name of ['module', 'other']) {
      mkdirSync(path.join(folder, name));
      git(path.join(folder, name), 'init', '--quiet');
      writeFiles(folder, { [`${name}/x.txt`]: 'x\n' });
      commitAll(path.join(folder, name), 'Inner');
    }
    git(folder, 'add', 'module');
    git(folder, 'commit', '--quiet', '--message=Module');
    const link = git(folder, 'ls-tree', 'HEAD', 'module');
    writeFiles(folder, { 'module/x.txt': 'y\n', 'a.txt': 'two\n' });
    commitAll(path.join(folder, 'module'), 'Inner change');
    expect((await bench(folder).use('git_commit', { message: 'Two' })).text).toMatch(/on main: Two\n {2}a\.txt$/);
    expect(git(folder, 'ls-tree', 'HEAD', 'module')).toBe(link);
    expect(git(folder, 'ls-tree', '--name-only', 'HEAD')).not.toContain('other');
    expect((await bench(folder).use('git_commit', { message: 'In', paths: ['module/x.txt'] })).ok).toBe(false);
  });

  it('D11 runs no filter, hook, monitor, signature or editor of the repository', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', '.gitattributes': '*.md filter=evil diff=evil\n' });
    const marked = freshFolder();
    const program = path.join(freshFolder(), 'evil');
    writeFileSync(program, `#!/bin/sh\ntouch ${marked}/$$\ncat\n`);
    chmodSync(program, 0o755);
    for (const name of 'filter.evil.clean filter.evil.process core.fsmonitor diff.external core.editor gpg.program'.split(
      ' ',
    ))
      git(folder, 'config', name, program);
    git(folder, 'config', 'commit.gpgSign', 'true');
    git(folder, 'config', 'core.hooksPath', path.join(folder, '.git/hooks'));
    for (const hook of 'pre-commit commit-msg prepare-commit-msg post-commit post-index-change reference-transaction'.split(
      ' ',
    ))
      writeFileSync(path.join(folder, '.git/hooks', hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    writeFiles(folder, { 'a.txt': 'two\n', 'b.md': 'b\n' });
    expect((await bench(folder).use('git_commit', { message: 'Two' })).ok).toBe(true);
    expect(readdirSync(marked)).toEqual([]);
  });
});

describe('an environment that wants to lead git elsewhere', () => {
  it('D13: is taken neither from outside nor from a file of the project', async () => {
    const [folder, other] = [makeRepository({ 'a.txt': 'one\n' }), makeRepository({ 'other.txt': '' })];
    const lead = {
      GIT_DIR: path.join(other, '.git'),
      GIT_INDEX_FILE: path.join(other, '.git/index'),
      GIT_AUTHOR_NAME: 'E',
    };
    const lines = Object.entries(lead).map(([name, value]) => `${name}=${value}\n`);
    writeFiles(folder, { 'a.txt': 'two\n', '.env': lines.join(''), '.envrc': lines.join('') });
    const tools = workbench(folder, { ...process.env, ...lead }, home());
    expect((await tools.use('git_commit', { message: 'Two' })).ok).toBe(true);
    expect([commits(folder), commits(other)]).toEqual([2, 1]);
    expect(git(folder, 'log', '-1', '--format=%an').trim()).toBe('Ada Person');
    expect((await tools.use('bash', { command: 'env' })).text).not.toContain('GIT_');
  });
});

describe('a commit is refused', () => {
  it('in words, and changes nothing, where there is nothing to commit or no place for it', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const tools = bench(folder);
    const index = (): Buffer => readFileSync(path.join(folder, '.git/index'));
    // Looked at around each attempt: git itself writes what it finds out about files when the test calls it.
    const textOf = async (): Promise<string> => {
      const before = index();
      const { text } = await tools.use('git_commit', { message: 'No' });
      expect(index()).toEqual(before);
      return text;
    };
    const texts = [await textOf()];
    writeFiles(folder, { 'a.txt': 'two\n', '.git/MERGE_HEAD': `${head(folder)}\n` });
    texts.push(await textOf());
    rmSync(path.join(folder, '.git/MERGE_HEAD'));
    git(folder, 'checkout', '--quiet', '--detach');
    texts.push(await textOf(), (await bench(makeFolder()).use('git_commit', { message: 'No' })).text);
    expect(texts).toEqual([
      'nothing was committed: there is nothing to commit',
      'nothing was committed: a merge is in progress in this repository; a person has to finish it first',
      'nothing was committed: HEAD is on no branch: a commit would be lost; switch to a branch first',
      'nothing was committed: git is not available: this folder is not the top of a git repository',
    ]);
    expect(commitObjects(folder)).toBe(1);
  });

  it('D09 for values that could be options, paths outside, and empty messages', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    writeFiles(folder, { 'a.txt': 'two\n' });
    const tools = bench(folder);
    for (const input of [
      { message: '--amend' },
      { message: ' \n ' },
      { message: 'x', paths: ['--force'] },
      { message: 'x', all: true },
      { message: 'x\0' },
    ])
      await expect(tools.use('git_commit', input)).rejects.toThrow();
    for (const paths of [['../x'], ['/etc/passwd'], ['.git/config'], ['missing.txt']])
      expect([paths, (await tools.use('git_commit', { message: 'x', paths })).ok]).toEqual([paths, false]);
    expect(commits(folder)).toBe(1);
  });

  it('where the branch is moved meanwhile: the one who was first stays', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    writeFiles(folder, { 'a.txt': 'two\n', 'b.txt': 'two\n' });
    const both = await Promise.all(
      ['a.txt', 'b.txt'].map((name) => bench(folder).use('git_commit', { message: name, paths: [name] })),
    );
    const made = both.filter(({ ok }) => ok).length;
    // One after the other by chance is right as well; a lost commit is not.
    expect(commits(folder)).toBe(1 + made);
    expect(made).toBeGreaterThan(0);
  });
});

describe('A commit of a task that may change only some files', () => {
  it("D41: is not proposed where others changed as well; what is the task's own is", async () => {
    const folder = makeRepository({ 'docs/a.md': 'one', 'src/a.ts': 'one' });
    writeFileSync(path.join(folder, 'docs/a.md'), 'two');
    writeFileSync(path.join(folder, 'src/a.ts'), 'two');
    const tools = workbench(folder);
    expect(await tools.propose('git_commit', { message: 'Change' }, { writes: ['docs/**'] })).toEqual({
      ok: false,
      fault:
        'nothing was committed: this task may only change docs/**, but the commit would include src/a.ts; list your own files in paths',
    });
    const own = await tools.propose('git_commit', { message: 'Change', paths: ['docs'] }, { writes: ['docs/**'] });
    expect(own).toMatchObject({ ok: true, value: { files: ['docs/a.md'] } });
  });
});
