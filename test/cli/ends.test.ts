import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home, How, Running } from '../support/cli.ts';
import { CHECKOUT, jsonLines, openHome, PUBLISHED, SMALL, SOURCES } from '../support/cli.ts';
import { skipWithout } from '../support/needs.ts';
import { until } from '../support/until.ts';

const TASK = 'Find where add is defined and give an overview of this repository';

let home: Home;
beforeAll(() => {
  // Enough to read that a run is still at work when it is interrupted.
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`src/part-${n}.js`, `import './part-${n + 1}.js';\n`.repeat(20)]),
  );
  home = openHome({ ...SMALL, ...many });
});
afterAll(() => {
  home.remove();
});

/** A run that is at work: its plan is approved and agents have begun. */
async function atWork(how?: How, args: readonly string[] = ['run', TASK, '--yes', '--json']): Promise<Running> {
  const running = home.start(args, how);
  await running.printed('"type":"tool.started"');
  return running;
}

const sessionIn = (text: string): string => String(jsonLines(text)[0]?.['session']);
const lastOf = (text: string): Record<string, unknown> | undefined => jsonLines(text).at(-1);
const stateOf = async (session: string): Promise<unknown> => {
  const { out } = await home.run(['sessions']);
  return new RegExp(`^${session} .* (running|stopped|finished) `, 'm').exec(out)?.[1];
};

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s while agents work', (signal, code) => {
  it(`ends with ${code}, keeps the state, and resume goes on to the end (D11)`, async () => {
    const running = await atWork();
    running.child.kill(signal);
    const { out, err, ...end } = await running.ended;
    const session = sessionIn(out);
    expect(end).toEqual({ code, signal: null });
    expect(err).toBe(`mimir: stopped; \`mimir resume ${session}\` continues it\n`);
    expect(lastOf(out)).toMatchObject({ type: 'session.finished', status: 'stopped' });
    expect(await stateOf(session)).toBe('stopped');

    const resumed = await home.run(['resume', session.slice(0, 5), '--json']);
    expect(resumed).toMatchObject({ code: 0, err: '' });
    expect(resumed.out.startsWith(out)).toBe(true);
    expect(lastOf(resumed.out)).toMatchObject({ type: 'session.finished', status: 'completed', session });
    const approvals = jsonLines(resumed.out).filter(({ type }) => type === 'plan.approved');
    expect(approvals).toHaveLength(1);
  });
});

describe('Ctrl-C', () => {
  it('twice within 100 ms is one press, as npm passes it on: the state is saved', async () => {
    const running = await atWork();
    running.child.kill('SIGINT');
    running.child.kill('SIGINT');
    const { code, out, err } = await running.ended;
    expect({ code, stopped: /stopped; `mimir resume/.test(err) }).toEqual({ code: 130, stopped: true });
    expect(lastOf(out)).toMatchObject({ type: 'session.finished', status: 'stopped' });
  });

  it('a second time, later, ends at once a run that does not end itself', async () => {
    const file = join(CHECKOUT, 'test/support/signals-child.ts');
    const running = home.start([], { program: [process.execPath, file] });
    await running.printed('ready');
    running.child.kill('SIGINT');
    await running.printed('stopped by SIGINT');
    const began = performance.now();
    await until(() => {
      running.child.kill('SIGINT');
      return running.child.exitCode !== null;
    });
    expect(performance.now() - began).toBeGreaterThan(50);
    expect(await running.ended).toEqual({ code: 130, signal: null, out: 'ready\nstopped by SIGINT\n', err: '' });
  });
});

describe('a crash', () => {
  it('loses nothing that was recorded: resume without an id takes it up (D11)', async () => {
    const running = await atWork();
    running.child.kill('SIGKILL');
    const { out } = await running.ended;
    const session = sessionIn(out);
    expect(await stateOf(session)).toBe('stopped');
    const resumed = await home.run(['resume', '--json']);
    expect(resumed.code).toBe(0);
    expect(sessionIn(resumed.out)).toBe(session);
    expect(await home.run(['resume', session])).toMatchObject({
      code: 2,
      err: `mimir: session ${session} has completed\n  \`mimir report ${session}\` shows its report\n`,
    });
  });
});

