/** Runs one program to its end with bounded output and time, and leaves nothing of it behind: neither processes nor pipes.
 * The caller decides what to run and interprets the end. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fail, messageOf, ok, type Result, tried } from '../../domain/result.ts';
import { ownMark } from '../paths/root.ts';
import { descriptors, type Environment } from './environment.ts';
import { HeadAndTail } from './output.ts';
import type { TalkingProgram } from '../../ports/program.ts';

/** Bytes kept of each stream; more is counted and dropped. */
const STREAM_BYTES = 1024 * 1024;
/** How long to wait, after the program has ended, for pipes that other processes still hold. */
const DRAIN_MS = 500;

export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  readonly timeLimit: number;
  readonly signal?: AbortSignal | undefined;
  /** `file` is the sandbox's: it tells on descriptor 3 how the program in it ended. */
  readonly boxed?: boolean;
  /** Bytes to keep of each stream; 1 MiB by default. */
  readonly keep?: number;
  /** Standard input; empty by default. */
  readonly input?: string;
  /** Standard input stays open. */
  readonly talks?: true;
  /** `stdout` has each byte as one character of Latin-1, for output that is no text. */
  readonly bytes?: boolean;
  /** Gets the text of both streams as it arrives. */
  onOutput?(chunk: string): void;
}

export interface ProgramEnd {
  /** `not boxed`: the sandbox could not start it, and nothing of it ran; `stderr` says why. */
  readonly is: 'exited' | 'time limit' | 'stopped' | 'not started' | 'not boxed';
  readonly exit: number | null;
  readonly endedBy: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** True when nothing of `stdout` was dropped. */
  readonly whole: boolean;
  readonly milliseconds: number;
  readonly ended: number;
  /** Processes that are still running, although all was done to end them. */
  readonly survivors: number;
  /** A note of the sandbox for the reader of the output. */
  readonly note?: string;
}

/** Resolves when no process of the program is left, as far as they can be found; never rejects. */
export async function runProgram(program: Program): Promise<ProgramEnd> {
  const begun = performance.now();
  const keep = program.keep ?? STREAM_BYTES;
  const kept = { stdout: new HeadAndTail(keep), stderr: new HeadAndTail(keep) };
  const ending = (course: Course): ProgramEnd => ({
    ...course,
    stdout: program.bytes === true ? kept.stdout.bytes() : kept.stdout.text(),
    stderr: kept.stderr.text(),
    whole: kept.stdout.total <= keep,
    milliseconds: Math.round(performance.now() - begun),
  });
  if (program.signal?.aborted === true) return ending({ is: 'stopped', ...NEVER_RAN });
  const started = start(program);
  if (!started.ok) {
    kept.stderr.add(Buffer.from(started.fault));
    return ending({ is: 'not started', ...NEVER_RAN });
  }
  const { child, tree } = started.value;
  collect(child, kept, program);
  const boxed = tree.boxed ? new SandboxStatus(child) : null;
  const course = await courseOf(child, { tree, boxed }, program);
  // The sandbox itself failed, before it started the program.
  const refused = boxed !== null && course.is === 'exited' && course.exit !== null && !boxed.ran();
  return ending(refused ? { ...course, is: 'not boxed', exit: null } : course);
}

/** Starts a program without a time limit, or says why it cannot be started. */
export function startTalking(program: Pick<Program, 'file' | 'args' | 'cwd' | 'env'>): Result<TalkingProgram, string> {
  const started = start({ ...program, timeLimit: Infinity, boxed: true, talks: true, input: '' });
  if (!started.ok) return started;
  const { child, tree } = started.value;
  const [input, output] = [child.stdin, child.stdout];
  if (input === null || output === null) return fail(`${program.file} has no pipes`);
  const kept = new HeadAndTail(STREAM_BYTES);
  child.stderr?.on('data', (chunk: Buffer) => kept.add(chunk));
  for (const pipe of [output, child.stderr]) pipe?.on('error', () => undefined);
  const boxed = new SandboxStatus(child);
  const gone = exitOf(child).then(async ({ exit, signal }) => {
    await endRest(tree, boxed);
    return signal === null ? `exit code ${exit}` : `signal ${signal}`;
  });
  return ok({
    input,
    output,
    errors: () => kept.text(),
    ended: gone,
    async end() {
      input.end();
      await endTree(tree);
      await gone;
    },
  });
}

