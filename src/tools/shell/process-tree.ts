/**
 * Everything a command started, found and ended: its process group, its descendants, and processes that left both but
 * still carry the call's mark in their environment. Elsewhere than on Linux only the group can be found.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Name of the variable by which processes of a call are known. */
export const MARK = 'MIMIR_CALL';

/** Time between the polite signal and the one that can't be ignored, in milliseconds. */
const GRACE_MS = 2000;
const POLL_MS = 25;
/** How long KILL is repeated for processes that were being born meanwhile. */
const SWEEP_MS = 2000;
/** Processes looked at before other work gets its turn. */
const LOOK_BATCH = 50;

export interface Tree {
  /** The process that was started, leader of its own group and session. */
  readonly leader: number;
  /** Value of `MARK` in its environment. */
  readonly mark: string;
  /** The leader is a sandbox: at its end all in it are killed at once, so that it is asked last. */
  readonly boxed?: boolean;
}

export interface TreeEnd {
  /** How many there were. */
  readonly ended: number;
  /** Of them, how many nothing could end. */
  readonly survivors: number;
}

/** TERM to all of the tree, two seconds for them to end, KILL for the rest. Resolves when none is left that can be ended. */
export async function endTree(tree: Tree): Promise<TreeEnd> {
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
export function endAtExit(child: ChildProcess, pid: number): void {
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
export async function boxEmptied(first: number): Promise<boolean> {
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
