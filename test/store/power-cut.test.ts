import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ROOT, SessionId } from '../../src/domain/ids.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import { type Log, LogFault } from '../../src/ports/log.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import { databaseOf, folderOf, type Place } from '../../src/store/database.ts';
import { type Disk, walSyncOf } from '../../src/store/durability.ts';
import { freshFolder } from '../support/folder.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const SESSION = SessionId.parse('session');
/** SQLite writes pages of this size; a disk that loses its power keeps any of them. */
const PAGE = 4096;
const decided: EventBody = { type: 'session.mode', mode: 'yolo' };
const done: EventBody = { type: 'agent.todos', agent: ROOT, todos: [] };
const long: EventBody = { type: 'agent.status', agent: ROOT, status: 'running', reason: 'long '.repeat(5000) };

/** A disk whose syncs end when the test says so. */
function heldDisk(): Disk & { readonly asked: string[]; land(error?: Error): void } {
  const flying: ((error: Error | null) => void)[] = [];
  const asked: string[] = [];
  return {
    asked,
    open: () => 7,
    sync: (_, landed) => {
      asked.push('sync');
      flying.push(landed);
    },
    syncNow: () => void asked.push('sync now'),
    close: () => void asked.push('close'),
    land: (error) => flying.shift()?.(error ?? null),
  };
}

const fresh = (): Place => ({ stateDir: freshFolder(), project: freshFolder() });

/** Batches as they were appended, the bytes that a power cut could leave of them, and how long the log was behind each. */
function written(batches: readonly (readonly EventBody[])[]) {
  const place = fresh();
  const log = openLog(place, heldDisk());
  const wal = `${databaseOf(place)}-wal`;
  const lengths: { readonly events: number; readonly bytes: number }[] = [];
  for (const bodies of batches) {
    const last = log.append(SESSION, NOON, bodies).at(-1);
    lengths.push({ events: last?.seq ?? 0, bytes: statSync(wal).size });
  }
  const [events, database, tail] = [log.read(SESSION), readFileSync(databaseOf(place)), readFileSync(wal)];
  log.close();
  return { events, database, tail, lengths };
}

/** What a log reads that was left as these bytes. */
function readAgain(database: Buffer, tail: Buffer): readonly MimirEvent[] {
  const place = fresh();
  mkdirSync(folderOf(place), { recursive: true, mode: 0o700 });
  writeFileSync(databaseOf(place), database);
  writeFileSync(`${databaseOf(place)}-wal`, tail);
  const log = openLogReadOnly(place);
  const events = log.read(SESSION);
  log.close();
  return events;
}

const BATCHES = [[decided], [done, done], [long], [done], [decided, done], [done, long], [done], [done, done, done]];

describe('a log after a power cut', () => {
  it('is what had been appended up to some batch, wherever its end was cut', () => {
    const { events, database, tail, lengths } = written(BATCHES);
    fc.assert(
      fc.property(fc.nat({ max: tail.length }), (cut) => {
        const kept = lengths.findLast(({ bytes }) => bytes <= cut)?.events ?? 0;
        expect(readAgain(database, tail.subarray(0, cut))).toEqual(events.slice(0, kept));
      }),
      { numRuns: 150 },
    );
  });

  it('has all that was synced, and nothing behind the first gap, whichever later pages reached the disk', () => {
    const { events, database, tail, lengths } = written(BATCHES);
    // The fifth batch lasts: its commit has synced all before it.
    const synced = lengths[4] ?? { events: 0, bytes: 0 };
    const pages = Math.ceil((tail.length - synced.bytes) / PAGE);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: pages, maxLength: pages }), (reached) => {
        const left = Buffer.from(tail);
        for (const [page, isThere] of reached.entries()) {
          const at = synced.bytes + page * PAGE;
          if (!isThere) left.fill(0, at, Math.min(at + PAGE, left.length));
        }
        const read = readAgain(database, left);
        expect(read).toEqual(events.slice(0, read.length));
        expect([0, ...lengths.map(({ events }) => events)]).toContain(read.length);
        expect(read.length).toBeGreaterThanOrEqual(synced.events);
      }),
      { numRuns: 100 },
    );
  });
});

