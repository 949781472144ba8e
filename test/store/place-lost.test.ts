/** The state folder is deleted or replaced while a run writes its log: the next write says so, and nothing is done after it. */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { LogFault } from '../../src/ports/log.ts';
import { openLog } from '../../src/store/log.ts';
import { databaseOf, type Place } from '../../src/store/database.ts';
import { freshFolder } from '../support/folder.ts';
import { calling, planOf, testRun } from '../support/run.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const ONE = SessionId.parse('first');

function written(): { readonly place: Place; readonly append: () => unknown; readonly close: () => void } {
  const place = { stateDir: freshFolder(), project: freshFolder() };
  const log = openLog(place);
  const append = (): unknown => log.append(ONE, NOON, [{ type: 'session.mode', mode: 'confirm' }]);
  append();
  return { place, append, close: () => log.close() };
}

it('is told where the folder was deleted, at each write', () => {
  const { place, append } = written();
  rmSync(place.stateDir, { recursive: true });
  expect(append).toThrow(LogFault);
  expect(append).toThrow(/log\.db was deleted while it was in use: Mimir stopped\n {2}restore the folder /);
});

it('is told where another log stands in its place, which stays as it is; put back, it is written again', () => {
  const { place, append, close } = written();
  const folder = dirname(databaseOf(place));
  renameSync(folder, `${folder}.away`);
  const other = openLog(place);
  other.close();
  const before = readFileSync(databaseOf(place));
  expect(append).toThrow(/log\.db was replaced while it was in use/);
  expect(readFileSync(databaseOf(place)).equals(before)).toBe(true);
  rmSync(folder, { recursive: true });
  renameSync(`${folder}.away`, folder);
  expect(append()).toMatchObject([{ seq: 2 }]);
  close();
});

it('pauses a run before its next effect, with these words', async () => {
  const place = { stateDir: freshFolder(), project: freshFolder() };
  const log = openLog(place);
  const acts: string[] = [];
  const run = testRun({
    log,
    acts,
    mode: 'yolo',
    plan: planOf(['o1']),
    script: ({ agent, purpose }, n) => {
      if (agent !== 'ROOT::S1' || purpose.is !== 'work') return undefined;
      if (n === 0) return calling('write a');
      rmSync(place.stateDir, { recursive: true });
      mkdirSync(place.stateDir);
      return calling('write b');
    },
  });
  const result = await run.result;
  expect(acts).toEqual(['write a']);
  expect([result.status, result.error?.split('\n')[0]]).toEqual([
    'stopped',
    `the log ${databaseOf(place)} was deleted while it was in use: Mimir stopped`,
  ]);
});
