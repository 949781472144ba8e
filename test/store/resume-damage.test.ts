/** Whether a session may be resumed: copies of an older day, changed records, and damage that a person accepted. */
import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, SessionId } from '../../src/domain/ids.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import { acceptDamage, damageOf, verifyLog } from '../../src/store/damage.ts';
import { openLog } from '../../src/store/log.ts';
import { databaseOf, type Place } from '../../src/store/database.ts';
import { freshFolder } from '../support/folder.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const LATER = '2026-01-02T12:00:00.000Z';
const ONE = SessionId.parse('first');
const agent = AgentId.parse('ROOT');
const status: EventBody = { type: 'agent.status', agent, status: 'running', reason: '' };
const mode: EventBody = { type: 'session.mode', mode: 'confirm' };
const starts = (repeat: 'safe' | 'never', call: string): EventBody => ({
  type: 'tool.started',
  agent,
  call: CallId.parse(call),
  tool: 'bash',
  label: 'a command',
  input: {},
  repeat,
});

function append(place: Place, bodies: readonly EventBody[], every?: number): void {
  const log = openLog(place, undefined, every);
  for (const body of bodies) log.append(ONE, NOON, [body]);
  log.close();
}

const newPlace = (): Place => ({ stateDir: freshFolder(), project: freshFolder() });

function change(place: Place, sql: string): void {
  const database = new DatabaseSync(databaseOf(place));
  database.exec(sql);
  database.close();
}

