/** Facts for the environment block, from real folders and repositories: bounded and never a failure. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../../src/tools/index.ts';
import { freshFolder, git, makeFolder, makeRepository } from '../../support/repos.ts';
import { rootOf } from '../workbench.ts';
import { until } from '../../support/until.ts';
import { needs } from '../../support/needs.ts';

needs('git');

const factsOf = (folder: string, signal = new AbortController().signal) =>
  openRepository(rootOf(folder)).environment?.(signal);

describe('facts for an agent that starts', () => {
  it('name the branch, what changed, the top of the tree and the commands of manifests', async () => {
    const folder = makeRepository({
      'README.md': '# Shop\n',
      'package.json': '{ "scripts": { "test": "vitest", "build": "tsc" } }\n',
      'yarn.lock': '',
      'src/a.ts': 'x\n',
      'api/go.mod': 'module api\n',
      'old/deep/Cargo.toml': '',
      '.gitignore': 'node_modules/\nbuild/\n',
      'build/out.js': '',
    });
    git(folder, 'switch', '-c', 'feature/cart');
    writeFileSync(path.join(folder, 'src/a.ts'), 'changed\n');
    writeFileSync(path.join(folder, 'new file.txt'), '');
    expect(await factsOf(folder)).toEqual({
      platform: `${platform()} ${arch()}`,
      top: ['.gitignore', 'README.md', 'api/', 'new file.txt', 'old/', 'package.json', 'src/', 'yarn.lock'],
      commands: ['yarn test', 'yarn run build', 'in api/: go test ./...', 'in api/: go build ./...'],
      git: {
        branch: 'feature/cart',
        changed: [
          { code: 'M', path: 'src/a.ts' },
          { code: '??', path: 'new file.txt' },
        ],
        whole: true,
      },
    });
  });

  it('name the branch of a repository without a commit, and that there is none at a commit', async () => {
    const empty = makeFolder();
    git(empty, 'init', '--quiet', '--initial-branch=trunk');
    expect((await factsOf(empty))?.git?.branch).toBe('trunk');
    const detached = makeRepository();
    git(detached, 'checkout', '--quiet', '--detach');
    expect((await factsOf(detached))?.git?.branch).toBe('HEAD (no branch)');
  });

  it('are all there for an empty folder without git, and for a stopped run', async () => {
    const nothing = { platform: `${platform()} ${arch()}`, top: [], commands: [], git: null };
    expect(await factsOf(makeFolder())).toEqual(nothing);
    expect(await factsOf(makeRepository({}), AbortSignal.abort())).toMatchObject({ commands: [], git: null });
  });

  it('are gathered twice for a hundred agents that start at once, and again for those that start later', async () => {
    const folder = makeRepository({ 'a.txt': 'a\n' });
    const programs = freshFolder();
    const runs = path.join(programs, 'runs');
    const real = (process.env['PATH'] ?? '').split(':').find((at) => existsSync(path.join(at, 'git'))) ?? '';
    writeFileSync(path.join(programs, 'git'), `#!/bin/sh\necho "$*" >> ${runs}\nexec ${real}/git "$@"\n`, {
      mode: 0o755,
    });
    const environment = { PATH: `${programs}:${process.env['PATH'] ?? ''}` };
    const repository = openRepository(rootOf(folder), { environment });
    const { signal } = new AbortController();
    const changed = async () => (await repository.environment?.(signal))?.git?.changed.map(({ path: name }) => name);
    const looks = (): number =>
      readFileSync(runs, 'utf8')
        .split('\n')
        .filter((line) => line.includes(' status ')).length;
    const first = changed();
    await until(() => existsSync(runs));
    writeFileSync(path.join(folder, 'new.txt'), '');
    const others = await Promise.all(Array.from({ length: 99 }, changed));
    await first;
    expect([looks(), new Set(others.map(String))]).toEqual([2, new Set(['new.txt'])]);
    writeFileSync(path.join(folder, 'later.txt'), '');
    expect([await changed(), looks()]).toEqual([['later.txt', 'new.txt'], 3]);
  });

  it('are gathered on for others when one of several agents is stopped, and not for nobody', async () => {
    const folder = makeRepository({ 'a.txt': 'a\n' });
    const repository = openRepository(rootOf(folder));
    const [stopped, stays, alone] = [new AbortController(), new AbortController(), new AbortController()];
    const all = [stopped, stays].map(async (control) => repository.environment?.(control.signal));
    stopped.abort();
    expect((await Promise.all(all)).map((facts) => facts?.git?.branch)).toEqual(['main', 'main']);
    const nobody = repository.environment?.(alone.signal);
    alone.abort();
    expect((await nobody)?.git).toBeNull();
  });
});
