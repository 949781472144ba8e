import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { openLog } from '../../src/store/log.ts';
import { databaseOf } from '../../src/store/place.ts';
import { freshFolder } from '../support/folder.ts';

const SESSION = SessionId.parse('claimed');
const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
/** The start time of the process that started this one: alive for as long as we are. */
const parentStart = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';

function logWithClaim(pid: number, started: string, bootId: string): ReturnType<typeof openLog> {
  const place = { stateDir: freshFolder(), project: freshFolder() };
  openLog(place).close();
  const database = new DatabaseSync(databaseOf(place));
  database.prepare('INSERT INTO claims VALUES (?, ?, ?, ?)').run(SESSION, pid, started, bootId);
  database.close();
  return openLog(place);
}

describe('a claim left behind', () => {
  it('holds while its process lives', () => {
    const log = logWithClaim(process.ppid, parentStart, boot);
    expect(log.claim(SESSION)).toEqual({
      ok: false,
      holder: `process ${process.ppid} is writing session ${SESSION}`,
    });
    log.close();
  });

  it.each([
    ['the process is gone', 4_194_304, '1', boot],
    ['its number was given to another process', process.ppid, '1', boot],
    ['the machine was started anew', process.ppid, parentStart, 'another boot'],
  ])('is stale when %s', (_, pid, started, bootId) => {
    const log = logWithClaim(pid, started, bootId);
    expect(log.claim(SESSION)).toEqual({ ok: true });
    log.close();
  });

  it("is not given up by another's release", () => {
    const log = logWithClaim(process.ppid, parentStart, boot);
    log.release(SESSION);
    expect(log.claim(SESSION).ok).toBe(false);
    log.close();
  });
});
