/** The path jail against the catalogue of escapes, on a real file system. */
import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, replaceFile } from '../../src/tools/files/replace-file.ts';
import { checkRoot, isInside } from '../../src/tools/paths/root.ts';
import { openFile } from '../../src/tools/workspace.ts';
import { freshFolder, git, makeFolder, makeRepository, writeFiles } from '../support/repos.ts';
import { rootOf, workbench } from './workbench.ts';

/** A project `app` beside files that are none of its business. */
function projectAndOutside(): { readonly app: string; readonly outside: string } {
  const around = makeFolder({ 'app/src/a.ts': 'one\n', 'outside.txt': 'outside\n', 'app-evil/x': 'evil\n' });
  return { app: path.join(around, 'app'), outside: path.join(around, 'outside.txt') };
}

const write = (root: string, name: string, expected: string | null = null) =>
  replaceFile(rootOf(root), { path: name, content: 'written\n', expected });

async function readsNothing(root: string, name: string): Promise<void> {
  const opened = await openFile(rootOf(root), name);
  if (opened.ok) await opened.value.handle.close();
  expect({ name, ok: opened.ok }).toEqual({ name, ok: false });
}

describe('the path jail', () => {
  it('C01 refuses paths that lead out by their name', async () => {
    const { app, outside } = projectAndOutside();
    for (const name of ['../outside.txt', 'src/../../outside.txt', outside, '~/.ssh/id_ed25519', '/etc/passwd']) {
      await readsNothing(app, name);
      expect((await write(app, name)).ok).toBe(false);
    }
    expect(readFileSync(outside, 'utf8')).toBe('outside\n');
  });

  it('takes absolute paths and detours that stay inside', async () => {
    const { app } = projectAndOutside();
    const read = await workbench(app).use('read_file', { path: path.join(app, 'src', '..', 'src', 'a.ts') });
    expect(read).toEqual({ ok: true, text: `src/a.ts (lines 1-1 of 1, digest ${digestOf('one\n')})\n1\tone` });
  });

  it('C02 follows no link out, be it a file, a folder, a chain or a loop', async () => {
    const { app, outside } = projectAndOutside();
    symlinkSync(outside, path.join(app, 'file-link'));
    symlinkSync(path.dirname(app), path.join(app, 'folder-link'));
    symlinkSync('file-link', path.join(app, 'chain'));
    symlinkSync('loop', path.join(app, 'loop'));
    symlinkSync('nowhere', path.join(app, 'dangling'));
    for (const name of ['file-link', 'folder-link/outside.txt', 'chain', 'loop', 'dangling']) {
      await readsNothing(app, name);
      expect((await write(app, name)).ok).toBe(false);
    }
    expect((await write(app, 'folder-link/new.txt')).ok).toBe(false);
    expect(readFileSync(outside, 'utf8')).toBe('outside\n');
    expect(readdirSync(path.dirname(app)).sort()).toEqual(['app', 'app-evil', 'outside.txt']);
  });

  it('C02 writes through a link that stays inside, and keeps the link', async () => {
    const { app } = projectAndOutside();
    symlinkSync('src/a.ts', path.join(app, 'alias.ts'));
    expect(await write(app, 'alias.ts', digestOf('one\n'))).toEqual({ ok: true, value: digestOf('written\n') });
    expect(readFileSync(path.join(app, 'src/a.ts'), 'utf8')).toBe('written\n');
    expect(realpathSync(path.join(app, 'alias.ts'))).toBe(path.join(app, 'src/a.ts'));
  });

  it('C03 compares whole components: app-evil is not inside app', async () => {
    const { app } = projectAndOutside();
    await readsNothing(app, `${app}-evil/x`);
    await readsNothing(app, '../app-evil/x');
    expect(isInside('/w/app', '/w/app-evil')).toBe(false);
    expect(isInside('/', '/w')).toBe(true);
  });

  it('C04 does not write to a file that has another name elsewhere', async () => {
    const { app, outside } = projectAndOutside();
    linkSync(outside, path.join(app, 'hard.txt'));
    expect(await write(app, 'hard.txt', digestOf('outside\n'))).toEqual({
      ok: false,
      fault: 'hard.txt: has 2 hard links; writing it would also change the others',
    });
    expect(readFileSync(outside, 'utf8')).toBe('outside\n');
  });

  it('C05 never writes what configures git, Mimir, shells or editors, however it is spelt', async () => {
    const { app } = projectAndOutside();
    mkdirSync(path.join(app, '.git/hooks'), { recursive: true });
    const names = [
      '.git/hooks/pre-commit',
      '.git/config',
      'sub/.git/config',
      '.mimir/config.yml',
      '.GIT/config',
      '.Mimir/agents/x.json',
      '.git./config',
      '.g\u200cit/config',
      '.ｇit/config',
      'GIT~1/config',
      '.vscode/tasks.json',
      'sub/.idea/workspace.xml',
      'x.code-workspace',
      '.bashrc',
      'sub/.zshenv',
      '.env',
      'sub/.env.local',
      '.ENV',
    ];
    for (const name of names) expect({ name, ok: (await write(app, name)).ok }).toEqual({ name, ok: false });
    expect(readdirSync(app).sort()).toEqual(['.git', 'src']);
  });

  it('C05 is not lent another name by a link to a protected folder', async () => {
    const { app } = projectAndOutside();
    mkdirSync(path.join(app, '.git'));
    symlinkSync('.git', path.join(app, 'g'));
    expect((await write(app, 'g/config')).ok).toBe(false);
    writeFileSync(path.join(app, '.env'), 'KEY=1');
    symlinkSync('.env', path.join(app, 'settings'));
    await readsNothing(app, 'settings');
    await readsNothing(app, '.env');
  });

  it('C06 refuses names that are none', async () => {
    const { app } = projectAndOutside();
    const names = ['src/a.ts\0', `${'a/'.repeat(2500)}x`, '', '.', 'src/', 'a'.repeat(256), '\ud800', 'src'];
    for (const name of names) {
      await readsNothing(app, name);
      expect((await write(app, name)).ok).toBe(false);
    }
  });

  it('C07 refuses pipes, sockets and devices at once', async () => {
    const { app } = projectAndOutside();
    execFileSync('bash', ['-c', 'mkfifo "$0"', path.join(app, 'fifo')]);
    symlinkSync('/dev/zero', path.join(app, 'zero'));
    const server = createServer().listen(path.join(app, 'socket'));
    await once(server, 'listening');
    const begun = performance.now();
    for (const name of ['fifo', 'socket', 'zero', '/proc/self/environ']) await readsNothing(app, name);
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect((await write(app, 'fifo', 'x')).ok).toBe(false);
    server.close();
  });

  it('C08 writes nothing outside while a folder is swapped for a link and back', async () => {
    const around = makeFolder({ 'app/real/keep': '', 'elsewhere/keep': '' });
    const app = path.join(around, 'app');
    mkdirSync(path.join(app, 'dir'));
    const swap = `cd "$1"; while :; do mv -T dir aside; ln -s ../elsewhere dir; rm dir; mv -T aside dir; done`;
    const swapper = spawn('bash', ['-c', swap, 'swap', app], { stdio: 'ignore' });
    const until = performance.now() + 1500;
    let written = 0;
    for (let turn = 0; turn < 10_000 && performance.now() < until; turn += 1) {
      if ((await write(app, `dir/f${turn}`)).ok) written += 1;
      const read = await openFile(rootOf(app), 'dir/keep');
      if (read.ok) await read.value.handle.close();
      expect(read.ok).toBe(false);
    }
    swapper.kill('SIGKILL');
    await once(swapper, 'close');
    expect(readdirSync(path.join(around, 'elsewhere'))).toEqual(['keep']);
    expect(readdirSync(around).sort()).toEqual(['app', 'elsewhere']);
    expect(written).toBeGreaterThan(0);
  });

  it('C11 refuses a stale digest and says the present one', async () => {
    const { app } = projectAndOutside();
    const stale = await write(app, 'src/a.ts', digestOf('zero\n'));
    expect(stale).toEqual({
      ok: false,
      fault: `src/a.ts: has changed since it was read (expected digest ${digestOf('zero\n')}, now ${digestOf('one\n')}); read it again`,
    });
    expect((await write(app, 'src/a.ts')).ok).toBe(false);
    expect((await write(app, 'src/gone.ts', digestOf('one\n'))).ok).toBe(false);
    expect(readFileSync(path.join(app, 'src/a.ts'), 'utf8')).toBe('one\n');
  });

  it('keeps the mode of a file and leaves nothing beside it', async () => {
    const { app } = projectAndOutside();
    execFileSync('chmod', ['750', path.join(app, 'src/a.ts')]);
    expect((await write(app, 'src/a.ts', digestOf('one\n'))).ok).toBe(true);
    expect(statSync(path.join(app, 'src/a.ts')).mode & 0o7777).toBe(0o750);
    expect(readdirSync(path.join(app, 'src'))).toEqual(['a.ts']);
  });

  it('makes the folders of a new file, but none for a change of a missing one', async () => {
    const { app } = projectAndOutside();
    expect((await write(app, 'deep/er/new.txt')).ok).toBe(true);
    expect(readFileSync(path.join(app, 'deep/er/new.txt'), 'utf8')).toBe('written\n');
    expect((await write(app, 'other/new.txt', digestOf(''))).ok).toBe(false);
    expect(existsSync(path.join(app, 'other'))).toBe(false);
  });

  it('lets no path out, whatever it is made of', async () => {
    const { app } = projectAndOutside();
    symlinkSync('..', path.join(app, 'up'));
    symlinkSync('src', path.join(app, 'down'));
    const part = fc.constantFrom(
      '..',
      '.',
      'src',
      'up',
      'down',
      'a.ts',
      'app',
      'app-evil',
      'x',
      'outside.txt',
      '',
      '~',
      'new',
    );
    const root = rootOf(app);
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 7 }), fc.boolean(), async (parts, absolute) => {
        const name = (absolute ? `${app}/` : '') + parts.join('/');
        const opened = await openFile(root, name);
        if (!opened.ok) return;
        const real = realpathSync(`/proc/self/fd/${opened.value.handle.fd}`);
        await opened.value.handle.close();
        expect(isInside(app, real)).toBe(true);
        expect(real).toBe(realpathSync(path.resolve(app, name)));
      }),
      { numRuns: 500 },
    );
  });
});