describe('a run in another process', () => {
  it('is followed by mimir events to its end, and cannot be taken over', async () => {
    const running = await atWork();
    const session = sessionIn(running.out());
    running.child.kill('SIGSTOP');
    const follower = home.start(['events', session, '--follow', '--json']);
    await follower.printed('"type":"plan.approved"');
    expect(await home.run(['resume', session])).toMatchObject({
      code: 2,
      err: `mimir: session ${session} runs in another process\n  \`mimir attach ${session}\` shows it\n`,
    });
    const second = await home.run(['run', TASK, '--yes', '--json']);
    expect(second.code).toBe(0);
    running.child.kill('SIGCONT');
    const [first, followed] = await Promise.all([running.ended, follower.ended]);
    expect(first.code).toBe(0);
    expect(followed).toEqual(first);
  });
});

describe('exit codes', () => {
  it('3: the configuration is broken, and nothing ran', async () => {
    const folder = join(home.root, 'broken');
    mkdirSync(join(folder, '.mimir'), { recursive: true });
    writeFileSync(join(folder, '.mimir/config.yml'), 'mode: { max: [ }\n');
    const { code, out, err } = await home.run(['run', TASK, '--yes', '--cwd', folder]);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(
      /^mimir: the configuration has faults; nothing was run:\n {2}\.mimir\/config\.yml:1:\d+: .* — .*\n$/,
    );
  });

  it('5: the budget ended the run', async () => {
    const { code, out, err } = await home.run(['run', TASK, '--yes', '--max-tokens', '1000']);
    expect(code).toBe(5);
    expect(err).toMatch(/^mimir: Budget exceeded: the run's tokens .*\n$/);
    expect(out).toMatch(/^failed: 0 agents/m);
  });

  it('5: also when agents have begun, and resume with a wider limit goes on', async () => {
    const { code, out } = await home.run(['run', TASK, '--yes', '--json', '--max-duration', '0s']);
    expect(code).toBe(5);
    const end = lastOf(out);
    expect(end).toMatchObject({ type: 'session.finished', status: 'failed' });
    const again = await home.run(['resume', String(end?.['session']), '--yes', '--json', '--max-duration', '5m']);
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: '' });
    expect(lastOf(again.out)).toMatchObject({ type: 'session.finished', status: 'completed' });
  });

  it('6: no provider could be used', async () => {
    expect(await home.run(['run', TASK, '--yes', '--no-offline'])).toEqual({
      code: 6,
      signal: null,
      out: '',
      err: 'mimir: no model provider is configured, and --no-offline excludes the offline analyst\n  set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY, or configure a provider in your config.yml\n',
    });
  });

  it('3: yolo as root without a sandbox; as an ordinary user it starts', async ({ skip }) => {
    skipWithout('root', skip);
    skipWithout('bubblewrap', skip);
    // The machine as it is, but for bubblewrap.
    const without = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', process.execPath];
    const started = { program: [...without, join(CHECKOUT, 'src/main.ts')] };
    expect(await home.run(['run', TASK, '--yes', '--mode', 'yolo'], started)).toMatchObject({
      code: 3,
      out: '',
      err: 'mimir: no mode yolo for the user root without a sandbox\n  run Mimir as an ordinary user, or use --mode confirm\n',
    });
    const program = [...home.ordinary, ...PUBLISHED];
    const env = { XDG_STATE_HOME: join(home.root, 'home/state') };
    const done = await home.run(['run', TASK, '--yes', '--json', '--mode', 'yolo'], { program, env });
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(jsonLines(done.out)[0]).toMatchObject({ mode: 'yolo' });
  });

  it('70: a bug is said in words with the path of a report; the trace is shown by MIMIR_DEBUG=1 only', async () => {
    const NODE_OPTIONS = `--import=${faulty()}`;
    const [plain, debug] = await Promise.all([
      home.run(['sessions'], { env: { NODE_OPTIONS }, program: SOURCES }),
      home.run(['sessions'], { env: { NODE_OPTIONS, MIMIR_DEBUG: '1' }, program: SOURCES }),
    ]);
    expect(plain).toMatchObject({ code: 70, out: '' });
    expect(plain.err).toMatch(
      /^mimir: this is a bug in Mimir: injected\n {2}a report is in \/.*\/crashes\/.*\.txt\n.*\n$/,
    );
    expect(plain.err).not.toMatch(/^\s+at /m);
    expect(debug.code).toBe(70);
    expect(debug.err).toMatch(/^\s+at .*src\//m);
    expect(readdirSync(join(home.state, 'crashes')).length).toBeGreaterThan(0);
    expect(await home.run(['nonsens', '--x'], { env: { MIMIR_DEBUG: '1' } })).toMatchObject({
      code: 2,
      err: 'mimir: unknown option --x\n',
    });
  });

  it('70: also for one outside of the verb, in a timer', async () => {
    const file = join(home.root, 'later.mjs');
    // Once the verb has begun to write: before, nothing of Mimir may be there yet to hear of it.
    writeFileSync(
      file,
      `import { readdirSync } from 'node:fs';
const before = new Set(look());
setInterval(() => { if (look().some((name) => !before.has(name))) throw new Error('later'); }, 1);
function look() { try { return readdirSync('${home.state}', { recursive: true }); } catch { return []; } }
`,
    );
    const { code, err } = await home.run(['run', TASK, '--yes'], { env: { NODE_OPTIONS: `--import=${file}` } });
    expect(code).toBe(70);
    expect(err).toMatch(/^mimir: this is a bug in Mimir: later\n/);
    expect(err).not.toMatch(/^\s+at /m);
  });
});

