/** The keys of `.mimir/config.yml` that the first design names: each is read, keeps its line, and becomes a rule. */
import { describe, expect, it } from 'vitest';
import { loaded } from './some-place.ts';

const TEXT = `agentOrchestration:
  enabled: false
  autoDetect: false
  promptForApproval: false
  promptForModels: false
  maxNestingDepth: 1
  maxParallelAgents: 3
  roles:
    finder: { enabled: false }
    oracle: { defaultModel: o3-mini, tools: [file_operations] }
enforcement:
  allowedModels: [o3-mini, sonnet-4.5]
  allowedSubAgents: [oracle, reviewer]
`;

describe('the keys of orchestration and enforcement', () => {
  it('have the defaults of the first design where nobody says anything (O125 to O130, O134, O135)', () => {
    const { rules } = loaded();
    const { enabled, autoDetect, promptForApproval, promptForModels, maxNestingDepth, maxParallelAgents } = rules;
    expect(
      [enabled, autoDetect, promptForApproval, promptForModels, maxNestingDepth, maxParallelAgents].map(
        ({ value }) => value,
      ),
    ).toEqual([true, true, true, true, 2, 4]);
    expect([rules.allowedModels, rules.allowedSubAgents, rules.disabledRoles]).toEqual([[], [], []]);
  });

  it('are read, each with its line (O125 to O135)', () => {
    const { rules, roles } = loaded({ user: TEXT });
    const { enabled, autoDetect, promptForApproval, promptForModels, maxNestingDepth, maxParallelAgents } = rules;
    expect(
      [enabled, autoDetect, promptForApproval, promptForModels, maxNestingDepth, maxParallelAgents].map(
        ({ value, from }) => [value, from.line],
      ),
    ).toEqual([
      [false, 2],
      [false, 3],
      [false, 4],
      [false, 5],
      [1, 6],
      [3, 7],
    ]);
    expect(rules.disabledRoles.map(({ role, from }) => [role, from.line])).toEqual([['finder', 9]]);
    expect(roles.find(({ name }) => name === 'oracle')).toMatchObject({
      models: ['o3-mini', 'o3', 'gpt-5', 'sonnet-4.5'],
      tools: ['file_operations'],
      capabilities: ['read', 'write'],
    });
    expect(rules.allowedModels.map((list) => list.map(({ written, from }) => [written, from.line]))).toEqual([
      [
        ['o3-mini', 12],
        ['sonnet-4.5', 12],
      ],
    ]);
    expect(rules.allowedSubAgents.map(({ value, from }) => [value, from.line])).toEqual([[['oracle', 'reviewer'], 13]]);
  });
});
