/** Headers that a gateway wants, and the variables that hold secrets: what may be written, where values come from, who sees them. */
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import { loadConfig, type Loaded, showConfig } from '../../../src/config/settings/load.ts';
import { PACKAGE, faults, somePlace } from '../some-place.ts';

const USER = '~/.config/mimir/config.yml';
/** An entry of a server elsewhere. */
const entry = (more: string): string =>
  `providers:\n  local:\n    kind: openai-compatible\n    baseUrl: "http://10.0.0.7:8000/v1"\n    models: [coder]\n${more}`;

function loadedWith(env: Readonly<Record<string, string>>, user: string): Loaded {
  const { home, project } = somePlace({ user });
  const result = loadConfig({ packageRoot: PACKAGE, projectRoot: project, env: { HOME: home, ...env }, flags: {} });
  if (!result.ok) throw new Error(result.fault.map(faultText).join('\n'));
  return result.value;
}

describe('headers of a provider', () => {
  const user = entry('    headers: { X-Team: "payments", x-gateway-token: { env: GATEWAY } }\n');

  it('have their values from the file, or from the environment', () => {
    const { providers } = loadedWith({ GATEWAY: ' gateway-7f3a91\n' }, user);
    expect(providers.find(({ name }) => name === 'local')).toMatchObject({
      headers: { 'x-team': 'payments', 'x-gateway-token': 'gateway-7f3a91' },
      unusable: null,
    });
  });

  it('leave the provider unusable while a variable is missing, or holds what no header can carry', () => {
    const why = (env: Readonly<Record<string, string>>): unknown =>
      loadedWith(env, user).providers.find(({ name }) => name === 'local')?.unusable;
    expect(why({})).toBe('no GATEWAY (for the header x-gateway-token)');
    expect(why({ GATEWAY: 'two\nlines' })).toBe(
      'the value of the header x-gateway-token contains invalid characters: set it again',
    );
  });

  it.each([
    ['Authorization: "Bearer s3cret-value"', 'is reserved for the key', 'name the variable with the key in apiKeyEnv'],
    ['Content-Length: "3"', 'belongs to the connection and cannot be set', 'remove it'],
    ['host: s3cret-value', 'belongs to the connection and cannot be set', 'remove it'],
    ['"x team": s3cret-value', 'is not a header name', 'use letters, digits and "-", as in x-team'],
    ['x-a: s3cret-value, X-A: s3cret-value', 'is set twice', 'remove one of them'],
    [
      'x-a: "s3cret-välue"',
      'has a value with characters that are invalid in a header',
      'use visible ASCII characters only',
    ],
  ])('%s is refused with its place, and no value is repeated', (written, problem, remedy) => {
    const [fault = ''] = faults({ user: entry(`    headers: { ${written} }\n`) });
    expect(fault).toContain(`${USER}:6:`);
    expect(fault).toContain(problem);
    expect(fault).toContain(remedy);
    expect(fault).not.toContain('s3cret');
  });

  it('are a text or {env: NAME}; anything else is refused', () => {
    const [fault = ''] = faults({ user: entry('    headers: { x-a: { file: s3cret-value } }\n') });
    expect(fault).toContain('use text, or {env: NAME} for the value of a variable');
    expect(fault).not.toContain('s3cret');
  });

  it('of a project are refused as all of its providers', () => {
    const [fault = ''] = faults({ project: entry('    headers: { x-a: b }\n') });
    expect(fault).toContain('providers');
  });

  it('are listed without their values', () => {
    const shown = showConfig(loadedWith({ GATEWAY: 'gateway-7f3a91' }, user)).join('\n');
    expect(shown).toContain('providers.local.headers.X-Team');
    expect(shown).not.toContain('payments');
    expect(shown).not.toContain('gateway-7f3a91');
  });
});

describe('the variables that hold secrets', () => {
  it('are those of the makers, and all that the configuration names for a key or a header', () => {
    const env = {
      ANTHROPIC_API_KEY: 'a-key-of-old',
      LOCAL_KEY: 'local-key-1',
      GATEWAY: 'gateway-1',
      OTHER: 'not named',
    };
    const user = entry('    apiKeyEnv: LOCAL_KEY\n    headers: { x-a: { env: GATEWAY }, x-b: OTHER }\n');
    expect(loadedWith(env, user).secrets).toEqual([
      { name: 'ANTHROPIC_API_KEY', value: 'a-key-of-old' },
      { name: 'LOCAL_KEY', value: 'local-key-1' },
      { name: 'GATEWAY', value: 'gateway-1' },
    ]);
  });
});

it('other names that a model may answer under go by its name on the wire; they need a model that is there', () => {
  const written = (answersAs: string): string =>
    `providers:\n  anthropic: { kind: anthropic, answersAs: { ${answersAs}: [other] } }\n`;
  expect(loadedWith({}, written('sonnet-4.5')).providers[0]?.answersAs).toEqual({
    'claude-sonnet-4-5-20250929': ['other'],
  });
  expect(faults({ user: written('nobody') })).toEqual([
    `${USER}:2:46: answersAs names "nobody", which provider "anthropic" does not have — add it to providers.anthropic.models`,
  ]);
});