it('a log whose file the disk does not take is told so: what was committed follows to the disk by itself', async () => {
  // Can be opened and written, and never synced.
  const trail = walSyncOf('/dev/null');
  trail.behind();
  await vi.waitFor(() => expect(() => trail.check()).toThrow('the log /dev/null cannot be written: EINVAL'));
});

describe('what may be lost to a power cut', () => {
  const open = (): { log: Log; disk: ReturnType<typeof heldDisk> } => {
    const disk = heldDisk();
    return { log: openLog(fresh(), disk), disk };
  };

  it('follows to the disk at once, and what comes meanwhile follows together', () => {
    const { log, disk } = open();
    log.append(SESSION, NOON, [done]);
    expect(disk.asked).toEqual(['sync']);
    log.append(SESSION, NOON, [done]);
    log.append(SESSION, NOON, [done]);
    expect(disk.asked).toEqual(['sync']);
    disk.land();
    expect(disk.asked).toEqual(['sync', 'sync']);
    disk.land();
    expect(disk.asked).toEqual(['sync', 'sync']);
    log.close();
    expect(disk.asked).toEqual(['sync', 'sync', 'close']);
  });

  it('is on the disk with the next event that lasts, which owes nothing itself', () => {
    const { log, disk } = open();
    log.append(SESSION, NOON, [decided]);
    expect(disk.asked).toEqual([]);
    log.append(SESSION, NOON, [done]);
    log.append(SESSION, NOON, [done]);
    log.append(SESSION, NOON, [decided]);
    disk.land();
    expect(disk.asked).toEqual(['sync']);
    log.close();
    expect(disk.asked).toEqual(['sync', 'close']);
  });

  it('is waited for when the log is closed, and the file is let go when nobody syncs it any more', () => {
    const { log, disk } = open();
    log.append(SESSION, NOON, [done]);
    log.close();
    expect(disk.asked).toEqual(['sync', 'sync now']);
    disk.land();
    expect(disk.asked).toEqual(['sync', 'sync now', 'close']);
    log.close();
    expect(disk.asked).toEqual(['sync', 'sync now', 'close']);
  });

  it('is really synced where the test holds no disk of its own, and the process can end', () => {
    const place = fresh();
    const log = openLog(place);
    for (let count = 0; count < 50; count += 1) log.append(SESSION, NOON, [done]);
    log.close();
    expect(openLogReadOnly(place).read(SESSION)).toHaveLength(50);
  });
});

describe('a disk that fails behind the back of a writer', () => {
  const words =
    /^the log \S+log\.db-wal cannot be written: EIO: i\/o error\n {2}check the disk, then continue with "mimir resume"/;

  it('is told by the next event, whatever it is, and by every other one; what was read before still reads', () => {
    const disk = heldDisk();
    const log = openLog(fresh(), disk);
    log.append(SESSION, NOON, [done]);
    disk.land(new Error('EIO: i/o error'));
    for (const body of [done, decided]) {
      expect(() => log.append(SESSION, NOON, [body])).toThrow(LogFault);
      expect(() => log.append(SESSION, NOON, [body])).toThrow(words);
    }
    expect(log.read(SESSION)).toHaveLength(1);
    expect(disk.asked).toEqual(['sync']);
    expect(() => log.close()).toThrow(words);
  });

  it('is told when the log is closed, at the latest', () => {
    const full = (): never => {
      throw new Error('EIO: i/o error');
    };
    const log = openLog(fresh(), { ...heldDisk(), syncNow: full });
    log.append(SESSION, NOON, [done]);
    expect(() => log.close()).toThrow(words);
    const gone = openLog(fresh(), { ...heldDisk(), open: full });
    gone.append(SESSION, NOON, [done]);
    expect(() => gone.append(SESSION, NOON, [done])).toThrow(words);
    expect(() => gone.close()).toThrow(words);
  });
});
