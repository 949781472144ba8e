/** Keys and other secrets: in no file, on no stream, whoever prints them. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { crashReport } from '../../src/cli/crash-report.ts';
import { isRoot, openHome, SMALL, type Home } from '../support/cli.ts';
import { type Files, freshFolder } from '../support/repos.ts';
import { openDouble } from '../support/double/double.ts';
import type { Rule, Script } from '../support/double/script.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

/** With letters that change in a URL and in base64, another one for each run of the tests. */
const CANARY = `canary/${randomBytes(18).toString('base64')}+%`;
const BASE64 = Buffer.from(`OPENAI_API_KEY=${CANARY}\n`).toString('base64');
const IN_URL = `https://example.org/?key=${encodeURIComponent(CANARY)}`;
const TOKEN = ['gh', 'p_', randomBytes(18).toString('hex')].join('');
const BLOCK_LINE = randomBytes(36).toString('base64');
const DASHES = '-----';
const BLOCK = `${DASHES}BEGIN PRIVATE KEY${DASHES}\n${BLOCK_LINE}\n${DASHES}END PRIVATE KEY${DASHES}`;

/** What must be found nowhere: any part of a secret that is long enough to be no chance. */
const LEAKS = [CANARY, CANARY.slice(7), encodeURIComponent(CANARY), BASE64.slice(28, -8), TOKEN, BLOCK_LINE];

const task = {
  id: 'task-1',
  // A plan that repeats a key is approved and carried out all the same.
  description: `Look at the notes for ${CANARY}.`,
  recommendedRole: 'finder',
  recommendedModel: null,
  estimatedTokens: 8000,
  dependencies: [],
  writes: [],
};
const PRINTED = `It is ${CANARY}, or ${BASE64}, or ${IN_URL}; wrapped: ${CANARY.slice(0, 9)}\n${CANARY.slice(9)}.`;
const LEAKY: Script = {
  keyless: true,
  rules: [
    { when: { system: '^You plan a task' }, answer: { text: JSON.stringify({ reason: 'r', tasks: [task] }) } },
    {
      when: { system: 'You lead this piece of work', turn: 1 },
      answer: { calls: [{ tool: 'read_file', input: { path: 'notes.txt' } }] },
    },
    {
      when: { system: 'You lead this piece of work', turn: 2 },
      answer: { text: PRINTED, calls: [{ tool: 'search', input: { pattern: CANARY } }] },
    },
    { answer: { text: PRINTED } },
  ],
};

