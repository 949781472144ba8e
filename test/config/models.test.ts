import { describe, expect, it } from 'vitest';
import { ModelId } from '../../src/domain/ids.ts';
import { modelProblem } from '../../src/policy/models.ts';
import { faults, loaded } from './some-place.ts';

const USER = '~/.config/mimir/config.yml';
const PROJECT = '.mimir/config.yml';
const HAIKU = ModelId.parse('anthropic/claude-haiku-4-5-20251001');
const SONNET = ModelId.parse('anthropic/claude-sonnet-4-5-20250929');

describe('lists of models', () => {
  it('of several layers intersect (A01)', () => {
    const { rules } = loaded({
      user: 'enforcement: { allowedModels: [haiku-4.5] }',
      project: 'enforcement:\n  allowedModels:\n    - haiku-4.5\n    - sonnet-4.5\n',
    });
    expect(modelProblem(HAIKU, rules)).toBeNull();
    expect(modelProblem(SONNET, rules)).toEqual({
      rule: 'enforcement.allowedModels: [haiku-4.5]',
      layer: 'user',
      file: USER,
      line: 1,
    });
    expect(rules.allowedModels[1]?.[1]).toEqual({
      written: 'sonnet-4.5',
      pattern: SONNET,
      from: { rule: 'enforcement.allowedModels: [haiku-4.5, sonnet-4.5]', layer: 'project', file: PROJECT, line: 4 },
    });
  });

  it('that have nothing in common refuse to start, and name both places (A02)', () => {
    expect(
      faults({ user: 'enforcement: { allowedModels: [haiku-4.5] }', project: 'enforcement: { allowedModels: [o3] }' }),
    ).toEqual([
      `${PROJECT}:1:16: allowedModels has no model in common with enforcement.allowedModels: [haiku-4.5] in ${USER}:1 — allow at least one model in all of these lists`,
    ]);
    expect(
      faults({ user: 'enforcement: { allowedModels: [haiku-4.5], deniedModels: ["anthropic/claude-haiku-4-5@*"] }' }),
    ).toEqual([
      `${USER}:1:16: allowedModels has no model in common with enforcement.deniedModels: [anthropic/claude-haiku-4-5@*] in ${USER}:1 — allow at least one model in all of these lists`,
    ]);
  });

  it('that are empty refuse to start (A03)', () => {
    expect(faults({ project: 'enforcement: { allowedModels: [] }' })).toEqual([
      `${PROJECT}:1:16: allowedModels is empty, so no model may be used — name at least one, or remove the key`,
    ]);
    expect(faults({ project: 'enforcement: { allowedSubAgents: [] }' })).toEqual([
      `${PROJECT}:1:16: allowedSubAgents is empty, so no sub-agent may be used — name at least one, or set agentOrchestration.enabled: false`,
    ]);
  });

  it('may name aliases, canonical ids and families, and nothing unknown (A04, A05)', () => {
    const { rules } = loaded({
      user: 'enforcement: { allowedModels: ["HAIKU-4.5 ", claude-sonnet-4-5, "openai/o3@*"] }',
    });
    expect(rules.allowedModels[0]?.map(({ pattern }) => pattern)).toEqual([HAIKU, SONNET, 'openai/o3@*']);
    expect(faults({ user: 'enforcement:\n  deniedModels: [haiku-4.5x, "anthropic/nothing@*"]' })).toEqual([
      `${USER}:2:18: deniedModels names "haiku-4.5x", which is not a known model — did you mean "haiku-4.5"?`,
      `${USER}:2:30: deniedModels names "anthropic/nothing@*", which is not a known model — use one of: haiku-4.5, sonnet-4.5, opus-4.5, opus-4.1, o3, o3-mini, o4-mini, gpt-5, gpt-5-mini, gpt-4.1, qwen-3, offline, …`,
    ]);
  });

  it('may name the models of one’s own providers', () => {
    const user =
      'providers:\n  local: { kind: openai-compatible, baseUrl: "http://127.0.0.1:11434/v1", models: [my-model] }\nenforcement: { allowedModels: [my-model] }';
    const { rules, models, preferences } = loaded({ user });
    expect(rules.allowedModels[0]?.[0]?.pattern).toBe('local/my-model');
    expect(models).toEqual([{ id: 'local/my-model', aliases: ['my-model'] }]);
    expect(preferences.providers).toEqual({
      local: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', models: ['my-model'] },
    });
  });
});

describe('names', () => {
  it('of roles, tools and models that nobody knows are refused where they stand', () => {
    expect(
      faults({
        user: 'enforcement: { allowedSubAgents: [fnider] }\nagentOrchestration:\n  roles:\n    finder: { defaultModel: haiku-4, tools: [file_serach] }\n    orakle: { enabled: false }\nbudgets: { role: { testr: { maxCost: 1 } } }\n',
      }),
    ).toEqual([
      `${USER}:1:35: there is no role "fnider" — did you mean "finder"?`,
      `${USER}:5:5: there is no role "orakle" — did you mean "oracle"?`,
      `${USER}:6:20: there is no role "testr" — did you mean "tester"?`,
      `${USER}:4:46: there is no tool "file_serach" — did you mean "file_search"?`,
      `${USER}:4:15: "haiku-4" is not a known model — did you mean "haiku-4.5"?`,
    ]);
  });

  it('typed on the command line are refused by their flag', () => {
    expect(faults({}, { model: 'hiaku-4.5', roleModels: { finder: 'nope-nope-nope' } })).toEqual([
      '--role-model finder=nope-nope-nope: "nope-nope-nope" is not a known model — use one of: haiku-4.5, sonnet-4.5, opus-4.5, opus-4.1, o3, o3-mini, o4-mini, gpt-5, gpt-5-mini, gpt-4.1, qwen-3, offline, …',
      '--model: "hiaku-4.5" is not a known model — did you mean "haiku-4.5"?',
    ]);
  });
});
