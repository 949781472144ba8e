/** Trees of a project: equal content, equal id; nothing of the repository runs; other repositories are not stepped into. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../../src/domain/result.ts';
import type { TreePort } from '../../../src/ports/tree.ts';
import { openTrees } from '../../../src/tools/index.ts';
import { commitAll, freshFolder, git, makeFolder, makeRepository, writeFiles } from '../../support/repos.ts';
import { rootOf } from '../workbench.ts';
import { needs } from '../../support/needs.ts';
import { until } from '../../support/until.ts';

needs('git');

const signal = new AbortController().signal;

function trees(folder: string, stateDir = freshFolder(), environment?: Readonly<Record<string, string>>): TreePort {
  return openTrees({ root: rootOf(folder), stateDir, ...(environment === undefined ? {} : { environment }) });
}

function valueOf<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.fault);
  return result.value;
}

const now = async (port: TreePort): Promise<string> => valueOf(await port.now(signal));
const headTree = (folder: string): string => git(folder, 'rev-parse', 'HEAD^{tree}').trim();

it('is kept for 90 days after the last look at its project, and as long as sessions of it are stored', async () => {
  const stateDir = freshFolder();
  const kept = (): number => readdirSync(path.join(stateDir, 'trees')).length;
  const look = async (): Promise<string> => now(trees(makeRepository(), stateDir));
  const aged = (days: number): void => {
    for (const name of readdirSync(path.join(stateDir, 'trees')))
      utimesSync(path.join(stateDir, 'trees', name), new Date(), new Date(Date.now() - days * 86_400_000));
  };
  await look();
  aged(89);
  await look();
  expect(kept()).toBe(2);
  aged(91);
  await look();
  expect(kept()).toBe(1);
  for (const name of readdirSync(path.join(stateDir, 'trees')))
    mkdirSync(path.join(stateDir, 'projects', `a-project-${name.slice(0, 12)}`), { recursive: true });
  aged(91);
  await look();
  expect(kept()).toBe(2);
});

describe('a change in the same second as the look before it', () => {
  /** As on a busy machine: the index is written three seconds after the files were looked at. */
  function slowGit(): Readonly<Record<string, string>> {
    const folder = makeFolder();
    const late = '*" add "*|*" write-tree "*) [ -e "$GIT_INDEX_FILE" ] && touch -d "+3 seconds" "$GIT_INDEX_FILE";;';
    const real = (process.env['PATH'] ?? '')
      .split(':')
      .map((one) => path.join(one, 'git'))
      .find((one) => existsSync(one));
    const script = `#!/bin/sh\n${real ?? 'git'} "$@"\ncode=$?\ncase " $* " in ${late} esac\nexit $code\n`;
    writeFileSync(path.join(folder, 'git'), script, { mode: 0o755 });
    return { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  }

  it.each(['by the same process', 'by the next one'])('is seen %s, also where git was slow', async (by) => {
    const [folder, stateDir, environment] = [makeRepository({ 'a.txt': 'one\n' }), freshFolder(), slowGit()];
    const file = path.join(folder, 'a.txt');
    const secondOf = (): number => Math.floor(statSync(file).ctimeMs / 1000);
    for (let tries = 1; ; tries += 1) {
      writeFiles(folder, { 'a.txt': 'one\n' });
      const port = trees(folder, stateDir, environment);
      const [second, before] = [secondOf(), await now(port)];
      writeFiles(folder, { 'a.txt': 'two\n' });
      // Only a change in the same second is hard to see.
      if (secondOf() !== second && tries < 20) continue;
      // In the next one nothing tells any more when the index was written.
      await until(() => Date.now() / 1000 > second + 1.05);
      const after = await now(by === 'by the same process' ? port : trees(folder, stateDir, environment));
      expect(after).not.toBe(before);
      break;
    }
  });
});

