import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelId, OFFLINE } from '../../src/domain/ids.ts';
import type { ModelOption } from '../../src/domain/plan/plan.ts';
import { knownModels } from '../../src/models/catalogue/catalogue.ts';
import { ALIASES, spokenModel } from '../../src/policy/models.ts';
import {
  chooseModel,
  endpointProblem,
  entryAllows,
  entryHolds,
  fallbackModels,
  modelProblem,
  modelsOfRole,
  resolveModel,
} from '../../src/policy/models.ts';
import type { ModelRequest } from '../../src/policy/models.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { RULES } from '../support/run.ts';
import { entry, someRules, written } from './some-rules.ts';

const HAIKU = 'anthropic/claude-haiku-4-5-20251001';
const SONNET = 'anthropic/claude-sonnet-4-5-20250929';
const O3 = 'openai/o3-2025-04-16';

const model = (id: string, aliases: readonly string[], usable = true): ModelOption => ({
  id: ModelId.parse(id),
  label: aliases[0] ?? id,
  aliases,
  window: 200_000,
  outputLimit: 64_000,
  price: { input: 1, output: 5 },
  speed: 100,
  usable: usable ? { yes: true } : { yes: false, because: 'no key: set OPENAI_API_KEY' },
});
const MODELS = [model(HAIKU, ['haiku-4.5']), model(SONNET, ['sonnet-4.5']), model(O3, ['o3'], false)];

const wish = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  asked: 'haiku-4.5',
  role: 'finder',
  fallbacks: ['haiku-4.5', 'qwen-3', 'sonnet-4.5'],
  rules: someRules(),
  models: MODELS,
  offlineOnly: false,
  ...changes,
});
const onlySonnet = written('enforcement.allowedModels: [sonnet-4.5]', 2);

describe('the name of a model', () => {
  it('is the same canonical id in all registered spellings (A04)', () => {
    const names = ['haiku-4.5', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4-5', HAIKU];
    expect(names.map((name) => resolveModel(name, []))).toEqual(names.map(() => HAIKU));
  });

  it('is trimmed, folded and lower-cased, and nothing else (A05)', () => {
    expect(['HAIKU-4.5 ', '\thaiku-4.5', 'ｈaiku-4.5'].map((name) => resolveModel(name, MODELS))).toEqual([
      HAIKU,
      HAIKU,
      HAIKU,
    ]);
    expect(
      ['haiku-4.5x', 'haiku', 'hаiku-4.5', 'haiku-4.5\u200b', '', 'constructor', '__proto__'].map((name) =>
        resolveModel(name, MODELS),
      ),
    ).toEqual([null, null, null, null, null, null, null]);
  });

  it('resolves for every alias, and to nothing for any other text', () => {
    for (const [alias, id] of ALIASES) expect(resolveModel(alias, [])).toBe(id);
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = resolveModel(`${text}§`, MODELS);
        expect(found).toBeNull();
      }),
    );
  });

  it('may be that of a provider of one’s own', () => {
    expect(resolveModel('qwen3-coder', [model('local/qwen3-coder', ['qwen3-coder'])])).toBe('local/qwen3-coder');
  });
});

describe('an entry of a list', () => {
  it('means one id, or a family with its dated releases only', () => {
    const family = { pattern: 'anthropic/claude-haiku-4-5@*' };
    const ids = [
      HAIKU,
      'anthropic/claude-haiku-4-5',
      'anthropic/claude-haiku-4-5-latest',
      'anthropic/claude-haiku-4-50',
      'anthropic/claude-haiku-4-5-large',
    ];
    expect(ids.map((id) => entryAllows(family, id))).toEqual([true, true, true, false, false]);
    expect(entryAllows({ pattern: HAIKU }, `${HAIKU}-x`)).toBe(false);
  });
});

