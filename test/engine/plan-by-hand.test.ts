/** Planning that failed while a person waits for the plan: it ends nothing, they read why and go on by hand or again. */
import { describe, expect, it } from 'vitest';
import { type TestRun, testRun } from '../support/run.ts';

const task = (id: string): object => ({ id, description: 'do it', recommendedRole: 'finder' });
const PLAN = JSON.stringify({ reason: '', tasks: [task('a'), task('b')] });
const tasksOf = (run: TestRun): unknown[] => run.state().plan?.tasks.map(({ id, role }) => [id, role]) ?? [];
const ALONE = [['task-1', 'main']];

describe('a person whose plan nobody could make (H01)', () => {
  /** Whether the planner can be reached is decided call by call; everybody else always can. */
  const waiting = (reached: readonly boolean[]): TestRun =>
    testRun({
      approval: 'person',
      script: ({ purpose }, n) => {
        if (purpose.is !== 'plan') return undefined;
        return reached[Math.min(n, reached.length - 1)] === true
          ? { text: PLAN }
          : { fault: { is: 'refused', message: 'no credit' } };
      },
    });
  const offered = (run: TestRun, many: number): Promise<unknown> =>
    run.until(
      ({ phase }) =>
        phase === 'approving' && run.events().filter(({ type }) => type === 'plan.proposed').length === many,
    );

  it('reads why, has one task to go on with, and the plan made again', async () => {
    const run = waiting([false, true]);
    await offered(run, 1);
    expect([run.state().planFault, run.state().planBy, tasksOf(run)]).toEqual(['fast: no credit', 'Mimir', ALONE]);
    expect(run.state().plan?.reason).toBe('One agent for the whole task: planning failed');
    await run.tell({ do: 'plan again', hint: '' });
    await offered(run, 2);
    expect([run.state().planFault, tasksOf(run).length]).toEqual(['', 2]);
    await run.tell({ do: 'approve plan', digest: run.state().planDigest });
    expect((await run.result).success).toBe(true);
  });

  it('keeps the plan that was to be made again', async () => {
    const run = waiting([true, false]);
    await offered(run, 1);
    const before = run.state().plan;
    await run.tell({ do: 'plan again', hint: 'fewer' });
    await offered(run, 2);
    expect(run.state()).toMatchObject({ phase: 'approving', plan: before, planFault: 'fast: no credit' });
    await run.tell({ do: 'reject plan' });
    expect((await run.result).status).toBe('rejected');
  });

  it('waits with it where no provider can be reached at all, instead of stopping', async () => {
    const run = testRun({
      approval: 'person',
      script: () => ({ fault: { is: 'unauthorised', message: 'wrong key' } }),
    });
    await offered(run, 1);
    expect([run.state().planFault, tasksOf(run)]).toEqual(['no model could be reached: fast: wrong key', ALONE]);
    await run.tell({ do: 'reject plan' });
    expect((await run.result).status).toBe('rejected');
  });

  it('is told of an answer that could not be used as well', async () => {
    const run = testRun({
      approval: 'person',
      script: ({ purpose }) => (purpose.is === 'plan' ? { text: 'I will see.' } : undefined),
    });
    await offered(run, 1);
    expect(run.state().planFault).toBe(
      "the planner's answer could not be used: the answer is not one JSON object with `reason` and `tasks`",
    );
  });
});
