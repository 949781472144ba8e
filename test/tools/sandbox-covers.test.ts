/** A box in which nothing may be written, beside one whose covers go: what vanishes between its plan and its start stops nothing. */
import { mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { toolEnvironment } from '../../src/tools/environment.ts';
import { openSandbox } from '../../src/tools/index.ts';
import { runProgram } from '../../src/tools/run-program.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-tests-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('E04: a read-only box starts when the covers of another one are removed meanwhile', async () => {
  const [root, home, stateDir] = ['project', 'home', 'state'].map((name) => join(folder, name));
  if (root === undefined || home === undefined || stateDir === undefined) throw new Error('three names are given');
  for (const each of [root, home, stateDir]) mkdirSync(each);
  const env = toolEnvironment(root);
  const sandbox = await openSandbox({ root, home, stateDir, environment: env });
  expect(sandbox.state.is).toBe('bubblewrap');
  mkdirSync(join(root, '.devcontainer'));
  const wrapped = await sandbox.wrap({
    box: 'read-only',
    file: '/bin/bash',
    args: ['-c', 'touch x || ls -A'],
    cwd: root,
    env,
  });
  if (!wrapped.ok) throw new Error(wrapped.fault);
  rmdirSync(join(root, '.devcontainer'));
  const { file, argv, env: clean } = wrapped.value;
  const signal = new AbortController().signal;
  const ended = await runProgram({ file, args: argv, env: clean, cwd: '/', boxed: true, timeLimit: 60_000, signal });
  await wrapped.value.end();
  expect({ exit: ended.exit, stdout: ended.stdout }).toEqual({ exit: 0, stdout: '' });
  expect(ended.stderr).toContain('Read-only file system');
});
