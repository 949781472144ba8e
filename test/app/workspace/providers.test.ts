/** Which models a run has: by keys, entries, flags and rules; what it is called, how it ends without, and that no key is told. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, describe } from 'vitest';
import type { Home, Ran } from '../../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../../support/cli.ts';
import { like } from '../../support/like.ts';

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

const CANARY = 'sk-canary-7f3a91';
const TASK = 'Find add';
const user = (text: string): void => writeFileSync(join(config, 'mimir/config.yml'), text);
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  home.run(args, { env: { XDG_CONFIG_HOME: config, ...env } });
const NOBODY = 'providers:\n  local: { kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1", models: [small] }\n';

describe('without a provider', () => {
  it('the analyst stands in, and says so', async () => {
    const { code, out } = await run(['run', TASK, '--yes', '--json']);
    expect(code).toBe(0);
    expect(jsonLines(out)[0]).toMatchObject({ provider: 'offline (no provider)' });
  });

  it('--no-offline ends with 6 and says what to set', async () => {
    expect(await run(['run', TASK, '--yes', '--no-offline'])).toMatchObject({
      code: 6,
      out: '',
      err: 'mimir: no model provider is configured, and --no-offline excludes the offline analyst\n  set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY, or configure a provider in your config.yml\n',
    });
  });
});

describe('a model that is asked for by a flag', () => {
  it.each([
    ['for all agents', ['--model', 'sonnet-4.5'], {}, 'sonnet-4.5 is not available: no ANTHROPIC_API_KEY'],
    ['for a role', ['--role-model', 'oracle=o3'], {}, 'o3 is not available: no OPENAI_API_KEY'],
    ['of another provider', ['--model', 'o3'], { ANTHROPIC_API_KEY: CANARY }, 'o3 is not available: no OPENAI_API_KEY'],
  ])('is never replaced where its key is missing: %s', async (_, args, env, err) => {
    expect(await run(['run', TASK, '--yes', ...args], env)).toMatchObject({
      code: 6,
      out: '',
      err: `mimir: ${err}\n  set what is missing, choose another model (\`mimir models\` lists them), or use the built-in analyst: --model offline\n`,
    });
  });
});

describe('a provider that is configured and can not be used', () => {
  it('ends with 3 and the rule where its host is forbidden, instead of running on the analyst', async () => {
    user(
      'enforcement: { allowedEndpoints: [api.anthropic.com] }\nproviders:\n  groq: { kind: openai-compatible, baseUrl: "https://api.groq.com/openai/v1", apiKeyEnv: GROQ_API_KEY, models: [m] }\n',
    );
    const { code, out, err } = await run(['run', TASK, '--yes'], { OPENAI_API_KEY: CANARY });
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err.split('\n')).toEqual([
      'mimir: no provider is available:',
      like(/^ {2}openai: api\.openai\.com is not allowed: enforcement\.allowedEndpoints: .*config\.yml:1\)$/),
      like(/^ {2}groq: api\.groq\.com is not allowed: /),
      '  ask the author of that rule, or use the built-in analyst: --model offline',
      '',
    ]);
  });

  it('ends with 6 and why where a key is missing', async () => {
    user(
      'providers:\n  groq: { kind: openai-compatible, baseUrl: "https://api.groq.com/openai/v1", apiKeyEnv: GROQ_API_KEY, models: [m] }\n',
    );
    const { code, out, err } = await run(['run', TASK, '--yes']);
    expect({ code, out }).toEqual({ code: 6, out: '' });
    expect(err.split('\n')).toEqual([
      'mimir: no provider is available:',
      '  groq: no GROQ_API_KEY',
      '  set what is missing, or use the built-in analyst: --model offline',
      '',
    ]);
  });

  it('leaves the analyst to whoever asks for it by name', async () => {
    user(
      'providers:\n  groq: { kind: openai-compatible, baseUrl: "https://api.groq.com/openai/v1", apiKeyEnv: GROQ_API_KEY }\n',
    );
    const { code, out } = await run(['run', TASK, '--yes', '--json', '--model', 'offline']);
    expect(code).toBe(0);
    expect(jsonLines(out)[0]).toMatchObject({ provider: 'offline (no provider)' });
  });
});

describe('a cost limit', () => {
  it('leaves out models whose price nobody knows, with the rule and where it stands', async () => {
    user('budgets: { run: { maxCost: 3 } }\n');
    const { code, out } = await run(['models'], { ANTHROPIC_API_KEY: CANARY });
    expect(code).toBe(0);
    const [, rest = ''] = out.split('Not usable: denied by budgets.run.maxCost');
    expect(rest.split('\n')[0]).toMatch(/the price of this model is unknown.*config\.yml:1\)$/);
    expect(rest).toMatch(/^ {2}sonnet-5\.5 .* unknown$/m);
    expect(out.split('Not usable')[0]).toMatch(/^ {2}sonnet-4\.5 /m);
  });
});

describe('--model offline', () => {
  it('uses the analyst alone, also where a provider could be used', async () => {
    user(NOBODY);
    const { code, out } = await run(['run', TASK, '--yes', '--json', '--model', 'offline'], { OPENAI_API_KEY: CANARY });
    expect(code).toBe(0);
    const events = jsonLines(out);
    expect(events[0]).toMatchObject({ provider: 'offline' });
    const models = events.filter(({ type }) => type === 'model.started').map(({ model }) => model);
    expect(new Set(models)).toEqual(new Set(['offline/analyst']));
  });

  it('ends with 3 and the rule where the analyst is denied', async () => {
    user('enforcement:\n  deniedModels: [offline]\n');
    expect(await run(['run', TASK, '--yes', '--model', 'offline'], { OPENAI_API_KEY: CANARY })).toMatchObject({
      code: 3,
      out: '',
      err: like(
        /^mimir: no model may be used: offline\/analyst is denied by enforcement\.deniedModels: \[offline\] \(user, /,
      ),
    });
  });

  it('and --no-offline rule each other out', async () => {
    expect(await run(['plan', TASK, '--model', 'offline', '--no-offline'])).toMatchObject({ code: 2, out: '' });
  });
});

describe('a key', () => {
  it('is in no output, no event and no file, however the run ends (J07)', async () => {
    user(NOBODY);
    const env = {
      ANTHROPIC_API_KEY: CANARY,
      OPENAI_API_KEY: CANARY,
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      MIMIR_DEBUG: '1',
    };
    const runs = [
      ['models', '--json'],
      ['doctor', '--json'],
      ['config', 'show'],
      ['plan', TASK, '--model', 'offline', '--json'],
      ['run', TASK, '--yes', '--json', '--model', 'nobody'],
    ];
    const ends = await Promise.all(runs.map((args) => run(args, env)));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0, 3]);
    expect(ends.map(({ out, err }) => out + err).join('\n')).not.toContain(CANARY);
    const files = readdirSync(home.root, { recursive: true, encoding: 'utf8' }).map((file) => join(home.root, file));
    const written = files.filter((file) => statSync(file).isFile());
    expect(written.filter((file) => readFileSync(file).includes(CANARY))).toEqual([]);
  });
});
