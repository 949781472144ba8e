import { expect, it } from 'vitest';
import { ok } from '../../../src/domain/result.ts';
import { forcedRun, forcing, memoryProject, verdict } from '../../support/forced.ts';
import { ownTask } from '../../support/own-tree-plans.ts';
import { AGENT, filed, RULES } from '../../support/run.ts';
import { CONFLICT, treesByHand } from '../../support/trees-by-hand.ts';

const S1 = AGENT('ROOT::S1');
const PLAN = { reason: '', tasks: [{ ...ownTask('one', 'Write it'), role: 'oracle' }] };

it('judges a project anew that changed meanwhile, after an agent has failed to resolve its conflict', async () => {
  const project = memoryProject();
  const seen: string[] = [];
  const run = forcedRun({
    ...filed(PLAN),
    forced: [forcing(['always'])],
    project,
    person: true,
    rules: { ...RULES, onFailure: { ...RULES.enabled, value: 'skip' } },
    workspaces: treesByHand({ merge: () => Promise.resolve(ok(CONFLICT)) }),
    script: ({ purpose, turns }) => {
      if (purpose.is !== 'work') return undefined;
      const told = turns.map((turn) => (turn.by === 'user' ? turn.text : '')).join('\n');
      if (purpose.role !== 'security')
        return told.includes('Conflicts to resolve') ? { text: 'no', stopReason: 'refused' } : undefined;
      if (turns.length > 1) return { text: 'judged' };
      seen.push(told.includes('+later') ? 'the later project' : 'the project');
      project.write('beside.ts', 'later');
      return verdict(true);
    },
  });
  const { approvals } = await run.until((state) => state.approvals.length === 1);
  await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'agent' });
  await run.result;
  expect(run.state().agents.get(S1)?.outcome).toBe('failed');
  expect(seen).toEqual(['the project', 'the later project']);
});
