import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parsePlanText } from '../../src/config/templates/templates.ts';
import { CHECKOUT, type Home, openHome, PUBLISHED, SMALL } from '../support/cli.ts';
import { holding, like, part } from '../support/like.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

type Schema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** A folder of its own inside the home. */
let folders = 0;
let folder = '';
beforeEach(() => {
  folder = join(home.root, `folder-${(folders += 1)}`);
  mkdirSync(folder);
});

describe('mimir models', () => {
  it('lists names, canonical ids, windows and prices, usable ones first, and why the rest cannot be used', async () => {
    const { code, out } = await home.run(['models'], { env: { OPENAI_API_KEY: 'sk-very-secret' } });
    expect(code).toBe(0);
    expect(out).toBe(
      `  model          canonical id                          window  in / out

Usable:
  offline        offline/analyst                           1M  0 / 0
  gpt-6.1-sol    openai/gpt-6.1-sol                     1.05M  unknown
  gpt-6.1-terra  openai/gpt-6.1-terra                   1.05M  unknown
  gpt-6-sol      openai/gpt-6-sol                       1.05M  2 / 10 +
  gpt-5.6-terra  openai/gpt-5.6-terra                   1.05M  2 / 12 +
  gpt-5.5        openai/gpt-5.5-2026-04-23                 1M  5 / 30 +
  gpt-5.4        openai/gpt-5.4                         1.05M  2.5 / 15 +
  gpt-5          openai/gpt-5-2025-08-07                 400k  1.25 / 10
  gpt-4.1        openai/gpt-4.1-2025-04-14                 1M  2 / 8
  o4-mini        openai/o4-mini-2025-04-16               200k  1.1 / 4.4
  o3-mini        openai/o3-mini-2025-01-31               200k  1.1 / 4.4
  gpt-6-luna     openai/gpt-6-luna                      1.05M  0.1 / 0.5 +
  gpt-5.6-luna   openai/gpt-5.6-luna                    1.05M  0.2 / 1.2 +
  gpt-5.4-mini   openai/gpt-5.4-mini-2026-03-17          400k  0.75 / 4.5
  gpt-5.4-nano   openai/gpt-5.4-nano-2026-03-17          400k  0.2 / 1.25
  gpt-5-mini     openai/gpt-5-mini-2025-08-07            400k  0.25 / 2
  gpt-5.6-sol    openai/gpt-5.6-sol                     1.05M  4 / 20 +
  o3             openai/o3-2025-04-16                    200k  2 / 8
  gpt-6-astra    openai/gpt-6-astra                     1.05M  10 / 50 +

Not usable: no ANTHROPIC_API_KEY
  sonnet-5.5     anthropic/claude-sonnet-5-5               1M  unknown
  sonnet-5       anthropic/claude-sonnet-5                 1M  2 / 10
  sonnet-4.6     anthropic/claude-sonnet-4-6               1M  3 / 15
  sonnet-4.5     anthropic/claude-sonnet-4-5-20250929    200k  3 / 15
  haiku-5.5      anthropic/claude-haiku-5-5                1M  unknown
  haiku-4.5      anthropic/claude-haiku-4-5-20251001     200k  1 / 5
  opus-5.5       anthropic/claude-opus-5-5                 1M  4 / 20
  opus-5         anthropic/claude-opus-5                   1M  5 / 25
  opus-4.8       anthropic/claude-opus-4-8                 1M  5 / 25
  opus-4.5       anthropic/claude-opus-4-5-20251101      200k  5 / 25
  fable-5.2      anthropic/claude-fable-5-2                1M  unknown
  fable-5.1      anthropic/claude-fable-5-1                1M  10 / 50
  opus-4.1       anthropic/claude-opus-4-1-20250805      200k  15 / 75

Not usable: no OPENROUTER_API_KEY
  qwen-3         openrouter/qwen/qwen3-coder             262k  0.22 / 1.8

+  higher for long requests: \`mimir models --json\` has tiers and cache prices
`,
    );
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('lists models of one’s own with their windows and prices', async () => {
    const config = join(folder, 'mimir');
    mkdirSync(config);
    writeFileSync(
      join(config, 'config.yml'),
      `providers:
  local: { kind: openai-compatible, baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"], windows: { "qwen3:8b": 40000 } }
  groq: { kind: openai-compatible, baseUrl: "https://api.groq.com/openai/v1", models: [openai/gpt-oss-120b, nobody/knows] }
`,
    );
    const { out } = await home.run(['models'], { env: { XDG_CONFIG_HOME: folder } });
    expect(out.split('\n').slice(2, 7)).toEqual([
      'Usable:',
      expect.stringMatching(/^ {2}offline +offline\/analyst +1M {2}0 \/ 0$/),
      expect.stringMatching(/^ {2}qwen3:8b +local\/qwen3:8b +40k {2}0 \/ 0$/),
      expect.stringMatching(/^ {2}openai\/gpt-oss-120b +groq\/openai\/gpt-oss-120b +131k {2}0\.15 \/ 0\.6$/),
      expect.stringMatching(/^ {2}nobody\/knows +groq\/nobody\/knows +33k {2}unknown$/),
    ]);
  });

  it('says the same as JSON, with tiers and prices of cached tokens', async () => {
    const { out } = await home.run(['models', '--json']);
    expect(JSON.parse(out)).toEqual(
      expect.arrayContaining([
        part({ id: 'offline/analyst', usable: { yes: true } }),
        {
          id: 'openai/gpt-6-sol',
          label: 'gpt-6-sol',
          aliases: ['gpt-6-sol'],
          window: 1_050_000,
          outputLimit: 128_000,
          price: {
            input: 2,
            output: 10,
            cacheRead: 0.2,
            cacheWrite: 2.5,
            tiers: [{ above: 272_000, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 }],
          },
          grade: 'usual',
          speed: 90,
          usable: { yes: false, because: 'no OPENAI_API_KEY' },
        },
      ]),
    );
  });

  it('names the rule that forbids one', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'enforcement:\n  deniedModels: [offline]\n');
    const { out } = await home.run(['models', '--cwd', folder]);
    expect(out).toMatch(/^Not usable: denied by .*\.mimir\/config\.yml:2\)\n {2}offline /m);
    expect(await home.run(['run', 'x', '--yes', '--cwd', folder])).toMatchObject({
      code: 3,
      out: '',
      err: like(/^mimir: no model may be used: offline\/analyst is denied by /),
    });
  });
});