const NO_RULES = { denyRead: [], denyWrite: [], allowWrite: [] };

describe('the project root', () => {
  const home = homedir();
  const check = (folder: string, state = '/nowhere/state') => checkRoot(folder, { home, state });

  it('is none of the folders that hold too much', () => {
    const state = freshFolder();
    const refusals = ['/', home, tmpdir(), path.join(state, 'gone')].map((folder) => check(folder).ok);
    expect(refusals).toEqual([false, false, false, false]);
    expect(check(path.dirname(state), path.join(state, 'mimir')).ok).toBe(false);
    expect(check(state, path.join(state, 'deep', 'mimir')).ok).toBe(false);
    expect(check(state)).toMatchObject({
      ok: true,
      value: {
        path: state,
        git: { is: 'none', because: 'this folder is not the top of a git repository' },
        rules: NO_RULES,
      },
    });
  });

  it('C09 is refused when .mimir or .git is a link', () => {
    for (const name of ['.mimir', '.git']) {
      const folder = makeFolder({ 'a/b': '' });
      symlinkSync('a', path.join(folder, name));
      expect(check(folder)).toEqual({
        ok: false,
        fault: `${folder}/${name}: is a symbolic link; replace it with a real folder to work here`,
      });
    }
  });

  it('C10 has no git when its .git file points to a folder of somebody else', async () => {
    const victim = makeRepository({ 'secret.txt': 'theirs\n' });
    const folder = makeFolder({ '.git': `gitdir: ${victim}/.git\n` });
    const because = '.git points to a folder outside the project that does not point back';
    expect(check(folder)).toMatchObject({
      ok: true,
      value: { path: folder, git: { is: 'none', because }, rules: NO_RULES },
    });
    expect(await workbench(folder).use('git', { subcommand: 'log' })).toEqual({
      ok: false,
      text: `git is not available: ${because}`,
    });
  });

  it('has git in a submodule, whose git directory names it as its work tree, and not in a folder that borrows it', async () => {
    const outer = makeRepository();
    git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', makeRepository(), 'part');
    const log = await workbench(path.join(outer, 'part')).use('git', { subcommand: 'log' });
    expect([log.ok, log.text]).toEqual([true, expect.stringContaining('Begin')]);
    const borrows = freshFolder();
    writeFiles(borrows, { '.git': `gitdir: ${path.join(outer, '.git/modules/part')}\n` });
    expect(await workbench(borrows).use('git', { subcommand: 'log' })).toMatchObject({ ok: false });
  });

  it('has git in a worktree, whose other end points back', async () => {
    const repository = makeRepository();
    const tree = path.join(freshFolder(), 'tree');
    git(repository, 'worktree', 'add', '--quiet', '-b', 'topic', tree);
    const log = await workbench(tree).use('git', { subcommand: 'branch' });
    expect(log.ok).toBe(true);
    expect(log.text).toContain('* topic');
  });
});
