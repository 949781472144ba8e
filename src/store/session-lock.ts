/**
 * The writer's lock of a session: pid, start time and boot. A claim is stale when that process is gone, when its number
 * was given to another one since, or when the machine was started anew. Taken in one transaction, so two can't win.
 */
import { readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../domain/ids.ts';
import { transactionsIn } from './database.ts';

export interface Claims {
  claim(session: SessionId): { readonly ok: true } | { readonly ok: false; readonly holder: string };
  release(session: SessionId): void;
}

interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly boot: string;
}

/** Claims kept in `database` for this process. Claiming twice is the same as once. */
export function claimsIn(database: DatabaseSync): Claims {
  const own: Holder = { pid: process.pid, started: statOf(process.pid).started, boot: bootId() };
  const put = database.prepare('INSERT OR REPLACE INTO claims (session, pid, started, boot) VALUES (?, ?, ?, ?)');
  const drop = database.prepare('DELETE FROM claims WHERE session = ? AND pid = ? AND started = ?');
  const holder = holderOf(database);
  const { onDisk } = transactionsIn(database);
  return {
    claim: (session) =>
      onDisk(() => {
        const other = holder(session);
        if (other !== null && other.pid !== own.pid && isAlive(other)) {
          return { ok: false, holder: `process ${other.pid} is writing session ${session}` };
        }
        put.run(session, own.pid, own.started, own.boot);
        return { ok: true };
      }),
    release: (session) => void drop.run(session, own.pid, own.started),
  };
}

/** Tells whether a living process holds a session. */
export function heldIn(database: DatabaseSync): (session: string) => boolean {
  const holder = holderOf(database);
  return (session) => {
    const found = holder(session);
    return found !== null && isAlive(found);
  };
}

function holderOf(database: DatabaseSync): (session: string) => Holder | null {
  const find = database.prepare('SELECT pid, started, boot FROM claims WHERE session = ?');
  return (session) => {
    const row = find.get(session);
    return row ? { pid: Number(row['pid']), started: String(row['started']), boot: String(row['boot']) } : null;
  };
}

function isAlive(holder: Holder): boolean {
  if (holder.boot !== bootId()) return false;
  if (!exists(holder.pid)) return false;
  const stat = statOf(holder.pid);
  // Ended, and kept in the table by a parent that doesn't look: it writes nothing any more.
  return stat.started === holder.started && !ENDED.has(stat.state);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Zombie and dead, in the kernel's letters. */
const ENDED: ReadonlySet<string> = new Set(['Z', 'X']);

/** The state of a process, and when it was started, in the kernel's own ticks; empty where the system doesn't say. */
function statOf(pid: number): { readonly state: string; readonly started: string } {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name, in brackets, may hold blanks and brackets itself; the 22nd field is the 20th behind it.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, started: fields[18] ?? '' };
}

const bootId = (): string => textOf('/proc/sys/kernel/random/boot_id').trim();

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
