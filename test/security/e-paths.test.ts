/** Policy's rules on paths: what the sandbox keeps from commands, every tool keeps from agents, and says which rule it was. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository, openTrees, type PathRules } from '../../src/tools/index.ts';
import { allFailed, attempts, openPlace, printed, runCommands, USERS } from '../support/boxes.ts';
import { freshFolder, makeFolder, makeRepository } from '../support/repos.ts';
import { rootOf, workbench } from '../tools/workbench.ts';

const rule = (words: string) => ({ path: words, rule: `the rule on ${words}` });
const PATHS: PathRules = {
  denyRead: [rule('keys'), rule('a[b]/token.txt'), rule('alias')],
  denyWrite: [rule('kept'), rule('not/yet')],
  allowWrite: [],
};
const FILES = {
  'a.txt': 'open\n',
  'keys/one': 'SECRET\n',
  'keys2/one': 'open\n',
  'a[b]/token.txt': 'SECRET\n',
  'kept/b': 'b\n',
  'real/c': 'SECRET\n',
};

const only = (...lists: (readonly string[])[]): PathRules => ({
  denyRead: [],
  denyWrite: [rule('src/kept')],
  allowWrite: lists.map((paths) => ({ paths, rule: `only ${paths.join(', ')}` })),
});

function folderWith(paths: PathRules) {
  const folder = makeRepository(FILES);
  symlinkSync('real', path.join(folder, 'alias'));
  symlinkSync('keys', path.join(folder, 'link'));
  return { folder, tools: workbench(folder, process.env, undefined, paths) };
}

describe('paths that policy hides', () => {
  it.each(['keys/one', 'link/one', 'a[b]/token.txt', 'alias/c', 'real/c', './keys/../keys/one'])(
    'E01: are not read or written by file tools: %s',
    async (name) => {
      const { tools } = folderWith(PATHS);
      const all = [
        await tools.use('read_file', { path: name }),
        await tools.use('write_file', { path: name, content: 'x' }),
        await tools.use('search', { pattern: '.', path: name }),
      ];
      expect(all.map(({ ok, text }) => ({ ok, rule: /the rule on [^ ]+/.exec(text)?.[0] !== undefined }))).toEqual(
        all.map(() => ({ ok: false, rule: true })),
      );
    },
  );

  it('E01: are passed over by listings and searches, whatever glob is asked for', async () => {
    const { tools } = folderWith(PATHS);
    const listed = await tools.use('list_files', {});
    expect(listed.text.split('\n')).toEqual(['a.txt', 'kept/b', 'keys2/one']);
    const glob = await tools.use('list_files', { glob: 'keys/**' });
    expect(glob.text).toBe('no files in . match keys/**');
    const found = [
      await tools.use('search', { pattern: 'SECRET' }),
      await tools.use('search', { pattern: 'SECRET', glob: '**/*' }),
    ];
    expect(found.map(({ text }) => text)).toEqual(['nothing matches SECRET', 'nothing matches SECRET']);
    const below = await tools.use('search', { pattern: 'SECRET', path: 'a[b]' });
    expect(below.text).toBe('nothing matches SECRET');
  });

  it('E01: are shown by git in no way: by name, in a patch, or by the id of their content', async () => {
    const { folder, tools } = folderWith(PATHS);
    writeFileSync(path.join(folder, 'keys/one'), 'SECRET 2\n');
    writeFileSync(path.join(folder, 'a.txt'), 'open 2\n');
    const tree = await tools.use('git', { subcommand: 'rev-parse', refs: ['HEAD'] });
    const all = [
      { subcommand: 'diff' },
      { subcommand: 'diff', refs: ['HEAD'] },
      { subcommand: 'log', patch: true },
      { subcommand: 'show', refs: ['HEAD'] },
      { subcommand: 'show', refs: ['HEAD:keys/one'] },
      { subcommand: 'show', refs: ['HEAD:a[b]/token.txt'] },
      { subcommand: 'show', refs: [ID_OF_SECRET] },
      { subcommand: 'show', refs: [`${ID_OF_SECRET}^{}`] },
      { subcommand: 'diff', refs: [ID_OF_SECRET, ID_OF_OPEN] },
      { subcommand: 'diff', refs: [`${ID_OF_OPEN}..${ID_OF_SECRET}`] },
      { subcommand: 'blame', paths: ['keys/one'] },
    ];
    expect(tree.ok).toBe(true);
    for (const input of all) expect((await tools.use('git', input)).text).not.toContain('SECRET');
    expect((await tools.use('git', { subcommand: 'diff' })).text).toContain('+open 2');
    expect((await tools.use('git', { subcommand: 'show', refs: ['HEAD:a.txt'] })).text).toBe('open');
  });

  it('E01: are in no patch that forced agents read, in no commit, and in nothing that a planner is told', async () => {
    const folder = makeRepository({ ...FILES, 'keys/README.md': 'SECRET\n' });
    const root = rootOf(folder, { ...PATHS, denyRead: [...PATHS.denyRead, rule('README.md')] });
    const trees = openTrees({ root, stateDir: freshFolder() });
    const { signal } = new AbortController();
    const before = await trees.now(signal);
    writeFileSync(path.join(folder, 'keys/one'), 'SECRET 2\n');
    writeFileSync(path.join(folder, 'README.md'), 'SECRET\n');
    writeFileSync(path.join(folder, 'a.txt'), 'open 2\n');
    const after = await trees.now(signal);
    if (!before.ok || !after.ok) throw new Error('no tree');
    const changes = await trees.changes(before.value, after.value, signal);
    expect(changes).toMatchObject({ ok: true, value: { files: ['README.md', 'a.txt', 'keys/one'] } });
    expect(JSON.stringify(changes)).not.toContain('SECRET');
    expect(JSON.stringify(await openRepository(root).facts(signal))).not.toContain('SECRET');
    const proposed = await workbench(folder, process.env, undefined, root.rules).propose('git_commit', {
      message: 'x',
    });
    expect(proposed).toMatchObject({ ok: true, value: { files: ['a.txt'] } });
  });
});

