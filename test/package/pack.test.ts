import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Ended } from '../support/child.ts';
import { ended, start } from '../support/child.ts';
import { KEY, openDouble } from '../support/double/double.ts';
import { needs } from '../support/needs.ts';
import { planText } from '../support/on-the-wire.ts';
import { startTerminal } from '../support/pty.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What the package is made of; tests and the log of the house stay at home. */
const PARTS = ['src', '.mimir', 'themes', '.setup', 'package.json', 'README.md', 'LICENSE'];
const MB = 1024 * 1024;

let work = '';
/** Where the package is installed. */
let home = '';
/** A small repository of somebody's. */
let project = '';

/** Node 24 first in PATH, as for somebody who has it; a home of its own, and no key. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:ANTHROPIC|OPENAI|XDG|MIMIR|NODE_OPTIONS)/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    XDG_STATE_HOME: join(work, 'state'),
    XDG_CONFIG_HOME: join(work, 'config'),
  };
}

async function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return ended(start('bash', ['-c', 'cd "$1" && shift && exec "$@"', 'run', cwd, command, ...args], environment()));
}

/** Runs the installed program in the project. */
const mimir = (...args: readonly string[]): Promise<Ended> => run(join(home, 'node_modules/.bin/mimir'), args, project);

beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-pack-')));
  [home, project] = [join(work, 'home'), join(work, 'project')];
  const source = join(work, 'source');
  for (const folder of [home, project, source, join(project, 'src')]) mkdirSync(folder, { recursive: true });
  // A copy, so that packing leaves nothing in the checkout.
  for (const part of PARTS) {
    if (existsSync(join(ROOT, part))) cpSync(join(ROOT, part), join(source, part), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', work], source);
  expect(packed).toMatchObject({ code: 0 });
  writeFileSync(join(home, 'package.json'), '{ "name": "somebody", "version": "1.0.0", "private": true }');
  const tarball = join(work, packed.out.trim().split('\n').at(-1) ?? '');
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  expect(await run('npm', ['install', ...quiet, tarball], home)).toMatchObject({ code: 0 });
  writeFileSync(join(project, 'package.json'), '{ "name": "small", "main": "src/index.js" }');
  writeFileSync(join(project, 'src/index.js'), "import { add } from './add.js';\nconsole.log(add(1, 2));\n");
  writeFileSync(join(project, 'src/add.js'), 'export const add = (a, b) => eval(`${a} + ${b}`);\n');
  writeFileSync(join(project, 'README.md'), '# Small\n\nAdds numbers.\n');
  expect(await run('git', ['init', '-q'], project)).toMatchObject({ code: 0 });
}, 120_000);

afterAll(() => {
  rmSync(work, { recursive: true, force: true });
});

/** Bytes of the files under `folder`. */
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);

