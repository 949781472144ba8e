/** Effort in configuration: a preference of each role, and a restriction that only tightens, with its place. */
import { describe, expect, it } from 'vitest';
import { faults, loaded } from './some-place.ts';

const PROJECT = '.mimir/config.yml';
const USER = '~/.config/mimir/config.yml';

describe('effort in configuration', () => {
  it('is what a role file says, or else the settings', () => {
    const effortOf = (user: string, name: string): unknown =>
      loaded({ user }).roles.find((role) => role.name === name)?.effort;
    expect(['finder', 'rush', 'explore', 'oracle', 'tester', 'main'].map((name) => effortOf('', name))).toEqual([
      'low',
      'low',
      'low',
      'high',
      undefined,
      undefined,
    ]);
    const user = 'agentOrchestration: { roles: { oracle: { effort: medium }, tester: { effort: high } } }\n';
    expect([effortOf(user, 'oracle'), effortOf(user, 'tester')]).toEqual(['medium', 'high']);
  });

  it('has a maximum that a layer may tighten and none may loosen, with file and line', () => {
    const word = (effort: string): string => `enforcement:\n  maxEffort: ${effort}\n`;
    const from = (layers: { user?: string; project?: string }): unknown => loaded(layers).rules.maxEffort;
    expect(from({})).toBeUndefined();
    const rule = 'enforcement.maxEffort: low';
    expect(from({ user: word('low'), project: word('high') })).toEqual({
      value: 'low',
      from: { rule, layer: 'user', file: USER, line: 2 },
    });
    expect(from({ user: word('high'), project: word('low') })).toEqual({
      value: 'low',
      from: { rule, layer: 'project', file: PROJECT, line: 2 },
    });
  });

  it('is one of three words', () => {
    expect(faults({ user: 'enforcement: { maxEffort: huge }\n' })).toEqual([
      `${USER}:1:16: enforcement.maxEffort is "huge" — use one of: low, medium, high`,
    ]);
  });
});
