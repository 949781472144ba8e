import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dependantsOf,
  reviewsOf,
  scheduleOf,
  stagesOf,
  totalsOf,
  wavesOf,
} from '../../../src/domain/plan/plan-view.ts';
import type { MandatoryReview } from '../../../src/domain/agents/agent.ts';
import { ModelId, RoleName } from '../../../src/domain/ids.ts';
import { UNICODE } from '../../../src/ui/tui/text/glyphs.ts';
import { scheduleLines } from '../../../src/ui/tui/components/plan/estimate.ts';
import { plain } from '../../../src/app/views/text/line.ts';
import { soundPlan } from '../../support/arbitraries.ts';
import { graph, planOf, RACE, task } from '../../support/plans.ts';

describe('views of a plan', () => {
  it('groups tasks by the longest way to them', () => {
    const waves = wavesOf(graph('a', 'b', 'c:a', 'd:c,b', 'e:b'));
    expect(waves.map((wave) => wave.map(({ id }) => id))).toEqual([['a', 'b'], ['c', 'e'], ['d']]);
  });

  it('knows who waits for a task', () => {
    expect(dependantsOf(RACE, task('task-4')).map(({ id }) => id)).toEqual(['task-6', 'task-8']);
  });

  it('adds tokens and money, and takes the time of the schedule (O101, O111)', () => {
    expect(totalsOf(graph('a', 'b', 'c:a'), 4)).toEqual({
      tokens: 12_000,
      cost: 0.0216,
      knownCost: 0.0216,
      seconds: 20,
    });
    expect(totalsOf(graph('a', 'b', 'c:a'), 1).seconds).toBe(30);
  });

  it('says that a price is not known instead of guessing', () => {
    const plan = planOf({ tasks: [{ id: 'a', description: 'x', role: 'finder', model: 'qwen-3' }] });
    expect(totalsOf(plan, 1)).toMatchObject({ cost: null, knownCost: 0 });
  });

  it('starts a task as soon as its own needs are done, and marks the chain that decides the end (D7)', () => {
    expect(scheduleOf(graph('a', 'b', 'c:a', 'd:c'), 2)).toEqual([
      { id: 'a', start: 0, end: 10, critical: true },
      { id: 'b', start: 0, end: 10, critical: false },
      { id: 'c', start: 10, end: 20, critical: true },
      { id: 'd', start: 20, end: 30, critical: true },
    ]);
  });

  it('respects dependencies and the number that may run at once', () => {
    fc.assert(
      fc.property(soundPlan(40), fc.integer({ min: 1, max: 8 }), (plan, parallel) => {
        const slots = new Map(scheduleOf(plan, parallel).map((slot) => [slot.id, slot]));
        expect([...slots.keys()]).toEqual(plan.tasks.map(({ id }) => id));
        const total = totalsOf(plan, parallel).seconds;
        let critical = 0;
        for (const each of plan.tasks) {
          const slot = slots.get(each.id);
          if (slot === undefined) throw new Error('no slot');
          expect(slot.end - slot.start).toBe(each.estimatedSeconds);
          expect(each.dependsOn.every((need) => (slots.get(need)?.end ?? Infinity) <= slot.start)).toBe(true);
          const beside = [...slots.values()].filter(({ start, end }) => start <= slot.start && end > slot.start);
          expect(beside.length).toBeLessThanOrEqual(parallel);
          if (slot.critical) critical += slot.end - slot.start;
        }
        // The critical chain has no gap: it takes all the time there is.
        expect(critical).toBe(total);
      }),
    );
  });

  it('has every review that the rules add, in the schedule, the total and the stages', () => {
    const review = (runs: number, after: readonly string[], estimatedSeconds: number): MandatoryReview => ({
      role: RoleName.parse('security'),
      model: { asked: 'x', used: ModelId.parse('a/x'), because: null },
      triggers: ['always'],
      onFailure: 'block',
      after: after.map(task),
      runs,
      estimatedTokens: 1000,
      estimatedCost: 0.1,
      estimatedSeconds,
      budget: {},
      because: 'security: always',
    });
    // Two tasks of 10 s beside each other; 30 s behind the second one, then two runs at the end.
    const plan = { ...graph('a', 'b'), forced: [review(1, ['b'], 30), review(2, [], 40)] };
    expect(reviewsOf(plan, 4)).toEqual([
      { node: 0, start: 10, end: 40 },
      { node: 1, start: 40, end: 80 },
      { node: 1, start: 80, end: 120 },
    ]);
    expect([totalsOf(plan, 4).seconds, stagesOf(plan), stagesOf(graph('a', 'b'))]).toEqual([120, 2, 1]);
    const lines = scheduleLines({ plan, maxParallel: 4, selected: 0, focused: false }, 84, 5, UNICODE).map(plain);
    expect(lines).toMatchInlineSnapshot(`
      [
        " 1 finder      ▬▬▬▬▬························································     10s",
        " 2 finder      ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆·········································     10s",
        " ▣ security    ·····▬▬▬▬▬▬▬▬▬▬▬▬▬▬▬·········································     30s",
        " ▣ security    ····················▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆  1m 20s",
        "               0s             30s             1m             1m 30s                 ",
      ]
    `);
  });

  it('schedules thousands of tasks at once', () => {
    const ids = Array.from({ length: 50 }, (_, index) => (index === 0 ? 't0' : `t${index}:t${index - 1}`));
    expect(totalsOf(graph(...ids), 256).seconds).toBe(500);
  });
});
