/** Secrets that the configuration names: out of the environment, and handed on in a sealed file that is read once. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { withoutKeys } from '../../../src/cli/crash-report.ts';
import type { TriedSandbox } from '../../../src/app/workspace/sandbox.ts';
import {
  environmentWithHanded,
  environmentWithout,
  isExposed,
  refuseExposed,
  takeSecrets,
} from '../../../src/app/workspace/secrets.ts';
import { placesOf } from '../../../src/config/index.ts';
import { fail } from '../../../src/domain/result.ts';
import type { SandboxState } from '../../../src/ports/tool.ts';
import { freshFolder } from '../../support/folder.ts';

const secret = { name: 'MIMIR_TEST_GATEWAY', value: 'gateway-7f3a91-canary' };

describe('secrets that the configuration names', () => {
  it('are inherited by no program that is started afterwards, and are in no report of a bug', () => {
    vi.stubEnv(secret.name, secret.value);
    vi.stubEnv('MIMIR_TEST_SAME', ` ${secret.value}\n`);
    const seen = (): string => execFileSync('env', { encoding: 'utf8' });
    expect(seen()).toContain(secret.value);
    expect(isExposed()).toBe(false);
    takeSecrets([secret]);
    expect(seen()).not.toMatch(/MIMIR_TEST_GATEWAY|MIMIR_TEST_SAME|canary/);
    expect(isExposed()).toBe(true);
    expect(withoutKeys({}, `it said ${secret.value}.`)).toBe('it said [key].');
  });
});

describe('a child process of Mimir', () => {
  const given = { PATH: '/bin', GONE: undefined, GATEWAY: secret.value, SAME: ` ${secret.value} ` };

  /** The environment of a child process that was started with this one. */
  function asChild(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
    vi.stubEnv('MIMIR_HANDED', env['MIMIR_HANDED']);
    const { PATH: _, ...own } = environmentWithHanded();
    expect(process.env['MIMIR_HANDED']).toBeUndefined();
    return Object.fromEntries(['GATEWAY', 'SAME'].flatMap((name) => (name in own ? [[name, own[name]]] : [])));
  }

  it('has them from a file that nobody else can read, which is gone when it has', () => {
    takeSecrets([secret]);
    const state = freshFolder();
    const { MIMIR_HANDED: handed = '', ...others } = environmentWithout(given, state);
    expect(others).toEqual({ PATH: '/bin', GONE: undefined });
    const [key = '', file = ''] = handed.split(':');
    expect([key.length, file.startsWith(join(state, 'handed/')), statSync(file).mode & 0o777]).toEqual([
      64,
      true,
      0o600,
    ]);
    expect(statSync(join(state, 'handed')).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, 'latin1')).not.toContain('canary');
    expect(asChild({ MIMIR_HANDED: handed })).toEqual({ GATEWAY: secret.value, SAME: ` ${secret.value} ` });
    expect(readdirSync(join(state, 'handed'))).toEqual([]);
    expect(asChild({ MIMIR_HANDED: handed })).toEqual({});
  });

  it('has none of a file that was changed', () => {
    takeSecrets([secret]);
    const { MIMIR_HANDED: handed = '' } = environmentWithout(given, freshFolder());
    const [, file = ''] = handed.split(':');
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    writeFileSync(file, bytes);
    expect(asChild({ MIMIR_HANDED: handed })).toEqual({});
  });

  it('has its environment as it is where there are none in it', () => {
    const state = freshFolder();
    const env = { PATH: '/bin' };
    expect(environmentWithout(env, state)).toBe(env);
    expect(existsSync(join(state, 'handed'))).toBe(false);
    vi.stubEnv('MIMIR_HANDED', undefined);
    expect(environmentWithHanded()).toEqual(process.env);
  });

  it('that never read its file leaves it for a minute at most', () => {
    takeSecrets([secret]);
    const state = freshFolder();
    mkdirSync(join(state, 'handed'));
    const age = (name: string, seconds: number): void => {
      writeFileSync(join(state, 'handed', name), '');
      utimesSync(join(state, 'handed', name), Date.now() / 1000, Date.now() / 1000 - seconds);
    };
    age('old', 61);
    age('young', 30);
    environmentWithout(given, state);
    expect(readdirSync(join(state, 'handed')).filter((name) => name.length < 16)).toEqual(['young']);
  });
});

describe('a sandbox that was tried', () => {
  const tried = (state: SandboxState): TriedSandbox => ({
    sandbox: {
      state,
      wrap: () => Promise.resolve(fail('not started')),
      ended: () => Promise.resolve(),
      walk: () => Promise.reject(new Error('not walked')),
    },
    environment: {},
    paths: { denyRead: [], denyWrite: [], allowWrite: [] },
  });

  it('is remembered where it works; where it no longer does, commands could read the keys, and nothing is run', () => {
    vi.stubEnv(secret.name, secret.value);
    takeSecrets([secret]);
    const state = freshFolder();
    const place = { root: state, places: { ...placesOf({}, state), state } };
    refuseExposed(place, tried({ is: 'bubblewrap' }));
    const note = join(state, 'boxes/works');
    expect(readFileSync(note, 'utf8')).toMatch(/^[\da-f-]{36} \d+ mnt:\[\d+\]\n$/);
    expect([statSync(note).mode & 0o777, statSync(join(state, 'boxes')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(() => refuseExposed(place, tried({ is: 'none', because: 'no namespaces' }))).toThrow(
      "no sandbox works here, and a command could read the API keys in Mimir's environment: the sandbox no longer works (no namespaces)\n  start Mimir again; it then removes them from its environment first",
    );
    expect(existsSync(note)).toBe(false);
  });
});