/** Runs a program of the system that starts no others: its output, or what it prints on standard error. */
export const runBriefly = (
  { file, args, cwd, env, input = '' }: Pick<Program, 'file' | 'args' | 'cwd' | 'env' | 'input'>,
  timeout = BRIEF_MS,
): Promise<Result<string, string>> =>
  new Promise((resolve) => {
    const options = { cwd, env: { ...env }, timeout, maxBuffer: STREAM_BYTES };
    const child = execFile(file, [...args], options, (error, stdout, stderr) =>
      resolve(error === null ? ok(stdout) : fail(stderr === '' ? error.message : stderr)),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });

/** How long such a program may take. */
const BRIEF_MS = 10_000;

/** For a program that another one starts: the variable by which it is found, and an end of everything that carries it. */
export function startedByAnother(): { readonly env: Environment; end(): Promise<void> } {
  const mark = `${OWN}.${(calls += 1)}`;
  return {
    env: { [MARK]: mark },
    end: async () => void (await endTree({ leader: null, mark: `${mark}\0`, since: OWN_START, boxed: false })),
  };
}

const NEVER_RAN = { exit: null, endedBy: null, ended: 0, survivors: 0 } as const;

/** The end of a program that was not started, and why. */
export const neverRan = (is: 'not started' | 'not boxed', why: string): ProgramEnd => ({
  is,
  ...NEVER_RAN,
  stdout: '',
  stderr: why,
  whole: true,
  milliseconds: 0,
});

type Course = Pick<ProgramEnd, 'is' | 'exit' | 'endedBy' | 'ended' | 'survivors'>;

class SandboxStatus {
  #text = '';

  constructor(child: ChildProcess) {
    const pipe = child.stdio[3];
    pipe?.on('error', () => undefined);
    pipe?.on('data', (chunk: Buffer) => {
      if (this.#text.length < 4096) this.#text += chunk.toString('latin1');
    });
  }

  /** The pid, outside the sandbox, of its first process; null before it is known. */
  first(): number | null {
    const pid = /"child-pid": (\d+)/.exec(this.#text)?.[1];
    return pid === undefined ? null : Number(pid);
  }

  /** True when the program was started: only then does bubblewrap report an exit code. */
  ran(): boolean {
    return this.#text.includes('"exit-code"');
  }
}

function start(program: Program): Result<{ readonly child: ChildProcess; readonly tree: Tree }, string> {
  const mark = `${OWN}.${(calls += 1)}`;
  try {
    const child = spawn(program.file, [...program.args], {
      cwd: program.cwd,
      env: { ...program.env, [MARK]: mark },
      detached: true,
      stdio: [...descriptors(program)],
    });
    // A program that exits without reading breaks the pipe; its exit code is the better report.
    child.stdin?.on('error', () => undefined);
    if (program.talks !== true) child.stdin?.end(program.input);
    const { pid: leader } = child;
    if (leader !== undefined) {
      endAtExit(child, leader);
      const since = statOf(leader)?.start ?? 0;
      return ok({ child, tree: { leader, mark: `${mark}\0`, since, boxed: program.boxed === true } });
    }
    child.once('error', () => undefined);
    return fail(`${program.file} cannot be started`);
  } catch (error) {
    // `spawn` throws when the command line is longer than the system allows.
    return fail(messageOf(error));
  }
}

/** A sandbox that has emptied itself needs no scan through all processes of the machine. */
async function endRest(tree: Tree, boxed: SandboxStatus | null): Promise<TreeEnd> {
  const first = boxed?.first() ?? null;
  return first !== null && (await boxEmptied(first)) ? NONE_LEFT : endTree(tree);
}

const NONE_LEFT: TreeEnd = { ended: 0, survivors: 0 };

/** Follows the program from its start until nothing of it is left. */
async function courseOf(
  child: ChildProcess,
  { tree, boxed }: { readonly tree: Tree; readonly boxed: SandboxStatus | null },
  program: Program,
): Promise<Course> {
  const gone = exitOf(child);
  const closed = new Promise<true>((resolve) => child.once('close', () => resolve(true)));
  const { why, tree: first } = await untilEnd(tree, gone, program);
  const end = await within(gone, DRAIN_MS);
  if (why === 'exited') await within(closed, DRAIN_MS);
  // Processes that still run hold the pipes or would never be found again.
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

const exitOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.once('exit', (exit, signal) => resolve({ exit, signal }));
    child.once('error', () => resolve({ exit: null, signal: null }));
  });

/** Waits for the exit, the time limit or the stop signal; ends the tree for the latter two. */
async function untilEnd(
  tree: Tree,
  gone: Promise<Exit>,
  { timeLimit, signal }: Program,
): Promise<{ readonly why: 'exited' | 'time limit' | 'stopped'; readonly tree: TreeEnd }> {
  const stop = Promise.withResolvers<'stopped'>();
  const late = Promise.withResolvers<'time limit'>();
  const onAbort = (): void => stop.resolve('stopped');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted === true) onAbort();
  const timer = setTimeout(() => late.resolve('time limit'), timeLimit);
  const why = await Promise.race([gone.then(() => 'exited' as const), stop.promise, late.promise]);
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
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
      // Output beyond the kept bytes is drained without notifying anybody.
      const live = kept[name].total < STREAM_BYTES;
      kept[name].add(chunk);
      if (live) program.onOutput?.(decoder.decode(chunk, { stream: true }));
    });
    // A pipe may break while its program is being ended.
    child[name]?.on('error', () => undefined);
  }
}

