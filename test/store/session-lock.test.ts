import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { openLog } from '../../src/store/log.ts';
import { databaseOf } from '../../src/store/database.ts';
import { freshFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';

const SESSION = SessionId.parse('claimed');
const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
/** The start time of the process that started this one: alive for as long as we are. */
const parentStart = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';

/** Pid and start time of a child of `parent` that is a zombie; empty where there is none. */
function zombieOf(parent: number): string {
  for (const pid of readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')) {
    if (pid === '') continue;
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    if (fields[0] === 'Z') return `${pid} ${fields[19] ?? ''}`;
  }
  return '';
}

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

  it('does not hold for a process that has ended and that nobody has looked for: it writes nothing any more', async () => {
    // It ends once its parent is a program that never looks for it.
    const ends = 'until grep -q sleep /proc/$$/comm; do :; done';
    const parent = spawn('bash', ['-c', `{ ${ends}; } & exec sleep 60`], { stdio: 'ignore' });
    const zombie = (): string => zombieOf(parent.pid ?? 0);
    await until(() => zombie() !== '');
    const [pid = '', started = ''] = zombie().split(' ');
    const log = logWithClaim(Number(pid), started, boot);
    expect(log.claim(SESSION)).toEqual({ ok: true });
    log.close();
    parent.kill('SIGKILL');
  });

  it("is not given up by another's release", () => {
    const log = logWithClaim(process.ppid, parentStart, boot);
    log.release(SESSION);
    expect(log.claim(SESSION).ok).toBe(false);
    log.close();
  });
});
