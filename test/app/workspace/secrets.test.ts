import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { withoutKeys } from '../../../src/cli/crash-report.ts';
import { takeSecrets } from '../../../src/app/workspace/secrets.ts';

describe('secrets that the configuration names', () => {
  it('are inherited by no program that is started afterwards, and are in no report of a bug', () => {
    const secret = { name: 'MIMIR_TEST_GATEWAY', value: 'gateway-7f3a91-canary' };
    process.env[secret.name] = secret.value;
    const seen = (): string => execFileSync('env', { encoding: 'utf8' });
    expect(seen()).toContain(secret.value);
    takeSecrets([secret]);
    expect(seen()).not.toContain(secret.name);
    expect(withoutKeys({}, `it said ${secret.value}.`)).toBe('it said [key].');
  });
});