/** The value, or null when it takes longer than `ms`. */
const within = <T>(promise: Promise<T>, ms: number): Promise<T | null> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });

// Everything a command started, found and ended: its process group, its descendants, and processes that left both but
// still carry the call's mark in their environment. Elsewhere than on Linux only the group can be found.

const MARK = 'MIMIR_CALL';
/** This process: what the value begins with in all its calls, before a dot and the number of the call. */
export const OWN = ownMark();
let calls = 0;
/** In ticks since the machine was booted; 0 where /proc does not tell. */
const OWN_START = Number(OWN.split('.')[1]);

/** Time between the polite signal and the one that can't be ignored, in milliseconds. */
const GRACE_MS = 2000;
const POLL_MS = 25;
/** How long SIGKILL is repeated for processes that were forked meanwhile. */
const SWEEP_MS = 2000;
/** How many processes are inspected before the event loop gets a turn. */
const LOOK_BATCH = 50;

interface Tree {
  /** The process that was started, leader of its own group and session; null where only the mark is known. */
  readonly leader: number | null;
  readonly mark: string;
  /** In ticks since the machine was booted: what was there before was started by no process of the tree. */
  readonly since: number;
  /** The leader is a sandbox: at its end all in it are killed at once, so that it is asked last. */
  readonly boxed: boolean;
}

interface TreeEnd {
  readonly ended: number;
  /** Of them, how many nothing could end. */
  readonly survivors: number;
}

