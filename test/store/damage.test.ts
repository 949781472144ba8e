import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { LogFault } from '../../src/ports/log.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import { databaseOf, type Place } from '../../src/store/database.ts';
import { freshFolder } from '../support/folder.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const SESSION = SessionId.parse('session');
const OTHER = SessionId.parse('other');
const long: EventBody = { type: 'plan.rejected', reason: 'long '.repeat(5000) };
const short: EventBody = { type: 'session.mode', mode: 'yolo' };

/** A log with five records in each of two sessions, the third of them long. */
function filled(): Place {
  const place = { stateDir: freshFolder(), project: freshFolder() };
  const log = openLog(place);
  for (const session of [SESSION, OTHER]) log.append(session, NOON, [short, short, long, short, short]);
  log.close();
  return place;
}

function change(place: Place, sql: string): void {
  const database = new DatabaseSync(databaseOf(place));
  database.exec(sql);
  database.close();
}

describe('a log that was changed behind its back', () => {
  it.each([
    ['a record that was rewritten', "UPDATE events SET data = replace(data, 'yolo', 'human') WHERE seq = 2", 2],
    ['a time that was rewritten', "UPDATE events SET time = '2027-01-01T12:00:00.000Z' WHERE seq = 4", 4],
    ['a type that was rewritten', "UPDATE events SET type = 'session.resumed' WHERE seq = 1", 1],
    ['a record that was taken out', 'DELETE FROM events WHERE seq = 3', 3],
    ['a record that is no JSON', "UPDATE events SET data = '{' WHERE seq = 5", 5],
    ['a long text that was rewritten', 'UPDATE texts SET json = \'"short"\'', 3],
    ['a long text that is gone', 'DELETE FROM texts', 3],
  ])('names %s', (_, sql, seq) => {
    const place = filled();
    change(place, sql);
    const log = openLog(place);
    expect(() => log.read(SESSION)).toThrow(LogFault);
    expect(() => log.read(SESSION)).toThrow(
      `the log is damaged: record ${seq} of session session is missing or was changed`,
    );
    log.close();
  });

  it('still gives the sessions that were not touched, and lists both', () => {
    const place = filled();
    change(place, "UPDATE events SET data = '{' WHERE session = 'session'");
    const log = openLog(place);
    expect(log.read(OTHER)).toHaveLength(5);
    expect(log.sessions()).toMatchObject([
      { session: OTHER, task: '' },
      { session: SESSION, task: '(damaged record)' },
    ]);
    log.close();
  });

  it('is refused when a newer Mimir made it', () => {
    const place = filled();
    change(place, 'PRAGMA user_version = 99');
    expect(() => openLog(place)).toThrow(
      'was written by a newer version of Mimir: use that version, or update this one',
    );
    expect(() => openLogReadOnly(place)).toThrow('was written by a newer version of Mimir');
  });
});

describe('a database file that is cut or garbled', () => {
  it('is told in plain words when it is no database', () => {
    const place = filled();
    writeFileSync(databaseOf(place), 'this is not a database, but it is long enough to be looked at\n'.repeat(100));
    const words = `the log ${databaseOf(place)} is damaged (not a SQLite database): move it away, and Mimir creates a new one`;
    expect(() => openLog(place)).toThrow(words);
    expect(() => openLogReadOnly(place)).toThrow(words);
  });

  it('never gives events that were not written, and fails with a LogFault only', () => {
    const place = filled();
    const whole = readFileSync(databaseOf(place));
    const log = openLogReadOnly(place);
    const events = log.read(SESSION);
    log.close();
    const cut = fc.nat({ max: whole.length });
    const garbled = fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), { maxLength: 200 });
    fc.assert(
      fc.property(fc.oneof(fc.tuple(cut, fc.constant([])), fc.tuple(fc.constant(whole.length), garbled)), (change) => {
        const [length, places] = change;
        const bytes = Buffer.from(whole.subarray(0, length));
        for (const [at, value] of places) bytes[at] = value;
        writeFileSync(databaseOf(place), bytes);
        let read: readonly unknown[] = [];
        try {
          const damaged = openLogReadOnly(place);
          read = damaged.read(SESSION);
          damaged.close();
        } catch (error) {
          expect(error).toBeInstanceOf(LogFault);
        }
        expect(events.slice(0, read.length)).toEqual(read);
      }),
      { numRuns: 200 },
    );
  });
});
