import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandInputs } from '../../../src/tools/shell/bash.ts';
import { freshFolder } from '../../support/folder.ts';

const pathsOf = async (command: string, root = freshFolder()): Promise<readonly string[]> =>
  (await commandInputs(root, command)).map(({ path }) => path);

describe('the inputs of a command (D14)', () => {
  it.each([
    ['npm test', ['.npmrc', 'package.json']],
    ['FOO=1 timeout 60 npm run build', ['.npmrc', 'package.json']],
    ['make -f build.mk all', ['GNUmakefile', 'Makefile', 'build.mk', 'makefile']],
    ['cargo test', ['.cargo/config.toml', 'Cargo.toml', 'build.rs']],
    ['python -u tools/x.py a', ['tools/x.py']],
    ['node "a b.js"', ['a b.js']],
    ['sh ./x.sh; ./y', ['x.sh', 'y']],
    ['cd sub && just test', ['.justfile', 'Justfile', 'justfile', 'sub/.justfile', 'sub/Justfile', 'sub/justfile']],
    ['go test ./...', ['go.mod']],
    ['ls -la | wc -l', []],
    ['', []],
  ])('of %j are %j', async (command, expected) => {
    expect(await pathsOf(command)).toEqual(expected);
  });

  it('have other digests when a file is changed, made or removed', async () => {
    const root = freshFolder();
    const now = async (): Promise<string | undefined> =>
      (await commandInputs(root, 'npm test')).find(({ path }) => path === 'package.json')?.digest;
    const missing = await now();
    writeFileSync(join(root, 'package.json'), '{}');
    const first = await now();
    expect(await now()).toBe(first);
    writeFileSync(join(root, 'package.json'), '{ }');
    expect(new Set([missing, first, await now()]).size).toBe(3);
  });

  it('hold nobody up: a pipe, a folder and a device are no files', async () => {
    const root = freshFolder();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    mkdirSync(join(root, 'folder'));
    expect(await commandInputs(root, 'sh pipe; sh folder; sh /dev/zero')).toEqual([
      { path: '/dev/zero', digest: 'no file' },
      { path: 'folder', digest: 'no file' },
      { path: 'pipe', digest: 'no file' },
    ]);
  });

  it('are few, however many a command names', async () => {
    const many = Array.from({ length: 500 }, (_, n) => `sh x${n}.sh`).join('; ');
    expect((await pathsOf(many)).length).toBe(32);
  });
});