describe('mimir config', () => {
  it('prints a JSON schema that the defaults of the package satisfy', async () => {
    const { code, out } = await home.run(['config', 'schema']);
    expect(code).toBe(0);
    const schema: unknown = JSON.parse(out);
    expect(schema).toMatchObject({ $schema: holding('json-schema.org'), type: 'object' });
    const defaults = parsePlanText(readFileSync(join(CHECKOUT, '.mimir/config.yml'), 'utf8'), 'config.yml');
    if (!defaults.ok || !isSchema(schema)) throw new Error('not read');
    const checked = z.fromJSONSchema(schema).safeParse(defaults.value);
    expect(checked.error?.issues).toBeUndefined();
  });

  it('shows every value with the file and line that says it', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'agentOrchestration:\n  maxParallelAgents: 2\n');
    const { code, out } = await home.run(['config', 'show', '--cwd', folder]);
    expect(code).toBe(0);
    expect(out).toMatch(/^agentOrchestration\.maxNestingDepth +2 +default$/m);
    expect(out).toMatch(/^agentOrchestration\.maxParallelAgents +2 +project \(\.mimir\/config\.yml:2\)$/m);
  });

  it('prints nothing of a file that a terminal would obey', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'commands:\n  deny: ["rm \\e]0;owned\\a\\e[2J **"]\n');
    for (const args of [['config', 'show'], ['doctor'], ['models']]) {
      const { out, err } = await home.run([...args, '--cwd', folder]);
      expect(out + err).not.toMatch(/[^\n\x20-\x7e\u00a0-\uffff]/);
    }
  });
});

