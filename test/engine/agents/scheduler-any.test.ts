import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentOutcome } from '../../../src/domain/agents/agent.ts';
import { type Choice, type Job, schedule } from '../../../src/engine/agents/scheduler.ts';
import { dag } from '../../support/dag.ts';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

interface Change {
  readonly drop: readonly number[];
  readonly needs: readonly (readonly [id: number, needs: readonly number[]])[];
}

const change: fc.Arbitrary<Change> = fc.record({
  drop: fc.array(fc.nat({ max: 15 }), { maxLength: 4 }),
  needs: fc.array(fc.tuple(fc.nat({ max: 15 }), fc.array(fc.nat({ max: 15 }), { maxLength: 3 })), { maxLength: 5 }),
});

/** `jobs` without those to drop, with other needs for some and new ones: smaller numbers always, none of a job that is not there. */
function changed(
  jobs: readonly Job<number>[],
  { drop, needs }: Change,
  hasBegun: (id: number) => boolean,
): Job<number>[] {
  const all = new Map(jobs.filter(({ id }) => hasBegun(id) || !drop.includes(id)).map((job) => [job.id, job]));
  for (const [id, of] of needs) if (!hasBegun(id)) all.set(id, { id, needs: of.filter((need) => need < id) });
  return [...all.values()].map((job) => ({ ...job, needs: job.needs.filter((need) => all.has(need)) }));
}

async function later(order: fc.Scheduler, label: string, act: () => void): Promise<void> {
  await order.schedule(Promise.resolve(), label);
  act();
}

describe('any schedule that is changed while it runs', () => {
  it('starts no job twice without a retry, none before its needs of that moment, none that was taken out', async () => {
    const outcome = fc.constantFrom<AgentOutcome>('completed', 'completed', 'completed', 'failed', 'killed');
    const property = fc.asyncProperty(
      dag,
      fc.array(change, { maxLength: 6 }),
      fc.array(outcome, { minLength: 60, maxLength: 60 }),
      fc.array(fc.constantFrom<Choice>('retry', 'skip', 'skip'), { minLength: 60, maxLength: 60 }),
      fc.scheduler(),
      async (first, changes, outcomes, choices, order) => {
        let jobs: readonly Job<number>[] = first;
        const good = new Set<number>();
        const starts = new Map<number, number>();
        let [retries, runs, asked] = [0, 0, 0];
        const running = schedule<number>({
          jobs,
          known: new Map(),
          start: async (id, again) => {
            const job = jobs.find((one) => one.id === id);
            expect(job?.needs.every((need) => good.has(need))).toBe(true);
            if (again) retries += 1;
            starts.set(id, (starts.get(id) ?? 0) + 1);
            runs += 1;
            const end = runs > 40 ? 'completed' : (outcomes[runs] ?? 'completed');
            await order.schedule(Promise.resolve(), `job ${id}`);
            if (end === 'completed') good.add(id);
            return end;
          },
          choose: async (failed, blocked) => {
            expect(blocked.length).toBeGreaterThan(0);
            asked += 1;
            const what = asked > 50 ? 'skip' : (choices[asked] ?? 'skip');
            await order.schedule(Promise.resolve(), `choice ${failed}`);
            return what;
          },
          skipped: (id) => expect(jobs.some((job) => job.id === id)).toBe(true),
          restored: (id) => expect(jobs.some((job) => job.id === id)).toBe(true),
        });
        for (const [at, one] of changes.entries())
          void later(order, `change ${at}`, () => {
            const before = jobs;
            jobs = changed(jobs, one, (id) => running.hasBegun(id));
            if (!running.change(jobs)) jobs = before;
          });
        for (await settled(); order.count() > 0; await settled()) await order.waitOne();
        const end = await running.done;
        expect(end.stopped).toBe(false);
        expect([...starts.values()].reduce((sum, n) => sum + n, 0)).toBe(starts.size + retries);
        expect([...end.outcomes.keys()].toSorted((a, b) => a - b)).toEqual(
          jobs.map(({ id }) => id).toSorted((a, b) => a - b),
        );
      },
    );
    await fc.assert(property, { numRuns: 400 });
  });
});

describe('any schedule whose jobs end in one breath', () => {
  it('starts none twice without a retry, whoever looks in between', async () => {
    const ticks = fc.array(fc.nat({ max: 6 }), { minLength: 40, maxLength: 40 });
    const outcome = fc.constantFrom<AgentOutcome>('completed', 'failed');
    const property = fc.asyncProperty(
      dag,
      ticks,
      ticks,
      fc.array(outcome, { minLength: 40, maxLength: 40 }),
      async (jobs, work, thought, outcomes) => {
        const running = new Set<number>();
        const starts = new Map<number, number>();
        let [retries, runs] = [0, 0];
        const { done } = schedule<number>({
          jobs,
          known: new Map(),
          start: async (id, again) => {
            expect(running.has(id)).toBe(false);
            running.add(id);
            if (again) retries += 1;
            starts.set(id, (starts.get(id) ?? 0) + 1);
            runs += 1;
            const end = runs > 30 ? 'completed' : (outcomes[runs] ?? 'completed');
            for (let tick = work[runs % 40] ?? 0; tick > 0; tick -= 1) await Promise.resolve();
            running.delete(id);
            return end;
          },
          choose: async (failed) => {
            for (let tick = thought[(failed + runs) % 40] ?? 0; tick > 0; tick -= 1) await Promise.resolve();
            return 'retry';
          },
          skipped: () => undefined,
          restored: () => undefined,
        });
        await done;
        expect([...starts.values()].reduce((sum, n) => sum + n, 0)).toBe(starts.size + retries);
      },
    );
    await fc.assert(property, { numRuns: 400 });
  });
});
