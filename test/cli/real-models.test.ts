/** The real program with a key and a provider that answers: which models are used, what it costs, and how it ends when it can't. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Home, Ran } from '../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../support/cli.ts';
import { KEY, openDouble } from '../support/double/double.ts';
import type { Double } from '../support/double/double.ts';
import type { Answer, Script } from '../support/double/script.ts';
import { like } from '../support/like.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

/** A configuration folder of its own for each test. */
let folders = 0;
let config = '';
beforeEach(() => {
  config = join(home.root, `config-${(folders += 1)}`);
  mkdirSync(join(config, 'mimir'), { recursive: true });
});

const PLAN = JSON.stringify({
  reason: 'One place to look.',
  tasks: [
    {
      id: 'task-1',
      description: 'Find where numbers are added.',
      recommendedRole: 'finder',
      recommendedModel: null,
      estimatedTokens: 8000,
      dependencies: [],
      writes: [],
    },
    {
      id: 'task-2',
      description: 'Find who calls that.',
      recommendedRole: 'finder',
      recommendedModel: null,
      estimatedTokens: 8000,
      dependencies: [],
      writes: [],
    },
  ],
});
const ANSWERS: Script = {
  rules: [
    { when: { system: '^You plan a task' }, answer: { text: PLAN } },
    { when: { system: 'finder', turn: 1 }, answer: { calls: [{ tool: 'read_file', input: { path: 'src/add.js' } }] } },
    { answer: { text: 'Numbers are added in src/add.js:1.' } },
  ],
};

async function doubleOf(script: Script): Promise<Double> {
  const double = await openDouble(script);
  onTestFinished(() => double.close());
  return double;
}
const always = (answer: Answer): Script => ({ rules: [{ answer }] });
const user = (text: string): void => writeFileSync(join(config, 'mimir/config.yml'), text);
const run = (env: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Ran> =>
  home.run(['run', 'Find where numbers are added', '--yes', '--json', ...flags], {
    env: { XDG_CONFIG_HOME: config, ...env },
  });
const openai = ({ url }: Double, key = KEY) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` });
const anthropic = ({ url }: Double, key = KEY) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url });

const modelsIn = (out: string): readonly unknown[] =>
  jsonLines(out).flatMap(({ type, model }) => (type === 'model.finished' ? [model] : []));

describe('one key', () => {
  it('of Anthropic runs a whole task on the models that the roles ask for (O087, O088)', async () => {
    const double = await doubleOf(ANSWERS);
    const { code, out, err } = await run(anthropic(double));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(jsonLines(out)[0]).toMatchObject({ provider: `anthropic (${double.url})` });
    expect(new Set(modelsIn(out))).toEqual(
      new Set(['anthropic/claude-sonnet-4-5-20250929', 'anthropic/claude-haiku-4-5-20251001']),
    );
  });

  it('of OpenAI does, too: others stand in for the models that are asked for, and the reason is told (D4)', async () => {
    const double = await doubleOf(ANSWERS);
    const { code, out, err } = await run(openai(double));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const created = jsonLines(out).flatMap(({ type, role, model }) =>
      type === 'agent.created' ? [{ role, model }] : [],
    );
    expect(created.slice(0, 2)).toEqual([
      { role: 'main', model: { asked: 'sonnet-4.5', used: 'openai/gpt-6.1-sol', because: 'no ANTHROPIC_API_KEY' } },
      { role: 'finder', model: { asked: 'haiku-4.5', used: 'openai/gpt-6-luna', because: 'no ANTHROPIC_API_KEY' } },
    ]);
    expect(double.asked.map(({ wire }) => wire)).toContain('responses');
  });

  it('is not needed for a server on this machine: it serves every role, and costs nothing', async () => {
    const double = await doubleOf(ANSWERS);
    user(
      `providers:\n  local: { kind: openai-compatible, baseUrl: "${double.url}/v1", apiKeyEnv: LOCAL_KEY, models: ["qwen3:8b"] }\n`,
    );
    const { code, out, err } = await run({ LOCAL_KEY: KEY });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(jsonLines(out)[0]).toMatchObject({ provider: `local (${double.url}/v1)` });
    expect(new Set(modelsIn(out))).toEqual(new Set(['local/qwen3:8b']));
    expect(jsonLines(out).at(-1)).toMatchObject({ type: 'session.finished', totals: { cost: 0 } });
  });
});

describe('a provider that refuses or is away', () => {
  it('ends the run with 6 and advice when the key is wrong, and the key is not told (J07)', async () => {
    const double = await doubleOf(ANSWERS);
    const { code, out, err } = await run(anthropic(double, 'sk-canary-wrong'));
    expect(code).toBe(6);
    expect(err).toMatch(/ANTHROPIC_API_KEY/);
    expect(out + err).not.toContain('sk-canary-wrong');
  });

  it('ends it with 6 when the request itself is refused (J07)', async () => {
    const double = await doubleOf(always({ fault: { is: 'status', status: 403 } }));
    expect(await run(openai(double))).toMatchObject({ code: 6, err: like(/^mimir: /) });
  });
});
