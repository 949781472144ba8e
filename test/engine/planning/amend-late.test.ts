import { describe, expect, it } from 'vitest';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { ends, forcedRun, forcing, gatesOf, reviewers, verdict, writing } from '../../support/forced.ts';
import { AGENT, planOf, says, type TestRun, testRun } from '../../support/run.ts';

const add = (role: string): PlanEdit => ({ is: 'add', description: `more ${role}`, role, dependsOn: [] });
const addWriter = (): PlanEdit => ({ ...ADDED, writes: ['**'] });
const ADDED = { is: 'add', description: 'more oracle', role: 'oracle', dependsOn: [] } as const;

async function amend(run: TestRun, ...edits: readonly PlanEdit[]): Promise<string> {
  const preview = await run.controls.previewPlan(edits);
  if (!preview.ok) return preview.fault;
  return run.tell({ do: 'amend plan', edits, base: preview.value.base, digest: preview.value.digest });
}

describe('a task that is added when all others have ended', () => {
  it('runs, and what it changed is judged as well, before the report is written', async () => {
    const first = Promise.withResolvers<void>();
    const run = forcedRun({
      plan: planOf(['o1'], ['b']),
      forced: [forcing(['always'])],
      script: async (request, n) => {
        if (request.purpose.is !== 'work') return undefined;
        if (request.purpose.role !== 'security')
          return says({ 'ROOT::S1': [writing('a.ts', 'x')], 'ROOT::S4': [writing('b.ts', 'y')] })(request, n);
        if (n > 0) return { text: 'done' };
        await first.promise;
        return verdict(true);
      },
    });
    await run.until(({ agents }) => (agents.get(AGENT('ROOT::S3'))?.open.length ?? 0) > 0);
    expect(await amend(run, addWriter())).toBe('plan changed: 1 added');
    first.resolve();
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(ends(run)).toEqual({ o1: 'completed', b: 'completed', 'task-3': 'completed' });
    expect(run.state().agents.get(AGENT('ROOT::S4'))?.taskId).toBe('task-3');
    expect(reviewers(run)).toEqual(['ROOT::S3', 'ROOT::S5']);
    expect(gatesOf(run)).toEqual([['ROOT', 'always', true, 'passed: nothing found']]);
  });

  it('that writes is judged after its end by a rule that the approved plan gave no work to', async () => {
    const go = Promise.withResolvers<void>();
    const run = forcedRun({
      plan: planOf(['a'], ['b']),
      script: async (request, n) => {
        if (request.agent === AGENT('ROOT::S1')) await go.promise;
        if (request.purpose.is !== 'work') return undefined;
        if (request.purpose.role === 'security') return n === 0 ? verdict(true) : { text: 'done' };
        return says({ 'ROOT::S3': [writing('a.ts', 'x')] })(request, n);
      },
    });
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S1'))?.open.length === 1);
    expect(run.state().plan?.forced?.[0]?.after).toEqual([]);
    await amend(run, addWriter());
    expect(run.state().plan?.forced?.[0]).toMatchObject({ after: ['task-3'], runs: 1 });
    go.resolve();
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(gatesOf(run)).toEqual([['ROOT::S3', 'on-write', true, 'passed: nothing found']]);
  });

  it('shares the budget of the run with what it has used and promised, and no more agents run than may', async () => {
    const go = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(['a'], ['b']),
      runBudget: { maxTokens: 60_000 },
      person: false,
      script: async ({ agent, purpose }) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === AGENT('ROOT::S1')) await go.promise;
        return { text: 'found', usage: { output: 20_000 } };
      },
    });
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S1'))?.open.length === 1);
    await amend(run, add('finder'), add('finder'), add('finder'), add('finder'), add('finder'), add('finder'));
    go.resolve();
    expect((await run.result).overBudget).toBe(true);
    expect(run.state().finished?.totals.tokens).toBeLessThanOrEqual(60_000);
  });
});
