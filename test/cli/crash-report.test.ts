/** Reports of bugs: each in a file for the user alone, without keys. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { crashReport, reportOf, withoutKeys } from '../../src/cli/crash-report.ts';
import { freshFolder } from '../support/folder.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

it('has a file of its own for each, also where many end in the same moment', () => {
  const state = freshFolder();
  const files = Array.from({ length: 50 }, (_, n) => crashReport(state, new Error(`bug ${n}`), {}));
  expect(new Set(files).size).toBe(50);
  expect(files.map((file) => file !== null && readFileSync(file, 'utf8').split('\n')[0])).toEqual(
    files.map((_, n) => `Error: bug ${n}`),
  );
});

it('is for the user alone, below the state folder, with the stack of an error or the words of anything else', () => {
  const home = freshFolder();
  const file = reportOf({ XDG_STATE_HOME: home }, 'a word') ?? '';
  const { name, ...modes } = { name: dirname(file), folder: modeOf(dirname(file)), file: modeOf(file) };
  expect([name, modes]).toEqual([join(home, 'mimir/crashes'), { folder: '700', file: '600' }]);
  expect(readFileSync(file, 'utf8')).toBe('a word\n');
  const bare = new Error('no stack');
  delete bare.stack;
  expect(readFileSync(crashReport(home, bare, {}) ?? '', 'utf8')).toBe('no stack\n');
});

it('is none where it can not be written, or where nobody says where', () => {
  const state = freshFolder();
  writeFileSync(join(state, 'crashes'), '');
  expect([crashReport(state, new Error('bug'), {}), reportOf({}, new Error('bug'))]).toEqual([null, null]);
});

it('holds the value of no variable that is named like a key', () => {
  const env = {
    MY_API_KEY: 'value-of-key',
    token: 'value-of-token',
    Client_Secret: 'value-of-secret',
    DB_PASSWORD: 'value-of-password',
    HOME: 'value-of-home',
    EMPTY_KEY: undefined,
  };
  expect(withoutKeys(env, Object.values(env).join(' '))).toBe('[key] [key] [key] [key] value-of-home ');
});
