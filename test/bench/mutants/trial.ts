/** A copy of the checkout in which faults are planted, and tests that are run there to their end or to a time. */
import { spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** Copies the checkout at `root`; the copy uses its packages, and is removed when this process ends. */
export function copyOf(root: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-mutants-')));
  // Some tests run programs as an ordinary user.
  chmodSync(folder, 0o755);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  for (const name of readdirSync(root).filter((name) => !LEFT_OUT.has(name)))
    cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

export interface Ended {
  readonly is: 'passed' | 'failed' | 'timed out';
  readonly milliseconds: number;
  /** What was printed; long. */
  readonly output: string;
}

/** Runs these tests of the copy until one fails, and ends all their processes after `limit` milliseconds. */
export function runTests(copy: string, tests: readonly string[], limit: number): Promise<Ended> {
  const begun = performance.now();
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  // A test that is slow on a busy machine has noticed nothing.
  const options = ['--config', 'test/vitest.config.ts', '--reporter=dot', '--bail=1', `--testTimeout=${limit}`];
  const args = [vitest, 'run', ...options, ...tests];
  const env = { ...process.env, NO_COLOR: '1' };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: copy, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, late] = ['', false];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)));
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => {
      late = true;
      end();
    }, limit);
    process.once('exit', end);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      process.removeListener('exit', end);
      const milliseconds = Math.round(performance.now() - begun);
      const finished = code === 0 ? 'passed' : 'failed';
      resolve({ is: late ? 'timed out' : finished, milliseconds, output });
    });
  });
}
