/** Estimates against what was really used: ranges that are honest without history and true with it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelId, RoleName } from '../../../src/domain/ids.ts';
import type { Sample } from '../../../src/domain/plan/calibration.ts';
import { learnedFrom } from '../../../src/domain/plan/calibration.ts';
import { totalsOf } from '../../../src/domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../src/domain/plan/plan.ts';
import { fitOf, likelyPlan, likelyTask, rangeOf, totalRange } from '../../../src/domain/plan/estimate-range.ts';
import { soundPlan } from '../../support/arbitraries.ts';
import { graph, planOf, RACE } from '../../support/plans.ts';

const finder = RoleName.parse('finder');
const haiku = ModelId.parse('anthropic/haiku-4.5');
const sample = (run: string, ratio: number, more: Partial<Sample> = {}): Sample => ({
  run,
  role: finder,
  model: haiku,
  tokens: ratio,
  seconds: ratio,
  cost: ratio,
  ...more,
});
const runs = (...ratios: readonly number[]): readonly Sample[] =>
  ratios.map((ratio, index) => sample(`run-${index}`, ratio));
const taskOf = (plan: SoundPlan): PlanTask => {
  const [task] = plan.tasks;
  if (task === undefined) throw new Error('no task');
  return task;
};
/** 4000 tokens, $0.0072, 10 s. */
const TASK = taskOf(graph('a'));

/** Seeded noise around 0, roughly normal: the same in each run of the tests. */
function noise(seed: number): () => number {
  let state = seed;
  const next = (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  return () => Array.from({ length: 12 }, next).reduce((sum, one) => sum + one, -6);
}

describe('the range of a task', () => {
  it('is wide and says so where nothing ran yet', () => {
    expect(rangeOf(TASK, {})).toEqual({
      tokens: { low: 2400, likely: 4000, high: 6800 },
      cost: { low: 0.00432, likely: 0.0072, high: 0.01224 },
      seconds: { low: 6, likely: 10, high: 17 },
      runs: 0,
      because: 'no runs yet',
    });
  });

  it('is drawn from three runs on, and corrects the estimate from five on', () => {
    const two = rangeOf(TASK, { learned: learnedFrom(runs(2, 2)) });
    expect([two.runs, two.because]).toEqual([0, 'no runs yet']);
    const three = rangeOf(TASK, { learned: learnedFrom(runs(2, 2, 2)) });
    expect([three.tokens, three.because]).toEqual([{ low: 4000, likely: 4000, high: 13_600 }, 'range of 3 runs']);
    const seven = rangeOf(TASK, { learned: learnedFrom(runs(2, 2, 2, 2, 2, 2, 2)) });
    expect([seven.tokens.likely, seven.cost?.likely, seven.seconds.likely, seven.because]).toEqual([
      8000,
      0.0144,
      20,
      'learned from 7 runs',
    ]);
  });

  it('counts runs, not agents: three agents of one run are one', () => {
    const one = learnedFrom([1, 2, 3].map((ratio) => sample('the same', ratio)));
    expect(one).toEqual([]);
  });

  it('is not led astray by one odd run: a laptop that slept, a clock that was put back, twenty agents that went wrong', () => {
    for (const odd of [1000, 0.0001]) {
      const once = learnedFrom(runs(1, 1.1, 0.9, 1, odd));
      const often = learnedFrom([...runs(1, 1.1, 0.9, 1), ...Array.from({ length: 20 }, () => sample('odd', odd))]);
      for (const learned of [once, often]) {
        const { tokens, seconds } = rangeOf(TASK, { learned });
        expect(seconds.likely).toBe(10);
        expect(tokens.likely).toBe(4000);
        expect(tokens.low).toBeGreaterThanOrEqual(1800);
        expect(tokens.high).toBeLessThanOrEqual(8800);
      }
    }
  });

  it('takes its cost from its tokens where fewer than three runs had a price, however many agents they had', () => {
    const free = runs(2, 2, 2, 2, 2).map((one) => ({ ...one, cost: null }));
    const priced = Array.from({ length: 9 }, () => sample('priced', 2, { cost: 9 }));
    expect(rangeOf(TASK, { learned: learnedFrom([...free, ...priced]) }).cost?.likely).toBe(0.0144);
  });

  it('takes what is known of role and model, then of the role, then of all', () => {
    const other = ModelId.parse('openai/gpt-5');
    const oracle = RoleName.parse('oracle');
    const learned = learnedFrom([
      ...runs(1, 1, 1, 1, 1),
      ...[1, 2, 3, 4, 5].map((n) => sample(`o${n}`, 4, { model: other })),
      ...[1, 2, 3, 4, 5].map((n) => sample(`p${n}`, 0.5, { role: oracle, model: other })),
    ]);
    const likely = (role: RoleName, model: ModelId): number =>
      rangeOf({ ...TASK, role, model: { ...TASK.model, used: model } }, { learned }).tokens.likely;
    expect([
      likely(finder, haiku),
      likely(finder, other),
      likely(finder, ModelId.parse('x/new')),
      likely(RoleName.parse('tester'), haiku),
    ]).toEqual([4000, 16_000, 10_000, 4000]);
  });

  it('has no cost where no price is known, and none but 0 where the model is free', () => {
    const local = taskOf(
      planOf({ reason: '', tasks: [{ id: 'a', description: 'a', role: 'finder', model: 'qwen-3' }] }),
    );
    const free = taskOf(
      planOf({ reason: '', tasks: [{ id: 'a', description: 'a', role: 'finder', model: 'offline' }] }),
    );
    expect(rangeOf(local, {}).cost).toBe(null);
    expect(rangeOf(free, {}).cost).toEqual({ low: 0, likely: 0, high: 0 });
  });

  it('covers what is really used in at least 80 % of held-out runs, after 20 runs of known noise', () => {
    for (const [width, bias] of [
      [0.2, 1],
      [0.5, 1.6],
      [0.8, 0.7],
    ] as const) {
      let covered = 0;
      const [repeats, heldOut] = [10, 50];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const next = noise(repeat * 7919 + 1);
        const ratio = (): number => bias * Math.exp(width * next());
        const learned = learnedFrom(runs(...Array.from({ length: 20 }, ratio)));
        const { low, high } = rangeOf(TASK, { learned }).tokens;
        for (let held = 0; held < heldOut; held += 1) {
          const real = TASK.estimatedTokens * ratio();
          if (real >= low && real <= high) covered += 1;
        }
      }
      expect(covered / (repeats * heldOut)).toBeGreaterThanOrEqual(0.8);
    }
  });
});

