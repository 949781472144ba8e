/** What policy adds to the box: paths that are hidden or kept, lists of what stays writable, names that are passed on. */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolEnvironment } from '../../src/tools/index.ts';
import { writablePlaces } from '../../src/tools/sandbox/places.ts';
import { isInside } from '../../src/tools/paths/root.ts';
import { allFailed, attempts, openPlace, printed, USERS } from '../support/boxes.ts';
import { freshFolder, writeFiles } from '../support/repos.ts';

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

describe('what a command inherits', () => {
  it('E03: is none of the descriptors that Mimir was started with, in the box and outside', async () => {
    const place = openPlace('ordinary');
    const within = ['bash', '-c', 'exec 9</etc/hostname 47</etc/hosts; exec "$@"', 'x'];
    const inBox = await printed(place, 'readlink /proc/self/fd/* /proc/1/fd/*; echo end', { within });
    const outside = await printed(place, 'readlink /proc/self/fd/*; echo end', { box: 'none', within });
    // Not of nothing either: a command that takes the number for free would write there.
    const open = 'for n in 9 47; do [ -e /proc/self/fd/$n ] && echo $n; done; echo end';
    const numbers = [await printed(place, open, { within }), await printed(place, open, { box: 'none', within })];
    expect(numbers).toEqual([['end'], ['end']]);
    for (const listed of [inBox, outside]) {
      expect(listed.at(-1)).toBe('end');
      expect(listed.filter((line) => line.startsWith('/etc/'))).toEqual([]);
    }
  });
});

describe('a project with tool chains in the home', () => {
  it('E01: shows the folders that PATH names, and nothing else of the home', async ({ skip }) => {
    const place = openPlace('ordinary');
    if (isInside('/tmp', place.home))
      skip('needs root: a home below /tmp, which commands have of their own, is not shown');
    const at = (name: string): string => path.join(place.home, name);
    const script = '#!/bin/sh\necho ran "$0"\n';
    const programs = ['.nvm/versions/v1/bin/one', '.local/bin/two', '.local/pipx/venvs/t/bin/three', '.cargo/bin/four'];
    writeFiles(place.home, Object.fromEntries(programs.map((name) => [name, script])));
    writeFiles(place.home, { '.cargo/credentials.toml': 'key\n', '.local/share/keyrings/k': 'key\n' });
    for (const name of programs) chmodSync(at(name), 0o755);
    symlinkSync(at('.local/pipx/venvs/t/bin/three'), at('.local/bin/three'));
    const folders = ['.nvm/versions/v1/bin', '.local/bin', '.cargo/bin'].map(at);
    const PATH = [...folders, process.env['PATH'] ?? ''].join(':');
    const all = { cargo: `cat ${at('.cargo/credentials.toml')}`, ring: `cat ${at('.local/share/keyrings/k')}` };
    const ssh = { ssh: `cat ${at('.ssh/id')}`, change: `echo x >> ${at('.local/bin/two')}` };
    expect(await printed(place, `one; two; three; four\n${attempts({ ...all, ...ssh })}`, { env: { PATH } })).toEqual([
      `ran ${at('.nvm/versions/v1/bin/one')}`,
      `ran ${at('.local/bin/two')}`,
      `ran ${at('.local/bin/three')}`,
      `ran ${at('.cargo/bin/four')}`,
      ...allFailed({ ...all, ...ssh }),
    ]);
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
  it('E03, S154: has a variable that a rule names, but none that makes programs load something else', () => {
    const source = { CI: '1', LD_PRELOAD: '/x', NODE_OPTIONS: '-r x', BASH_ENV: '/x', GIT_DIR: '/x', KEY: 'k' };
    const more = ['CI', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'GIT_DIR'];
    expect(toolEnvironment('/p', { ...source, PATH: '/bin' }, more)).toEqual({ CI: '1', PATH: '/bin', TERM: 'dumb' });
  });

  it('S114, S154: has no socket of an agent that acts for the person, whoever lists it, but an administrator', () => {
    const names =
      'SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS SUDO_ASKPASS GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR'
        .concat(' VSCODE_GIT_IPC_HANDLE NOTIFY_SOCKET')
        .split(' ');
    const source = { ...Object.fromEntries(names.map((name) => [name, '/run/x'])), CI: '1', PATH: '/bin' };
    const clean = { CI: '1', PATH: '/bin', TERM: 'dumb' };
    expect(toolEnvironment('/p', source, [...names, 'CI'])).toEqual(clean);
    expect(toolEnvironment('/p', source, [...names, 'CI'], ['SSH_AUTH_SOCK'])).toEqual({
      ...clean,
      SSH_AUTH_SOCK: '/run/x',
    });
    // What makes programs load something else, and Mimir's own door, nobody can grant.
    const never = ['LD_PRELOAD', 'MIMIR_SOCKET', 'PATH'];
    const odd = { LD_PRELOAD: '/x', MIMIR_SOCKET: '/x', PATH: '/bin' };
    expect(toolEnvironment('/p', odd, never, never)).toEqual({ PATH: '/bin', TERM: 'dumb' });
  });
});
