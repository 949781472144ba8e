import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentOutcome } from '../../../src/domain/agents/agent.ts';
import { type Choice, type Job, schedule } from '../../../src/engine/agents/scheduler.ts';
import { dag } from '../../support/dag.ts';
import { byHand, settled } from '../../support/schedule-by-hand.ts';

const jobsOf = (...needs: readonly (readonly number[])[]): Job<number>[] =>
  needs.map((each, id) => ({ id, needs: each }));
const chain = (length: number): Job<number>[] =>
  Array.from({ length }, (_, id) => ({ id, needs: id === 0 ? [] : [id - 1] }));

describe('the scheduler', () => {
  it.each([
    ['completed', 'partial', 'starts'],
    ['completed', 'completed', 'starts'],
    ['completed', 'failed', 'asks'],
    ['completed', 'killed', 'asks'],
    ['partial', 'abandoned', 'asks'],
  ] as const)('with needs that ended %s and %s %s (D16, D40)', async (one, other, what) => {
    const run = byHand([...jobsOf([], []), { id: 2, needs: [0, 1] }]);
    await run.end(0, one);
    await run.end(1, other);
    expect([run.told.some(([is, id]) => is === 'start' && id === 2), run.asked.has(1)]).toEqual(
      what === 'starts' ? [true, false] : [false, true],
    );
  });

  it('starts what is ready at once: a quick branch never waits for a slow one (D7, O056)', async () => {
    const { told, end } = byHand(jobsOf([], [], [0], [2], [1, 3]));
    expect(told).toEqual([
      ['start', 0],
      ['start', 1],
    ]);
    await end(0, 'completed');
    await end(2, 'completed');
    expect(told.slice(2)).toEqual([
      ['end', 0],
      ['start', 2],
      ['end', 2],
      ['start', 3],
    ]);
  });

  it('knows the outcomes of a resumed run, and asks about its failures', async () => {
    const { told, asked, answer, running } = byHand(jobsOf([], [0], [1], []), new Map([[0, 'failed']]));
    expect(told).toEqual([['start', 3]]);
    expect(asked.get(0)?.blocked).toEqual([1]);
    await answer(0, 'skip');
    expect(told.slice(1)).toEqual([
      ['skipped', 1],
      ['skipped', 2],
    ]);
    expect(running.retry(1)).toBe(false);
  });

  it('takes a question back when nobody is blocked by the failure any more', async () => {
    const { asked, end, answer, told, running } = byHand(jobsOf([], [0]));
    await end(0, 'failed');
    expect(running.retry(0)).toBe(true);
    expect(asked.get(0)?.moot.aborted).toBe(true);
    await answer(0, 'stop');
    await end(0, 'completed');
    await end(1, 'completed');
    expect((await running.done).stopped).toBe(false);
    expect(told.filter(([what]) => what === 'start').map(([, id]) => id)).toEqual([0, 0, 1]);
  });

  it('starts what needs a job that goes on after its end once that has ended again', async () => {
    const { told, end, running } = byHand(jobsOf([], [], [0, 1]));
    const starts = (): readonly number[] => told.filter(([what]) => what === 'start').map(([, id]) => id);
    await end(0, 'completed');
    const more = Promise.withResolvers<AgentOutcome>();
    running.continueWith(0, more.promise);
    await end(1, 'completed');
    expect(starts()).toEqual([0, 1]);
    more.resolve('completed');
    await settled();
    expect(starts()).toEqual([0, 1, 2]);
  });

  it('waits for a job that goes on while its end is still being told', async () => {
    const more = Promise.withResolvers<AgentOutcome>();
    const run = byHand(jobsOf([], [0]));
    const starts = (): readonly number[] => run.told.filter(([what]) => what === 'start').map(([, id]) => id);
    run.running.continueWith(0, more.promise);
    await run.end(0, 'failed');
    expect([starts(), run.asked.has(0)]).toEqual([[0], false]);
    more.resolve('completed');
    await settled();
    expect(starts()).toEqual([0, 1]);
  });

  it('takes other jobs while it runs: what has begun stays, what is missing never begins', async () => {
    const { told, end, running } = byHand(jobsOf([], [0], [1]));
    expect([running.hasBegun(0), running.hasBegun(1)]).toEqual([true, false]);
    const jobs = [
      { id: 3, needs: [] },
      { id: 0, needs: [9] },
      { id: 2, needs: [0, 3] },
    ];
    expect(running.change(jobs)).toBe(true);
    await end(0, 'completed');
    await end(3, 'completed');
    await end(2, 'completed');
    expect(told).toEqual([
      ['start', 0],
      ['start', 3],
      ['end', 0],
      ['end', 3],
      ['start', 2],
      ['end', 2],
    ]);
    expect([...(await running.done).outcomes.keys()]).toEqual([0, 3, 2]);
    expect(running.change(jobs)).toBe(false);
  });

  it('asks anew where others wait for a failure than were named', async () => {
    const { asked, end, running, answer, told } = byHand(jobsOf([], [0]));
    await end(0, 'failed');
    const first = asked.get(0);
    running.change(jobsOf([], [0], [0]));
    expect(first?.moot.aborted).toBe(true);
    expect(asked.get(0)?.blocked).toEqual([1, 2]);
    running.change(jobsOf([], [0], [0]));
    expect(asked.get(0)?.moot.aborted).toBe(false);
    await answer(0, 'skip');
    expect((await running.done).outcomes.get(2)).toBe('skipped');
    expect(told.slice(2)).toEqual([
      ['skipped', 1],
      ['skipped', 2],
    ]);
  });

  it.each([
    [
      'another one',
      [
        { id: 0, needs: [] },
        { id: 3, needs: [0] },
        { id: 2, needs: [0] },
      ],
      [3, 2],
    ],
    ['one less', jobsOf([], [0], []), [1]],
  ])('asks anew where %s waits for a failure', async (_, jobs, blocked) => {
    const { asked, end, running } = byHand(jobsOf([], [0], [0]));
    await end(0, 'failed');
    const first = asked.get(0);
    expect(first?.blocked).toEqual([1, 2]);
    running.change(jobs);
    expect(first?.moot.aborted).toBe(true);
    expect(asked.get(0)?.blocked).toEqual(blocked);
  });

  it('lets what was left out wait for its needs again, where it is wanted after all', async () => {
    const { asked, end, running, answer, told } = byHand(jobsOf([], [0], []));
    await end(0, 'failed');
    await answer(0, 'skip');
    running.change([...jobsOf([], [0], []), { id: 3, needs: [1] }]);
    expect(asked.get(1)?.blocked).toEqual([3]);
    await answer(1, 'retry');
    expect(asked.get(0)?.blocked).toEqual([1]);
    await answer(0, 'retry');
    await end(0, 'completed');
    await end(1, 'completed');
    expect(told.filter(([what]) => what === 'start').map(([, id]) => id)).toEqual([0, 2, 0, 1, 3]);
    await end(2, 'completed');
    await end(3, 'completed');
    expect((await running.done).stopped).toBe(false);
  });

  it('runs what was skipped behind a failure once more when the failure is retried, however far behind', async () => {
    const { answer, end, running, told } = byHand(jobsOf([], [0], [1], [], [3]));
    await end(0, 'failed');
    await answer(0, 'skip');
    expect(running.skip(4)).toBe(true);
    expect(running.retry(0)).toBe(true);
    await end(0, 'completed');
    await end(1, 'completed');
    await end(2, 'completed');
    await end(3, 'completed');
    expect([...(await running.done).outcomes]).toEqual([
      [4, 'skipped'],
      [0, 'completed'],
      [1, 'completed'],
      [2, 'completed'],
      [3, 'completed'],
    ]);
    expect(told.filter(([what]) => what !== 'end')).toEqual([
      ['start', 0],
      ['start', 3],
      ['skipped', 1],
      ['skipped', 2],
      ['skipped', 4],
      ['restored', 1],
      ['restored', 2],
      ['start', 0],
      ['start', 1],
      ['start', 2],
    ]);
  });

  it('lets a skipped job that comes back wait for what it needs now', async () => {
    const { answer, end, running, told } = byHand(jobsOf([], [0], []));
    await end(0, 'failed');
    await answer(0, 'skip');
    running.change([
      { id: 0, needs: [] },
      { id: 1, needs: [3] },
      { id: 2, needs: [] },
      { id: 3, needs: [] },
    ]);
    expect(running.retry(0)).toBe(true);
    await end(3, 'completed');
    expect(told.filter(([what]) => what === 'start').map(([, id]) => id)).toEqual([0, 2, 3, 0, 1]);
  });

  it('knows nothing more of a skipped job that was taken out, also where one of its name comes back', async () => {
    const { answer, end, running, told } = byHand(jobsOf([], [0], []));
    await end(0, 'failed');
    await answer(0, 'skip');
    running.change([
      { id: 0, needs: [] },
      { id: 2, needs: [] },
    ]);
    expect(running.retry(0)).toBe(true);
    expect(told.filter(([what]) => what === 'restored')).toEqual([]);
  });

  it('rejects with the first fault, after all that was started has ended', async () => {
    const fault = new Error('disk full');
    const slow = Promise.withResolvers<AgentOutcome>();
    let over = false;
    const { done } = schedule<number>({
      jobs: jobsOf([], [], [1]),
      known: new Map(),
      start: (id) => (id === 0 ? Promise.reject(fault) : slow.promise),
      choose: () => Promise.resolve('skip'),
      skipped: () => undefined,
      restored: () => undefined,
    });
    const rejected = done.catch((error: unknown) => {
      over = true;
      return error;
    });
    await settled();
    expect(over).toBe(false);
    slow.resolve('completed');
    expect(await rejected).toBe(fault);
  });

  it('does nothing more once it is over', async () => {
    const { running, end, told } = byHand(jobsOf([], [0]));
    await end(0, null);
    expect((await running.done).stopped).toBe(true);
    expect([running.retry(0), running.skip(1)]).toEqual([false, false]);
    expect(told).toEqual([
      ['start', 0],
      ['end', 0],
    ]);
  });

  it.each([
    ['a chain', chain(1000)],
    ['a fan', [...jobsOf([]), ...Array.from({ length: 999 }, (_, index) => ({ id: index + 1, needs: [0] }))]],
  ])('of 1,000 jobs in %s is quick (O02)', async (_, jobs) => {
    const began = process.cpuUsage();
    const all = {
      jobs,
      known: new Map(),
      choose: () => Promise.resolve('skip' as const),
      skipped: () => undefined,
      restored: () => undefined,
    };
    const { outcomes } = await schedule<number>({ ...all, start: () => Promise.resolve('completed') }).done;
    expect(outcomes.size).toBe(1000);
    const failed = await schedule<number>({ ...all, start: () => Promise.resolve('failed') }).done;
    expect([...failed.outcomes.values()].filter((outcome) => outcome === 'skipped').length).toBe(999);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5000);
  });
});