describe('the range of a plan', () => {
  it('has the totals in its middle where nothing ran yet, and says for which tasks something is known', () => {
    const total = totalRange(RACE, {}, 4);
    const { tokens, cost, seconds } = totalsOf(RACE, 4);
    expect([total.tokens.likely, total.cost?.likely, total.seconds.likely]).toEqual([tokens, cost, seconds]);
    expect([total.tokens.low, total.tokens.high, total.because]).toEqual([95_400, 270_300, 'no runs yet']);
    const some = totalRange(
      planOf({
        reason: '',
        tasks: [
          { id: 'a', description: 'a', role: 'finder' },
          { id: 'b', description: 'b', role: 'tester' },
        ],
      }),
      { learned: learnedFrom(runs(1, 1, 1, 1, 1, 1, 1)).filter(({ role }) => role !== null) },
      4,
    );
    expect([some.runs, some.because]).toEqual([0, 'no runs yet for some tasks']);
  });

  it('is held against a budget by its ends', () => {
    const total = totalRange(graph('a'), {}, 4);
    expect([0.02, 0.01, 0.005].map((maxCost) => fitOf(total, { maxCost }))).toEqual([
      'fits',
      'may not fit',
      'does not fit',
    ]);
    expect([fitOf(total, {}), fitOf(total, { maxTokens: 5000 })]).toEqual(['fits', 'may not fit']);
  });

  it('is never turned round, whatever was learned', () => {
    const samples = fc.array(
      fc.record({
        run: fc.integer({ min: 1, max: 30 }).map(String),
        role: fc.constantFrom('finder', 'tester', 'oracle').map((name) => RoleName.parse(name)),
        model: fc.constantFrom('anthropic/haiku-4.5', 'openai/o3').map((id) => ModelId.parse(id)),
        tokens: fc.double({ min: 0.01, max: 50, noNaN: true }),
        seconds: fc.double({ min: 0.01, max: 50, noNaN: true }),
        cost: fc.option(fc.double({ min: 0.01, max: 50, noNaN: true })),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(soundPlan(), samples, (plan, known) => {
        const learned = learnedFrom(known);
        // What is shown as the estimate is the middle of the range that is shown beside it.
        const shown = totalsOf(likelyPlan(plan, { learned }), 4);
        const whole = totalRange(plan, { learned }, 4);
        expect([shown.tokens, shown.seconds]).toEqual([whole.tokens.likely, whole.seconds.likely]);
        for (const task of plan.tasks)
          expect(likelyTask(task, { learned }).estimatedSeconds).toBe(rangeOf(task, { learned }).seconds.likely);
        for (const { tokens, cost, seconds } of [
          ...plan.tasks.map((task) => rangeOf(task, { learned })),
          totalRange(plan, { learned }, 4),
        ]) {
          for (const range of [tokens, seconds, ...(cost === null ? [] : [cost])]) {
            expect(range.low).toBeLessThanOrEqual(range.likely);
            expect(range.likely).toBeLessThanOrEqual(range.high);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