describe('the tree of a project', () => {
  it('is that of the last commit when nothing changed, and comes back with the content', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'b/c.txt': 'two\n' });
    const port = trees(folder);
    const first = await now(port);
    writeFiles(folder, { 'a.txt': 'ONE\n' });
    const changed = await now(port);
    writeFiles(folder, { 'a.txt': 'one\n' });
    expect([first, await now(port)]).toEqual([headTree(folder), first]);
    expect(changed).not.toBe(first);
    expect(git(folder, 'status', '--short')).toBe('');
  });

  it('says what changed, with new, changed and removed files', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'gone.txt': 'x\n' });
    const port = trees(folder);
    const from = await now(port);
    writeFiles(folder, { 'a.txt': 'two\n', 'new.txt': 'n\n' });
    rmSync(path.join(folder, 'gone.txt'));
    const { files, patch } = valueOf(await port.changes(from, await now(port), signal));
    expect(files).toEqual(['a.txt', 'gone.txt', 'new.txt']);
    expect(patch).toContain('-one\n+two\n');
    expect(patch).toContain('+++ b/new.txt');
    expect(await port.changes(from, from, signal)).toEqual({ ok: true, value: { files: [], patch: '' } });
  });

  it('counts an ignored file only when a commit has it', async () => {
    const folder = makeRepository({ '.gitignore': '*.log\n', 'a.txt': '' });
    writeFiles(folder, { 'kept.log': 'x\n' });
    git(folder, 'add', '--force', 'kept.log');
    commitAll(folder, 'Keep');
    const port = trees(folder);
    const first = await now(port);
    writeFiles(folder, { 'other.log': 'x\n', '.mimir/plans/p.yml': 'x\n' });
    expect(await now(port)).toBe(first);
    writeFiles(folder, { 'kept.log': 'y\n' });
    expect(await now(port)).not.toBe(first);
  });

  it('works without a repository, and from its first commit on', async () => {
    const folder = makeFolder({ 'a.txt': 'one\n' });
    const port = trees(folder);
    const first = await now(port);
    git(folder, 'init', '--quiet', '--initial-branch=main');
    expect(await now(port)).toBe(first);
    commitAll(folder, 'Begin');
    expect([await now(port), headTree(folder)]).toEqual([first, first]);
  });

  it('is the same for a repository with SHA-256, by its own ids', async () => {
    const folder = makeFolder({ 'a.txt': 'one\n' });
    git(folder, 'init', '--quiet', '--object-format=sha256');
    commitAll(folder, 'Begin');
    expect(await now(trees(folder))).toBe(headTree(folder));
  });

  it('is found at once again by another program on the same state, also for what changed in between', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
    const state = freshFolder();
    await now(trees(folder, state));
    writeFiles(folder, { 'a.txt': 'two\n' });
    const second = await now(trees(folder, state));
    commitAll(folder, 'Change');
    expect(second).toBe(headTree(folder));
    expect(await now(trees(folder, state))).toBe(second);
  });

  it('gives several looks at once one answer', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const port = trees(folder);
    const all = await Promise.all(Array.from({ length: 5 }, () => now(port)));
    expect(new Set(all)).toEqual(new Set([headTree(folder)]));
  });

  it('fails in words without git, and when it is stopped', async () => {
    const folder = makeRepository();
    const without = trees(folder, freshFolder(), { PATH: freshFolder() });
    expect(await without.now(signal)).toEqual({
      ok: false,
      fault: 'git is not on the PATH: the changes in the project cannot be determined',
    });
    expect(await trees(folder).now(AbortSignal.abort())).toEqual({ ok: false, fault: 'stopped' });
  });

  it('M01 lies in files that nobody else can read, whatever the umask', async () => {
    const state = freshFolder();
    const before = process.umask(0);
    try {
      await now(trees(makeFolder({ 'a.txt': 'secret\n' }), state));
    } finally {
      process.umask(before);
    }
    const open = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (statSync(path.join(state, name)).mode & 0o077) !== 0,
    );
    expect(open).toEqual([]);
  });
});

describe('a patch between two trees', () => {
  it('never holds the content of a .env file', async () => {
    const folder = makeRepository({ '.env': 'KEY=old\n' });
    const port = trees(folder);
    const from = await now(port);
    writeFiles(folder, { '.env': 'KEY=canary\n', 'app/.env.local': 'KEY=canary\n', 'b.txt': 'b\n' });
    const { files, patch } = valueOf(await port.changes(from, await now(port), signal));
    expect(files).toEqual(['.env', 'app/.env.local', 'b.txt']);
    expect(patch).not.toContain('canary');
    expect(patch).toContain('+b');
  });

  it('is bounded, and says so', async () => {
    const folder = makeRepository({ 'a.txt': '' });
    const port = trees(folder);
    const from = await now(port);
    writeFiles(folder, { 'a.txt': 'a line of text\n'.repeat(60_000) });
    const { patch } = valueOf(await port.changes(from, await now(port), signal));
    expect(Buffer.byteLength(patch)).toBeLessThan(210 * 1024);
    expect(patch).toMatch(/^\(this patch has \d+ bytes; 204800 of them are shown/);
  });

  it('can not be emptied by attributes of the project', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const port = trees(folder);
    const from = await now(port);
    writeFiles(folder, { 'a.txt': 'hidden?\n', '.gitattributes': '*.txt -diff binary\n' });
    const { patch } = valueOf(await port.changes(from, await now(port), signal));
    expect(patch).toContain('+hidden?');
  });
});

