/** Facts for the environment block, from real folders and repositories: bounded and never a failure. */
import { writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../../src/tools/index.ts';
import { git, makeFolder, makeRepository } from '../../support/repos.ts';
import { rootOf } from '../workbench.ts';
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
});