/** A module in which the database can't be imported as it should: every log then throws something unheard of. */
function faulty(): string {
  const file = join(home.root, 'faulty.mjs');
  writeFileSync(
    file,
    `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { lstatSync } = fs;
fs.lstatSync = (path, ...rest) => {
  if (String(path).endsWith('log.db')) throw new TypeError('injected');
  return lstatSync(path, ...rest);
};
syncBuiltinESMExports();
`,
  );
  return file;
}

describe('output that is cut off', () => {
  it('ends a look back without a word, and a run so that it can be resumed (`| head -1`)', async () => {
    const script = (args: string): string => `mimir ${args} | head -1 > /dev/null; echo "\${PIPESTATUS[0]}"`;
    expect(await home.shell(script('sessions'))).toEqual({ code: 0, signal: null, out: '0\n', err: '' });
    const run = await home.shell(script(`run '${TASK}' --yes --json`));
    expect(run.out).toBe('130\n');
    expect(run.err).toMatch(/^mimir: stopped; `mimir resume \w+` continues it\n$/);
    expect(await home.run(['resume', '--yes', '--json'])).toMatchObject({ code: 0 });
  });

  it('is said when the disk behind it is full', async () => {
    const { out, err } = await home.shell('mimir models > /dev/full; echo $?');
    expect({ out, err }).toEqual({ out: '2\n', err: 'mimir: cannot write the output: the disk is full\n' });
  });

  it('does not end a run whose complaints nobody reads', async () => {
    const { out } = await home.shell(`mimir run '${TASK}' --json 2>&1 >/dev/null | true; echo "\${PIPESTATUS[0]}"`);
    expect(out).toBe('4\n');
  });
});

describe('npm start', () => {
  const npm = (args: string, cwd: string): ReturnType<Home['run']> =>
    home.run(['-c', `npm --prefix '${CHECKOUT}' start --silent -- ${args}`], { program: ['bash'], cwd });

  it('works on the folder where it was typed, and stdout stays clean', async () => {
    mkdirSync(join(home.project, 'deep/er'), { recursive: true });
    const { code, out, err } = await npm(`run '${TASK}' --yes --json`, home.project);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(jsonLines(out)[0]).toMatchObject({ type: 'session.started', cwd: home.project });
  });

  it('takes paths from there as well', async () => {
    const cwd = join(home.root, 'typed-here');
    mkdirSync(cwd);
    expect(await npm(`plan 'Find add' --cwd ../project --yaml -o plan.yml`, cwd)).toMatchObject({ code: 0, err: '' });
    expect(existsSync(join(cwd, 'plan.yml'))).toBe(true);
    const { code, out } = await npm(`run 'Find add' --plan plan.yml --cwd ../project --json`, cwd);
    expect(code).toBe(4);
    expect(jsonLines(out)[0]).toMatchObject({ cwd: home.project });
  });

  it('passes exit codes on', async () => {
    expect(await npm('run --yes', home.project)).toMatchObject({ code: 2 });
  });

  it('passes Ctrl-C of the terminal on: one press, a clean end', async () => {
    const script = `npm --prefix '${CHECKOUT}' start --silent -- run '${TASK}' --yes --json`;
    const running = home.start(['-c', script], { program: ['bash'], group: true });
    await running.printed('"type":"tool.started"');
    // To the whole group, as a terminal does it: npm passes it on a second time.
    process.kill(-(running.child.pid ?? 0), 'SIGINT');
    const { out, err } = await running.ended;
    expect(lastOf(out)).toMatchObject({ type: 'session.finished', status: 'stopped' });
    expect(err).toContain('stopped; `mimir resume');
  });
});
