/**
 * Processes that are measured: what they cost (CPU of the whole tree, peak memory, wall clock) is read from the kernel, and
 * none outlives the bench.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Cost {
  readonly wallMs: number;
  /** User and system, with all descendants that it waited for. */
  readonly cpuMs: number;
  /** Largest resident set of the process itself. */
  readonly peakMb: number;
}

export interface Ran extends Cost {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly timeoutMs?: number;
  /** Gets stdout piece by piece; it is not kept then. */
  readonly onOut?: (piece: string) => void;
}

/** Bash knows to the millisecond what its children used. It writes the pid and the times to descriptor 3. */
const WRAPPER = '"$@" 3>&- & pid=$!; echo $pid >&3; wait $pid; code=$?; times >&3; exit $code';
const WATCH_MS = 20;

const living = new Set<number>();
process.on('exit', () => {
  for (const pid of living) endGroup(pid);
});

/** Runs it to its end, or ends it after `timeoutMs` (two minutes): then the code is null. */
export function runToEnd(what: Command, { timeoutMs = 120_000, onOut }: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn('bash', ['-c', WRAPPER, 'bench', what.command, ...what.args], {
      cwd: what.cwd,
      env: what.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const group = keep(child.pid);
    const late = setTimeout(() => endGroup(group), timeoutMs);
    let [out, err, told, peakMb] = ['', '', '', 0];
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, peakOf(Number.parseInt(told, 10)));
    }, WATCH_MS);
    child.stdout?.setEncoding('utf8').on('data', onOut ?? ((piece: string) => (out += piece)));
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => (err += piece));
    child.stdio[3]?.on('data', (piece: Buffer) => (told += piece.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(late);
      clearInterval(watch);
      living.delete(group);
      resolve({ code, out, err, peakMb, wallMs: performance.now() - started, cpuMs: cpuOf(told) });
    });
  });
}

/** Remembers a process group for the end of the bench. */
export function keep(pid: number | undefined): number {
  if (pid === undefined) throw new Error('a process could not be started');
  living.add(pid);
  return pid;
}

/** Ends the process and its group. */
export function endGroup(pid: number): void {
  living.delete(pid);
  for (const id of [-pid, pid]) {
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It has ended on its own.
    }
  }
}

/** CPU milliseconds so far of `pid`, its living descendants, and the ended ones they waited for; in steps of ten. */
export function treeCpuMs(pid: number): number {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name of a program may hold blanks and parentheses: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + treeCpuMs(Number(child)), own);
}

/** Linux counts in hundredths of a second for everybody who asks. */
const TICK_MS = 10;

/** Resident memory now, in MB. */
export const residentMb = (pid: number): number => statusMb(pid, 'VmRSS');

const peakOf = (pid: number): number => statusMb(pid, 'VmHWM');

function statusMb(pid: number, field: string): number {
  const found = new RegExp(`${field}:\\s+(\\d+) kB`).exec(textOf(`/proc/${pid}/status`));
  return Number(found?.[1] ?? 0) / 1024;
}

/** The children's line of bash's `times`: `0m0.123s 0m0.045s`. */
function cpuOf(told: string): number {
  const line = told.trimEnd().split('\n').at(-1) ?? '';
  return [...line.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}
