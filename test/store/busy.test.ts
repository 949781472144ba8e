/** A log that another process is switching to its journal at the same moment: SQLite itself does not wait for that. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { openToWrite } from '../../src/store/database.ts';
import { freshFolder } from '../support/folder.ts';

/** Holds the database alone until this thread waits for it, and some while longer. */
const HOLDER = `
  const { workerData: { file, signs } } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(file);
  database.exec('BEGIN EXCLUSIVE; CREATE TABLE other (x)');
  Atomics.store(signs, 0, 1);
  Atomics.notify(signs, 0);
  Atomics.wait(signs, 1, 0);
  Atomics.wait(signs, 1, 1, 100);
  database.exec('COMMIT');
  database.close();
`;

it('a log that another process holds while it is opened is waited for', async () => {
  const file = join(freshFolder(), 'log.db');
  writeFileSync(file, '');
  const signs = new Int32Array(new SharedArrayBuffer(8));
  const holder = new Worker(HOLDER, { eval: true, workerData: { file, signs } });
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  Atomics.wait(signs, 0, 0);
  Atomics.store(signs, 1, 1);
  Atomics.notify(signs, 1);
  const log = openToWrite(file, 1);
  expect(log.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  log.close();
  await ended;
  const other = new DatabaseSync(file, { readOnly: true });
  expect(other.prepare("SELECT name FROM sqlite_schema WHERE name IN ('other', 'events') ORDER BY name").all()).toEqual(
    [{ name: 'events' }, { name: 'other' }],
  );
  other.close();
});
