/** Runs in processes of their own that can't begin: nobody is told that they go on, and everybody what to do. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import type { LogReader } from '../../../src/store/log.ts';
import { openLog, openLogReadOnly } from '../../../src/store/log.ts';
import type { Home } from '../../support/cli.ts';
import { openHome, PUBLISHED, SMALL } from '../../support/cli.ts';
import { needs } from '../../support/needs.ts';
import { until } from '../../support/until.ts';

function fresh(): Home {
  const home = openHome(SMALL);
  onTestFinished(() => home.remove());
  return home;
}

describe('a process of its own that ends before it could do anything', () => {
  it('is no run that goes on, even where it left no word', async () => {
    const home = fresh();
    const gone = join(home.root, 'gone.cjs');
    writeFileSync(gone, "if (process.argv.includes('--hosted')) process.exit(2);");
    const env = { NODE_OPTIONS: `--require=${gone}` };
    const ran = await home.run(['run', 'Explain how add works', '--detach'], { env });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(
      /^mimir: the process ended without output\n {2}check the disk; it writes to \S+\/run\/\w+\.out\n$/,
    );
  });
});

describe('a spawn that is refused where nothing runs', () => {
  it('leaves no run behind that waits for nothing', async () => {
    const home = fresh();
    const ran = await home.run(['spawn', 'findr', 'Find add']);
    expect(ran).toMatchObject({ code: 3, out: '' });
    expect(ran.err).toMatch(/^mimir: There is no role 'findr'\. Did you mean "finder"\?\n/);
    const log = openLogReadOnly({ stateDir: home.state, project: home.project });
    onTestFinished(() => log.close());
    await until(() => log.sessions().every(({ state }) => state === 'stopped'));
    expect(log.sessions()).toHaveLength(1);
  });
});

describe('a spawn into a folder that is none of the project', () => {
  const files = (home: Home): LogReader => {
    const log = openLogReadOnly({ stateDir: home.state, project: home.project });
    onTestFinished(() => log.close());
    return log;
  };

  it.each([
    [
      'nosuch',
      /^mimir: --working-dir nosuch: there is no such folder in the project \S+\n {2}use a folder in the project\n$/,
    ],
    ['..', /^mimir: --working-dir \.\. is outside the project \S+\n {2}use a folder in the project\n$/],
  ])('S028: is exit 2 where nothing runs, and begins no run: %s', async (folder, words) => {
    const home = fresh();
    const ran = await home.run(['spawn', 'finder', 'Find add', '--working-dir', folder]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(words);
    expect(files(home).sessions()).toEqual([]);
  });
});

describe('a spawn while another process begins a run', () => {
  it('says that it waits for that one, and goes on after it', async () => {
    const home = fresh();
    const log = openLog({ stateDir: home.state, project: home.project });
    onTestFinished(() => log.close());
    expect(log.claim(SessionId.parse('first-run'))).toMatchObject({ ok: true });
    const spawning = home.start(['spawn', 'findr', 'Find add']);
    await until(() => spawning.err() === 'mimir: another process is starting a run in this project: waiting\n');
    log.release(SessionId.parse('first-run'));
    expect(await spawning.ended).toMatchObject({ code: 3 });
  });
});

describe('a state folder that is read-only', () => {
  needs('bubblewrap');

  it('is said of a spawn as what it is, with what to do, and not as a bug', async () => {
    const home = fresh();
    // Somebody has it open, so that it can be read.
    const log = openLog({ stateDir: home.state, project: home.project });
    onTestFinished(() => log.close());
    expect(log.claim(SessionId.parse('abc123'))).toMatchObject({ ok: true });
    log.release(SessionId.parse('abc123'));
    const program = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', home.state, home.state, ...PUBLISHED];
    const spawned = await home.run(['spawn', 'finder', 'Find add'], { program });
    expect(spawned).toMatchObject({ code: 2, out: '' });
    expect(spawned.err).toMatch(
      /^mimir: the log \S+ cannot be written: it is read-only; make it writable, or set XDG_STATE_HOME to another folder\n$/,
    );
    const detached = await home.run(['run', 'x', '--detach'], { program });
    expect(detached).toMatchObject({ code: 2, out: '' });
    expect(detached.err).toMatch(
      /(?:EROFS|ENOENT).*\n {2}make it writable, or set XDG_STATE_HOME to another folder\n$/,
    );
  });

  it('is said where the folder can’t be made', async () => {
    const home = fresh();
    mkdirSync(dirname(home.state), { recursive: true });
    writeFileSync(home.state, 'a file');
    const detached = await home.run(['run', 'x', '--detach']);
    expect(detached).toMatchObject({ code: 2, out: '' });
    expect(detached.err).toMatch(/\n {2}make it writable, or set XDG_STATE_HOME to another folder\n$/);
  });
});
