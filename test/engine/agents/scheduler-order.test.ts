import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentOutcome } from '../../../src/domain/agents/agent.ts';
import { type Job, schedule } from '../../../src/engine/agents/scheduler.ts';
import { dag } from '../../support/dag.ts';
import { byHand, settled } from '../../support/schedule-by-hand.ts';

describe('jobs that come after others without needing them', () => {
  const after = (id: number, others: readonly number[], needs: readonly number[] = []): Job<number> => ({
    id,
    needs,
    after: others,
  });

  it.each(['completed', 'failed', 'killed'] as const)('start once the other has ended: %s', async (outcome) => {
    const { told, asked, end } = byHand([after(0, []), after(1, [0])]);
    expect(told).toEqual([['start', 0]]);
    await end(0, outcome);
    expect([told.at(-1), asked.size]).toEqual([['start', 1], 0]);
  });

  it('start when the other was left out, or waits for a choice about what it needs', async () => {
    const { told, asked, end, answer } = byHand([after(0, []), after(1, [], [0]), after(2, [1])]);
    await end(0, 'failed');
    expect([told.at(-1), asked.get(0)?.blocked]).toEqual([['start', 2], [1]]);
    await answer(0, 'skip');
    await end(2, 'completed');
    expect(told.slice(-2)).toEqual([
      ['skipped', 1],
      ['end', 2],
    ]);
  });

  it('are waited for by the retry of the other while they run', async () => {
    const { told, running, end } = byHand([after(0, []), after(1, [0])], new Map(), () => true);
    await end(0, 'failed');
    expect(running.retry(0)).toBe(true);
    expect([running.hasBegun(0), running.retry(0), told.at(-1)]).toEqual([true, false, ['start', 1]]);
    await end(1, 'completed');
    expect(told.at(-1)).toEqual(['start', 0]);
    await end(0, 'completed');
    expect((await running.done).stopped).toBe(false);
  });

  it('take their turns in the order in which they were ready', async () => {
    const jobs = [after(0, []), after(1, [], [4]), after(2, [], [3]), after(3, []), after(4, [])];
    const { told, end } = byHand(jobs, new Map(), (one, other) => one < 3 && other < 3);
    await end(3, 'completed');
    await end(4, 'completed');
    await end(0, 'completed');
    await end(2, 'completed');
    expect(told.flatMap(([what, id]) => (what === 'start' ? [id] : []))).toEqual([0, 3, 4, 2, 1]);
  });

  it('never run beside what they must be apart from, and all end, whatever happens', async () => {
    const property = fc.asyncProperty(
      dag,
      fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }))),
      fc.array(fc.constantFrom<AgentOutcome>('completed', 'completed', 'failed'), { minLength: 60, maxLength: 60 }),
      fc.scheduler(),
      async (jobs, pairs, outcomes, order) => {
        const ids = new Set(jobs.map(({ id }) => id));
        const apart = (a: number, b: number): boolean =>
          pairs.some(([x, y]) => (x === a && y === b) || (x === b && y === a));
        const now = new Set<number>();
        let runs = 0;
        const { done } = schedule<number>({
          // A larger number comes after a smaller one, as a plan has it.
          jobs: jobs.map((job) => ({ ...job, after: [...ids].filter((id) => id < job.id && apart(id, job.id)) })),
          known: new Map(),
          mustNotOverlap: apart,
          start: async (id) => {
            expect([...now].filter((other) => apart(id, other))).toEqual([]);
            now.add(id);
            runs += 1;
            const end = runs > 40 ? 'completed' : (outcomes[runs] ?? 'completed');
            await order.schedule(Promise.resolve(), `job ${id}`);
            now.delete(id);
            return end;
          },
          choose: async (failed) => {
            await order.schedule(Promise.resolve(), `choice ${failed}`);
            return runs % 2 === 0 ? 'retry' : 'skip';
          },
          skipped: () => {},
          restored: () => {},
        });
        for (await settled(); order.count() > 0; await settled()) await order.waitOne();
        expect([...(await done).outcomes.keys()].toSorted((a, b) => a - b)).toEqual([...ids].toSorted((a, b) => a - b));
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
});
