/**
 * Everything a command started, found and ended: its process group, its descendants, and processes that left both but
 * still carry the call's mark in their environment. Elsewhere than on Linux only the group can be found.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';

/** Name of the variable by which processes of a call are known. */
export const MARK = 'MIMIR_CALL';

/** Time between the polite signal and the one that can't be ignored, in milliseconds. */
const GRACE_MS = 2000;
const POLL_MS = 25;
/** After KILL, how long to look for processes that were being born meanwhile. */
const SWEEP_MS = 2000;
/** Processes looked at before other work gets its turn. */
const LOOK_BATCH = 200;

export interface Tree {
  /** The process that was started, leader of its own group and session. */
  readonly leader: number;
  /** Value of `MARK` in its environment. */
  readonly mark: string;
}

/**
 * TERM to all of the tree, two seconds for them to end, KILL for the rest. Resolves when none is left (or none that can
 * be ended), with how many there were.
 */
export async function endTree(tree: Tree): Promise<number> {
  const seen = new Set<number>();
  const found = await membersOf(tree);
  for (const pid of found) seen.add(pid);
  if (found.length === 0) return 0;
  send(tree.leader, found, 'SIGTERM');
  // A stopped process takes its TERM only when it goes on.
  send(tree.leader, found, 'SIGCONT');
  const left = await until(tree, GRACE_MS, seen);
  if (left.length === 0) return seen.size;
  await sweep(tree, seen);
  return seen.size;
}

/** Living processes of the tree, the leader among them. */
async function membersOf(tree: Tree): Promise<readonly number[]> {
  const all = await processes(tree.mark);
  if (all === null) return groupAlive(tree.leader) ? [tree.leader] : [];
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
  // The name stands in parentheses and may hold anything: fields are counted from the last one.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Zombies have ended; threads of the kernel have group 0 and were started by nobody.
  if (stat === '' || state === 'Z' || state === 'X' || group === '0') return null;
  // Of other people's processes the environment can't be read, and none of them is ours.
  const marked = `\0${readOr(`/proc/${pid}/environ`)}`.includes(`\0${MARK}=${mark}\0`);
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), marked };
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Waits until the tree is empty, at most `ms`; gives what is left. */
async function until(tree: Tree, ms: number, seen: Set<number>): Promise<readonly number[]> {
  const end = performance.now() + ms;
  for (;;) {
    const left = await membersOf(tree);
    for (const pid of left) seen.add(pid);
    if (left.length === 0 || performance.now() >= end) return left;
    await pause(POLL_MS);
  }
}

/** KILL, again and again: a process that forks between two looks is caught by the next. */
async function sweep(tree: Tree, seen: Set<number>): Promise<void> {
  const end = performance.now() + SWEEP_MS;
  for (;;) {
    const left = await membersOf(tree);
    for (const pid of left) seen.add(pid);
    if (left.length === 0 || performance.now() >= end) return;
    send(tree.leader, left, 'SIGKILL');
    await pause(POLL_MS);
  }
}

function send(leader: number, pids: readonly number[], signal: NodeJS.Signals): void {
  // The group at once, so that no member can react to the end of another.
  if (pids.includes(leader)) signalTo(-leader, signal);
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

const groupAlive = (leader: number): boolean => signalTo(-leader, 0);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
