/** Providers from keys in the environment and entries of the user's file; what is refused, and that no key is ever told. */
import { describe, expect, it } from 'vitest';
import { configSchemaJson } from '../../../src/config/schema/schema.ts';
import { loadConfig, type Loaded, showConfig } from '../../../src/config/settings/load.ts';
import { secretsIn } from '../../../src/config/providers/faults.ts';
import type { ConfiguredProvider } from '../../../src/config/providers/providers.ts';
import { faultText } from '../../../src/config/files/read-text.ts';
import { Node } from '../../docs/configuration.ts';
import { faults, PACKAGE, somePlace, type Written } from '../some-place.ts';

const USER = '~/.config/mimir/config.yml';
const CANARY = 'sk-canary-7f3a91';

/** Where the schema wants the name of a variable, a header or an address. */
const SECRET_PLACES = placesIn(Node.parse(configSchemaJson()), []);

function placesIn(node: Node, at: readonly string[]): readonly (readonly string[])[] {
  const { properties = {}, additionalProperties: each, items = node } = node;
  if (at.at(-2) === 'headers' || /^\^(?:\[A-Z|https|.*http:)/.test(items.pattern ?? '')) return [at];
  return [...Object.entries(properties), ...(each ? [['mine', each] as const] : [])].flatMap(([name, below]) =>
    placesIn(below, [...at, name]),
  );
}

type Env = Readonly<Record<string, string>>;

function loadedWith(env: Env, written: Written = {}): Loaded {
  const { home, project } = somePlace(written);
  const result = loadConfig({ packageRoot: PACKAGE, projectRoot: project, env: { HOME: home, ...env }, flags: {} });
  if (!result.ok) throw new Error(result.fault.map(faultText).join('\n'));
  return result.value;
}
const providersWith = (env: Env, user = ''): readonly ConfiguredProvider[] => loadedWith(env, { user }).providers;
const named = (name: string, providers: readonly ConfiguredProvider[]): ConfiguredProvider | undefined =>
  providers.find((one) => one.name === name);

/** Faults of addresses in the environment. */
function envFaults(env: Env): readonly string[] {
  const { home, project } = somePlace();
  const result = loadConfig({ packageRoot: PACKAGE, projectRoot: project, env: { HOME: home, ...env }, flags: {} });
  return result.ok ? [] : result.fault.map(faultText);
}

describe('the built-in providers', () => {
  it('are usable by their keys, at their makers’ addresses', () => {
    const keys = { ANTHROPIC_API_KEY: ` ${CANARY}\n`, OPENAI_API_KEY: 'o', OPENROUTER_API_KEY: 'r' };
    expect(providersWith(keys)).toEqual([
      {
        name: 'anthropic',
        kind: 'anthropic',
        baseUrl: 'https://api.anthropic.com',
        key: CANARY,
        keyEnv: 'ANTHROPIC_API_KEY',
        models: [],
        firstEventMs: 120_000,
        idleMs: 120_000,
        pingMs: 30_000,
        retryForMs: 600_000,
        unusable: null,
        configured: true,
      },
      {
        name: 'openai',
        kind: 'openai',
        baseUrl: 'https://api.openai.com/v1',
        key: 'o',
        keyEnv: 'OPENAI_API_KEY',
        models: [],
        firstEventMs: 120_000,
        idleMs: 120_000,
        silentThinkingMs: 300_000,
        retryForMs: 600_000,
        unusable: null,
        configured: true,
      },
      {
        name: 'openrouter',
        kind: 'openai-compatible',
        baseUrl: 'https://openrouter.ai/api/v1',
        key: 'r',
        keyEnv: 'OPENROUTER_API_KEY',
        models: [],
        firstEventMs: 120_000,
        idleMs: 120_000,
        silentThinkingMs: 300_000,
        retryForMs: 600_000,
        unusable: null,
        configured: true,
      },
    ]);
  });

  it('say which key is missing, and count as not configured then; an empty one is missing', () => {
    expect(
      providersWith({ OPENAI_API_KEY: '  ' }).map(({ name, unusable, configured }) => [name, unusable, configured]),
    ).toEqual([
      ['anthropic', 'no ANTHROPIC_API_KEY', false],
      ['openai', 'no OPENAI_API_KEY', false],
      ['openrouter', 'no OPENROUTER_API_KEY', false],
    ]);
  });

  it('are called where the environment says; this machine needs no key', () => {
    const providers = providersWith({
      ANTHROPIC_BASE_URL: 'https://proxy.example/anthropic/',
      OPENAI_BASE_URL: 'http://localhost:1234/v1',
    });
    expect(named('anthropic', providers)).toMatchObject({
      baseUrl: 'https://proxy.example/anthropic',
      unusable: 'no ANTHROPIC_API_KEY',
      configured: true,
    });
    expect(named('openai', providers)).toMatchObject({
      baseUrl: 'http://localhost:1234/v1',
      key: null,
      unusable: null,
    });
  });

  it('are changed by an entry of their name', () => {
    const user = `providers:
  anthropic:
    kind: anthropic
    apiKeyEnv: WORK_KEY
    baseUrl: "https://models.corp.example"
    models: [claude-in-house]
    prices: { sonnet-4.5: { input: 2, output: 10 }, claude-in-house: { input: 1, output: 2, cacheRead: 0.1 } }
    windows: { claude-in-house: 64000 }
    firstTokenTimeout: 10m
    idleTimeout: 45s
    retryFor: 20s
`;
    const env = { WORK_KEY: 'w', ANTHROPIC_API_KEY: CANARY, ANTHROPIC_BASE_URL: 'https://elsewhere.example' };
    expect(named('anthropic', providersWith(env, user))).toEqual({
      name: 'anthropic',
      kind: 'anthropic',
      baseUrl: 'https://models.corp.example',
      key: 'w',
      keyEnv: 'WORK_KEY',
      models: [
        { name: 'claude-in-house', window: 64_000, price: { input: 1, output: 2, cacheRead: 0.1 } },
        { name: 'claude-sonnet-4-5-20250929', price: { input: 2, output: 10 } },
      ],
      firstEventMs: 600_000,
      idleMs: 45_000,
      pingMs: 30_000,
      retryForMs: 20_000,
      unusable: null,
      configured: true,
    });
  });
});

describe('providers of one’s own', () => {
  it('need an address, and a key only where they name one', () => {
    const user = `providers:
  local: { kind: openai-compatible, baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"] }
  lan: { kind: openai-compatible, baseUrl: "http://192.168.1.5:8000/v1", models: [m] }
  groq: { kind: openai-compatible, baseUrl: "https://api.groq.com/openai/v1", apiKeyEnv: GROQ_API_KEY, models: [m] }
`;
    const own = providersWith({}, user).slice(3);
    expect(own.map(({ name, key, unusable, models }) => ({ name, key, unusable, models }))).toEqual([
      { name: 'local', key: null, unusable: null, models: [{ name: 'qwen3:8b' }] },
      { name: 'lan', key: null, unusable: null, models: [{ name: 'm' }] },
      { name: 'groq', key: null, unusable: 'no GROQ_API_KEY', models: [{ name: 'm' }] },
    ]);
  });

  it('never get a key of the environment that they do not name, unless they are at the address of its maker (A07)', () => {
    const user = `providers:
  mine: { kind: anthropic, baseUrl: "https://models.example", models: [m] }
  second: { kind: anthropic, models: [m] }
`;
    const providers = providersWith({ ANTHROPIC_API_KEY: CANARY }, user);
    expect(named('mine', providers)).toMatchObject({ key: null, keyEnv: null });
    expect(named('second', providers)).toMatchObject({ key: CANARY, baseUrl: 'https://api.anthropic.com' });
  });

  it('give their models short names that are theirs alone', () => {
    const user = `providers:
  a: { kind: openai-compatible, baseUrl: "http://127.0.0.1:1/v1", models: [both, gpt-5, mine, mine] }
  b: { kind: openai-compatible, baseUrl: "http://127.0.0.1:2/v1", models: [Both] }
`;
    expect(loadedWith({}, { user }).models).toEqual([
      { id: 'a/both', aliases: [] },
      { id: 'a/gpt-5', aliases: [] },
      { id: 'a/mine', aliases: ['mine'] },
      { id: 'b/Both', aliases: [] },
    ]);
  });
});

describe('a host that is not in enforcement.allowedEndpoints', () => {
  it('is not called, and the rule is named with its place (A06)', () => {
    const user = 'enforcement:\n  allowedEndpoints: [api.anthropic.com, "127.0.0.1:11434"]\n';
    const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', ANTHROPIC_BASE_URL: '' };
    const why = `enforcement.allowedEndpoints: [api.anthropic.com, 127.0.0.1:11434] (user, ${USER}:2)`;
    const local = (port: number): string =>
      `${user}providers:\n  local: { kind: openai-compatible, baseUrl: "http://127.0.0.1:${port}/v1" }\n`;
    expect(providersWith(env, user).map(({ unusable }) => unusable)).toEqual([
      null,
      `api.openai.com is not allowed: ${why}`,
      `openrouter.ai is not allowed: ${why}`,
    ]);
    expect(named('local', providersWith(env, local(11_434)))?.unusable).toBeNull();
    expect(named('local', providersWith(env, local(9)))?.unusable).toBe(`127.0.0.1:9 is not allowed: ${why}`);
  });

  it('is judged by the address that is really called', () => {
    const user = 'enforcement: { allowedEndpoints: [api.anthropic.com] }\n';
    const env = { ANTHROPIC_API_KEY: 'a', ANTHROPIC_BASE_URL: 'https://api.anthropic.com.evil.example' };
    expect(named('anthropic', providersWith(env, user))?.unusable).toMatch(
      /^api\.anthropic\.com\.evil\.example is not allowed: enforcement\.allowedEndpoints/,
    );
  });
});

describe('an entry of enforcement.allowedEndpoints', () => {
  it.each(['https://api.anthropic.com', 'api.anthropic.com/v1', '*.anthropic.com', 'a b', 'host:', '::1'])(
    'that could match no host is refused: %s',
    (written) => {
      expect(faults({ user: `enforcement:\n  allowedEndpoints: [api.openai.com, "${written}"]\n` })).toEqual([
        `${USER}:2:38: enforcement.allowedEndpoints[1] is "${written}" — use a host or host:port, such as api.anthropic.com`,
      ]);
    },
  );

  it('is a name or an address, with a port or without', () => {
    const hosts = '[api.anthropic.com, "127.0.0.1:11434", localhost, "[::1]", "[::1]:80", Models.Example.COM]';
    expect(faults({ user: `enforcement: { allowedEndpoints: ${hosts} }\n` })).toEqual([]);
  });
});

describe('what is refused', () => {
  it.each([
    ['https://me:secret@api.example/v1', 'contains a user name or password'],
    ['https://api.example/v1?key=secret', 'has a query or a fragment'],
    ['https://exa mple/v1', 'is not an address'],
    ['ftp://api.example/secret', 'is not an address'],
    ['http://[secret/v1', 'is not an http or https address'],
  ])('is the address %s, with file and line and without what it holds', (address, problem) => {
    const user = `providers:\n  mine:\n    kind: openai-compatible\n    baseUrl: "${address}"\n`;
    const [fault = ''] = faults({ user });
    expect(fault).toMatch(`${USER}:4:5: providers.mine.baseUrl ${problem}`);
    expect(fault).not.toContain('secret');
  });

  it('is such an address in the environment, by the name of the variable', () => {
    const [fault = '', ...others] = envFaults({ ANTHROPIC_BASE_URL: 'https://me:secret@proxy.example' });
    expect(others).toEqual([]);
    expect(fault).toMatch(/^ANTHROPIC_BASE_URL: contains a user name or password/);
    expect(fault).not.toContain('secret');
    expect(envFaults({ OPENAI_BASE_URL: 'file:///etc/passwd' })).toHaveLength(1);
  });

  it('is a provider without an address, one named offline, and a price of a model that nobody has', () => {
    const user = `providers:
  mine: { kind: openai-compatible }
  offline: { kind: anthropic, models: [analyst] }
  openai: { kind: openai, prices: { gpt-5x: { input: 1, output: 1 } } }
`;
    expect(faults({ user })).toEqual([
      `${USER}:2:3: provider "mine" has no baseUrl — add the address of its API: baseUrl: "http://127.0.0.1:11434/v1"`,
      `${USER}:3:3: the name "offline" belongs to the built-in provider — choose another name`,
      `${USER}:4:37: prices names "gpt-5x", which provider "openai" does not have — add it to providers.openai.models`,
    ]);
  });

  it('is any provider that a project names (A07)', () => {
    const project = 'providers:\n  anthropic: { kind: anthropic, baseUrl: "https://evil.example" }\n';
    expect(faults({ project })).toEqual([
      expect.stringMatching(/^\.mimir\/config\.yml:2:\d+: providers\.anthropic\.kind cannot be set by a project/),
      expect.stringMatching(/^\.mimir\/config\.yml:2:\d+: providers\.anthropic\.baseUrl cannot be set by a project/),
    ]);
  });

  it('is a key with characters that no key has: a line break in a header would tell it', () => {
    const [anthropic] = providersWith({ ANTHROPIC_API_KEY: `${CANARY}\nsecond` });
    expect(anthropic?.unusable).toBe('ANTHROPIC_API_KEY contains characters that are invalid in a key: set it again');
  });
});

describe('a key', () => {
  it('is in no note, no fault, no rule and nothing that `config show` prints (A07)', () => {
    const user = `providers:\n  mine: { kind: openai-compatible, baseUrl: "https://api.example/v1", apiKeyEnv: MINE }\n`;
    const { providers, secrets, ...rest } = loadedWith({ MINE: CANARY, ANTHROPIC_API_KEY: CANARY }, { user });
    expect(providers.filter(({ key }) => key === CANARY)).toHaveLength(2);
    expect(secrets.filter(({ value }) => value === CANARY)).toHaveLength(2);
    expect(JSON.stringify({ ...rest, values: null })).not.toContain(CANARY);
    expect(showConfig(rest).join('\n')).not.toContain(CANARY);
    expect(JSON.stringify(providers.map((one) => ({ ...one, key: null })))).not.toContain(CANARY);
  });

  it('written where the name of its variable belongs is not repeated', () => {
    const user = `providers:\n  mine: { kind: anthropic, apiKeyEnv: "${CANARY}" }\n`;
    const [fault = ''] = faults({ user });
    expect(fault).toContain(
      'providers.mine.apiKeyEnv is not the name of a variable — use the name of an environment variable',
    );
    expect(fault).not.toContain(CANARY);
  });

  it('is not repeated by a fault, wherever it stands instead of the name of a variable, a header or an address', () => {
    expect(SECRET_PLACES.map((place) => place.join('.'))).toEqual([
      'env.passthrough',
      'childAgents.inheritEnvironment',
      'agents.mine.env',
      'providers.mine.apiKeyEnv',
      'providers.mine.baseUrl',
      'providers.mine.headers.mine',
      'notifications.webhook.url',
      'notifications.webhook.secretEnv',
      'notifications.ntfy.url',
      'notifications.ntfy.secretEnv',
      'notifications.ntfy.answers.secretEnv',
      'notifications.telegram.botTokenEnv',
      'notifications.telegram.server',
      'cluster.databaseEnv',
    ]);
    for (const place of SECRET_PLACES.flatMap((whole) => whole.map((_, at) => whole.slice(0, at + 1)))) {
      for (const wrong of [CANARY, [CANARY], { value: CANARY }, { env: CANARY }, [{ env: CANARY }]]) {
        const user = JSON.stringify(place.reduceRight<unknown>((below, part) => ({ [part]: below }), wrong));
        expect(faults({ user }).join('\n')).not.toContain(CANARY);
      }
    }
  });

  it.each(SECRET_PLACES.filter((place) => /Env$|^agents/.test(place.join('.'))))(
    'in a variable is found, whatever names the variable: %s.%s.%s',
    (...place) => {
      const name = place.at(-1) === 'env' ? ['MINE'] : 'MINE';
      const user = place.reduceRight<unknown>((below, part) => ({ [part]: below }), name);
      expect(secretsIn(user, { MINE: CANARY })).toEqual([{ name: 'MINE', value: CANARY }]);
    },
  );
});

it('providers are described by the schema of the configuration', () => {
  const schema = JSON.stringify(configSchemaJson());
  for (const key of [
    'apiKeyEnv',
    'baseUrl',
    'windows',
    'firstTokenTimeout',
    'idleTimeout',
    'retryFor',
    'headers',
    'answersAs',
  ]) {
    expect(schema).toContain(`"${key}"`);
  }
});

describe('providers whose models take no tool calls', () => {
  it('D23: are named so, of the open kind alone', () => {
    const local = (more: string): string => `providers:\n  local:\n    kind: ${more}\n`;
    const compatible =
      'openai-compatible\n    baseUrl: "http://127.0.0.1:8000/v1"\n    models: [small]\n    protocol: text';
    expect(named('local', providersWith({}, local(compatible)))?.protocol).toBe('text');
    expect(faults({ user: local('openai\n    protocol: text') })).toEqual([
      `${USER}:4:5: protocol: text is only for providers of kind openai-compatible — remove it`,
    ]);
  });
});
