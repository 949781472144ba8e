/** Which models a role asks for: the newest usable one of the grade that it prefers, then its list. */
import { describe, expect, it } from 'vitest';
import type { ModelOption } from '../../src/domain/plan/plan.ts';
import { ALIASES } from '../../src/policy/aliases.ts';
import { modelsOfRole } from '../../src/policy/role-models.ts';
import { knownModels } from '../../src/models/catalogue/catalogue.ts';
import { RULES } from '../support/run.ts';

const ORACLE = { models: ['o3', 'gpt-5', 'sonnet-4.5'], prefers: 'deep', capabilities: ['read', 'shell'] } as const;

/** The catalogue where the providers `named` can be called. */
const catalogue = (...named: readonly string[]): readonly ModelOption[] =>
  knownModels(ALIASES, [])
    .models()
    .map((model) =>
      named.some((name) => model.id.startsWith(`${name}/`)) ? { ...model, usable: { yes: true } } : model,
    );
const here = (...named: readonly string[]) => ({ rules: RULES, models: catalogue(...named), offlineOnly: false });

describe('a role that prefers the deep grade', () => {
  it('asks for the newest usable model of it, then for its list in order (O079)', () => {
    expect(modelsOfRole(ORACLE, here('anthropic'))).toEqual(['opus-5.5', 'o3', 'gpt-5', 'sonnet-4.5']);
    expect(modelsOfRole(ORACLE, here('openai'))).toEqual(['gpt-6-astra', 'o3', 'gpt-5', 'sonnet-4.5']);
    expect(modelsOfRole(ORACLE, here('anthropic', 'openai'))[0]).toBe('opus-5.5');
  });

  it('asks for the next one where a rule denies the newest, and for its list where none is left (O087)', () => {
    const from = { rule: 'enforcement.deniedModels', layer: 'user', file: '/p.yml', line: 1 } as const;
    const denied = (...ids: readonly string[]) => ({
      ...here('anthropic'),
      rules: { ...RULES, deniedModels: ids.map((id) => ({ written: id, pattern: id, from })) },
    });
    expect(modelsOfRole(ORACLE, denied('anthropic/claude-opus-5-5'))[0]).toBe('fable-5.2');
    const all = catalogue().flatMap(({ id, grade }) => (grade === 'deep' ? [id] : []));
    expect(modelsOfRole(ORACLE, denied(...all))).toEqual(ORACLE.models);
    expect(modelsOfRole(ORACLE, here())).toEqual(ORACLE.models);
  });

  it('names its own list alone where it prefers nothing', () => {
    const { prefers, ...finder } = ORACLE;
    expect([prefers, modelsOfRole(finder, here('anthropic'))]).toEqual(['deep', ORACLE.models]);
  });
});