describe('a rule that forbids or limits a model (D44)', () => {
  const OPUS = 'anthropic/claude-opus-4-5-20251101';
  const same = [
    OPUS,
    'anthropic/claude-opus-4-5',
    'anthropic/claude-opus-4-5-latest',
    'anthropic/claude-opus-4-5-20991231',
    'mine/claude-opus-4-5-20251101',
    'mine/Claude-Opus-4-5',
    'mine/claude-opus-4.5',
    'mine/opus-4.5',
    'openrouter/anthropic/claude-opus-4.5:thinking',
    'vertex/publishers/anthropic/models/claude-opus-4-5@20251101',
    'bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0',
    'mine/claude\u200b-opus-4-5',
    'mine/ｃlaude-opus-4-5',
  ];
  const others = [
    'anthropic/claude-opus-4-8',
    'mine/claude-opus-4',
    'mine/claude-opus-4-50',
    'mine/opus',
    'mine/qwen3',
  ];

  it('holds for whatever goes over the wire as that model, in every catalogue and spelling', () => {
    for (const pattern of [OPUS, 'anthropic/claude-opus-4-5@*', 'mine/claude-opus-4-5']) {
      expect(same.filter((id) => !entryHolds({ pattern }, id))).toEqual([]);
      expect(others.filter((id) => entryHolds({ pattern }, id))).toEqual([]);
    }
  });

  it('never keeps the built-in analyst from working by the name of another model, nor the other way round', () => {
    expect(entryHolds({ pattern: OFFLINE }, 'mine/analyst')).toBe(false);
    expect(entryHolds({ pattern: 'mine/analyst' }, OFFLINE)).toBe(false);
    expect(entryHolds({ pattern: OFFLINE }, OFFLINE)).toBe(true);
  });

  it('is found for each of them before any call, while a list of allowed models is as strict as before', () => {
    const rules = someRules({ deniedModels: [entry(OPUS, onlySonnet)] });
    expect(same.map((id) => modelProblem(ModelId.parse(id), rules))).toEqual(same.map(() => onlySonnet));
    const allowing = someRules({ allowedModels: [[entry(OPUS, onlySonnet)]] });
    expect(same.filter((id) => modelProblem(ModelId.parse(id), allowing) === null)).toEqual([
      OPUS,
      'anthropic/claude-opus-4-5',
    ]);
  });

  it('leaves no model of another catalogue to fall back on', () => {
    const rules = someRules({ deniedModels: [entry(OPUS, onlySonnet)] });
    const models = [...MODELS, ...same.map((id) => model(id, []))];
    const fallbacks = ['opus-4.5', ...same, 'sonnet-4.5'];
    const { used } = { used: ModelId.parse(HAIKU) };
    expect(fallbackModels({ ...wish({ rules, models, fallbacks }), used })).toEqual([SONNET]);
    for (const asked of same) {
      const chosen = chooseModel(wish({ asked, rules, models, fallbacks }));
      expect([asked, chosen.ok && chosen.value.choice.used]).toEqual([asked, SONNET]);
    }
  });
});

describe('choosing a model', () => {
  it('takes the one asked for when it is allowed and usable', () => {
    expect(chooseModel(wish())).toEqual({
      ok: true,
      value: { choice: { asked: 'haiku-4.5', used: HAIKU, because: null }, reason: null },
    });
  });

  it('takes the next of the role when the one asked for is not allowed, and names the rule (O053, O134)', () => {
    const rules = someRules({ allowedModels: [[entry(SONNET, onlySonnet)]] });
    expect(chooseModel(wish({ rules }))).toEqual({
      ok: true,
      value: {
        choice: {
          asked: 'haiku-4.5',
          used: SONNET,
          because: 'not allowed: enforcement.allowedModels: [sonnet-4.5] (user, ~/config.yml:2)',
        },
        reason: onlySonnet,
      },
    });
  });

  it('takes the next of the role when the one asked for can not be called here (D3)', () => {
    const chosen = chooseModel(wish({ asked: 'o3', role: 'oracle', fallbacks: ['o3', 'gpt-5', 'sonnet-4.5'] }));
    expect(chosen).toEqual({
      ok: true,
      value: {
        choice: { asked: 'o3', used: SONNET, because: 'no key: set OPENAI_API_KEY' },
        reason: builtIn('no key: set OPENAI_API_KEY'),
      },
    });
  });

  it('takes the first allowed model when none of the role is (D4, O086)', () => {
    const rules = someRules({ allowedModels: [[entry(O3, onlySonnet), entry(SONNET, onlySonnet)]] });
    const chosen = chooseModel(wish({ rules, fallbacks: ['haiku-4.5'] }));
    expect(chosen.ok && chosen.value.choice.used).toBe(SONNET);
  });

  it('refuses with the rules when nothing is left, never with a built-in default (A03)', () => {
    const rules = someRules({ allowedModels: [[entry(O3, written('enforcement.allowedModels: [o3]', 2))]] });
    expect(chooseModel(wish({ rules }))).toEqual({
      ok: false,
      fault: {
        text: 'No model is left for finder, which asked for haiku-4.5',
        reasons: [written('enforcement.allowedModels: [o3]', 2)],
      },
    });
    expect(chooseModel(wish({ rules: someRules({ allowedModels: [[]] }) })).ok).toBe(false);
  });

  it('lets a model match every layer’s list (A01)', () => {
    const theirs = written('enforcement.allowedModels: [haiku-4.5, sonnet-4.5]', 5);
    const rules = someRules({
      allowedModels: [[entry(SONNET, onlySonnet)], [entry(HAIKU, theirs), entry(SONNET, theirs)]],
    });
    expect(modelProblem(ModelId.parse(HAIKU), rules)).toEqual(onlySonnet);
    expect(modelProblem(ModelId.parse(SONNET), rules)).toBeNull();
  });

  it('lets a denial win over every list', () => {
    const denied = written('enforcement.deniedModels: [sonnet-4.5]', 8);
    const rules = someRules({ allowedModels: [[entry(SONNET, onlySonnet)]], deniedModels: [entry(SONNET, denied)] });
    expect(modelProblem(ModelId.parse(SONNET), rules)).toEqual(denied);
  });

  it('fails instead where substitution is off (D4)', () => {
    const off = written('enforcement.modelFallback: deny', 3);
    const rules = someRules({
      allowedModels: [[entry(SONNET, onlySonnet)]],
      modelFallback: { value: 'deny', from: off },
    });
    expect(chooseModel(wish({ rules }))).toEqual({
      ok: false,
      fault: {
        text: 'haiku-4.5 cannot be used by finder, and no other model may replace it',
        reasons: [onlySonnet, off],
      },
    });
    expect(fallbackModels({ ...wish({ rules }), used: ModelId.parse(HAIKU) })).toEqual([]);
  });

  it('refuses a name that nobody knows, instead of taking another', () => {
    const chosen = chooseModel(wish({ asked: 'haiku-4.5x' }));
    expect(chosen.ok ? '' : chosen.fault.text).toBe('There is no model "haiku-4.5x"; available: haiku-4.5, sonnet-4.5');
  });

  it('offers no other names where no model can be used', () => {
    const chosen = chooseModel(wish({ asked: 'haiku-4.5x', models: [] }));
    expect(chosen.ok ? '' : chosen.fault.text).toBe('There is no model "haiku-4.5x"');
  });

  it('passes over names in a role that nobody knows', () => {
    const chosen = chooseModel(wish({ asked: null, fallbacks: ['mystery', 'sonnet-4.5'] }));
    expect(chosen.ok && chosen.value.choice).toEqual({
      asked: 'mystery',
      used: SONNET,
      because: '"mystery" is not a known model',
    });
  });
});

