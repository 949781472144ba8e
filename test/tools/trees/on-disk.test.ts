/** Trees of agents' own in projects with files of git LFS and with submodules: they have what is on disk. Real git, a filter as LFS has it. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { commitAll, git, makeRepository, writeFiles } from '../../support/repos.ts';
import { bash, bench, digest, made, merged, text } from './bench.ts';

needs('git', 'bubblewrap');

const { signal } = new AbortController();

/** As git LFS keeps files: a pointer is committed, and the content lies in `.git/lfs`. */
const CLEAN =
  'touch .git/lfs/ran; cat > .git/lfs/new; h=$(sha256sum < .git/lfs/new | cut -c1-64); mv .git/lfs/new .git/lfs/$h; printf "version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\n" $h';

describe('the size of a tree', () => {
  it('stops a command that makes too many files, loses nothing, and lets the agent remove them', async () => {
    const at = await bench(makeRepository({ 'a.txt': 'a\n' }), { treeBytes: 40 * 1024 * 1024 });
    await made(at);
    expect((await bash(at, 'echo b > b.txt')).ok).toBe(true);
    const fill = 'for n in $(seq 1 10000); do head -c 4000000 /dev/zero > big.$n; sleep 0.1; done';
    const { ok, text: said } = await at.use('bash', { command: fill, timeout: 60 });
    expect([ok, said.replace(/after .* s.*/, 'after N s').replace(/has \d+/, 'has N')]).toEqual([
      false,
      'stopped after N s\nSTOPPED: this tree has N MiB, and at most 40 MiB are allowed: remove what is not needed. Nothing is lost.',
    ]);
    expect((await bash(at, 'head -c 9000000 /dev/zero > big.more')).text).toMatch(
      /^exit code 0 .*\nSTOPPED: this tree has/,
    );
    expect((await bash(at, 'rm big.*; ls')).text).toMatch(/^exit code 0 .*\na.txt\nb.txt$/);
    expect((await bash(at, 'head -c 4000000 /dev/zero > once')).ok).toBe(true);
  });
});

describe('a merge', () => {
  it('changes a file that was written anew with the same content since it was compared', async () => {
    const at = await bench(makeRepository({ 'a.txt': 'a\n' }));
    const base = await made(at);
    await bash(at, 'echo b >> a.txt');
    const merge = await merged(at, base);
    writeFileSync(path.join(at.folder, 'a.txt'), 'a\n');
    expect(await at.workspaces.apply(merge.ours, merge.merged, signal)).toEqual({ ok: true, value: undefined });
    expect(text(at, 'a.txt')).toBe('a\nb\n');
  });
});

describe('a tree of a repository with more than plain files', () => {
  it('has the files of git LFS as they are on disk, also by attributes of a folder, and runs no filter for them', async () => {
    const folder = makeRepository({ 'a.txt': 'a\n' });
    mkdirSync(path.join(folder, '.git/lfs'));
    git(folder, 'config', 'filter.lfs.clean', CLEAN);
    git(folder, 'config', 'filter.lfs.required', 'true');
    writeFiles(folder, { 'media/.gitattributes': '*.bin filter=lfs -text\n', 'media/x.bin': 'content\n' });
    commitAll(folder, 'With media');
    expect(git(folder, 'cat-file', '-p', 'HEAD:media/x.bin')).toContain('version https://git-lfs');
    rmSync(path.join(folder, '.git/lfs/ran'));
    const at = await bench(folder);
    expect(at.workspaces.whyNot()).toBeNull();
    const base = await made(at);
    const { text: said } = await bash(at, 'git status --short; cat media/x.bin; echo changed >> media/x.bin');
    expect(said).toMatch(/^exit code 0 .*\ncontent$/);
    const merge = await merged(at, base);
    expect([merge.conflicts, merge.files.map(({ path: name }) => name)]).toEqual([[], ['media/x.bin']]);
    expect(await at.workspaces.apply(merge.ours, merge.merged, signal)).toEqual({ ok: true, value: undefined });
    expect([text(at, 'media/x.bin'), existsSync(path.join(folder, '.git/lfs/ran'))]).toEqual([
      'content\nchanged\n',
      false,
    ]);
    expect(git(folder, 'status', '--short')).toBe(' M media/x.bin\n');
  });

  it('has the files of submodules, and a merge changes them where they are', async () => {
    const library = makeRepository({ 'lib.txt': 'one\n', 'deep/x.txt': 'x\n' });
    const folder = makeRepository({ 'a.txt': 'a\n' });
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'vendor/lib');
    commitAll(folder, 'With a submodule');
    const at = await bench(folder);
    expect(at.workspaces.whyNot()).toBeNull();
    const base = await made(at);
    const inside = digest(path.join(folder, 'vendor/lib'));
    const { text: said } = await bash(
      at,
      'git status --short; cat vendor/lib/lib.txt; echo two >> vendor/lib/lib.txt; rm vendor/lib/deep/x.txt; echo n > vendor/lib/new.txt; git add -A; git commit -qm all',
    );
    expect(said).toMatch(/^exit code 0 .*\none$/);
    writeFileSync(path.join(folder, 'vendor/lib/lib.txt'), 'mine\n');
    const merge = await merged(at, base);
    expect(merge.conflicts).toHaveLength(1);
    writeFileSync(path.join(folder, 'vendor/lib/lib.txt'), 'one\n');
    expect(digest(path.join(folder, 'vendor/lib'))).toBe(inside);
    const other = await merged(at, base);
    expect([other.conflicts, other.files.map(({ is, path: name }) => `${is} ${name}`)]).toEqual([
      [],
      ['removed vendor/lib/deep/x.txt', 'changed vendor/lib/lib.txt', 'added vendor/lib/new.txt'],
    ]);
    expect(await at.workspaces.apply(other.ours, other.merged, signal)).toEqual({ ok: true, value: undefined });
    expect(git(path.join(folder, 'vendor/lib'), 'status', '--short')).toBe(' D deep/x.txt\n M lib.txt\n?? new.txt\n');
    expect(git(folder, 'submodule', 'status')).toMatch(/^ [0-9a-f]{40} vendor\/lib/);
  });
});
