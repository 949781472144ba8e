/** A copy of the checkout in which faults are planted, and tests that are run there to their end or to a time. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Answer, type Asked } from './runner.ts';
import { type Mutant, planted } from './sites.ts';

const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** Copies the checkout at `root`; the copy uses its packages, and is removed when this process ends. */
export function copyOf(root: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-mutants-')));
  // Some tests run programs as an ordinary user.
  chmodSync(folder, 0o755);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  for (const name of readdirSync(root).filter((name) => !LEFT_OUT.has(name)))
    cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  for (const file of globSync('test/**/*.test.ts', { cwd: folder })) shorten(join(folder, file));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs of a property: what is noticed in so few is noticed in all of them. */
const RUNS = 25;

function shorten(file: string): void {
  const text = readFileSync(file, 'utf8');
  const short = text.replaceAll(/numRuns: ([\d_]+)/g, (as: string, runs: string) =>
    Number(runs.replaceAll('_', '')) > RUNS ? `numRuns: ${RUNS}` : as,
  );
  if (short !== text) writeFileSync(file, short);
}

/** A mutant and the file below the checkout that it changes. */
export interface InFile extends Mutant {
  readonly file: string;
}

export interface Ended {
  /** Test files. */
  readonly failed: readonly string[];
  /** Milliseconds of each test file. */
  readonly took: Readonly<Record<string, number>>;
  readonly late: boolean;
}

interface How {
  /** Ends with the first test that fails; otherwise each file has its verdict. */
  readonly bail?: boolean;
  /** Records which functions each test file calls. */
  readonly records?: boolean;
}

/** Runs tests of one copy, with faults in it; one run at a time. */
export class Trials {
  readonly #copy: string;
  #runner: ChildProcess | null = null;

  constructor(copy: string) {
    this.#copy = copy;
    process.once('exit', () => this.#end());
  }

  /** Runs these tests with these faults, one a file at most, and ends all their processes after `limit` milliseconds. */
  async run(tests: readonly string[], faults: readonly InFile[], limit: number, how: How = {}): Promise<Ended> {
    const sources = faults.map(({ file }) => readFileSync(join(this.#copy, file), 'utf8'));
    const runner = await this.#ready();
    faults.forEach((fault, index) => {
      writeFileSync(join(this.#copy, fault.file), planted(sources[index] ?? '', fault));
    });
    try {
      const changed = faults.map(({ file }) => file);
      return await this.#asked(
        runner,
        { tests: [...tests], changed, bail: how.bail ?? true, records: how.records ?? false },
        limit,
      );
    } finally {
      faults.forEach(({ file }, index) => {
        writeFileSync(join(this.#copy, file), sources[index] ?? '');
      });
      this.#left = faults.map(({ file }) => file);
    }
  }

  /** What the runner still has with a fault in it. */
  #left: readonly string[] = [];

  async #ready(): Promise<ChildProcess> {
    if (this.#runner !== null) return this.#runner;
    const env = { ...process.env, NO_COLOR: '1' };
    const script = join(this.#copy, 'test/bench/mutants/runner.ts');
    const runner = fork(script, { cwd: this.#copy, env, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.#runner = runner;
    await once(runner, 'message');
    return runner;
  }

  async #asked(runner: ChildProcess, asked: Asked, limit: number): Promise<Ended> {
    const changed = [...new Set([...asked.changed, ...this.#left])];
    const stop = AbortSignal.timeout(Math.ceil(limit));
    try {
      const answer = once(runner, 'message', { signal: stop });
      runner.send({ ...asked, changed });
      const messages: readonly unknown[] = await answer;
      return Answer.parse(messages[0]);
    } catch (error) {
      if (!stop.aborted) throw error;
      this.#end();
      return { failed: [], took: {}, late: true };
    }
  }

  #end(): void {
    if (this.#runner?.pid !== undefined) process.kill(-this.#runner.pid, 'SIGKILL');
    this.#runner = null;
  }
}
