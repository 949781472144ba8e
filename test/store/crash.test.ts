import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import { ended, start } from '../support/child.ts';
import { freshFolder } from '../support/folder.ts';

const LOOP = join(import.meta.dirname, '../support/append-loop.ts');
const SESSION = SessionId.parse('crash');
const lastOf = (out: string): number => Number(out.slice(0, out.lastIndexOf('\n')).split('\n').at(-1) ?? 0);

describe('a log whose writer is killed', () => {
  it('loses nothing that was on the disk, has no gap and no half batch, twenty times over', async () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    let before = 0;
    for (let round = 1; round <= 20; round += 1) {
      const child = start(process.execPath, [LOOP, place.stateDir, place.project, SESSION]);
      // Killed after a batch of its own choosing, a different one each time, and mostly in the middle of the next.
      const end = await ended(child, (out) => {
        if (out.split('\n').length > round * 2) child.kill('SIGKILL');
      });
      expect(end).toMatchObject({ signal: 'SIGKILL', err: '' });
      const log = openLogReadOnly(place);
      // Reading checks the chain as well: every record follows the one before it.
      const seqs = log.read(SESSION).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      expect(seqs.length % 3).toBe(0);
      expect(seqs.length).toBeGreaterThanOrEqual(lastOf(end.out));
      expect(seqs.length).toBeGreaterThan(before);
      expect(log.sessions()).toMatchObject([{ session: SESSION, state: 'stopped', events: seqs.length }]);
      log.close();
      before = seqs.length;
    }
  });

  it('takes two processes that write two sessions at once', async () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const names = ['left', 'right', 'third'];
    const all = await Promise.all(
      names.map((name) => ended(start(process.execPath, [LOOP, place.stateDir, place.project, name, '100']))),
    );
    expect(all.map(({ code, err }) => [code, err])).toEqual(names.map(() => [0, '']));
    const log = openLogReadOnly(place);
    expect(names.map((name) => log.read(SessionId.parse(name)).length)).toEqual([300, 300, 300]);
    log.close();
  });
});

describe("a session's writer", () => {
  it('keeps others out while it lives, and says who it is', async () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const child = start(process.execPath, [LOOP, place.stateDir, place.project, SESSION]);
    const log = openLog(place);
    const end = ended(child, (out) => {
      if (child.killed || !out.includes('\n')) return;
      expect(log.claim(SESSION)).toEqual({ ok: false, holder: `process ${child.pid} is writing session ${SESSION}` });
      expect(log.sessions()).toMatchObject([{ session: SESSION, state: 'running' }]);
      child.kill('SIGKILL');
    });
    expect(await end).toMatchObject({ signal: 'SIGKILL' });
    expect(log.sessions()).toMatchObject([{ session: SESSION, state: 'stopped' }]);
    expect(log.claim(SESSION)).toEqual({ ok: true });
    const other = await ended(start(process.execPath, [LOOP, place.stateDir, place.project, SESSION, '1']));
    expect(other).toMatchObject({ code: 1, out: `refused: process ${process.pid} is writing session ${SESSION}\n` });
    log.release(SESSION);
    const next = await ended(start(process.execPath, [LOOP, place.stateDir, place.project, SESSION, '1']));
    expect(next).toMatchObject({ code: 0, err: '' });
    log.close();
  });
});
