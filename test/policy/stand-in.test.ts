/** A model that stands in for another where nobody wrote which may: one key alone is enough, and no rule is ever stepped over. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelId, OFFLINE } from '../../src/domain/ids.ts';
import type { ModelOption } from '../../src/domain/plan/plan.ts';
import type { ModelRequest } from '../../src/policy/models.ts';
import { chooseModel, entryAllows, fallbackModels, modelProblem } from '../../src/policy/models.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { entry, someRules, written } from './some-rules.ts';

const NO_KEY = { yes: false, because: 'no ANTHROPIC_API_KEY' } as const;

const option = (id: string, changes: Partial<ModelOption> = {}): ModelOption => ({
  id: ModelId.parse(id),
  label: id.slice(id.indexOf('/') + 1),
  aliases: [],
  window: 200_000,
  outputLimit: 64_000,
  price: { input: 1, output: 5 },
  speed: 100,
  usable: { yes: true },
  ...changes,
});

const SONNET = option('anthropic/claude-sonnet-4-5-20250929', { grade: 'usual', usable: NO_KEY });
const HAIKU = option('anthropic/claude-haiku-4-5-20251001', { grade: 'fast', usable: NO_KEY });
const NEWEST = option('openai/newest', { grade: 'usual', price: null });
const LUNA = option('openai/luna', { grade: 'fast' });
const SOL = option('openai/sol', { grade: 'usual' });
const MODELS = [SONNET, HAIKU, NEWEST, LUNA, SOL];

const wish = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  asked: null,
  role: 'main',
  fallbacks: ['sonnet-4.5'],
  rules: someRules(),
  models: MODELS,
  offlineOnly: false,
  ...changes,
});
const usedBy = (changes: Partial<ModelRequest>): string | null => {
  const chosen = chooseModel(wish(changes));
  return chosen.ok ? chosen.value.choice.used : null;
};

describe('with one key only', () => {
  it('a model of the same grade stands in for those of the role, with the reason (D4)', () => {
    expect(chooseModel(wish())).toEqual({
      ok: true,
      value: {
        choice: { asked: 'sonnet-4.5', used: SOL.id, because: 'no ANTHROPIC_API_KEY' },
        reason: builtIn('no ANTHROPIC_API_KEY'),
      },
    });
    expect(usedBy({ fallbacks: ['haiku-4.5'] })).toBe(LUNA.id);
  });

  it('one with a known price comes before one without, and that only where nobody set a cost limit (D10)', () => {
    expect(usedBy({ models: [SONNET, NEWEST, SOL] })).toBe(SOL.id);
    expect(usedBy({ models: [SONNET, NEWEST] })).toBe(NEWEST.id);
    expect(usedBy({ models: [SONNET, NEWEST], rules: someRules({ costLimitSet: true }) })).toBeNull();
  });

  it('the refusal names a model that only lacks a price, and where to say it (D10)', () => {
    const chosen = chooseModel(wish({ models: [SONNET, NEWEST], rules: someRules({ costLimitSet: true }) }));
    expect(chosen.ok ? '' : chosen.fault.text).toContain(
      '; newest could be used, but a cost limit is set and its price is unknown: set it under providers.openai.prices',
    );
  });

  it('any other stands in where none of the grade can be used', () => {
    expect(usedBy({ models: [SONNET, LUNA] })).toBe(LUNA.id);
    expect(usedBy({ models: [SONNET, option('local/qwen')] })).toBe('local/qwen');
  });

  it('none stands in that does not support tool calls, and asked for by name it is refused', () => {
    const mute = option('local/mute', { tools: false, aliases: ['mute'] });
    expect(usedBy({ models: [SONNET, mute] })).toBeNull();
    expect(chooseModel(wish({ asked: 'mute', models: [SONNET, mute, SOL] }))).toMatchObject({
      value: { choice: { asked: 'mute', used: SOL.id, because: 'mute does not support tool calls' } },
    });
  });

  it('none stands in where a list says which may be used, or substitution is off', () => {
    const from = written('enforcement.allowedModels: [sonnet-4.5]', 2);
    expect(usedBy({ rules: someRules({ allowedModels: [[entry(SONNET.id, from)]] }) })).toBeNull();
    const off = written('enforcement.modelFallback: deny', 3);
    expect(usedBy({ rules: someRules({ modelFallback: { value: 'deny', from: off } }) })).toBeNull();
  });

  it('the analyst never stands in for a provider that is configured and fails', () => {
    const offline = option(OFFLINE);
    expect(usedBy({ models: [offline, SONNET] })).toBeNull();
    expect(usedBy({ models: [offline, SONNET], offlineOnly: true })).toBe(OFFLINE);
  });

  it('none stands in during a run: there the role’s list and lists of allowed models say where to go on', () => {
    expect(fallbackModels({ ...wish(), used: SOL.id })).toEqual([]);
  });
});

describe('whatever is asked, allowed, denied and usable', () => {
  const ids = MODELS.map(({ id }) => id);
  const from = written('a rule', 1);
  const lists = fc.array(fc.subarray(ids, { minLength: 1 }), { maxLength: 3 });
  const wishes = fc.record({
    asked: fc.option(fc.constantFrom(...ids)),
    fallbacks: fc.subarray(ids),
    allowed: lists,
    denied: fc.subarray(ids),
    usable: fc.subarray(ids),
    toolless: fc.subarray(ids),
    costLimitSet: fc.boolean(),
    offlineOnly: fc.boolean(),
  });

  it('the model that is used breaks no rule, can be called and takes tools (A01, D4)', () => {
    fc.assert(
      fc.property(wishes, ({ asked, fallbacks, allowed, denied, usable, toolless, costLimitSet, offlineOnly }) => {
        const rules = someRules({
          allowedModels: allowed.map((list) => list.map((id) => entry(id, from))),
          deniedModels: denied.map((id) => entry(id, from)),
          costLimitSet,
        });
        const models = MODELS.map((model) => ({
          ...model,
          usable: usable.includes(model.id) ? ({ yes: true } as const) : NO_KEY,
          ...(toolless.includes(model.id) ? { tools: false as const } : {}),
        }));
        const given = wish({ asked, fallbacks, rules, models, offlineOnly });
        const chosen = chooseModel(given);
        if (!chosen.ok) return;
        const { used } = chosen.value.choice;
        expect(modelProblem(used, rules)).toBeNull();
        expect(denied).not.toContain(used);
        if (used === OFFLINE) return;
        expect(offlineOnly).toBe(false);
        expect(usable).toContain(used);
        expect(toolless).not.toContain(used);
        expect(allowed.every((list) => list.some((id) => entryAllows({ pattern: id }, used)))).toBe(true);
        // What was not asked for is told with a reason.
        expect(chosen.value.choice.because === null).toBe(used === (asked ?? fallbacks[0]));
      }),
    );
  });
});
