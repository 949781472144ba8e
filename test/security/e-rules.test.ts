/** What policy adds to the box: paths that are hidden or kept, lists of what stays writable, names that are passed on. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolEnvironment } from '../../src/tools/index.ts';
import { writablePlaces } from '../../src/tools/sandbox-paths.ts';
import { isInside } from '../../src/tools/root.ts';
import { allFailed, attempts, openPlace, printed, USERS } from '../support/boxes.ts';
import { freshFolder } from '../support/repos.ts';

describe.each(USERS)('rules on paths for the user %s', (user) => {
  it('E01: hide what may not be read, and keep what may not be written, there or not', async () => {
    const files = { 'a.txt': 'one\n', 'keys/one': 'key\n', 'token.txt': 'key\n', 'kept/b': 'b\n', 'free/c': 'c\n' };
    const place = openPlace(user, files);
    const paths = {
      denyRead: ['keys', `${place.project}/token.txt`, place.other, '~/.ssh', 'not-there'],
      denyWrite: ['kept', 'dist/made', '~/.ssh'],
      allowWrite: [],
    };
    const all = {
      keys: 'cat keys/one',
      token: 'cat token.txt',
      other: `cat ${place.other}/b.txt`,
      home: `cat ${place.home}/.ssh/id`,
      kept: 'echo x > kept/b',
      'not there yet': 'mkdir -p dist/made',
    };
    expect(await printed(place, attempts({ ...all, free: 'echo x > free/c' }), { paths })).toEqual([
      ...allFailed(all),
      'free: worked',
    ]);
    expect(existsSync(path.join(place.project, 'dist'))).toBe(false);
  });

  it('E01: leave writable what is in the list of every layer, and never anything outside the project', async () => {
    const place = openPlace(user, { 'a.txt': 'one\n', 'src/x/y': 'y\n', 'docs/z': 'z\n' });
    const allowWrite = [
      ['src', 'docs', place.other, place.home],
      ['src/x', place.other],
    ];
    const paths = { denyRead: [], denyWrite: [], allowWrite };
    const all = {
      top: 'echo x > a.txt',
      src: 'touch src/new',
      docs: 'touch docs/new',
      other: `touch ${place.other}/new`,
    };
    expect(await printed(place, attempts({ ...all, inner: 'echo x > src/x/y' }), { paths })).toEqual([
      ...allFailed(all),
      'inner: worked',
    ]);
    expect(readdirSync(place.project).sort()).toEqual(['a.txt', 'docs', 'src']);
  });
});

describe('writable places', () => {
  it('lie in the project and in a place of every list, whatever the lists', () => {
    const root = path.join(freshFolder(), 'p');
    const names = ['.', 'a', 'a/b', 'a/b/c', 'd', '..', '../q'];
    for (const name of names) mkdirSync(path.resolve(root, name), { recursive: true });
    const lists = fc.array(fc.array(fc.constantFrom(...names.map((name) => path.resolve(root, name)))), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(lists, (given) => {
        const inAll = (place: string): boolean =>
          isInside(root, place) && given.every((list) => list.some((folder) => isInside(folder, place)));
        const writable = writablePlaces(root, given);
        for (const name of names.map((each) => path.resolve(root, each))) {
          expect(writable.some((folder) => isInside(folder, name))).toBe(inAll(name));
        }
      }),
    );
  });
});

describe('the environment of commands', () => {
  it('E03: has a variable that a rule names, but none that makes programs load something else', () => {
    const source = { CI: '1', LD_PRELOAD: '/x', NODE_OPTIONS: '-r x', BASH_ENV: '/x', GIT_DIR: '/x', KEY: 'k' };
    const more = ['CI', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'GIT_DIR'];
    expect(toolEnvironment('/p', { ...source, PATH: '/bin' }, more)).toEqual({ CI: '1', PATH: '/bin', TERM: 'dumb' });
  });
});