describe('a hostile repository', () => {
  /** A program that leaves a mark when anybody runs it. */
  function trap(): { readonly program: string; readonly marks: () => readonly string[] } {
    const marked = freshFolder();
    const program = path.join(freshFolder(), 'evil');
    writeFileSync(program, `#!/bin/sh\ntouch ${marked}/$$\ncat\n`);
    chmodSync(program, 0o755);
    return { program, marks: () => readdirSync(marked) };
  }

  function arm(folder: string, program: string): void {
    for (const name of [
      'filter.evil.clean',
      'filter.evil.process',
      'core.fsmonitor',
      'diff.external',
      'diff.evil.textconv',
    ])
      git(folder, 'config', name, program);
    for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction'])
      writeFileSync(path.join(folder, '.git/hooks', hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  }

  it('D10, D11 has no program run for its trees and patches', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const { program, marks } = trap();
    writeFiles(folder, { '.gitattributes': '* filter=evil diff=evil\n' });
    arm(folder, program);
    const port = trees(folder);
    const from = await now(port);
    writeFiles(folder, { 'a.txt': 'two\n' });
    expect(valueOf(await port.changes(from, await now(port), signal)).files).toEqual(['a.txt']);
    expect(marks()).toEqual([]);
  });

  it('D12 has no repository inside it asked, tracked or not, with or without a commit, and counts its files', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n' });
    const { program, marks } = trap();
    for (const name of ['module', 'other', 'empty', 'wanted']) {
      mkdirSync(path.join(folder, name));
      git(path.join(folder, name), 'init', '--quiet');
      writeFiles(path.join(folder, name), { 'x.txt': 'x\n', '.gitattributes': '* filter=evil\n' });
      if (name !== 'empty') commitAll(path.join(folder, name), 'Inner');
    }
    git(folder, 'add', 'module', 'a.txt');
    git(folder, 'commit', '--quiet', '--message=Module');
    writeFiles(folder, { '.gitignore': '!/wanted/\n' });
    for (const name of ['module', 'other', 'wanted']) arm(path.join(folder, name), program);
    const port = trees(folder);
    const first = await now(port);
    for (const name of ['module', 'other', 'wanted'])
      writeFiles(folder, { [`${name}/x.txt`]: 'changed, and longer\n' });
    const changed = await now(port);
    expect(valueOf(await port.changes(first, changed, signal)).files).toEqual([
      'module/x.txt',
      'other/x.txt',
      'wanted/x.txt',
    ]);
    expect(await now(port)).toBe(changed);
    expect(await now(trees(folder))).toBe(changed);
    expect(marks()).toEqual([]);
    expect(existsSync(path.join(folder, '.git/index.lock'))).toBe(false);
  });

  it.each([
    ['before anything is written in it', true],
    ['afterwards', false],
  ])('can not be hidden by making a repository of a folder %s', async (_, before) => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'old/b.txt': 'b\n' });
    const port = trees(folder);
    const first = await now(port);
    const files = {
      'old/b.txt': 'changed\n',
      'sub/x.js': 'x\n',
      'sub/in [it]/y.js': 'y\n',
      'sub/in [it]/deep/z.js': 'z\n',
    };
    if (!before) writeFiles(folder, files);
    if (!before) await now(port);
    for (const name of ['old', 'sub', 'sub/in [it]', 'sub/in [it]/deep']) {
      mkdirSync(path.join(folder, name), { recursive: true });
      git(path.join(folder, name), 'init', '--quiet');
    }
    writeFiles(folder, files);
    for (const looks of [port, trees(folder)])
      expect(valueOf(await port.changes(first, await now(looks), signal)).files).toEqual(Object.keys(files).sort());
  });
});
