/** Why a reply ended decides whether its calls run: a reply that did not stop for tools has none, whatever it holds. */
import { expect, it } from 'vitest';
import type { ScriptedReply } from '../support/scripted.ts';
import { AGENT, planOf, says, testRun } from '../support/run.ts';

const CALLS = [{ tool: 'update_todos', input: { todos: [{ text: 'one', state: 'open' }] } }];

it.each(['end', 'output limit', 'refused'] as const)(
  'calls of a reply that ended by "%s" never run',
  async (stopReason) => {
    const reply: ScriptedReply = { text: 'half', calls: CALLS, stopReason };
    const run = testRun({ plan: planOf(['a']), script: says({ [AGENT('ROOT::S1')]: [reply, { text: 'done' }] }) });
    await run.result;
    const used = run.events().filter(({ type }) => type === 'tool.started' || type === 'tool.finished');
    expect(used).toEqual([]);
  },
);

it('calls of a reply that stopped for tools do', async () => {
  const reply: ScriptedReply = { text: '', calls: CALLS };
  const run = testRun({ plan: planOf(['a']), script: says({ [AGENT('ROOT::S1')]: [reply, { text: 'done' }] }) });
  await run.result;
  expect(run.events().filter(({ type }) => type === 'tool.finished').length).toBe(1);
});
