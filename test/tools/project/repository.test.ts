/** Facts about repositories of all kinds, bounded and never a failure. */
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../../src/tools/index.ts';
import { commitAll, freshFolder, git, makeFolder, makeRepository, writeFiles } from '../../support/repos.ts';
import { rootOf } from '../workbench.ts';
import { needs } from '../../support/needs.ts';

needs('git');

const factsOf = (folder: string, signal = new AbortController().signal) => openRepository(rootOf(folder)).facts(signal);

describe('facts of a repository', () => {
  it('name its files, languages, manifests, README and tests', async () => {
    const folder = makeRepository({
      'README.md': '# Trees\nA library of trees.\n',
      'package.json': '{ "name": "trees" }\n',
      'packages/leaf/package.json': '{ "name": "leaf" }\n',
      'src/tree.ts': 'x\n',
      'src/leaf.ts': 'y\n',
      'test/tree.test.ts': 'z\n',
      'py/test_tree.py': '',
      'java/TreeTest.java': '',
      '.gitignore': 'node_modules/\n',
      'node_modules/x/package.json': '{}',
      '.env': 'KEY=1',
    });
    expect(await factsOf(folder)).toEqual({
      name: path.basename(folder),
      isGit: true,
      files: 9,
      more: false,
      bytes: 87,
      languages: [
        { extension: '.ts', files: 3 },
        { extension: '.json', files: 2 },
        { extension: '.java', files: 1 },
        { extension: '.md', files: 1 },
        { extension: '.py', files: 1 },
      ],
      top: ['.gitignore', 'README.md', 'java/', 'package.json', 'packages/', 'py/', 'src/', 'test/'],
      manifests: [
        { path: 'package.json', head: '{ "name": "trees" }\n' },
        { path: 'packages/leaf/package.json', head: '{ "name": "leaf" }\n' },
      ],
      readme: '# Trees\nA library of trees.\n',
      folders: [
        { path: 'src/', files: 2, inside: ['leaf.ts', 'tree.ts'] },
        { path: 'java/', files: 1, inside: ['TreeTest.java'] },
        { path: 'packages/', files: 1, inside: ['leaf/ 1'] },
        { path: 'py/', files: 1, inside: ['test_tree.py'] },
        { path: 'test/', files: 1, inside: ['tree.test.ts'] },
      ],
      git: { branch: 'main', commits: ['Begin'], changed: 0 },
      tests: { count: 3, some: ['java/TreeTest.java', 'py/test_tree.py', 'test/tree.test.ts'] },
    });
  });

  it('are all there for an empty folder without git', async () => {
    const folder = freshFolder();
    expect(await factsOf(folder)).toEqual({
      name: path.basename(folder),
      isGit: false,
      files: 0,
      more: false,
      bytes: 0,
      languages: [],
      top: [],
      manifests: [],
      readme: '',
      folders: [],
      tests: { count: 0, some: [] },
    });
  });

  it('show what lies below the largest folders, folders by size first, and count the rest', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `src/f${String(index).padStart(2, '0')}.ts`);
    const files = [...names, 'src/b/x.ts', 'src/a/x.ts', 'src/b/deep/y.ts', 'docs/z.md'];
    const { folders } = await factsOf(makeFolder(Object.fromEntries(files.map((name) => [name, '']))));
    expect(folders?.map(({ path, files }) => [path, files])).toEqual([
      ['src/', 33],
      ['docs/', 1],
    ]);
    expect(folders?.[0]?.inside.slice(0, 3)).toEqual(['b/ 2', 'a/ 1', 'f00.ts']);
    expect(folders?.[0]?.inside.at(-1)).toBe('and 8 more');
  });

  it('hold no hidden characters and no endless names of a hostile repository', async () => {
    const folder = makeRepository({
      'README.md': 'Hi\u001B[2J there\u202E\u{E0041}\r\nsecond',
      [`${'n'.repeat(200)}/${'m'.repeat(200)}.ts`]: '',
    });
    commitAll(folder, `Fix\u001B]0;title\u0007 ${'x'.repeat(500)}\n\nbody`);
    const { readme, git: log, folders } = await factsOf(folder);
    expect(readme).toBe('Hi[2J there\nsecond');
    expect(log?.commits).toEqual([`Fix]0;title ${'x'.repeat(107)}…`, 'Begin']);
    expect(folders?.map(({ path, inside }) => [path.length, ...inside.map((name) => name.length)])).toEqual([
      [121, 120],
    ]);
  });

  it('name no branch where the head is on none, and no commit where there is none', async () => {
    const folder = makeRepository();
    git(folder, 'checkout', '--quiet', '--detach');
    writeFiles(folder, { 'a.txt': 'changed\n', 'new/b.txt': 'untracked\n' });
    expect((await factsOf(folder)).git).toEqual({ branch: '(none)', commits: ['Begin'], changed: 2 });
    const empty = freshFolder();
    git(empty, 'init', '--quiet');
    expect((await factsOf(empty)).git).toBe(undefined);
  });

  it('take names with spaces, line ends and wide characters', async () => {
    const folder = makeFolder({ 'a b\nc 名.txt': '1', 'ünï/x y.md': '22' });
    const { files, bytes, top } = await factsOf(folder);
    expect({ files, bytes, top }).toEqual({ files: 2, bytes: 3, top: [String.raw`a b\nc 名.txt`, 'ünï/'] });
  });

  it('cut long heads, skip links to the outside, and hold no large file', async () => {
    const folder = makeFolder({ 'package.json': `{"x":"${'é'.repeat(5000)}"}`, 'big.md': '' });
    truncateSync(path.join(folder, 'big.md'), 1024 ** 3);
    symlinkSync('/etc/passwd', path.join(folder, 'README.md'));
    mkdirSync(path.join(folder, 'go.mod'));
    const facts = await factsOf(folder);
    expect(facts.readme).toBe('');
    expect(facts.bytes).toBe(1024 ** 3 + 10_008);
    expect(facts.manifests).toHaveLength(1);
    expect(Buffer.byteLength(facts.manifests[0]?.head ?? '')).toBeLessThanOrEqual(2000);
    expect(facts.manifests[0]?.head).not.toContain('\ufffd');
  });

  it('stop at the cap of files and say so', async () => {
    const folder = makeFolder(
      Object.fromEntries(Array.from({ length: 2050 }, (_, index) => [`d${index % 50}/f${index}`, ''])),
    );
    const facts = await openRepository(rootOf(folder), { fileCap: 2000 }).facts(new AbortController().signal);
    expect({ files: facts.files, more: facts.more }).toEqual({ files: 2000, more: true });
    expect(facts.top).toHaveLength(50);
  });

  it('stop when they are told to', async () => {
    const stop = new AbortController();
    stop.abort();
    expect((await factsOf(makeRepository(), stop.signal)).more).toBe(true);
  });
});
