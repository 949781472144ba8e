/** Decides which events must survive a power cut (decisions, messages, both ends of calls that cannot be repeated), and syncs the others in the
 * background: lost ones are simply repeated. */
import { close, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import type { SessionId } from '../domain/ids.ts';
import type { EventBody, EventType } from '../events/index.ts';
import { LogFault } from '../ports/log.ts';

/** Lost ones are simply repeated. Every other type must be on disk before the run continues, also a new one. */
const REPEATED: ReadonlySet<EventType> = new Set([
  'plan.proposed',
  'agent.adopted',
  'agent.changed',
  'agent.status',
  'agent.told',
  'agent.environment',
  'agent.worker',
  'agent.todos',
  'agent.message',
  'model.started',
  'model.finished',
  'model.failed',
  'model.retry',
  'model.fallback',
  'context.compacted',
  'tool.noted',
  'clock.moved',
  'act.done',
  'budget.warned',
]);

/** Decides whether `bodies`, about to be appended, must be durable. Remembers repeatable calls until they end: an end without a known start is
 * durable, and so is an unknown type. */
export function durableIn(): (session: SessionId, bodies: readonly EventBody[]) => boolean {
  const repeatable = new Set<string>();
  const lasts = (session: SessionId, body: EventBody): boolean => {
    // A completed agent's answer is in other events; a kill was a decision.
    if (body.type === 'agent.finished') return body.outcome !== 'completed';
    // A spawned agent's id was already reported.
    if (body.type === 'agent.created') return body.spawned !== undefined;
    if (body.type !== 'tool.started' && body.type !== 'tool.finished') return !REPEATED.has(body.type);
    const call = JSON.stringify([session, body.agent, body.call]);
    if (body.type === 'tool.finished') return !repeatable.delete(call);
    if (body.repeat === 'safe') repeatable.add(call);
    return body.repeat !== 'safe';
  };
  // Every body must be visited, because each may start or end a call.
  return (session, bodies) => bodies.map((body) => lasts(session, body)).includes(true);
}

// Syncs commits to disk in the background: off the main thread, one sync at a time, shortly after the first commit that it covers.

export interface WalSync {
  behind(): void;
  reached(): void;
  /** Throws `LogFault` if a sync failed: nothing can be guaranteed from then on. */
  check(): void;
  /** Waits for outstanding syncs. Throws `LogFault` like `check`. */
  close(): void;
}

/** The disk operations. `sync` calls `done` asynchronously. */
export interface Disk {
  open(file: string): number;
  sync(fd: number, done: (error: Error | null) => void): void;
  syncNow(fd: number): void;
  close(fd: number): void;
}

/** Delay before a sync in milliseconds: one sync covers the several commits of a step. */
const GATHER = 20;

const DISK: Disk = {
  open: (file) => openSync(file, 'r+'),
  sync: (fd, done) => {
    setTimeout(() => {
      fdatasync(fd, done);
    }, GATHER).unref();
  },
  syncNow: fdatasyncSync,
  close: (fd) => {
    close(fd);
  },
};

/** The background sync of `file`, which need not exist before the first commit. */
export function walSyncOf(file: string, disk: Disk = DISK): WalSync {
  let fd: number | null = null;
  let fault: Error | null = null;
  /** There were commits since the current or last sync began. */
  let owed = false;
  let isFlying = false;
  let isClosed = false;

  const attempt = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      fault ??= error instanceof Error ? error : new Error(String(error));
    }
  };
  const begin = (): void => {
    attempt(() => {
      // A descriptor gets errors that occur after it was opened; SQLite's locks are on other files than this one.
      fd ??= disk.open(file);
      disk.sync(fd, landed);
      owed = false;
      isFlying = true;
    });
  };
  const landed = (error: Error | null): void => {
    isFlying = false;
    fault ??= error;
    if (isClosed) shut();
    else if (owed && fault === null) begin();
  };
  const shut = (): void => {
    if (fd !== null) disk.close(fd);
    fd = null;
  };
  const check = (): void => {
    if (fault !== null) throw faultOf(file, fault);
  };
  return {
    behind: () => {
      owed = true;
      if (!isFlying && fault === null) begin();
    },
    reached: () => {
      owed = false;
    },
    check,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      const open = fd;
      if (open !== null && (owed || isFlying)) attempt(() => disk.syncNow(open));
      if (!isFlying) shut();
      check();
    },
  };
}

const faultOf = (file: string, cause: Error): LogFault =>
  new LogFault(
    `the log ${file} cannot be written: ${cause.message}\n  check the disk, then continue with "mimir resume"; the last steps may be missing`,
    { cause },
  );