describe('mimir doctor', () => {
  it('says for each part whether it works, and ends with 0', async () => {
    const { code, out } = await home.run(['doctor']);
    expect(code).toBe(0);
    // One line for each toolchain that this machine has.
    const parts = [...out.matchAll(/^[✓·✗] (\w+)/gm)].flatMap(([, what]) => (what === 'toolchain' ? [] : [what]));
    expect(parts).toEqual(
      'mimir project config roles policy trust templates models sandbox caches user state runs terminal'.split(' '),
    );
  });

  it('ends with 3 and names the place when something does not work', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'budgets: 5\n');
    const [lines, json] = await Promise.all([
      home.run(['doctor', '--cwd', folder]),
      home.run(['doctor', '--json', '--cwd', folder]),
    ]);
    expect([lines.code, json.code]).toEqual([3, 3]);
    expect(lines.out).toMatch(/^✗ config +\.mimir\/config\.yml:1:\d+: /m);
    expect(JSON.parse(json.out)).toContainEqual({
      what: 'config',
      state: 'problem',
      words: like(/^\.mimir\/config\.yml:1:\d+: /),
    });
  });

  it('makes and changes nothing', async () => {
    const fresh = openHome(SMALL);
    await fresh.run(['doctor']);
    expect(existsSync(fresh.state)).toBe(false);
    fresh.remove();
  });

  const modelsOf = async (env: Readonly<Record<string, string>>, at = folder): Promise<readonly unknown[]> => {
    const { out } = await home.run(['doctor', '--json'], { env: { XDG_CONFIG_HOME: at, ...env } });
    return z
      .array(z.looseObject({ what: z.string() }))
      .parse(JSON.parse(out))
      .filter(({ what }) => what === 'models');
  };

  it('says of each provider where it is, where its key comes from and how many models it has; never the key', async () => {
    expect(await modelsOf({ ANTHROPIC_API_KEY: 'sk-very-secret', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' })).toEqual([
      {
        what: 'models',
        state: 'ok',
        words:
          'anthropic at https://api.anthropic.com with the key from ANTHROPIC_API_KEY, 13 models; not tested: doctor makes no network calls',
      },
      {
        what: 'models',
        state: 'ok',
        words: 'openai at http://127.0.0.1:9/v1 without a key, 18 models; not tested: doctor makes no network calls',
      },
    ]);
    expect(await modelsOf({ OPENAI_API_KEY: 'sk-very-secret', OPENAI_BASE_URL: 'http://10.0.0.7/v1' })).toEqual([
      {
        what: 'models',
        state: 'ok',
        words:
          'openai at http://10.0.0.7/v1 with the key from OPENAI_API_KEY (unencrypted: others on the network can read it), 18 models; not tested: doctor makes no network calls',
      },
    ]);
    const { out, err } = await home.run(['doctor'], { env: { ANTHROPIC_API_KEY: 'sk-very-secret' } });
    expect(out + err).not.toContain('sk-very-secret');
  });

  it('says what to set where nothing is, and which rule stands in the way', async () => {
    expect(await modelsOf({})).toEqual([
      {
        what: 'models',
        state: 'note',
        words:
          'the built-in analyst (not a language model): free, and nothing leaves this machine. For a model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY, or configure a provider.',
      },
    ]);
    mkdirSync(join(folder, 'mimir'));
    writeFileSync(join(folder, 'mimir/config.yml'), 'enforcement:\n  allowedEndpoints: [api.anthropic.com]\n');
    expect(await modelsOf({ OPENAI_API_KEY: 'o' })).toEqual([
      {
        what: 'models',
        state: 'problem',
        words: like(
          /^openai at https:\/\/api\.openai\.com\/v1 cannot be used: api\.openai\.com is not allowed: enforcement\.allowedEndpoints: \[api\.anthropic\.com\] \(user, .*mimir\/config\.yml:2\)$/,
        ),
      },
    ]);
  });
});

describe('mimir init', () => {
  it('writes a first configuration that is valid, and says so', async () => {
    expect(await home.run(['init', '--cwd', folder])).toEqual({
      code: 0,
      signal: null,
      out: `Wrote ${folder}/.mimir/config.yml. \`mimir config show\` shows the settings in effect.\n`,
      err: '',
    });
    expect(await home.run(['config', 'show', '--cwd', folder])).toMatchObject({ code: 0, err: '' });
  });

  it('never overwrites', async () => {
    mkdirSync(join(folder, '.mimir'));
    const file = join(folder, '.mimir/config.yml');
    writeFileSync(file, 'mine: 1\n');
    expect(await home.run(['init', '--cwd', folder])).toMatchObject({
      code: 2,
      err: `mimir: ${file} already exists and was not changed\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine: 1\n');
  });

  it('says what is in the way: a file, a link, missing rights', async () => {
    writeFileSync(join(folder, '.mimir'), 'a file');
    expect(await home.run(['init', '--cwd', folder])).toMatchObject({
      code: 2,
      err: `mimir: ${folder}/.mimir/config.yml cannot be written: a file is in the place of a directory\n`,
    });
    const linked = join(folder, 'linked');
    mkdirSync(linked);
    symlinkSync(home.config, join(linked, '.mimir'));
    expect(await home.run(['init', '--cwd', linked])).toMatchObject({
      code: 2,
      err: `mimir: ${linked}/.mimir: is a symbolic link — replace it with the directory itself\n`,
    });
    const closed = join(home.root, 'closed');
    mkdirSync(closed, { mode: 0o555 });
    const program = [...home.ordinary, ...PUBLISHED];
    expect(await home.run(['init', '--cwd', closed], { program })).toMatchObject({
      code: 2,
      err: `mimir: ${closed}/.mimir/config.yml cannot be written: no permission\n`,
    });
  });
});