describe('the published package, installed', () => {
  it('is no larger than 60 MB with all that it needs', () => {
    expect(sizeOf(join(home, 'node_modules')) / MB).toBeLessThan(60);
  });

  it('carries the program, its defaults and the licences of what is inside, and no source', () => {
    const own = join(home, 'node_modules/mimir');
    expect(readdirSync(own).sort()).toEqual(expect.arrayContaining(['.mimir', 'dist', 'package.json', 'themes']));
    expect(['src', 'test', '.setup', '.ci'].filter((name) => existsSync(join(own, name)))).toEqual([]);
    expect(readFileSync(join(own, 'dist/LICENSES.txt'), 'utf8')).toMatch(/^zod /m);
  });

  it('says its version', async () => {
    const version = await mimir('--version');
    expect(version).toMatchObject({ code: 0, err: '' });
    expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('says what works here', async () => {
    const doctor = await mimir('doctor');
    expect(doctor).toMatchObject({ code: 0, err: '' });
    expect(doctor.out).toContain('offline');
  });

  it('does its main job on a small repository, and prints nothing but events', async () => {
    const task = 'Find the entry points of this repository and review the riskiest file';
    const done = await mimir('run', task, '--yes', '--json');
    expect(done).toMatchObject({ code: 0, signal: null });
    const types = done.out.trimEnd().split('\n').map(typeOf);
    expect([types[0], types.at(-1)]).toEqual(['session.started', 'session.finished']);
    expect(types.filter((type) => type === 'plan.approved')).toHaveLength(1);
    expect(types.filter((type) => type === 'agent.created').length).toBeGreaterThanOrEqual(2);
  });

  it('reads few files of code: each costs a start time', async () => {
    const [hook, seen] = [join(work, 'seen.mjs'), join(work, 'seen')];
    writeFileSync(
      hook,
      `import { appendFileSync } from 'node:fs';
      import { registerHooks } from 'node:module';
      registerHooks({
        load(url, context, next) {
          if (url.includes('/dist/')) appendFileSync(${JSON.stringify(seen)}, url + '\\n');
          return next(url, context);
        },
      });`,
    );
    const read = async (...args: readonly string[]): Promise<number> => {
      rmSync(seen, { force: true });
      const program = join(home, 'node_modules/mimir/dist/mimir.js');
      expect(await run(process.execPath, ['--import', hook, program, ...args], project)).toMatchObject({ code: 0 });
      return readFileSync(seen, 'utf8').trim().split('\n').length;
    };
    expect(await read('--version')).toBeLessThanOrEqual(6);
    expect(await read('status', '--json')).toBeLessThanOrEqual(14);
    expect(await read('run', 'Find dead code', '--yes', '--json')).toBeLessThanOrEqual(28);
  });

  describe('where it has boxes', () => {
    needs('bubblewrap');

    it('carries a run in a process of its own, with verbs in its boxes, and a screen on it that asks while it draws (S001, S022, H018)', async () => {
      const spawn =
        'mimir spawn explore "Look around" --name looker --wait 60; echo asked >> asked; until [ -e go ]; do sleep 0.05; done';
      const double = await openDouble({
        rules: [
          {
            when: { first: '# Roles' },
            answer: { text: planText(['Work', 'oracle']).replace('"dependencies"', '"maySpawn":true,"dependencies"') },
          },
          { when: { first: '^Work', turn: 1 }, answer: { calls: [{ tool: 'bash', input: { command: spawn } }] } },
          { answer: { text: 'It is done.' } },
        ],
      });
      onTestFinished(async () => {
        // Only where it did not come to its end.
        await mimir('kill', 'ROOT');
        await double.close();
      });
      const own = { ...environment(), ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: double.url };
      const program = join(home, 'node_modules/.bin/mimir');
      const started = await ended(
        start('bash', ['-c', `cd '${project}' && '${program}' run Work --yes --mode yolo --detach`], own),
      );
      expect(started).toMatchObject({ code: 0, err: '' });
      await until(() => existsSync(join(project, 'asked')));
      const screen = startTerminal(program, ['attach'], {
        cwd: project,
        env: { ...own, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      });
      await screen.waitFor(/✓ .*explore-looker/, { timeout: 30_000 });
      // What a mode would change is asked of the other process by a thread, which is a file of its own in the package.
      screen.press('backtab');
      await screen.waitFor('Applies to all agents', { timeout: 30_000 });
      screen.press('up');
      screen.press('enter');
      await screen.waitFor(/MIMIR .*confirm/, { timeout: 30_000 });
      writeFileSync(join(project, 'go'), '');
      await screen.waitFor('┌─ 1 Answer', { timeout: 30_000 });
      screen.press('q');
      expect((await screen.exit).code).toBe(0);
      const events = (await mimir('events', '--json')).out.trimEnd().split('\n').map(typeOf);
      expect(events.filter((type) => type === 'mode.changed' || type === 'session.mode')).toHaveLength(1);
    });
  });
});

function typeOf(line: string): unknown {
  const event: unknown = JSON.parse(line);
  return typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
}
