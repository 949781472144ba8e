import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Home, How, Ran } from '../support/cli.ts';
import { CHECKOUT, jsonLines, openHome, PUBLISHED, SMALL } from '../support/cli.ts';
import { holding, like } from '../support/like.ts';
import { skipWithout } from '../support/needs.ts';

const TASK = 'Find eval and review the code';
/** Nothing that a terminal would obey: printable characters and line breaks. */
const PLAIN = /^[\n\x20-\x7e\u00a1-\ud7ff\ue000-\uffef\u{10000}-\u{10ffff}]*$/u;

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  // A folder that nobody may enter would stay behind.
  spawnSync('chmod', ['-R', 'u+rwX', home.root]);
  home.remove();
});

let folders = 0;
let folder = '';
beforeEach(() => {
  folder = join(home.root, `project-${(folders += 1)}`);
  mkdirSync(folder);
  chmodSync(folder, 0o777);
});

const runHere = (how: How = {}, ...flags: readonly string[]): Promise<Ran> =>
  home.run(['run', TASK, '--yes', ...flags], { cwd: folder, ...how });

/** As an ordinary user, who has a state directory of its own. */
const asUser = (): How => ({
  program: [...home.ordinary, ...PUBLISHED],
  env: { XDG_STATE_HOME: join(home.root, 'home/state') },
});

const configured = (text: string): void => {
  mkdirSync(join(folder, '.mimir'));
  writeFileSync(join(folder, '.mimir/config.yml'), text);
};

describe('a configuration with a fault is refused with its place, and nothing runs:', () => {
  it('unless it stands in an option, which is named instead', async () => {
    expect(await home.run(['run', '--model', 'sonet-4.5', 'x'], { cwd: folder })).toMatchObject({
      code: 3,
      err: holding(
        'the options have faults; nothing was run:\n  --model: "sonet-4.5" is not a known model — did you mean',
      ),
    });
  });

  it.each([
    ['broken YAML', 'mode: [', like(/\.mimir\/config\.yml:\d+:\d+: .* — fix the YAML here\n$/)],
    ['a key twice', 'mode: { max: confirm }\nmode: { max: confirm }\n', holding('.mimir/config.yml:2:1: ')],
    ['an unknown key', 'budget: {}\n', holding('.mimir/config.yml:1:1: unknown key budget — did you mean "budgets"?')],
    ['a wrong type', 'budgets: { run: { maxCost: lots } }\n', holding('.mimir/config.yml:1:19: ')],
    ['a grant by a project', 'commands: { allow: ["rm **"] }\n', holding('.mimir/config.yml:1:')],
  ])('of a project: %s', async (_, text, err) => {
    configured(text);
    const ran = await runHere();
    expect(ran).toMatchObject({ code: 3, out: '', err: holding('the configuration has faults; nothing was run:\n') });
    expect(ran.err).toEqual(err);
    expect(await home.run(['sessions'], { cwd: folder })).toMatchObject({ out: holding('no sessions yet') });
  });

  it('of the user, by the name that people give it', async () => {
    const own = openHome(SMALL);
    writeFileSync(join(own.config, 'config.yml'), 'budgets:\n  run: { maxKost: 1 }\n');
    expect(await own.run(['run', TASK, '--yes'])).toMatchObject({
      code: 3,
      err: like(/config\.yml:2:10: unknown key .*maxKost — did you mean "maxCost"\?\n$/),
    });
    own.remove();
  });

  it('of the user for a name of the screen too, since a word in the wrong place may be a whole provider', async () => {
    const own = openHome(SMALL);
    writeFileSync(join(own.config, 'config.yml'), 'provider: {}\nui: { tehme: mimir-dark }\n');
    const err = /config\.yml:1:1: unknown key provider — did you mean "providers"\?\n.*config\.yml:2:7: .*"theme"\?\n$/;
    for (const verb of [
      ['run', TASK],
      ['plan', TASK],
      ['config', 'show'],
    ])
      expect(await own.run(verb)).toMatchObject({ code: 3, out: '', err: like(err) });
    own.remove();
  });
});

