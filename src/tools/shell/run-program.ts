/**
 * Runs one program to its end with bounded output and time, and leaves nothing of it behind: not the processes it
 * started, not its pipes. What to run and what the end means is the tools'.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fail, ok, type Result } from '../../domain/result.ts';
import { descriptors } from './descriptors.ts';
import type { Environment } from './environment.ts';
import { HeadAndTail } from './output.ts';
import { boxEmptied, endAtExit, endTree, MARK, type Tree, type TreeEnd } from './process-tree.ts';

/** Kept of each stream, in bytes; more is counted and dropped. */
const STREAM_BYTES = 1024 * 1024;
/** How long pipes that somebody still holds are waited for after the program has ended. */
const DRAIN_MS = 500;

export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  readonly timeLimit: number;
  readonly signal: AbortSignal;
  /** `file` is the sandbox's: it tells on descriptor 3 how the program in it ended. */
  readonly boxed?: boolean;
  /** Bytes of each stream to keep, where it is not the usual 1 MiB. */
  readonly keep?: number;
  /** What it reads; nothing where it is left out. */
  readonly input?: string;
  /** Text of both streams as it comes. */
  onOutput?(chunk: string): void;
}

export interface ProgramEnd {
  /** `not boxed`: the sandbox could not start it, and nothing of it ran; `stderr` says why. */
  readonly is: 'exited' | 'time limit' | 'stopped' | 'not started' | 'not boxed';
  /** Null when a signal ended it. */
  readonly exit: number | null;
  readonly endedBy: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Is `stdout` all of it, nothing left out? */
  readonly whole: boolean;
  readonly milliseconds: number;
  /** Processes that were still running and were ended. */
  readonly ended: number;
  /** Processes that are still running, although all was done to end them. */
  readonly survivors: number;
  /** Of the sandbox, for who reads the output. */
  readonly note?: string;
}

/** Resolves when no process of it is left (as far as they can be found); never rejects. */
export async function runProgram(program: Program): Promise<ProgramEnd> {
  const begun = performance.now();
  const keep = program.keep ?? STREAM_BYTES;
  const kept = { stdout: new HeadAndTail(keep), stderr: new HeadAndTail(keep) };
  const ending = (course: Course): ProgramEnd => ({
    ...course,
    stdout: kept.stdout.text(),
    stderr: kept.stderr.text(),
    whole: kept.stdout.total <= keep,
    milliseconds: Math.round(performance.now() - begun),
  });
  if (program.signal.aborted) return ending({ is: 'stopped', exit: null, endedBy: null, ended: 0, survivors: 0 });
  const mark = randomBytes(12).toString('hex');
  const child = start(program, mark);
  if (!child.ok) {
    kept.stderr.add(Buffer.from(child.fault));
    return ending({ is: 'not started', exit: null, endedBy: null, ended: 0, survivors: 0 });
  }
  collect(child.value.child, kept, program);
  const boxed = program.boxed === true ? new BoxStatus(child.value.child) : null;
  const tree = { leader: child.value.pid, mark, boxed: boxed !== null };
  const course = await courseOf(child.value.child, { tree, boxed }, program);
  // An exit of the sandbox's own, not of what it should have run.
  const refused = boxed !== null && course.is === 'exited' && course.exit !== null && !boxed.ran();
  return ending(refused ? { ...course, is: 'not boxed', exit: null } : course);
}

type Course = Pick<ProgramEnd, 'is' | 'exit' | 'endedBy' | 'ended' | 'survivors'>;

/** What bubblewrap says of its course. */
class BoxStatus {
  #text = '';

