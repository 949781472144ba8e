/** Letters on the disk: put by anybody, taken once, through kills and at the same time. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId, ROOT, SessionId } from '../../src/domain/ids.ts';
import { LogFault } from '../../src/ports/log.ts';
import type { StoredMessage } from '../../src/ports/log.ts';
import { openLog } from '../../src/store/log.ts';
import { openMessageStore } from '../../src/store/message-store.ts';
import { databaseOf } from '../../src/store/database.ts';
import { hostileText } from '../support/arbitraries.ts';
import { ended, start } from '../support/child.ts';
import { freshFolder } from '../support/folder.ts';

const CHILD = join(import.meta.dirname, '../support/mailbox-child.ts');
const SESSION = SessionId.parse('letters');
const place = (): { readonly stateDir: string; readonly project: string } => ({
  stateDir: freshFolder(),
  project: freshFolder(),
});
const letter = (id: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
  id,
  to: AgentId.parse('ROOT::S1'),
  text: `text of ${id}`,
  delivery: 'important',
  at: '2026-11-22T09:00:00.000Z',
  ...more,
});

describe('a mailbox', () => {
  it('S056, S062: keeps letters of each session in the order they came, whole, until they were taken', () => {
    const where = place();
    const messageStore = openMessageStore(where);
    const other = SessionId.parse('other');
    messageStore.put(SESSION, letter('a'));
    messageStore.put(other, letter('x'));
    messageStore.put(SESSION, letter('b', { to: ROOT, delivery: 'urgent' }));
    messageStore.put(SESSION, letter('c'));
    expect(messageStore.waiting(SESSION)).toEqual([
      letter('a'),
      letter('b', { to: ROOT, delivery: 'urgent' }),
      letter('c'),
    ]);
    messageStore.taken(SESSION, ['a', 'c', 'x']);
    messageStore.taken(SESSION, []);
    expect(openMessageStore(where).waiting(SESSION)).toEqual([letter('b', { to: ROOT, delivery: 'urgent' })]);
    expect(openMessageStore(where).waiting(other)).toEqual([letter('x')]);
  });

  it('gives back every text as it was put', () => {
    const messageStore = openMessageStore(place());
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.string({ unit: 'binary' })), (text) => {
        messageStore.put(SESSION, letter('t', { text }));
        expect(messageStore.waiting(SESSION)).toEqual([letter('t', { text })]);
        messageStore.taken(SESSION, ['t']);
      }),
      { numRuns: 25 },
    );
  });

  it('makes nothing by looking, and a file of its user alone by the first letter', () => {
    const where = place();
    const messageStore = openMessageStore(where);
    expect(messageStore.waiting(SESSION)).toEqual([]);
    expect(existsSync(databaseOf(where))).toBe(false);
    messageStore.put(SESSION, letter('a'));
    expect(statSync(databaseOf(where)).mode & 0o777).toBe(0o600);
  });

  it('lies beside a log that is being written, and in one that knew no letters', () => {
    const where = place();
    const log = openLog(where);
    expect(log.claim(SESSION)).toEqual({ ok: true });
    expect(openMessageStore(where).waiting(SESSION)).toEqual([]);
    openMessageStore(where).put(SESSION, letter('a'));
    log.append(SESSION, '2026-11-22T09:00:00.000Z', [{ type: 'session.mode', mode: 'confirm' }]);
    expect(openMessageStore(where).waiting(SESSION)).toEqual([letter('a')]);
    expect(log.read(SESSION)).toHaveLength(1);
    log.close();
  });

  it('leaves nothing of a letter that was taken in the file', () => {
    const where = place();
    const messageStore = openMessageStore(where);
    messageStore.put(SESSION, letter('a', { text: 'the-word-to-look-for' }));
    expect(readFileSync(databaseOf(where)).includes('the-word-to-look-for')).toBe(true);
    messageStore.taken(SESSION, ['a']);
    expect(readFileSync(databaseOf(where)).includes('the-word-to-look-for')).toBe(false);
  });

  it('passes over what another version wrote otherwise', () => {
    const where = place();
    const messageStore = openMessageStore(where);
    for (const id of ['a', 'b', 'c', 'd']) messageStore.put(SESSION, letter(id));
    const database = new DatabaseSync(databaseOf(where));
    database.exec("UPDATE letters SET delivery = 'by hand' WHERE id = 'a'");
    database.exec("UPDATE letters SET text = '{}' WHERE id = 'b'");
    database.exec("UPDATE letters SET recipient = '' WHERE id = 'c'");
    database.close();
    expect(messageStore.waiting(SESSION)).toEqual([letter('d')]);
  });

  it('says in words what is wrong with a file that is none of ours', () => {
    const where = place();
    openMessageStore(where).put(SESSION, letter('a'));
    writeFileSync(databaseOf(where), 'not a database at all, and long enough to be looked at'.repeat(100));
    expect(() => openMessageStore(where).waiting(SESSION)).toThrow(LogFault);
    expect(() => openMessageStore(where).put(SESSION, letter('b'))).toThrow(/is damaged \(not a SQLite database\)/);
  });
});

describe('letters of other processes', () => {
  it('S157: are there when the one that put them is killed at once, six times over', async () => {
    const where = place();
    for (let round = 1; round <= 6; round += 1) {
      const child = start(process.execPath, [CHILD, where.stateDir, where.project, SESSION, `r${round}`]);
      const end = await ended(child, (out) => {
        if (out.split('\n').length > round) child.kill('SIGKILL');
      });
      expect(end).toMatchObject({ signal: 'SIGKILL', err: '' });
      const said = end.out.split('\n').slice(0, -1);
      const there = openMessageStore(where)
        .waiting(SESSION)
        .map(({ id }) => id)
        .filter((id) => id.startsWith(`r${round}-`));
      // One more may have been put that it didn't come to say.
      expect(there.slice(0, said.length)).toEqual(said);
      expect(there.length - said.length).toBeLessThanOrEqual(1);
    }
  });

  it('come all, when several put at once and one takes meanwhile', async () => {
    const where = place();
    const names = ['a', 'b', 'c'];
    const children = names.map((name) =>
      ended(start(process.execPath, [CHILD, where.stateDir, where.project, SESSION, name, '15'])),
    );
    const messageStore = openMessageStore(where);
    const taken: string[] = [];
    const take = (): void => {
      const ids = messageStore.waiting(SESSION).map(({ id }) => id);
      messageStore.taken(SESSION, ids);
      taken.push(...ids);
    };
    let over = false;
    const all = Promise.all(children).then((ends) => {
      over = true;
      return ends;
    });
    while (!over) {
      take();
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect((await all).map(({ code, err }) => [code, err])).toEqual(names.map(() => [0, '']));
    take();
    const expected = names.flatMap((name) => Array.from({ length: 15 }, (_, index) => `${name}-${index + 1}`));
    expect(taken.toSorted()).toEqual(expected.toSorted());
    for (const name of names) {
      const own = taken.filter((id) => id.startsWith(`${name}-`));
      expect(own).toEqual(expected.filter((id) => id.startsWith(`${name}-`)));
    }
  });

  it('says what to do when the disk is full', () => {
    const where = place();
    openMessageStore(where).put(SESSION, letter('a'));
    const script = `trap '' XFSZ; ulimit -f 0; exec '${process.execPath}' '${CHILD}' '${where.stateDir}' '${where.project}' ${SESSION} full 1`;
    const { status, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/LogFault: the log .* cannot be (written|used)/);
    expect(openMessageStore(where).waiting(SESSION)).toEqual([letter('a')]);
  });
});
