import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { LogFault } from '../../src/ports/log.ts';
import { databaseOf, folderOf, inWords } from '../../src/store/database.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import { ended, start } from '../support/child.ts';
import { freshFolder } from '../support/folder.ts';

const CHILD = join(import.meta.dirname, '../support/log-child.ts');
const SESSION = SessionId.parse('child');
/** Somebody who is not root and owns nothing. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** Opens a log as an ordinary user: rights mean nothing to root. */
async function asOrdinary(act: string, stateDir: string, project: string): Promise<string> {
  const node = [process.execPath, CHILD, act, stateDir, project];
  const drop = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
  const [command = '', ...args] = isRoot ? [...drop, ...node] : node;
  const { out, err } = await ended(start(command, args));
  expect(err).toBe('');
  return out.trimEnd();
}

/** A state folder with one log in it that belongs to the ordinary user. */
function filled(): { stateDir: string; project: string } {
  const home = freshFolder();
  chmodSync(home, 0o755);
  const place = { stateDir: join(home, 'mimir'), project: freshFolder() };
  chmodSync(place.project, 0o755);
  const log = openLog(place);
  log.append(SESSION, '2026-01-01T12:00:00.000Z', [{ type: 'session.mode', mode: 'yolo' }]);
  log.close();
  if (isRoot) for (const path of [home, ...pathsIn(home)]) chownSync(path, NOBODY, NOBODY);
  return place;
}

const pathsIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const rightsOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);

describe('the files of a log', () => {
  it('are for the user alone: folders 0700, files 0600', () => {
    const place = { stateDir: join(freshFolder(), 'state/mimir'), project: freshFolder() };
    const log = openLog(place);
    log.append(SESSION, '2026-01-01T12:00:00.000Z', [{ type: 'session.mode', mode: 'yolo' }]);
    const rights = pathsIn(place.stateDir).map((path) => [statSync(path).isDirectory(), rightsOf(path)]);
    expect(rights.length).toBeGreaterThanOrEqual(5);
    expect(rights).toEqual(rights.map(([isFolder]) => [isFolder, isFolder === true ? '700' : '600']));
    log.close();
  });

  it('are made private again when they were opened to others', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    openLog(place).close();
    chmodSync(databaseOf(place), 0o644);
    chmodSync(folderOf(place), 0o755);
    openLog(place).close();
    expect([rightsOf(databaseOf(place)), rightsOf(folderOf(place))]).toEqual(['600', '700']);
  });

  it('are refused when the database is a link to somewhere else', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    mkdirSync(folderOf(place), { recursive: true });
    symlinkSync('/dev/null', databaseOf(place));
    const words = `${databaseOf(place)} is not a regular file: move it away, and Mimir creates a new one`;
    expect(() => openLog(place)).toThrow(words);
    expect(() => openLogReadOnly(place)).toThrow(words);
  });

  it('can be read where nothing can be written, and writing says why it can not', async () => {
    const { stateDir, project } = filled();
    const folder = folderOf({ stateDir, project });
    chmodSync(join(folder, 'log.db'), 0o400);
    for (const path of [folder, join(stateDir, 'projects'), stateDir]) chmodSync(path, 0o500);
    expect(await asOrdinary('read', stateDir, project)).toBe('read 1');
    expect(await asOrdinary('write', stateDir, project)).toMatch(
      /^LogFault: the log \S+ cannot be (?:written|opened): /,
    );
    expect(await asOrdinary('write', stateDir, freshFolder())).toMatch(
      /^LogFault: the log cannot be written: EACCES.*\n {2}\S+ must be a folder that you can write to \(XDG_STATE_HOME moves it\)$/,
    );
    // An ordinary user could not remove what is below them.
    for (const path of [stateDir, join(stateDir, 'projects'), folder]) chmodSync(path, 0o700);
  });

  it('can not be made in a folder that may not be written, and it is said why', async () => {
    const { stateDir } = filled();
    const project = freshFolder();
    chmodSync(project, 0o755);
    const folder = folderOf({ stateDir, project });
    mkdirSync(folder);
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    chmodSync(folder, 0o500);
    expect(await asOrdinary('write', stateDir, project)).toMatch(/^LogFault: the log cannot be written: EACCES/);
    chmodSync(folder, 0o700);
  });

  it('are refused when they belong to somebody else', () => {
    // Only root can make somebody else's file; for an ordinary user the root folder is one.
    const place = isRoot ? filled() : { stateDir: '/', project: freshFolder() };
    expect(() => openLog(place)).toThrow(
      isRoot ? 'belongs to another user (65534, you are 0)' : '/ belongs to another user (0, you are ',
    );
  });
});

describe('what the database refuses', () => {
  const said = (errcode: number): (() => unknown) => {
    const refusal = Object.assign(new Error('no such table'), { errcode });
    return () =>
      inWords('log.db', () => {
        throw refusal;
      });
  };

  it('is told by its kind, also where the code says more than the kind', () => {
    for (const code of [8, 8 + 256, 8 + 5 * 256])
      expect(said(code)).toThrow('the log log.db cannot be written: it is read-only; make it writable');
  });

  it.each([
    [5, 'has been locked by another process for more than 5 s: try again when that process has ended'],
    [8, 'cannot be written: it is read-only'],
    [10, 'cannot be written: the disk reports an error'],
    [11, 'is damaged (not a complete SQLite database)'],
    [13, 'cannot be written: the disk is full'],
    [14, 'cannot be opened: check the permissions of its folder'],
    [26, 'is damaged (not a SQLite database)'],
  ])('is told in words with what to do: %i', (code, words) => {
    expect(said(code)).toThrow(`the log log.db ${words}`);
  });

  it.each([4, 6, 7, 9, 12, 15, 25, 27])('has no words of ours for %i', (code) => {
    expect(said(code)).toThrow(new LogFault('the log log.db cannot be used: no such table'));
  });

  it('is told in its own words where the kind is none that a person can do something about', () => {
    expect(said(1)).toThrow(new LogFault('the log log.db cannot be used: no such table'));
  });
});

describe('a full disk', () => {
  it('is told in plain words, and keeps what was on the disk before', async () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    // A limit on the size of files is what a full disk looks like from inside, and needs no disk.
    const command = 'ulimit -f 400; exec "$0" "$@"';
    const { out } = await ended(
      start('bash', ['-c', command, process.execPath, CHILD, 'fill', place.stateDir, place.project]),
    );
    expect(out).toMatch(/^LogFault: the log \S+ cannot be written: /);
    const log = openLog(place);
    const events = log.read(SESSION);
    expect(events.length).toBeGreaterThan(0);
    log.append(SESSION, '2026-01-01T12:00:00.000Z', [{ type: 'session.mode', mode: 'yolo' }]);
    expect(log.read(SESSION)).toHaveLength(events.length + 1);
    log.close();
  });
});