  constructor(child: ChildProcess) {
    const pipe = child.stdio[3];
    pipe?.on('error', () => undefined);
    pipe?.on('data', (chunk: Buffer) => {
      if (this.#text.length < 4096) this.#text += chunk.toString('latin1');
    });
  }

  /** The first process of the box, as it is numbered outside; null before it was told. */
  first(): number | null {
    const pid = /"child-pid": (\d+)/.exec(this.#text)?.[1];
    return pid === undefined ? null : Number(pid);
  }

  /** The program was started: only then is an exit code told. */
  ran(): boolean {
    return this.#text.includes('"exit-code"');
  }
}

function start(program: Program, mark: string): Result<{ readonly child: ChildProcess; readonly pid: number }, string> {
  try {
    const child = spawn(program.file, [...program.args], {
      cwd: program.cwd,
      env: { ...program.env, [MARK]: mark },
      detached: true,
      stdio: [...descriptors(program)],
    });
    // A program that ends without reading breaks the pipe: its exit says more.
    child.stdin?.on('error', () => undefined).end(program.input);
    if (child.pid !== undefined) {
      endAtExit(child, child.pid);
      return ok({ child, pid: child.pid });
    }
    child.once('error', () => undefined);
    return fail(`${program.file} can't be started`);
  } catch (error) {
    // A command line longer than the system takes is thrown at once.
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** Of a box it is known without a look through all processes of the machine. */
async function endRest(tree: Tree, boxed: BoxStatus | null): Promise<TreeEnd> {
  const first = boxed?.first() ?? null;
  return first !== null && (await boxEmptied(first)) ? NONE_LEFT : endTree(tree);
}

const NONE_LEFT: TreeEnd = { ended: 0, survivors: 0 };

/** From the start to the moment when nothing of it is left. */
async function courseOf(
  child: ChildProcess,
  { tree, boxed }: { readonly tree: Tree; readonly boxed: BoxStatus | null },
  program: Program,
): Promise<Course> {
  const gone = exitOf(child);
  const closed = new Promise<true>((resolve) => child.once('close', () => resolve(true)));
  const { why, tree: first } = await untilEnd(tree, gone, program);
  const end = await within(gone, DRAIN_MS);
  if (why === 'exited') await within(closed, DRAIN_MS);
  // What still runs holds the pipes, or will never be looked at again.
  const left = await endRest(tree, boxed);
  await within(closed, DRAIN_MS);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return {
    is: why,
    exit: end?.exit ?? null,
    endedBy: end?.signal ?? null,
    ended: first.ended + left.ended,
    survivors: left.survivors,
  };
}

interface Exit {
  readonly exit: number | null;
  readonly signal: string | null;
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (exit, signal) => resolve({ exit, signal }));
    child.once('error', () => resolve({ exit: null, signal: null }));
  });
}

/** Waits for the exit, the time limit or the stop; for the latter two the tree is ended here. */
async function untilEnd(
  tree: Tree,
  gone: Promise<Exit>,
  { timeLimit, signal }: Program,
): Promise<{ readonly why: 'exited' | 'time limit' | 'stopped'; readonly tree: TreeEnd }> {
  const stop = Promise.withResolvers<'stopped'>();
  const late = Promise.withResolvers<'time limit'>();
  const onAbort = (): void => stop.resolve('stopped');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => late.resolve('time limit'), timeLimit);
  const why = await Promise.race([gone.then(() => 'exited' as const), stop.promise, late.promise]);
  clearTimeout(timer);
  signal.removeEventListener('abort', onAbort);
  return { why, tree: why === 'exited' ? NONE_LEFT : await endTree(tree) };
}

function collect(
  child: ChildProcess,
  kept: { readonly stdout: HeadAndTail; readonly stderr: HeadAndTail },
  program: Program,
): void {
  for (const name of ['stdout', 'stderr'] as const) {
    // One decoder per stream: a character may be cut by the border of two chunks.
    const decoder = new TextDecoder();
    child[name]?.on('data', (chunk: Buffer) => {
      // The live view shows what is kept; a flood is drained without waking anybody.
      const live = kept[name].total < STREAM_BYTES;
      kept[name].add(chunk);
      if (live) program.onOutput?.(decoder.decode(chunk, { stream: true }));
    });
    // A pipe that breaks while its program is ended is no news.
    child[name]?.on('error', () => undefined);
  }
}

/** The value, or null when it takes longer than `ms`. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
