/** The whole log checked: hash chain, checkpoints, database. */
import { appendFileSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { LogFault } from '../../src/ports/log.ts';
import { verifyLog } from '../../src/store/damage.ts';
import { openLog } from '../../src/store/log.ts';
import { databaseOf, type Place } from '../../src/store/database.ts';
import { freshFolder } from '../support/folder.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const ONE = SessionId.parse('first');
const TWO = SessionId.parse('other');
const mode: EventBody = { type: 'session.mode', mode: 'confirm' };
const end: EventBody = {
  type: 'session.finished',
  status: 'completed',
  summary: '',
  totals: { cost: 0, tokens: 0, agents: 0, duration: 0 },
};

/** Two sessions of 25 records, a checkpoint after each 10, and one at the end of the first. */
function filled(): Place {
  const place = { stateDir: freshFolder(), project: freshFolder() };
  const log = openLog(place, undefined, 10);
  for (let at = 1; at <= 24; at += 1) for (const session of [ONE, TWO]) log.append(session, NOON, [mode]);
  log.append(ONE, NOON, [end]);
  log.append(TWO, NOON, [{ type: 'plan.rejected', reason: 'long '.repeat(5000) }]);
  log.close();
  return place;
}

const heads = (place: Place): string => join(dirname(databaseOf(place)), 'heads.jsonl');

function change(place: Place, sql: string, ...values: readonly (string | number)[]): void {
  const database = new DatabaseSync(databaseOf(place));
  database.prepare(sql).run(...values);
  database.close();
}

const CHAIN = 'is missing or was changed';
const GONE = 'was checkpointed but is missing from the log';

describe('a log that is as it was written', () => {
  it('has no faults; records, sessions and checkpoints are counted, all or of one session', () => {
    const place = filled();
    expect(verifyLog(place)).toEqual({ sessions: 2, records: 50, checkpoints: 5, faults: [] });
    expect(verifyLog(place, (name) => name === 'other')).toEqual({
      sessions: 1,
      records: 25,
      checkpoints: 2,
      faults: [],
    });
    expect((statSync(heads(place)).mode & 0o777).toString(8)).toBe('600');
  });

  it('is one that is not there, or was cut off while a checkpoint was written', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    expect(verifyLog(place)).toEqual({ sessions: 0, records: 0, checkpoints: 0, faults: [] });
    const full = filled();
    appendFileSync(heads(full), '{"session":"first","se');
    expect(verifyLog(full).faults).toEqual([]);
  });
});

describe('a log that was changed', () => {
  it('K03: any bit of any record is missed, with its session and number', () => {
    const place = filled();
    const columns = ['session', 'seq', 'time', 'type', 'agent', 'data', 'prev', 'hash'] as const;
    const database = new DatabaseSync(databaseOf(place));
    fc.assert(
      fc.property(
        fc.constantFrom(...columns.filter((column) => column !== 'agent' && column !== 'seq')),
        fc.integer({ min: 1, max: 25 }),
        fc.nat(),
        fc.nat({ max: 6 }),
        (column, seq, at, bit) => {
          const rowid = Number(
            database.prepare("SELECT rowid AS id FROM events WHERE session = 'first' AND seq = ?").get(seq)?.['id'],
          );
          const was = String(database.prepare(`SELECT ${column} AS v FROM events WHERE rowid = ?`).get(rowid)?.['v']);
          const bytes = Buffer.from(was === '' ? '\u0001' : was);
          bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit);
          database.prepare(`UPDATE events SET ${column} = ? WHERE rowid = ?`).run(bytes.toString('latin1'), rowid);
          const { faults } = verifyLog(place);
          database.prepare(`UPDATE events SET ${column} = ? WHERE rowid = ?`).run(was, rowid);
          return faults.some(
            (fault) => fault.session === 'first' && fault.seq !== null && fault.seq <= Math.min(seq + 1, 25),
          );
        },
      ),
      { numRuns: 60 },
    );
    database.close();
    expect(verifyLog(place).faults).toEqual([]);
  });

  it('misses a tail that was taken out cleanly, by its checkpoint', () => {
    const place = filled();
    change(place, "DELETE FROM events WHERE session = 'other' AND seq > 15");
    expect(verifyLog(place).faults).toEqual([{ session: 'other', seq: 20, problem: GONE }]);
    change(place, "DELETE FROM events WHERE session = 'first'");
    expect(verifyLog(place, (name) => name === 'first').faults).toEqual([
      { session: 'first', seq: 10, problem: GONE },
      { session: 'first', seq: 20, problem: GONE },
      { session: 'first', seq: 25, problem: GONE },
    ]);
  });

  it('misses a long text that was changed, and a session that was written again from its start', () => {
    const place = filled();
    change(place, "UPDATE texts SET json = replace(json, 'long', 'lung')");
    expect(verifyLog(place).faults).toEqual([{ session: 'other', seq: 25, problem: CHAIN }]);
    change(place, "UPDATE texts SET json = replace(json, 'lung', 'long')");
    change(place, "DELETE FROM events WHERE session = 'first'");
    const log = openLog(place, undefined, 1000);
    log.append(
      ONE,
      NOON,
      Array.from({ length: 20 }, () => ({ type: 'session.mode', mode: 'yolo' }) as const),
    );
    log.close();
    expect(verifyLog(place).faults).toEqual([
      { session: 'first', seq: 10, problem: 'differs from its checkpoint' },
      { session: 'first', seq: 20, problem: 'differs from its checkpoint' },
      { session: 'first', seq: 25, problem: GONE },
    ]);
  });

  it('names a line of the checkpoints that is none', () => {
    const place = filled();
    writeFileSync(heads(place), readFileSync(heads(place), 'utf8').replace('"seq"', '"sec"'));
    expect(verifyLog(place).faults).toEqual([
      { session: null, seq: null, problem: 'line 1 of the checkpoints is damaged' },
    ]);
  });
});

describe('checkpoints that can not be written', () => {
  it('M02: a link in their place stops the log at the next record, and nothing is written through it', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    openLog(place).close();
    const target = join(freshFolder(), 'target');
    writeFileSync(target, '');
    symlinkSync(target, heads(place));
    const log = openLog(place, undefined, 1);
    log.append(ONE, NOON, [mode]);
    expect(() => log.append(ONE, NOON, [mode])).toThrow(LogFault);
    expect(readFileSync(target, 'utf8')).toBe('');
    log.close();
  });
});

describe('100 000 records', () => {
  it('are checked in seconds', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const log = openLog(place);
    const body: EventBody = { type: 'plan.rejected', reason: 'r'.repeat(300) };
    for (let at = 0; at < 20; at += 1)
      log.append(
        ONE,
        NOON,
        Array.from({ length: 5000 }, () => body),
      );
    log.close();
    const before = process.cpuUsage();
    expect(verifyLog(place)).toMatchObject({ records: 100_000, faults: [] });
    const { user, system } = process.cpuUsage(before);
    // Three of processor time on a machine of its own (the bench).
    expect((user + system) / 1e6).toBeLessThan(15);
  });
});
