/**
 * Runs ripgrep inside an open folder and hands on its records as they come: no configuration file, the linear engine, a
 * time limit, and an end as soon as the caller has enough. What records mean is the caller's.
 */
import { spawn } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import { HeadAndTail } from '../process/output.ts';
import type { OpenFolder } from '../workspace.ts';

export interface Sought {
  readonly args: readonly string[];
  /** Runs in this folder: through its descriptor, so that a swapped link leads nowhere. */
  readonly folder: OpenFolder;
  /** Searched instead of the folder when given: a descriptor that becomes standard input. */
  readonly input?: number;
  /** The byte that ends a record. */
  readonly separator: number;
  readonly timeLimit: number;
  readonly signal: AbortSignal;
  /** One record without its separator; false: enough. Records above 1 MiB are not handed on. */
  onRecord(record: Buffer): boolean;
}

export interface SoughtEnd {
  readonly why: 'finished' | 'enough' | 'time limit' | 'stopped';
  /** ripgrep's own exit code: 0 found, 1 nothing found, 2 a fault. Null when it was ended. */
  readonly exit: number | null;
  /** What it said about faults, cut. */
  readonly said: string;
  /** Records that were too long to hand on. */
  readonly skipped: number;
}

/** What ripgrep had against the request (a bad glob or pattern), in its own words; null when it had nothing. */
export const faultOf = ({ exit, said }: SoughtEnd): string | null =>
  exit === 2 && said.trim() !== '' ? said.trim().replace(/^rg: /, '') : null;

/** It is silent about what it may not read, and says so by its exit code only. */
export const unreadIn = (end: SoughtEnd): string =>
  end.exit === 2 && faultOf(end) === null ? ' (some files or folders could not be read)' : '';

const RECORD_BYTES = 1024 * 1024;

/** Common to every use: hidden files are seen, git's own and secret ones are not, and nothing of the user's setup. */
const COMMON =
  '--no-config --hidden --no-require-git --color=never --no-messages --sort=path --iglob=!.git --iglob=!.env*'.split(
    ' ',
  );

/** The same, and what of the folder may not be read. After every glob of a caller: the last one that matches counts. */
export const commonFor = ({ hidden }: OpenFolder): readonly string[] => [
  ...COMMON,
  ...hidden.map((name) => `--glob=!/${name.replaceAll(/[\\*?[\]{}!# ]/g, String.raw`\$&`)}`),
];

/** Resolves when ripgrep is gone. */
export function seek(sought: Sought): Promise<SoughtEnd> {
  return new Promise((resolve) => {
    const child = spawn(rgPath, [...sought.args], {
      cwd: sought.folder.place,
      env: { LC_ALL: 'C.UTF-8' },
      stdio: [sought.input ?? 'ignore', 'pipe', 'pipe'],
    });
    const said = new HeadAndTail(4096);
    let why: SoughtEnd['why'] = 'finished';
    const endFor = (reason: SoughtEnd['why']): void => {
      if (why === 'finished') why = reason;
      child.kill('SIGKILL');
    };
    const stop = (): void => endFor('stopped');
    const timer = setTimeout(() => endFor('time limit'), sought.timeLimit);
    const records = new Records(sought.separator);
    child.stdout?.on('data', (chunk: Buffer) => {
      if (why !== 'finished') return;
      for (const record of records.add(chunk)) {
        if (sought.onRecord(record)) continue;
        endFor('enough');
        return;
      }
    });
    child.stderr?.on('data', (chunk: Buffer) => said.add(chunk));
    const finish = (exit: number | null): void => {
      clearTimeout(timer);
      sought.signal.removeEventListener('abort', stop);
      resolve({ why, exit, said: said.text(), skipped: records.skipped });
    };
    child.once('error', (error) => {
      said.add(Buffer.from(error.message));
      finish(2);
    });
    child.once('close', finish);
    sought.signal.addEventListener('abort', stop);
    if (sought.signal.aborted) stop();
  });
}

/** Splits a stream of bytes at a separator; what is too long is dropped and counted. */
class Records {
  skipped = 0;
  readonly #separator: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(separator: number) {
    this.#separator = separator;
  }

  *add(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(this.#separator, start);
      this.#keep(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      const record = this.#take();
      if (record !== null) yield record;
      start = end + 1;
    }
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= RECORD_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #take(): Buffer | null {
    const fits = this.#length <= RECORD_BYTES;
    const record = fits ? Buffer.concat(this.#parts) : null;
    if (!fits) this.skipped += 1;
    this.#parts = [];
    this.#length = 0;
    return record;
  }
}