/** `git hash-object` of `SECRET\n` and `open\n`. */
const ID_OF_SECRET = 'e97e9c7e81609428bcb70ec1e588bb73ce9c24e4';
const ID_OF_OPEN = 'f510327578a4562e26a7c64bdf061e4a49f85ee6';

describe('paths that policy keeps', () => {
  it('E01: are not written by file tools, there or not, through a link or not', async () => {
    const { folder, tools } = folderWith(PATHS);
    symlinkSync('kept', path.join(folder, 'way'));
    for (const name of ['kept/new', 'way/new', 'not/yet', 'not/yet/new']) {
      const { ok, text } = await tools.use('write_file', { path: name, content: 'x' });
      expect({ name, ok, said: / (the rule on [^ ]+)$/.exec(text)?.[1] }).toEqual({
        name,
        ok: false,
        said: `the rule on ${name.startsWith('not') ? 'not/yet' : 'kept'}`,
      });
    }
    await tools.use('read_file', { path: 'kept/b' });
    expect(await tools.use('edit_file', { path: 'kept/b', old_text: 'b', new_text: 'c' })).toEqual({
      ok: false,
      text: 'kept/b: agents may not write it: the rule on kept',
    });
    expect(readFileSync(path.join(folder, 'kept/b'), 'utf8')).toBe('b\n');
    expect(existsSync(path.join(folder, 'not'))).toBe(false);
    expect((await tools.use('write_file', { path: 'kept2', content: 'x' })).ok).toBe(true);
  });

  it('E01: are all but what every list names, less what is denied in it', async () => {
    const folder = makeFolder({ 'src/a/x': '1', 'src/kept/x': '1', 'docs/x': '1' });
    const tools = workbench(folder, process.env, undefined, only(['src', 'docs'], ['src']));
    const tried = ['top', 'docs/new', 'src/new', 'src/a/new', 'src/kept/new', 'srcs/new'];
    const texts = await Promise.all(tried.map((name) => tools.use('write_file', { path: name, content: 'x' })));
    expect(
      texts.map(({ ok, text }, index) => `${tried[index] ?? ''} ${ok ? 'written' : text.replace(/.*: /, '')}`),
    ).toEqual([
      'top only src, docs',
      'docs/new only src',
      'src/new written',
      'src/a/new written',
      'src/kept/new the rule on src/kept',
      'srcs/new only src, docs',
    ]);
  });
});

describe.each(USERS)('the box for the user %s', (user) => {
  it('E01: opens no list within what is denied, and keeps a project whose parent is denied', async () => {
    const place = openPlace(user, { 'src/gen/x': 'x\n' });
    const inner = { gen: 'echo x > src/gen/x', top: 'touch new' };
    const lists = { denyRead: [], denyWrite: ['src'], allowWrite: [['src/gen']] };
    expect(await printed(place, attempts(inner), { paths: lists })).toEqual(allFailed(inner));
    const above = { denyRead: [], denyWrite: [path.dirname(place.project)], allowWrite: [] };
    expect(await printed(place, attempts(inner), { paths: above })).toEqual(allFailed(inner));
  });

  it('E01: leaves nothing that a rule names to be moved away from it', async () => {
    const place = openPlace(user, {
      'a/b/keys': 'key\n',
      'c/d/kept/x': 'x\n',
      'e/.env': 'key\n',
      'f/x': 'x\n',
      'g/x': 'x\n',
    });
    const paths = { denyRead: ['a/b/keys'], denyWrite: ['c/d/kept', 'g/h/not-there'], allowWrite: [] };
    const all = {
      'its folder': 'mv a/b a/z',
      'the folder above': 'mv a z',
      kept: 'mv c/d c/z',
      'an env file': 'mv e z',
      'what is not there yet': 'mv g z',
    };
    expect(await printed(place, attempts({ ...all, other: 'mv f z' }), { paths })).toEqual([
      ...allFailed(all),
      'other: worked',
    ]);
  });

  it('E01: finds secrets that it found before, however many folders a command makes', async () => {
    const place = openPlace(user, { 'config/.env': 'SECRET\n' });
    const many = 'mkdir $(seq -f "a%g" 1 600)';
    const commands = [many, 'cat config/.env || echo hidden'];
    const [, last] = (await runCommands(place, commands)).texts;
    expect(last).toContain('hidden');
    expect(last).not.toContain('SECRET');
  });
});
