/** What may go in with a request at most, where one agent has several conversations, and where the provider's count is no bill. */
import { describe, expect, it } from 'vitest';
import { CallId, RoleName } from '../../../../src/domain/ids.ts';
import { inputBound, openPrefixBook } from '../../../../src/engine/gate/budget/budgets.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { ended } from '../../../support/faulty.ts';
import { eventsOf } from '../../../support/run-looks.ts';
import { AGENT, FAST, planOf, testRun } from '../../../support/run.ts';

const [ROOT, S1] = [AGENT('ROOT'), AGENT('ROOT::S1')];

describe('what is promised for a call', () => {
  it('has a token for each byte of the instructions, the tools, the conversation and the format where none was counted', () => {
    const parts = {
      system: 'né',
      tools: [{ name: 'read', description: 'reads', schema: { type: 'object' } }],
      turns: [{ by: 'user', text: 'look' }],
      format: { type: 'object' },
    } satisfies Partial<ModelRequest>;
    const request: ModelRequest = {
      ...parts,
      model: FAST,
      agent: S1,
      call: CallId.parse('one'),
      purpose: { is: 'work', task: 'look', role: RoleName.parse('finder'), findings: [] },
      maxOutputTokens: 1,
    };
    const bytes = [parts.tools, parts.turns, parts.format].map((part) => JSON.stringify(part).length);
    expect(inputBound(openPrefixBook(), request)).toBe(bytes.reduce((sum, each) => sum + each, 3));
    expect(inputBound(openPrefixBook(), { ...request, system: '', tools: [], turns: [], format: null })).toBe(4);
  });

  it('is by the words of its own conversation: the report is none that goes on from the plan (2.6)', async () => {
    const go = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(['a'], ['b']),
      script: async ({ agent, purpose }) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === S1) await go.promise;
        return { text: 'found '.repeat(4000), usage: { output: 100 } };
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await run.tell({ do: 'message', to: ROOT, text: 'be brief in the report', delivery: 'sequential' });
    go.resolve();
    await run.result;
    const merged = eventsOf(run, 'model.finished', 'ROOT').at(-1);
    expect(merged).toMatchObject({ type: 'model.finished' });
    expect(merged).not.toHaveProperty('bounded');
  });

  it('holds a little more than the provider counted: what it counts is an estimate, what it bills is not (2.6)', async () => {
    const tasks = [{ id: 't', description: 'x'.repeat(3000), role: 'finder', budget: { maxTokens: 3200 } }];
    const run = await ended({
      plan: { reason: '', tasks },
      scripted: { count: () => 700 },
      script: ({ purpose, maxOutputTokens: output }) =>
        purpose.is === 'work' ? { text: 'done', usage: { input: 712, output } } : undefined,
    });
    const [finished] = eventsOf(run, 'model.finished');
    expect(finished).toMatchObject({ usage: { input: 712 } });
    expect(finished).not.toHaveProperty('bounded');
  });
});