describe('without any provider', () => {
  it('uses the offline one, whatever is allowed', () => {
    const rules = someRules({ allowedModels: [[entry(SONNET, onlySonnet)]] });
    for (const given of [someRules(), rules]) {
      const chosen = chooseModel(wish({ rules: given, offlineOnly: true }));
      expect(chosen.ok && chosen.value).toEqual({
        choice: { asked: 'haiku-4.5', used: OFFLINE, because: 'no provider' },
        reason: builtIn('no provider'),
      });
    }
  });

  it('refuses when the offline one is denied', () => {
    const denied = written('enforcement.deniedModels: [offline]', 4);
    const rules = someRules({ deniedModels: [entry(OFFLINE, denied)] });
    const chosen = chooseModel(wish({ rules, offlineOnly: true }));
    expect(chosen).toEqual({
      ok: false,
      fault: { text: 'No model is left for finder, which asked for haiku-4.5 (no provider)', reasons: [denied] },
    });
  });

  it('is no substitution when the offline one was asked for', () => {
    expect(chooseModel(wish({ asked: 'offline' }))).toEqual({
      ok: true,
      value: { choice: { asked: 'offline', used: OFFLINE, because: null }, reason: null },
    });
  });
});

describe('models to go on with', () => {
  it('are the allowed and usable ones in order, without the one that failed', () => {
    expect(fallbackModels({ ...wish(), used: ModelId.parse(HAIKU) })).toEqual([SONNET]);
    const rules = someRules({ allowedModels: [[entry(HAIKU, onlySonnet), entry(SONNET, onlySonnet)]] });
    expect(fallbackModels({ ...wish({ rules, fallbacks: ['sonnet-4.5'] }), used: ModelId.parse(SONNET) })).toEqual([
      HAIKU,
    ]);
  });
});

describe('where models may be called', () => {
  it('is in every list of hosts, or anywhere when there is none (A06)', () => {
    const from = written('enforcement.allowedEndpoints: [api.anthropic.com]', 6);
    const rules = someRules({ allowedEndpoints: [{ value: ['api.anthropic.com'], from }] });
    expect(endpointProblem('API.anthropic.com', rules)).toBeNull();
    expect(endpointProblem('api.anthropic.com.evil.example', rules)).toEqual(from);
    expect(endpointProblem('evil.example', someRules())).toBeNull();
  });
});

// Which models a role asks for: the newest usable one of the grade that it prefers, then its list.

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

// Names of models as people and models say them for short.

it('a line stands for its model of today, and every other name for itself', () => {
  const spoken = ['sonnet', ' Opus ', 'HAIKU', 'sonnet-4.5', 'local/coder', ' gpt-x '];
  expect(spoken.map(spokenModel)).toEqual([
    'sonnet-4.5',
    'opus-4.5',
    'haiku-4.5',
    'sonnet-4.5',
    'local/coder',
    ' gpt-x ',
  ]);
});