describe('a project folder that is odd', () => {
  it('may be empty: the run says what there is', async () => {
    const { code, out } = await runHere();
    expect(code).toBe(0);
    expect(out).toContain('There is no source file to review in this repository (list of all files: 0 files).');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('must be a folder, be there, and be readable', async () => {
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'closed'), { mode: 0 });
    const at = async (name: string): Promise<Ran> => runHere(asUser(), '--cwd', join(folder, name));
    expect([await at('file'), await at('file/below'), await at('none'), await at('closed')]).toEqual(
      [
        'file: is a file, not a directory — give the directory of the project',
        'file/below: has a file in its path where a directory is expected — give the directory of the project',
        'none: does not exist — check the path, or create the directory first',
        'closed: cannot be read: no permission — check its permissions',
      ].map((words) => ({ code: 2, signal: null, out: '', err: `mimir: ${folder}/${words}\n` })),
    );
  });

  it('may not be a link in place of .mimir, nor the home directory', async () => {
    symlinkSync(home.config, join(folder, '.mimir'));
    expect(await runHere()).toMatchObject({ code: 2, out: '', err: holding('.mimir: is a symbolic link') });
    const above = String(home.env['HOME']);
    expect(await home.run(['run', TASK, '--yes'], { cwd: above })).toMatchObject({
      code: 2,
      err: `mimir: ${above}: the home directory cannot be a project; use a project folder\n`,
    });
  });

  it('may be gone: the words say so, and other places still work', async () => {
    const gone = await home.shell(
      `mkdir gone && cd gone && rmdir ../gone && mimir sessions; echo $?; mimir --version; mimir sessions --cwd '${home.project}'`,
      { cwd: folder },
    );
    expect(gone.out).toMatch(/^2\n\d+\.\d+\.\d+\nThis project has no sessions yet/);
    expect(gone.err).toBe('mimir: the current directory is gone\n  go into one that exists, or name one with --cwd\n');
  });

  it('may be read-only, and hold files and folders that may not be read', async () => {
    writeFileSync(join(folder, 'open.js'), 'eval(process.argv[2]);\n');
    writeFileSync(join(folder, 'secret.js'), 'eval(1);\n');
    chmodSync(join(folder, 'secret.js'), 0);
    mkdirSync(join(folder, 'closed'), { mode: 0 });
    chmodSync(folder, 0o555);
    const { code, out, err } = await runHere(asUser());
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('open.js:1');
    expect(out).not.toContain('could not look');
  });
});

describe('a tree that is odd', () => {
  let report = '';
  let events: readonly Record<string, unknown>[] = [];
  let ran: Ran;
  const names = [
    'with space.js',
    'new\nline.js',
    '宽 和 wide.js',
    'esc\u001b]0;owned\u0007\u001b[2J.js',
    '\u202eltr.js',
    "it's $(id).js",
  ];

  beforeAll(async () => {
    const tree = join(home.root, 'tree');
    for (let n = 0; n < 50; n += 1) {
      mkdirSync(join(tree, `part-${n}`), { recursive: true });
      for (let m = 0; m < 100; m += 1) writeFileSync(join(tree, `part-${n}`, `${m}.js`), `export const x = ${m};\n`);
    }
    for (const name of names) writeFileSync(join(tree, name), 'eval("\u001b[31mred\u009b2J");\n');
    writeFileSync(join(tree, 'huge.js'), 'eval(1);\n');
    truncateSync(join(tree, 'huge.js'), 1024 ** 3);
    await home.shell('mkfifo pipe.js', { cwd: tree });
    symlinkSync('/etc', join(tree, 'out'));
    ran = await home.run(['run', TASK, '--yes', '--json'], { cwd: tree });
    events = jsonLines(ran.out);
    report = (await home.run(['report'], { cwd: tree })).out;
  });

  it('is read to the end: 5,000 files, one of 1 GB, a pipe, a link that leads out', () => {
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(events.at(-1)).toMatchObject({ type: 'session.finished', status: 'completed' });
    expect(report).toContain('with space.js:1');
    expect(report).not.toContain('passwd');
  });

  it('gives no terminal anything to obey: not by names, not by contents, in lines nor as JSON', async () => {
    const cwd = join(home.root, 'tree');
    expect(report).toMatch(PLAIN);
    expect(ran.out).toMatch(PLAIN);
    for (const args of [['show'], ['events'], ['report', '--format', 'html'], ['run', TASK, '--yes']]) {
      const { out, err } = await home.run(args, { cwd });
      expect(out).toMatch(PLAIN);
      expect(err).toBe('');
    }
  });
});

describe('a task that is odd', () => {
  it('is carried as it is, and shown harmless on one line where one line is meant', async () => {
    const task = 'Find `add`\u001b]0;owned\u0007\nand <b>**bold**</b> | "quotes" 宽宽宽 \u009b2J';
    writeFileSync(join(folder, 'a.js'), 'add(1);\n');
    const done = await runHere({}, '--json');
    expect(done.code).toBe(0);
    const { out } = await home.run(['run', task, '--yes', '--json'], { cwd: folder });
    expect(out).toMatch(PLAIN);
    expect(jsonLines(out)[0]).toMatchObject({ task });
    const [sessions, html, json] = await Promise.all([
      home.run(['sessions'], { cwd: folder }),
      home.run(['report', '--format', 'html'], { cwd: folder }),
      home.run(['report', '--format', 'json'], { cwd: folder }),
    ]);
    expect(sessions.out.trimEnd().split('\n')).toHaveLength(2);
    expect(sessions.out).toMatch(PLAIN);
    expect(html.out).toContain(
      '<title>Mimir: Find `add`\nand &lt;b&gt;**bold**&lt;/b&gt; | &quot;quotes&quot; 宽宽宽 </title>',
    );
    expect(html.out).not.toContain('<b>');
    expect(JSON.parse(json.out)).toMatchObject({ task });
  });
});