const headsOf = (place: Place): readonly number[] =>
  readFileSync(join(dirname(databaseOf(place)), 'heads.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(/"seq":(\d+)/.exec(line)?.[1]));

describe('a log that is gone on with', () => {
  it('is sound where all records are there, where there is none, and where a session was never checkpointed', () => {
    const place = newPlace();
    expect(damageOf(place, ONE)).toBeNull();
    append(place, [mode, { type: 'plan.rejected', reason: 'long '.repeat(5000) }, starts('never', 'a')]);
    expect(damageOf(place, ONE)).toBeNull();
    expect(damageOf(place, SessionId.parse('second'))).toBeNull();
  });

  it('is refused where it is a copy from before an effect, however few records are missing', () => {
    const place = newPlace();
    append(place, [mode, status]);
    const old = join(freshFolder(), 'log.db');
    copyFileSync(databaseOf(place), old);
    append(place, [starts('never', 'a'), status]);
    copyFileSync(old, databaseOf(place));
    expect(damageOf(place, ONE)).toEqual({
      seq: 3,
      problem: 'was checkpointed but is missing from the log',
      last: 2,
      file: databaseOf(place),
    });
  });

  it('has a checkpoint before each effect and none before calls that may be repeated', () => {
    const place = newPlace();
    append(place, [mode, starts('safe', 'a'), starts('never', 'b'), status, starts('never', 'c')]);
    expect(headsOf(place)).toEqual([3, 5]);
  });

  it('has no checkpoint of a record that a power cut may take back: it waits for the next one on the disk', () => {
    const place = newPlace();
    append(place, [mode, status, status, status, status, mode, status], 2);
    expect(headsOf(place)).toEqual([6]);
  });

  it('is refused with the record that was changed, was taken out, or was written anew', () => {
    const changed = newPlace();
    append(changed, [mode, mode, mode, mode]);
    change(changed, "UPDATE events SET data = replace(data, 'confirm', 'yolo') WHERE seq = 3");
    expect(damageOf(changed, ONE)).toMatchObject({ seq: 3, problem: 'is missing or was changed', last: 2 });
    const anew = newPlace();
    append(anew, [mode, starts('never', 'a')]);
    change(anew, 'DELETE FROM events WHERE seq = 2');
    append(anew, [mode, mode], 1000);
    expect(damageOf(anew, ONE)).toMatchObject({ seq: 2, problem: 'differs from its checkpoint', last: 3 });
  });
});

describe('long texts beside the records of a log', () => {
  const LONG: EventBody = { type: 'plan.rejected', reason: 'long '.repeat(5000) };

  it.each([
    ['DELETE FROM texts', 'is gone'],
    ["UPDATE texts SET json = replace(json, 'long', 'lone')", 'was changed'],
  ])('are checked as well: %s', (sql) => {
    const place = newPlace();
    append(place, [mode, LONG, mode]);
    change(place, sql);
    expect(damageOf(place, ONE)).toMatchObject({ seq: 2, problem: 'is missing or was changed', last: 1 });
  });

  it('are none where a text only looks like a reference to one', () => {
    const place = newPlace();
    const reference = `\u0000text:${'ab'.repeat(32)}`;
    const looks = [reference, JSON.stringify({ reference }), `:"${reference}"`, `\\"${reference}"`];
    append(
      place,
      looks.map((reason): EventBody => ({ type: 'plan.rejected', reason })),
    );
    expect(damageOf(place, ONE)).toBeNull();
  });
});

describe('the check of a log', () => {
  const ends: EventBody = {
    type: 'tool.finished',
    agent,
    call: CallId.parse('a'),
    tool: 'bash',
    ok: true,
    output: 'much '.repeat(9000),
    ms: 1,
  };

  it('tells every record once as it goes, without what tools gave, up to the first damage', () => {
    const place = newPlace();
    append(place, [mode, starts('safe', 'a'), ends, status]);
    const log = openLog(place);
    const all = [...log.each(ONE, 0, { outputs: false })];
    log.close();
    const heard: MimirEvent[] = [];
    damageOf(place, ONE, (event) => heard.push(event));
    expect(heard).toEqual(all);
    expect(heard.map(({ type }) => type)).toEqual(['session.mode', 'tool.started', 'tool.finished', 'agent.status']);
    change(place, 'DELETE FROM texts');
    const few: MimirEvent[] = [];
    damageOf(place, ONE, (event) => few.push(event));
    expect(few).toEqual(all.slice(0, 2));
  });
});

describe('damage that a person accepted', () => {
  it('is none for the next resume; what is written then is checked again', () => {
    const place = newPlace();
    append(place, [mode, mode, starts('never', 'a')]);
    change(place, 'DELETE FROM events WHERE seq = 3');
    acceptDamage(place, ONE, LATER);
    expect(damageOf(place, ONE)).toBeNull();
    append(place, [mode, starts('never', 'b')]);
    expect(damageOf(place, ONE)).toBeNull();
    change(place, 'DELETE FROM events WHERE seq = 4');
    expect(damageOf(place, ONE)).toMatchObject({ seq: 4, last: 3 });
  });

  it('takes nothing away: records behind it keep their content, and `audit verify` still tells of it', () => {
    const place = newPlace();
    append(place, [mode, mode, mode, { type: 'plan.rejected', reason: 'kept' }, starts('never', 'a')]);
    change(place, 'DELETE FROM events WHERE seq = 3');
    acceptDamage(place, ONE, LATER);
    expect(damageOf(place, ONE)).toBeNull();
    const log = openLog(place);
    expect(log.read(ONE).map(({ seq }) => seq)).toEqual([1, 2]);
    log.close();
    const database = new DatabaseSync(databaseOf(place));
    const aside = database.prepare("SELECT session, seq FROM events WHERE session <> 'first'").all();
    database.close();
    expect(aside.map((row) => [row['session'], row['seq']])).toEqual([
      [`first (set aside ${LATER})`, 4],
      [`first (set aside ${LATER})`, 5],
    ]);
    expect(verifyLog(place).faults.length).toBeGreaterThan(0);
  });

  it('changes nothing where there is no damage', () => {
    const place = newPlace();
    append(place, [mode, starts('never', 'a')]);
    acceptDamage(place, ONE, LATER);
    expect(headsOf(place)).toEqual([2]);
  });
});