/** Sends SIGTERM to the whole tree, and SIGKILL after two seconds to the rest. Resolves when no process can be ended any more. */
async function endTree(tree: Tree): Promise<TreeEnd> {
  const seen = new Set<number>();
  const group = tree.boxed ? null : tree.leader;
  const left = await until(tree, GRACE_MS, (pids) => {
    // Signals only the processes found since the last scan; the others got SIGTERM already.
    const unasked = pids.filter((pid) => !seen.has(pid) && !(tree.boxed && pid === tree.leader));
    for (const pid of unasked) seen.add(pid);
    send(group, unasked, 'SIGTERM');
    // A stopped process handles its SIGTERM only after it continues.
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

/** Kills the process group when this process exits for any reason. A sandbox is bound to its parent only once it is set up; one
 * that loses its parent during set-up would wait for ever. */
function endAtExit(child: ChildProcess, pid: number): void {
  if (!process.listeners('exit').includes(endRunning)) process.on('exit', endRunning);
  running.add(pid);
  child.once('exit', () => running.delete(pid));
}

function endRunning(): void {
  for (const pid of running) signalTo(-pid, 'SIGKILL');
}

/** Ends what the process of this mark has left running; true when none of it is left. Ends nothing where it started this process.
 * Sandboxes are killed at once: they should have ended with that process, and one that is still being set up ignores SIGTERM. */
export async function endLeftBy(dead: string): Promise<boolean> {
  const tree = { leader: null, mark: `${dead}.`, since: 0, boxed: false };
  if (isMarked('self', tree.mark)) return false;
  const left = (await processes(tree)) ?? [];
  for (const { pid, marked, name } of left) if (marked && name === 'bwrap') signalTo(pid, 'SIGKILL');
  return (await endTree(tree)).survivors === 0;
}

/** Waits until a box is empty, after its leader has ended: the kernel kills what is in it, and lets its first process go
 * only when no other is left. False when that takes too long. */
async function boxEmptied(first: number): Promise<boolean> {
  const end = performance.now() + SWEEP_MS;
  while (statOf(first) !== null) {
    if (performance.now() >= end) return false;
    await pause(1);
  }
  return true;
}

/** The pids of the living processes of the tree, including the leader. */
async function membersOf(tree: Tree): Promise<readonly number[]> {
  const all = await processes(tree);
  const { leader } = tree;
  if (all === null) return leader !== null && signalTo(-leader, 0) ? [leader] : [];
  const members = new Set(
    all.filter(({ group, session, marked }) => marked || group === leader || session === leader).map(({ pid }) => pid),
  );
  // Children of members belong to the tree: a program can clear its environment and leave the session, but not change its parent.
  for (let grew = true; grew; ) {
    const more = all.filter(({ pid, parent }) => members.has(parent) && !members.has(pid));
    for (const { pid } of more) members.add(pid);
    grew = more.length > 0;
  }
  return [...members];
}

interface Living extends Readonly<Record<'pid' | 'parent' | 'group' | 'session' | 'start', number>> {
  readonly marked: boolean;
  readonly name: string;
}

async function processes(tree: Tree): Promise<readonly Living[] | null> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^[1-9][0-9]*$/.test(name)).map(Number);
  if (pids.length === 0) return null;
  const found: Living[] = [];
  for (let at = 0; at < pids.length; at += LOOK_BATCH) {
    found.push(...pids.slice(at, at + LOOK_BATCH).flatMap((pid) => living(pid, tree)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

function living(pid: number, { mark, since }: Tree): readonly Living[] {
  const stat = pid === process.pid ? null : statOf(pid);
  // Kernel threads have group 0; what began earlier is most of a machine, and not worth a second file.
  if (stat === null || stat.group === 0 || stat.start < since) return [];
  return [{ pid, ...stat, marked: isMarked(String(pid), mark) }];
}

/** Of other people's processes the environment can't be read, and none of them is ours. */
const isMarked = (pid: string, mark: string): boolean =>
  `\0${readOr(`/proc/${pid}/environ`)}`.includes(`\0${MARK}=${mark}`);

/** Null for a zombie, which has ended and waits only for its exit code to be read. */
function statOf(pid: number): Omit<Living, 'pid' | 'marked'> | null {
  const stat = readOr(`/proc/${pid}/stat`);
  // The name is in parentheses and may contain anything.
  const end = stat.lastIndexOf(')');
  const [state, ...fields] = stat.slice(end + 2).split(' ');
  if (stat === '' || state === 'Z' || state === 'X') return null;
  const [parent = 0, group = 0, session = 0] = fields.slice(0, 3).map(Number);
  return { parent, group, session, start: Number(fields[18]), name: stat.slice(stat.indexOf('(') + 1, end) };
}

const page = Buffer.alloc(64 * 1024);

/** Empty where the file cannot be read. Synchronous, as it is in memory: the thread pool takes five times as long. It tells no
 * size, so that Node itself would make room for 64 kB each time. */
function readOr(file: string): string {
  const descriptor = tried(() => openSync(file, 'r'), null);
  if (descriptor === null) return '';
  const length = tried(() => readSync(descriptor, page, 0, page.length, null), 0);
  closeSync(descriptor);
  return length < page.length ? page.toString('latin1', 0, length) : tried(() => readFileSync(file, 'latin1'), '');
}

/** Repeats `act` on the living processes until the tree is empty, for at most `ms`; returns the pids that are left. */
async function until(tree: Tree, ms: number, act: (pids: readonly number[]) => void): Promise<readonly number[]> {
  const end = performance.now() + ms;
  for (;;) {
    const left = await membersOf(tree);
    if (left.length === 0) return left;
    // Acts at least once, however long the scan took: an overloaded machine needs it most.
    act(left);
    if (performance.now() >= end) return left;
    await pause(POLL_MS);
  }
}

function send(leader: number | null, pids: readonly number[], signal: NodeJS.Signals): void {
  // The group first and at once, also when its leader is gone: no member can react to the end of another, and one that
  // fork bomb is caught between two forks. The group id is not reused while a member lives.
  if (pids.length > 0 && leader !== null) signalTo(-leader, signal);
  for (const pid of pids) signalTo(pid, signal);
}

const signalTo = (pid: number, signal: NodeJS.Signals | 0): boolean => tried(() => process.kill(pid, signal), false);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
