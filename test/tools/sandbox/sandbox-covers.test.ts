/** A box in which nothing may be written, beside one whose covers go: what vanishes between its plan and its start stops nothing. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { toolEnvironment } from '../../../src/tools/process/environment.ts';
import { openSandbox, type Sandbox } from '../../../src/tools/index.ts';
import { runProgram } from '../../../src/tools/process/run-program.ts';
import { runSandboxed } from '../../../src/tools/sandbox/sandbox.ts';
import { isRoot } from '../../support/boxes.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-tests-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('E04: a read-only box starts when the covers of another one are removed meanwhile', async () => {
  const own = mkdtempSync(join(folder, 'read-only-'));
  const [root, home, stateDir] = [join(own, 'project'), join(own, 'home'), join(own, 'state')];
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

it.runIf(isRoot)('E02: the box of root stands, whatever sockets other users have in folders of their own', async () => {
  const theirs = mkdtempSync('/var/mimir-tests-');
  const own = mkdtempSync(join(folder, 'sockets-'));
  const place = { root: join(own, 'r'), home: join(own, 'h'), stateDir: join(own, 's') };
  for (const each of Object.values(place)) mkdirSync(each);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(theirs, 'private'), resolve));
  chmodSync(theirs, 0o700);
  chownSync(theirs, 65534, 65534);
  const sandbox = await openSandbox({ ...place, environment: toolEnvironment(place.root) });
  const spec = { box: 'read-only', file: '/bin/ls', args: [theirs], cwd: place.root, env: {} } as const;
  const ended = await runSandboxed(sandbox, spec, { timeLimit: 60_000 });
  await new Promise((resolve) => server.close(resolve));
  rmSync(theirs, { recursive: true, force: true });
  expect(sandbox.state).toEqual({ is: 'bubblewrap' });
  expect(ended.stderr).toContain('Permission denied');
});

it('E04: a sandbox is planned again when something that it covers has gone before it starts, a bounded number of times', async () => {
  const own = mkdtempSync(join(folder, 'gone-'));
  const place = { root: join(own, 'r'), home: join(own, 'h'), stateDir: join(own, 's') };
  for (const each of Object.values(place)) mkdirSync(each);
  const env = toolEnvironment(place.root);
  const sandbox = await openSandbox({ ...place, environment: env });
  let wraps = 0;
  /** What it plans has vanished, the first `times`. */
  const vanishing = (times: number): Sandbox => ({
    ...sandbox,
    async wrap(spec) {
      wraps += 1;
      const wrapped = await sandbox.wrap(spec);
      if (!wrapped.ok || wraps > times) return wrapped;
      return { ...wrapped, value: { ...wrapped.value, argv: ['--ro-bind', '/gone', '/gone', ...wrapped.value.argv] } };
    },
  });
  const spec = { box: 'read-only', file: '/bin/bash', args: ['-c', 'echo ran'], cwd: place.root, env } as const;
  const ended = await runSandboxed(vanishing(2), spec, { timeLimit: 60_000 });
  expect({ is: ended.is, stdout: ended.stdout }).toEqual({ is: 'exited', stdout: 'ran\n' });
  wraps = 0;
  const refused = await runSandboxed(vanishing(9), spec, { timeLimit: 60_000 });
  expect({ is: refused.is, stdout: refused.stdout, wraps }).toEqual({ is: 'not boxed', stdout: '', wraps: 5 });
});
