/** The checkpoints beside a log: which lines are some, when one is added, and what is said where they can not be read or written. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { LogFault } from '../../src/ports/log.ts';
import { checkpointsBeside, type Head, readCheckpoints } from '../../src/store/checkpoints.ts';
import { acceptDamage, damageOf, verifyLog } from '../../src/store/damage.ts';
import { databaseOf, type Place } from '../../src/store/database.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import { freshFolder, openFilesIn } from '../support/folder.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const ONE = SessionId.parse('first');
const mode: EventBody = { type: 'session.mode', mode: 'confirm' };
const effect: EventBody = {
  type: 'tool.started',
  agent: AgentId.parse('ROOT'),
  call: CallId.parse('a'),
  tool: 'bash',
  label: 'a command',
  input: {},
  repeat: 'never',
};

const newPlace = (): Place => ({ stateDir: freshFolder(), project: freshFolder() });
const headsOf = (place: Place): string => join(dirname(databaseOf(place)), 'heads.jsonl');

function append(place: Place, ...bodies: readonly EventBody[]): void {
  const log = openLog(place);
  for (const body of bodies) log.append(ONE, NOON, [body]);
  log.close();
}

function change(place: Place, sql: string): void {
  const database = new DatabaseSync(databaseOf(place));
  database.exec(sql);
  database.close();
}

const head = (session: string, seq: number): Head => ({ session, seq, hash: `hash ${seq}` });

describe('the lines of checkpoints', () => {
  const database = (lines: string): string => {
    const file = join(freshFolder(), 'log.db');
    writeFileSync(join(dirname(file), 'heads.jsonl'), lines);
    return file;
  };

  it('are those with session, number and hash; others are named by their line', () => {
    const bad = [
      '{"seq":1,"hash":"a"}',
      '{"session":1,"seq":1,"hash":"a"}',
      '{"session":"first","hash":"a"}',
      '{"session":"first","seq":"1","hash":"a"}',
      '{"session":"first","seq":1}',
      '{"session":"first","seq":1,"hash":1}',
      'null',
      '"text"',
      'no JSON',
    ];
    const file = database([JSON.stringify(head('first', 1)), ...bad, JSON.stringify(head('other', 2)), ''].join('\n'));
    expect(readCheckpoints(file)).toEqual({
      heads: [head('first', 1), head('other', 2)],
      damaged: [2, 3, 4, 5, 6, 7, 8, 9, 10],
    });
    expect(readCheckpoints(file, 'first')).toEqual({ heads: [head('first', 1)], damaged: [] });
  });

  it('are of a session by its whole name, and an unfinished last line is none', () => {
    const lines = [head('first', 1), head('first-again', 2), { ...head('other', 3), hash: 'first' }];
    const file = database(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"session":"first","seq":4`);
    expect(readCheckpoints(file, 'first').heads).toEqual([head('first', 1)]);
    expect(readCheckpoints(file)).toEqual({ heads: lines, damaged: [] });
  });

  it('are none where there is no file, and an error where it can not be read', () => {
    const file = join(freshFolder(), 'log.db');
    expect(readCheckpoints(file)).toEqual({ heads: [], damaged: [] });
    mkdirSync(join(dirname(file), 'heads.jsonl'));
    expect(() => readCheckpoints(file)).toThrow(LogFault);
    expect(() => readCheckpoints(file)).toThrow('the checkpoints of the log cannot be read: EISDIR');
  });
});

describe('a checkpoint is added', () => {
  /** Numbers of the checkpoints after these steps of a session. */
  function added(every: number, ...steps: readonly (readonly [from: number, to: number, how: string])[]) {
    const file = join(freshFolder(), 'log.db');
    const checkpoints = checkpointsBeside(file, every);
    for (const [from, to, how] of steps)
      checkpoints.reached({ from, to: head('first', to), matters: how === 'matters', onDisk: how !== 'not on disk' });
    return readCheckpoints(file).heads.map(({ seq }) => seq);
  }

  it('where a multiple of their distance was reached or passed, and at what matters', () => {
    expect(added(10, [0, 9, ''], [9, 10, ''], [10, 19, ''], [19, 25, ''])).toEqual([10, 25]);
    expect(added(10, [0, 1, 'matters'], [1, 2, ''], [2, 3, 'matters'])).toEqual([1, 3]);
  });

  it('only when it is on the disk, once, of the last record then', () => {
    expect(added(10, [9, 10, 'not on disk'], [10, 11, 'not on disk'], [11, 12, ''], [12, 13, ''])).toEqual([12]);
  });

  it('in a file for the user alone, also where it was opened to others', () => {
    const place = newPlace();
    append(place, effect);
    chmodSync(headsOf(place), 0o644);
    append(place, effect);
    expect((statSync(headsOf(place)).mode & 0o777).toString(8)).toBe('600');
    expect(openFilesIn(place.stateDir)).toEqual([]);
    expect(readFileSync(headsOf(place), 'utf8').split('\n')).toHaveLength(3);
  });

  it('or the log says why it can not be', () => {
    const place = newPlace();
    openLog(place).close();
    mkdirSync(headsOf(place));
    const log = openLog(place);
    log.append(ONE, NOON, [effect]);
    expect(() => log.append(ONE, NOON, [mode])).toThrow(
      /^the checkpoints of the log cannot be written: EISDIR.*\n {2}\S+heads\.jsonl must be a file that you own$/,
    );
    log.close();
  });
});

