import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import { isOlder, readManaged } from '../../../src/config/managed/managed.ts';
import { rememberManaged, seenFile, vanished } from '../../../src/config/settings/policy-watcher.ts';
import { freshDirectory, rootsDirectory } from '../some-place.ts';
import { needs } from '../../support/needs.ts';

/** What is read below a folder that `make` has filled, or what is wrong, with the folder as `/etc/mimir`. */
function read(make: (root: string) => void): readonly string[] {
  const root = rootsDirectory();
  make(root);
  const result = readManaged(root);
  const told = result.ok ? result.value.map(({ shown, text }) => `${shown}: ${text}`) : result.fault.map(faultText);
  return told.map((line) => line.replaceAll(root, '/etc/mimir'));
}

const FILE = '/etc/mimir/policy.yml';

describe('the files of an administrator', () => {
  needs('root');

  it('are read in the order of their names, policy.yml first; other names are left alone', () => {
    expect(
      read((root) => {
        mkdirSync(path.join(root, 'policy.d'));
        for (const name of [
          'policy.d/20.yml',
          'policy.yml',
          'policy.d/10.yml',
          'policy.d/.10.yml.swp',
          'policy.d/README',
        ]) {
          writeFileSync(path.join(root, name), '');
        }
      }),
    ).toEqual([`${FILE}: `, '/etc/mimir/policy.d/10.yml: ', '/etc/mimir/policy.d/20.yml: ']);
    expect(read(() => undefined)).toEqual([]);
    expect(readManaged('/nowhere/at/all')).toEqual({ ok: true, value: [] });
  });

  it.each<readonly [string, (file: string) => void, string]>([
    ['a directory', (file) => mkdirSync(file), 'is not a regular file'],
    ['a FIFO', (file) => spawnSync('mkfifo', ['-m', '644', file]), 'is not a regular file'],
    ['a link to a device', (file) => symlinkSync('/dev/zero', file), 'is writable by everyone'],
    ['a link that leads nowhere', (file) => symlinkSync('gone.yml', file), 'is a broken symbolic link'],
    ['a link to itself', (file) => symlinkSync(path.basename(file), file), 'has too many symbolic links in its path'],
    [
      'a link into a folder of everybody’s',
      (file) => symlinkSync('/tmp/policy.yml', file),
      '/tmp is writable by everyone',
    ],
    [
      'a link back through a folder of somebody’s',
      (file) => symlinkSync('own/../policy.yml', file),
      'own belongs to user 1000',
    ],
    [
      '100 MB without content',
      (file) => (writeFileSync(file, ''), truncateSync(file, 100 * 1024 * 1024)),
      'is larger than 64 KiB',
    ],
    ['not UTF-8', (file) => writeFileSync(file, Buffer.from([0x61, 0xff])), 'is not UTF-8 text'],
  ])('B13: are refused at once when one is %s', (_, make, problem) => {
    const began = performance.now();
    const told = read((root) => {
      mkdirSync(path.join(root, 'own'));
      chownSync(path.join(root, 'own'), 1000, 1000);
      make(path.join(root, 'policy.yml'));
    });
    expect(told).toEqual([expect.stringContaining(problem)]);
    // A FIFO would block for ever.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('may be links within folders that are only root’s', () => {
    expect(
      read((root) => {
        mkdirSync(path.join(root, 'versions'));
        writeFileSync(path.join(root, 'versions/2.yml'), 'mode: { max: confirm }');
        symlinkSync('versions/2.yml', path.join(root, 'policy.yml'));
      }),
    ).toEqual([`${FILE}: mode: { max: confirm }`]);
  });

  it('B12: are refused as soon as a folder above them is anybody’s', () => {
    const told = read((root) => {
      mkdirSync(path.join(root, 'policy.d'));
      writeFileSync(path.join(root, 'policy.d/1.yml'), '');
      chmodSync(path.join(root, 'policy.d'), 0o777);
    });
    expect(told).toEqual([
      '/etc/mimir/policy.d: /etc/mimir/policy.d is writable by everyone (mode 0777) — run: chmod go-w /etc/mimir/policy.d',
    ]);
  });
});

describe('the record of managed files', () => {
  const one = [{ shown: FILE, digest: 'a' }];
  const some = (): {
    readonly home: string;
    readonly state: string;
    readonly config: string;
    readonly runtime: string;
  } => {
    const home = freshDirectory();
    return { home, state: path.join(home, 'state'), config: home, runtime: home };
  };

  it('refuses nothing at first, knows what was there, and takes changes as they are', () => {
    const places = some();
    expect(vanished(one, places)).toEqual([]);
    rememberManaged(one, places);
    expect(vanished(one, places)).toEqual([]);
    expect(vanished([{ shown: FILE, digest: 'b' }], places)).toEqual([]);
    expect(vanished([], places).map(faultText)).toEqual([
      `${FILE}: applied here before and is missing — restore it; if the administrator removed it, delete ~/state/managed-seen.json`,
    ]);
  });

  it('makes no state where nobody manages anything', () => {
    const places = some();
    rememberManaged([], places);
    expect(spawnSync('ls', [places.state]).status).not.toBe(0);
  });

  it('that is damaged refuses as well', () => {
    const places = some();
    rememberManaged(one, places);
    writeFileSync(seenFile(places), '{');
    expect(vanished(one, places).map(faultText)).toEqual([
      '~/state/managed-seen.json: this record of the managed policy is damaged — check the managed policy, then remove this file',
    ]);
  });
});

describe('versions', () => {
  it('are compared number by number', () => {
    const older: readonly (readonly [string, string])[] = [
      ['0.1.0', '0.2'],
      ['0.9.0', '0.10'],
      ['1.2.3', '2'],
      ['0', '0.0.1'],
    ];
    const notOlder: readonly (readonly [string, string])[] = [
      ['1.0.0', '1.0'],
      ['1.0.1', '1'],
      ['2.0.0', '1.9.9'],
      ['0.10.0', '0.9'],
    ];
    expect(older.map(([own, least]) => isOlder(own, least))).toEqual([true, true, true, true]);
    expect(notOlder.map(([own, least]) => isOlder(own, least))).toEqual([false, false, false, false]);
  });
});
