/**
 * Brings to the disk what was committed without waiting for it: the file is synced off the main thread, one sync at a
 * time, a moment after the first commit that it serves. Which commits wait themselves is lasting.ts's to say.
 */
import { close, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import { LogFault } from '../ports/log.ts';

export interface Trail {
  /** Something was committed that is not on the disk: it will be soon. */
  behind(): void;
  /** Everything that was committed is on the disk. */
  reached(): void;
  /** Throws `LogFault` when the disk did not take what it should have: nothing can be promised from then on. */
  check(): void;
  /** Waits for what is still behind. Throws `LogFault` like `check`. */
  close(): void;
}

/** How a file comes to the disk. `sync` calls `done` later, never before it returns. */
export interface Disk {
  open(file: string): number;
  sync(fd: number, done: (error: Error | null) => void): void;
  syncNow(fd: number): void;
  close(fd: number): void;
}

/** Milliseconds before a sync: a step is several commits, and one sync serves them all. */
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

/** The trail of `file`, which need not be there before the first commit. */
export function trailOf(file: string, disk: Disk = DISK): Trail {
  let fd: number | null = null;
  let fault: Error | null = null;
  /** Committed since the sync in flight began, or since the last one. */
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
      // One that is opened before the first error is told of each of them; SQLite locks other files than this one.
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
    `the log ${file} can't be written: ${cause.message}\n  check the disk, then go on with "mimir resume"; the last steps before this may be missing`,
    { cause },
  );
