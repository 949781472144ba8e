/** Ignored files in the trees that mandatory reviews judge: no agent hides what it writes. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../../src/domain/result.ts';
import type { TreePort } from '../../../src/ports/tree.ts';
import { openTrees } from '../../../src/tools/index.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, makeRepository, writeFiles } from '../../support/repos.ts';
import { rootOf } from '../workbench.ts';

needs('git');

const signal = new AbortController().signal;
const stateDir = freshFolder();
const trees = (folder: string): TreePort => openTrees({ root: rootOf(folder), stateDir });

function valueOf<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.fault);
  return result.value;
}

describe('ignored files in what mandatory reviews judge (D46)', () => {
  const begun = async (files: Readonly<Record<string, string>>, before: Readonly<Record<string, string>> = {}) => {
    const folder = makeRepository(files);
    writeFiles(folder, before);
    const port = trees(folder);
    const tree = valueOf(await port.now(signal));
    const at = Date.now();
    const changed = async (written: readonly string[] = [], over = port): Promise<readonly string[]> => {
      const since = { tree, at, written };
      const to = valueOf(await over.now(signal, since));
      const { files: names, unjudged } = valueOf(await over.changes(tree, to, signal, since));
      return [...names, ...(unjudged === undefined ? [] : [`not judged: ${unjudged}`])];
    };
    return { folder, port, changed };
  };
  const longAgo = (folder: string, name: string): void => utimesSync(path.join(folder, name), new Date(0), new Date(0));

  it('no ignore file that comes during the run hides anything, itself neither', async () => {
    const { folder, changed } = await begun({ 'a.txt': '', '.gitignore': 'dist/\n' });
    writeFiles(folder, {
      'lib/.gitignore': '*\n',
      'lib/x.js': 'evil()\n',
      '.gitignore': 'dist/\n*.ts\n',
      'b.ts': '1\n',
    });
    expect(await changed()).toEqual(['.gitignore', 'b.ts', 'lib/.gitignore', 'lib/x.js']);
  });

  it('the same holds in another process that goes on with the run', async () => {
    const { folder, changed } = await begun({ 'a.txt': '' });
    writeFiles(folder, { 'lib/.gitignore': '*\n', 'lib/x.js': 'evil()\n' });
    expect(await changed(['lib/x.js'], trees(folder))).toEqual(['lib/.gitignore', 'lib/x.js']);
    expect(await changed([], trees(folder))).toEqual(['lib/.gitignore', 'lib/x.js']);
  });

  it('info/exclude, attributes and an ignore file that is a link hide nothing either', async () => {
    const { folder, changed } = await begun({ 'a.js': '1\n' });
    await changed();
    writeFiles(folder, {
      '.gitattributes': '*.js -diff binary ident filter=x working-tree-encoding=UTF-16\n',
      'a.js': '// $Id: hidden() $\n',
      'b.js': '2\n',
      'list.txt': 'b.js\n',
    });
    mkdirSync(path.join(folder, '.git/info'), { recursive: true });
    writeFileSync(path.join(folder, '.git/info/exclude'), '*.js\n');
    expect(await changed()).toEqual(['.gitattributes', 'a.js', 'b.js', 'list.txt']);
  });

  it('what commands make below folders that were ignored before is counted, not judged', async () => {
    const before = { 'node_modules/p/index.js': '1\n', 'node_modules/p/.gitignore': 'z\n' };
    const { folder, changed } = await begun({ '.gitignore': 'node_modules\ndist/\nout/*\n' }, before);
    expect(await changed()).toEqual([]);
    writeFiles(folder, { 'dist/a.js': '1\n', 'dist/b.js': '2\n', 'out/o.js': '1\n', 'packages/p/dist/c.js': '3\n' });
    expect(await changed()).toEqual(['not judged: "dist/" (2 files), "out/" (1 file), "packages/" (1 file)']);
  });

  it('what file tools wrote there is judged all the same', async () => {
    const { folder, changed } = await begun({ '.gitignore': 'node_modules\n' }, { 'node_modules/p/index.js': '1\n' });
    writeFiles(folder, { 'node_modules/p/index.js': 'evil()\n' });
    const written = ['./node_modules/q/../p/index.js', '../outside.js', 'gone.js'];
    expect(await changed(written)).toEqual(['node_modules/p/index.js']);
  });

  it('single files that are ignored are judged once they change, whatever time they say', async () => {
    const { folder, changed } = await begun({ '.gitignore': '*.log\n' }, { 'old.log': '1\n', 'deep/x.log': '1\n' });
    expect(await changed()).toEqual([]);
    writeFiles(folder, { 'old.log': 'evil\n', 'new.log': '1\n' });
    longAgo(folder, 'old.log');
    longAgo(folder, 'new.log');
    expect(await changed()).toEqual(['new.log', 'old.log']);
  });

  it('a folder that ignores itself from before stays build output, and its list is judged when it changes', async () => {
    const { folder, changed } = await begun({ 'a.txt': '' }, { '.venv/.gitignore': '*\n', '.venv/lib/m.py': '1\n' });
    writeFiles(folder, { '.venv/lib/n.py': '2\n' });
    expect(await changed()).toEqual(['not judged: ".venv/lib/" (1 file)']);
    writeFiles(folder, { '.venv/.gitignore': '# nothing\n' });
    expect((await changed())[0]).toEqual('.venv/.gitignore');
  });
});