describe('the state directory', () => {
  it('that cannot be made stops a run before it begins, with words', async () => {
    const XDG_STATE_HOME = join(folder, 'file');
    writeFileSync(XDG_STATE_HOME, '');
    expect(await runHere({ env: { XDG_STATE_HOME }, cwd: home.project })).toMatchObject({
      code: 2,
      out: '',
      err: like(
        /^mimir: the log cannot be written: .*\n {2}.* must be a folder that you can write to \(XDG_STATE_HOME moves it\)\n$/,
      ),
    });
    expect(await home.run(['sessions'], { env: { XDG_STATE_HOME } })).toMatchObject({
      code: 2,
      err: like(/^mimir: the log cannot be read: .*\n {2}check the folder \(XDG_STATE_HOME moves it\)\n$/),
    });
  });

  it('that is not writable is seen by doctor, and stops a run', async () => {
    const XDG_STATE_HOME = join(folder, 'closed');
    mkdirSync(XDG_STATE_HOME, { mode: 0o555 });
    const how = { ...asUser(), env: { XDG_STATE_HOME } };
    const doctor = await home.run(['doctor'], how);
    expect(doctor).toMatchObject({
      code: 3,
      out: holding(`${XDG_STATE_HOME} is not writable: runs could not be recorded`),
    });
    expect(await runHere({ ...how, cwd: home.project })).toMatchObject({
      code: 2,
      out: '',
      err: holding('the log cannot be written'),
    });
  });

  it('is found without HOME, and never made where one stands', async () => {
    for (const HOME of [undefined, '', 'relative']) {
      const env = { HOME, XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined };
      const { code } = await home.run(['sessions'], { cwd: folder, env });
      expect(code).toBe(0);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is asked for in words when there is no home at all', async ({ skip }) => {
    skipWithout('root', skip);
    const program = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups', process.execPath];
    const env = { HOME: undefined };
    expect(await home.run([join(CHECKOUT, 'src/main.ts'), 'sessions'], { program, env })).toEqual({
      code: 2,
      signal: null,
      out: '',
      err: 'mimir: there is no home directory to keep the state in\n  set HOME to a directory\n',
    });
  });

  it('that is full ends the run in words, and what was recorded is kept', async () => {
    // No file may grow above this many blocks of 1,024 bytes: as on a full disk.
    const { out, err } = await home.shell(`ulimit -f 200; trap '' XFSZ; mimir run '${TASK}' --yes; echo "code $?"`, {
      cwd: folder,
    });
    expect(out).toMatch(/code 1\n$/);
    expect(err).toMatch(/^mimir: the log /);
    expect(err).not.toMatch(/^\s+at /m);
    const sessions = await home.run(['sessions'], { cwd: folder });
    expect(sessions.out).toMatch(/ stopped /);
  });
});

describe('two sessions at once in one project', () => {
  it('both run to their end, and both are whole', async () => {
    const both = await Promise.all([
      home.run(['run', TASK, '--yes', '--json']),
      home.run(['run', TASK, '--yes', '--json']),
    ]);
    expect(both.map(({ code, err }) => ({ code, err }))).toEqual([
      { code: 0, err: '' },
      { code: 0, err: '' },
    ]);
    for (const { out } of both) {
      const events = jsonLines(out);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(await home.run(['events', String(events[0]?.['session']), '--json'])).toMatchObject({ out });
    }
  });
});

describe('the environment', () => {
  it('is not read from a .env of the project, and base URLs of a project reach nobody', async () => {
    writeFileSync(
      join(folder, '.env'),
      'ANTHROPIC_API_KEY=sk-from-env\nANTHROPIC_BASE_URL=http://127.0.0.1:9\nMIMIR_DEBUG=1\nTERM=dumb\n',
    );
    writeFileSync(join(folder, 'a.js'), 'eval(1);\n');
    const [doctor, run] = await Promise.all([home.run(['doctor'], { cwd: folder }), runHere({}, '--json')]);
    expect(doctor.out).toMatch(/^· models +the built-in analyst \(not a language model\): /m);
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.out).not.toContain('sk-from-env');
    expect(run.out).not.toContain('127.0.0.1');
  });
});
