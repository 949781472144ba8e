/** `mimir resume` of a log that is an older copy: the program itself. */
import { globSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Home, jsonLines, openHome, SMALL } from '../../support/cli.ts';

let home: Home;
let session = '';
beforeAll(async () => {
  home = openHome(SMALL);
  const { out } = await home.run(['run', 'Explain add', '--model', 'offline', '--yes', '--json']);
  session = String(jsonLines(out)[0]?.['session']);
  // What an older copy of the log holds.
  const database = new DatabaseSync(globSync(`${home.state}/projects/*/log.db`)[0] ?? '');
  database.exec('DELETE FROM events WHERE seq > 12');
  database.close();
});
afterAll(() => {
  home.remove();
});

it('is refused with the record, what could happen and what to do, and changes nothing', async () => {
  for (const _ of [1, 2]) {
    const { code, err } = await home.run(['resume', session, '--yes']);
    expect(code).toBe(2);
    expect(
      err
        .replaceAll(session, 'SESSION')
        .replace(/record \d+ was/, 'record N was')
        .split('\n  '),
    ).toEqual([
      'mimir: the log of session SESSION is damaged: record N was checkpointed but is missing from the log',
      'what the run did after record 12 is missing and could be done a second time',
      expect.stringMatching(
        /^if you have a newer copy of .*log\.db, restore it; `mimir audit verify` lists all damage$/,
      ),
      '`mimir resume SESSION --accept-damaged-log` continues from record 12 anyway\n',
    ]);
  }
});

it('goes on with --accept-damaged-log, says so, and needs no flag afterwards', async () => {
  const { code, err } = await home.run(['resume', session, '--yes', '--accept-damaged-log', '--model', 'offline']);
  expect(err.split('\n')[0]).toMatch(
    /^mimir: the log of session \w+ is damaged \(record \d+ was checkpointed but is missing from the log\): the run continues from record 12, as you asked$/,
  );
  expect(code).toBe(0);
  const again = await home.run(['resume', session, '--yes']);
  expect(again.err).toContain(`session ${session} has completed`);
});