function home(files: Files = SMALL): Home {
  const made = openHome(files);
  onTestFinished(() => made.remove());
  return made;
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Names of files, and of streams, in which a secret is. */
function leaksIn(texts: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(texts).flatMap(([name, text]) => (LEAKS.some((leak) => text.includes(leak)) ? [name] : []));
}

const written = (folder: string, except: readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (existsSync(folder) ? filesBelow(folder) : [])
      .filter((file) => !except.some((end) => file.endsWith(end)))
      .map((file) => [file, readFileSync(file, 'latin1')]),
  );

async function leakyRun(it: Home, ...flags: readonly string[]): ReturnType<Home['run']> {
  const double = await openDouble(LEAKY);
  onTestFinished(() => double.close());
  const env = { OPENAI_API_KEY: CANARY, OPENAI_BASE_URL: `${double.url}/v1`, TMPDIR: join(it.root, 'home') };
  const ran = await it.run(['run', `Look at the notes for ${CANARY}`, '--yes', ...flags], { env });
  // The words reached the model whole, so the test is about something.
  const told = JSON.stringify(double.asked.map(({ body }) => body));
  expect([ran.code, ran.err, told.includes(TOKEN), told.includes(BLOCK_LINE)]).toEqual([0, '', true, true]);
  return ran;
}

describe('a run in which a key is printed', () => {
  const files = { ...SMALL, 'notes.txt': `${PRINTED}\n${TOKEN}\n${BLOCK}\n` };

  for (const flags of [['--json'], []]) {
    it(`M03, M05: leaves it in no file and on no stream (${flags.join() || 'lines'})`, async () => {
      const it = home(files);
      const { code, out, err } = await leakyRun(it, ...flags);
      expect({ code, leaks: leaksIn({ out, err }) }).toEqual({ code: 0, leaks: [] });
      expect(leaksIn(written(it.root, ['notes.txt']))).toEqual([]);
      for (const verb of [['events', '--json'], ['show'], ['report'], ['audit', 'export', '--json']]) {
        const shown = await it.run(verb);
        expect([verb, shown.code, leaksIn({ out: shown.out, err: shown.err })]).toEqual([verb, 0, []]);
      }
      expect((await it.run(['audit', 'verify'])).code).toBe(0);
    });
  }

  it('M06: leaves no temporary file and no core behind', async () => {
    const it = home(files);
    const before = [...filesBelow(it.project), ...filesBelow(join(it.root, 'home'))];
    await leakyRun(it, '--json');
    expect([...filesBelow(it.project), ...filesBelow(join(it.root, 'home'))]).toEqual(before);
  });
});

describe('a provider that repeats the key', () => {
  it('M04: in the body of an error has it in no file and on no stream', async () => {
    const server = createServer((_, answer) => {
      answer.writeHead(401, { 'content-type': 'application/json' });
      answer.end(
        JSON.stringify({ error: { message: `bad key ${CANARY}`, type: CANARY, code: encodeURIComponent(CANARY) } }),
      );
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const it = home();
    const env = {
      OPENAI_API_KEY: CANARY,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_LOG: 'debug',
      DEBUG: '*',
    };
    const { code, out, err } = await it.run(['run', 'Look', '--yes', '--json'], { env });
    expect({ code, leaks: leaksIn({ out, err }) }).toEqual({ code: 6, leaks: [] });
    expect(leaksIn(written(it.root))).toEqual([]);
  });
});

describe('files of Mimir', () => {
  it('M01: are for the user alone whatever the umask', async () => {
    const it = home();
    const { code } = await it.shell('umask 000; mimir run "Look around" --model offline --yes --json >/dev/null');
    expect(code).toBe(0);
    const below = readdirSync(it.state, { recursive: true, encoding: 'utf8' }).map((name) => join(it.state, name));
    const open = [it.state, ...below].filter((name) => (statSync(name).mode & 0o077) !== 0);
    expect([open, below.length > 3]).toEqual([[], true]);
  });

  it('M02: are not put into a folder of somebody else, or behind a link', async (context) => {
    const linked = home();
    const target = freshFolder();
    symlinkSync(target, linked.state);
    const behind = await linked.run(['run', 'Look', '--model', 'offline', '--yes']);
    expect([behind.code, behind.err, readdirSync(target)]).toEqual([
      2,
      `mimir: ${linked.state} is a symbolic link: replace it with a folder of your own, or set XDG_STATE_HOME to another\n`,
      [],
    ]);
    if (!isRoot) context.skip('only root can make a folder that belongs to somebody else');
    const other = home();
    mkdirSync(other.state);
    chownSync(other.state, 1, 1);
    const refused = await other.run(['run', 'Look', '--model', 'offline', '--yes']);
    expect([refused.code, refused.err.split(':')[1]]).toEqual([
      2,
      ` ${other.state} belongs to another user (1, you are 0)`,
    ]);
    expect(readdirSync(other.state)).toEqual([]);
  });

  it('M06: the report of a bug is for the user alone and holds no key', () => {
    const state = freshFolder();
    const env = { OPENAI_API_KEY: CANARY };
    const file = crashReport(state, new Error(`went wrong with ${CANARY} and ${BASE64} and ${TOKEN}`), env) ?? '';
    expect(leaksIn(written(state))).toEqual([]);
    expect([existsSync(file), (statSync(file).mode & 0o777).toString(8)]).toEqual([true, '600']);
  });

  it('M07: a key in a configuration that others can read is not used, told of by its place, and never repeated', async () => {
    const entries = [`apiKey: "${CANARY}"`, `headers: { Authorization: "Bearer ${TOKEN}" }`, `apiKeyEnv: "${CANARY}"`];
    const ends: unknown[] = [];
    for (const entry of entries) {
      const it = home();
      const file = join(it.config, 'config.yml');
      writeFileSync(file, `providers:\n  own: { kind: openai, baseUrl: "http://127.0.0.1:9/v1", ${entry} }\n`);
      chmodSync(file, 0o644);
      const { code, out, err } = await it.run(['run', 'Look', '--model', 'offline', '--yes', '--json']);
      const told = (out + err).includes('config.yml:2:');
      ends.push({ code, told, leaks: leaksIn({ out, err, ...written(it.state) }) });
    }
    expect(ends).toEqual([3, 3, 3].map((code) => ({ code, told: true, leaks: [] })));
  });
});

describe('the key of a provider', () => {
  it('is taken out of what tools read and print before any model gets it', async () => {
    const key = `own-${randomBytes(18).toString('hex')}`;
    const files = { 'notes.txt': `The key is ${key}.\n`, 'more.txt': `${Buffer.from(key).toString('base64')}\n` };
    const rules: readonly Rule[] = [
      { when: { last: key.slice(4) }, answer: { text: 'LEAKED' } },
      { when: { last: Buffer.from(key).toString('base64').slice(8, 30) }, answer: { text: 'LEAKED' } },
      { when: { first: '# Roles' }, answer: { text: planText(['Read the notes', 'code']) } },
      {
        when: { first: '^Read the notes', turn: 1 },
        answer: {
          calls: [
            { tool: 'read_file', input: { path: 'notes.txt' } },
            { tool: 'bash', input: { command: 'cat notes.txt more.txt' } },
          ],
        },
      },
      { answer: { text: 'nothing was there' } },
    ];
    const { machine } = await ownModel('anthropic', {
      script: { rules, keyless: true },
      files,
      env: { LOCAL_KEY: key },
    });
    const { code, events } = await runOn(machine, 'Read the notes', '--allow', 'commands');
    expect([code, of(events, 'tool.finished').map(({ ok }) => ok)]).toEqual([0, [true, true]]);
    expect(JSON.stringify(events)).toContain('nothing was there');
    expect(JSON.stringify(events)).not.toContain('LEAKED');
  });
});
