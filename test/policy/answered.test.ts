import { describe, expect, it } from 'vitest';
import { ModelId } from '../../src/domain/ids.ts';
import type { Rules } from '../../src/policy/rules.ts';
import { answerProblem, isSameModel } from '../../src/policy/models.ts';
import { RULES } from '../support/run.ts';

const from = { rule: 'deniedModels: [opus-4.5]', layer: 'managed', file: '/etc/mimir/policy.yml', line: 3 } as const;
const OPUS = 'anthropic/claude-opus-4-5-20251101';
const denied: Rules = { ...RULES, deniedModels: [{ written: 'opus-4.5', pattern: OPUS, from }] };
const allowing = (...patterns: readonly string[]): Rules => ({
  ...RULES,
  allowedModels: [patterns.map((pattern) => ({ written: pattern, pattern, from }))],
});

const judged = (
  answered: string,
  terms: { answersAs?: readonly string[]; own?: boolean } | null,
  rules = RULES,
): unknown =>
  answerProblem(
    ModelId.parse('local/qwen3-coder'),
    ModelId.parse(`local/${answered}`),
    terms === null ? null : { answersAs: [], own: false, ...terms },
    rules,
  );

describe('an answer in another name', () => {
  it('is refused where nobody allowed it, and taken where answersAs names it (A08)', () => {
    expect(judged('qwen3', null)).toBe('another model');
    expect(judged('qwen3', {})).toBe('another model');
    expect(judged('qwen3', { answersAs: ['qwen3'] })).toBeNull();
    expect(judged('qwen4', { answersAs: ['qwen3'] })).toBe('another model');
  });

  it('is taken from a server of one’s own, if nobody knows the name and no rule restricts models', () => {
    expect(judged('my-finetune', { own: true })).toBeNull();
    expect(judged('claude-opus-4-5', { own: true })).toBe('another model');
    expect(judged('anthropic/claude-opus-4-5', { own: true })).toBe('another model');
    expect(judged('my-finetune', { own: true }, denied)).toBe('another model');
    expect(judged('my-finetune', { own: true }, allowing('local/qwen3-coder'))).toBe('another model');
  });

  it('is the same model where a date or a tag is added, and another where dates differ', () => {
    for (const name of ['qwen3-coder', 'qwen3-coder-20251101', 'qwen3-coder:latest'])
      expect(judged(name, {})).toBeNull();
    expect(judged('qwen3-coder:latest/x', {})).toBe('another model');
    const dated = (date: string): ModelId => ModelId.parse(`local/qwen3-${date}`);
    expect(isSameModel(dated('20251101'), dated('20250101'))).toBe(false);
  });

  it('is judged as a model that is asked for, so that answersAs opens none that a rule forbids', () => {
    const answersAs = ['qwen3', 'claude-opus-4-5', 'anthropic/claude-opus-4-5', 'opus-4.5'];
    for (const name of answersAs.slice(1)) expect(judged(name, { answersAs, own: true }, denied)).toEqual(from);
    expect(judged('qwen3', { answersAs }, denied)).toBeNull();
    expect(judged('qwen3', { answersAs }, allowing('local/qwen3-coder'))).toEqual(from);
    expect(judged('qwen3', { answersAs }, allowing('local/qwen3-coder', 'local/qwen3'))).toBeNull();
  });
});
