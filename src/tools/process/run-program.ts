/**
 * Runs one program to its end with bounded output and time, and leaves nothing of it behind: not the processes it
 * started, not its pipes. What to run and what the end means is the tools'.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fail, ok, type Result } from '../../domain/result.ts';
import { descriptors } from './descriptors.ts';
import type { Environment } from './environment.ts';
import { HeadAndTail } from './output.ts';

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

// Everything a command started, found and ended: its process group, its descendants, and processes that left both but
// still carry the call's mark in their environment. Elsewhere than on Linux only the group can be found.

/** Name of the variable by which processes of a call are known. */
const MARK = 'MIMIR_CALL';

/** Time between the polite signal and the one that can't be ignored, in milliseconds. */
const GRACE_MS = 2000;
const POLL_MS = 25;
/** How long KILL is repeated for processes that were being born meanwhile. */
const SWEEP_MS = 2000;
/** Processes looked at before other work gets its turn. */
const LOOK_BATCH = 50;

interface Tree {
  /** The process that was started, leader of its own group and session. */
  readonly leader: number;
  /** Value of `MARK` in its environment. */
  readonly mark: string;
  /** The leader is a sandbox: at its end all in it are killed at once, so that it is asked last. */
  readonly boxed?: boolean;
}

interface TreeEnd {
  /** How many there were. */
  readonly ended: number;
  /** Of them, how many nothing could end. */
  readonly survivors: number;
}

/** TERM to all of the tree, two seconds for them to end, KILL for the rest. Resolves when none is left that can be ended. */
async function endTree(tree: Tree): Promise<TreeEnd> {
  const seen = new Set<number>();
  const group = tree.boxed === true ? null : tree.leader;
  const left = await until(tree, GRACE_MS, (pids) => {
    // What was being born at the last look has not heard of the end yet; what has is not asked twice.
    const unasked = pids.filter((pid) => !seen.has(pid) && !(tree.boxed === true && pid === tree.leader));
    for (const pid of unasked) seen.add(pid);
    send(group, unasked, 'SIGTERM');
    // A stopped process takes its TERM only when it goes on.
    send(group, unasked, 'SIGCONT');
  });
  if (left.length === 0) return { ended: seen.size, survivors: 0 };
  const survivors = await until(tree, SWEEP_MS, (pids) => {
    for (const pid of pids) seen.add(pid);
    send(tree.leader, pids, 'SIGKILL');
  });
  return { ended: seen.size, survivors: survivors.length };
}

const running = new Set<number>();

/**
 * Ends its process group with this process, whatever makes this process leave. A box binds itself to its parent only when
 * it stands: one that is left while it is being set up would wait for ever.
 */
function endAtExit(child: ChildProcess, pid: number): void {
  if (!process.listeners('exit').includes(endRunning)) process.on('exit', endRunning);
  running.add(pid);
  child.once('exit', () => running.delete(pid));
}

function endRunning(): void {
  for (const pid of running) signalTo(-pid, 'SIGKILL');
}

/**
 * Waits until a box is empty, after its leader has ended: the kernel kills what is in it, and lets its first process go
 * only when no other is left. False when that takes too long.
 */
async function boxEmptied(first: number): Promise<boolean> {
  const end = performance.now() + SWEEP_MS;
  while (isRunning(first)) {
    if (performance.now() >= end) return false;
    await pause(1);
  }
  return true;
}

/** A zombie has ended: nobody has asked for its exit code yet. */
function isRunning(pid: number): boolean {
  const stat = readOr(`/proc/${pid}/stat`);
  return stat !== '' && !['Z', 'X'].includes(fieldsOf(stat)[0] ?? '');
}

/** Living processes of the tree, the leader among them. */
async function membersOf(tree: Tree): Promise<readonly number[]> {
  const all = await processes(tree.mark);
  if (all === null) return signalTo(-tree.leader, 0) ? [tree.leader] : [];
  const members = new Set(
    all.filter(({ group, session, marked }) => marked || [group, session].includes(tree.leader)).map(({ pid }) => pid),
  );
  // Children of members: a program may clear its environment and leave the session, but not deny its parent.
  for (let grew = true; grew; ) {
    const more = all.filter(({ pid, parent }) => members.has(parent) && !members.has(pid));
    for (const { pid } of more) members.add(pid);
    grew = more.length > 0;
  }
  return [...members];
}

interface Living {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly marked: boolean;
}

/** All living processes of the machine; null where /proc does not tell. */
async function processes(mark: string): Promise<readonly Living[] | null> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^[1-9][0-9]*$/.test(name)).map(Number);
  if (pids.length === 0) return null;
  const found: (Living | null)[] = [];
  for (let at = 0; at < pids.length; at += LOOK_BATCH) {
    found.push(...pids.slice(at, at + LOOK_BATCH).map((pid) => living(pid, mark)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found.filter((process) => process !== null);
}

/** Read at once, since these files are memory: five times faster than by the thread pool. */
function living(pid: number, mark: string): Living | null {
  if (pid === process.pid) return null;
  const stat = readOr(`/proc/${pid}/stat`);
  const fields = fieldsOf(stat);
  const [state, parent, group, session] = fields;
  // Zombies have ended; threads of the kernel have group 0 and were started by nobody.
  if (stat === '' || state === 'Z' || state === 'X' || group === '0') return null;
  // What was there before Mimir was started by no call: most of a machine, and not worth a second file.
  ownStart ??= startOf(fieldsOf(readOr('/proc/self/stat'))) ?? 0;
  if ((startOf(fields) ?? ownStart) < ownStart) return null;
  // Of other people's processes the environment can't be read, and none of them is ours.
  const marked = `\0${readOr(`/proc/${pid}/environ`)}`.includes(`\0${MARK}=${mark}\0`);
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), marked };
}

let ownStart: number | null = null;

/** From the state on: the name before it stands in parentheses and may hold anything. */
const fieldsOf = (stat: string): readonly string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ');

/** In ticks since the machine was booted; null where /proc does not tell. */
function startOf(fields: readonly string[]): number | null {
  const ticks = Number(fields[19]);
  return Number.isFinite(ticks) ? ticks : null;
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Looks, does, waits, until the tree is empty, at most `ms`; gives what is left. */
async function until(tree: Tree, ms: number, act: (pids: readonly number[]) => void): Promise<readonly number[]> {
  const end = performance.now() + ms;
  for (;;) {
    const left = await membersOf(tree);
    if (left.length === 0) return left;
    // Acts once however long looking took: on an overloaded machine that is when it matters.
    act(left);
    if (performance.now() >= end) return left;
    await pause(POLL_MS);
  }
}

function send(leader: number | null, pids: readonly number[], signal: NodeJS.Signals): void {
  // The group first and at once, also when its leader is gone: no member can react to the end of another, and one that
  // forks without end is caught between two forks. While a member lives, the number is nobody else's.
  if (pids.length > 0 && leader !== null) signalTo(-leader, signal);
  for (const pid of pids) signalTo(pid, signal);
}

function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