describe('any schedule', () => {
  it('ends each job once, starts none before its needs, none twice without a retry, none after a stop', async () => {
    const outcome = fc.constantFrom<AgentOutcome | null>(
      'completed',
      'completed',
      'completed',
      'failed',
      'partial',
      'killed',
      null,
    );
    const choice = fc.constantFrom<Choice>('retry', 'skip', 'skip', 'stop');
    const property = fc.asyncProperty(
      dag,
      fc.array(outcome, { minLength: 40, maxLength: 40 }),
      fc.array(choice, { minLength: 40, maxLength: 40 }),
      fc.scheduler(),
      async (jobs, outcomes, choices, order) => {
        const good = new Set<number>();
        const starts = new Map<number, number>();
        const skipped: number[] = [];
        let [retries, stopped, runs] = [0, false, 0];
        const { done } = schedule<number>({
          jobs,
          known: new Map(),
          start: async (id) => {
            expect(stopped).toBe(false);
            expect(jobs[id]?.needs.every((need) => good.has(need))).toBe(true);
            starts.set(id, (starts.get(id) ?? 0) + 1);
            runs += 1;
            const end = runs > 30 ? 'completed' : (outcomes[runs] ?? 'completed');
            await order.schedule(Promise.resolve(), `job ${id}`);
            if (end === 'completed' || end === 'partial') good.add(id);
            if (end === null) stopped = true;
            return end;
          },
          choose: async (failed, _, moot) => {
            const what = choices[failed + runs] ?? 'skip';
            await order.schedule(Promise.resolve(), `choice ${failed}`);
            if (!moot.aborted && !stopped && what === 'retry') retries += 1;
            if (!moot.aborted && what === 'stop') stopped = true;
            return what;
          },
          skipped: (id) => void skipped.push(id),
          restored: (id) => void skipped.splice(skipped.indexOf(id), 1),
        });
        // One after the other, each with all that follows from it.
        for (await settled(); order.count() > 0; await settled()) await order.waitOne();
        const end = await done;
        expect(end.stopped).toBe(stopped);
        expect(new Set(skipped).size).toBe(skipped.length);
        expect(skipped.filter((id) => starts.has(id))).toEqual([]);
        expect([...starts.values()].reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(starts.size + retries);
        if (!stopped) expect([...end.outcomes.keys()].toSorted((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });
});