describe('a log that differs from its checkpoints', () => {
  it('is damaged at the checkpoint where a later record was changed as well, and sound up to that one', () => {
    const place = newPlace();
    append(place, mode, effect);
    change(place, 'DELETE FROM events WHERE seq = 2');
    append(place, mode, mode, mode);
    change(place, "UPDATE events SET data = replace(data, 'confirm', 'yolo') WHERE seq = 4");
    expect(damageOf(place, ONE)).toMatchObject({ seq: 2, problem: 'differs from its checkpoint', last: 3 });
  });

  it('is damaged at the first changed record where that is not behind the checkpoint', () => {
    const place = newPlace();
    append(place, mode, effect, mode);
    change(place, "UPDATE events SET hash = 'other' WHERE seq = 2");
    expect(damageOf(place, ONE)).toMatchObject({ seq: 2, problem: 'is missing or was changed', last: 1 });
    change(place, "UPDATE events SET data = replace(data, 'confirm', 'yolo') WHERE seq = 1");
    expect(damageOf(place, ONE)).toMatchObject({ seq: 1, problem: 'is missing or was changed', last: 0 });
    acceptDamage(place, ONE, NOON);
    expect(damageOf(place, ONE)).toBeNull();
  });

  it('keeps all its records where a person accepts that they are other ones', () => {
    const place = newPlace();
    append(place, mode, effect);
    change(place, 'DELETE FROM events WHERE seq = 2');
    append(place, mode, mode);
    acceptDamage(place, ONE, NOON);
    expect(damageOf(place, ONE)).toBeNull();
    const log = openLog(place);
    expect(log.read(ONE)).toHaveLength(3);
    log.close();
  });

  it('stays damaged where the accepted checkpoint cannot be written, and says why', () => {
    const place = newPlace();
    append(place, mode, effect);
    change(place, 'DELETE FROM events WHERE seq = 2');
    append(place, mode, mode);
    renameSync(headsOf(place), `${headsOf(place)}.moved`);
    symlinkSync(`${headsOf(place)}.moved`, headsOf(place));
    expect(() => acceptDamage(place, ONE, NOON)).toThrow(/^the checkpoints of the log cannot be written: ELOOP/);
  });

  it('has lost every checkpoint where its database is gone', () => {
    const place = newPlace();
    append(place, mode, effect);
    for (const end of ['', '-wal', '-shm']) rmSync(databaseOf(place) + end, { force: true });
    expect(verifyLog(place)).toEqual({
      sessions: 0,
      records: 0,
      checkpoints: 1,
      faults: [{ session: 'first', seq: 2, problem: 'was checkpointed but is missing from the log' }],
    });
  });

  it('has a record without a session where its name was taken out', () => {
    const place = newPlace();
    append(place, mode);
    change(place, "UPDATE events SET session = ''");
    expect(verifyLog(place).faults).toEqual([
      { session: null, seq: null, problem: 'a record has no valid session id' },
    ]);
  });
});

describe('a place that is none', () => {
  it('is told where the state folder is a file', () => {
    const stateDir = join(freshFolder(), 'state');
    writeFileSync(stateDir, '');
    expect(() => openLogReadOnly({ stateDir, project: freshFolder() })).toThrow(
      /^the log cannot be read: ENOTDIR.*\n {2}check the folder \(XDG_STATE_HOME moves it\)$/,
    );
    expect(() => openLog({ stateDir, project: freshFolder() })).toThrow(LogFault);
  });
});
