/** What the run keeps back for forced agents is there for nobody else: not for those it judges, not for the report. */
import { describe, expect, it } from 'vitest';
import { AgentId, ModelId, ROOT, RoleName, SessionId } from '../../../../src/domain/ids.ts';
import type { MandatoryReview } from '../../../../src/domain/agents/agent.ts';
import { reserve } from '../../../../src/engine/gate/budget/reserve.ts';
import { timeLeft } from '../../../../src/engine/gate/budget/limits.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import { fold } from '../../../../src/events/fold.ts';
import { EMPTY, type RunState } from '../../../../src/events/state.ts';
import { scriptedModel } from '../../../support/scripted.ts';

const model = scriptedModel('scripted/m', { price: { input: 1, output: 5 } });
const choice = { asked: 'm', used: ModelId.parse('scripted/m'), because: null };
const node: MandatoryReview = {
  role: RoleName.parse('auditor'),
  model: choice,
  triggers: ['always'],
  onFailure: 'block',
  after: [],
  runs: 1,
  estimatedTokens: 1000,
  estimatedCost: null,
  estimatedSeconds: 4,
  budget: { maxTokens: 30_000, maxCost: 0.5 },
  because: 'the test',
};

const created = (id: string, role: string, forced: boolean): EventBody => ({
  type: 'agent.created',
  agent: AgentId.parse(id),
  parent: id === 'ROOT' ? null : AgentId.parse(id.slice(0, id.lastIndexOf('::'))),
  role: RoleName.parse(role),
  name: role,
  task: '',
  taskId: null,
  tools: [],
  budget: {},
  dependsOn: [],
  model: choice,
  iterations: 20,
  ...(forced ? { forced: { trigger: 'always', tree: 'tree' } as const } : {}),
});

const state = (
  [
    created('ROOT', 'main', false),
    {
      type: 'budget.changed',
      agent: ROOT,
      budget: { maxTokens: 32_000, maxCost: 0.51, maxDuration: 10_000 },
      by: 'test',
    },
    { type: 'plan.edited', plan: { reason: '', tasks: [], forced: [node] }, edit: '', digest: 'd' },
    { type: 'plan.approved', digest: 'd', by: 'test' },
    created('ROOT::S1', 'finder', false),
    created('ROOT::S2', 'reviewer', true),
    created('ROOT::S2::S1', 'explore', false),
  ] as const satisfies readonly EventBody[]
).reduce<RunState>(
  (before, body) =>
    fold(before, {
      ...body,
      v: 1,
      seq: before.seq + 1,
      time: '2026-01-01T00:00:00.000Z',
      session: SessionId.parse('kept'),
    }),
  EMPTY,
);

describe('what is kept back for a forced agent', () => {
  it.each([
    ['ROOT', 1000, 6000],
    ['ROOT::S1', 1000, 6000],
    ['ROOT::S2', 8192, 10_000],
    ['ROOT::S2::S1', 8192, 10_000],
  ])('leaves %s at most %d tokens of output, and %d ms', (id, maxOutput, time) => {
    const agent = AgentId.parse(id);
    const promise = reserve(state, { agent, model: { ...model, outputLimit: 8192 }, inputBound: 1000, now: 0 });
    expect(promise.ok && promise.maxOutput).toBe(maxOutput);
    expect(timeLeft(state, agent, 0)).toBe(time);
  });
});
