/** Estimates against what was really used: ranges that are honest without history and true with it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDigest } from '../../../src/domain/digest.ts';
import { ModelId, RoleName } from '../../../src/domain/ids.ts';
import { applyEdit } from '../../../src/domain/plan/apply-edit.ts';
import { learnedFrom } from '../../../src/domain/plan/calibration.ts';
import type { Sample } from '../../../src/domain/plan/calibration.ts';
import { fitOf, likelyPlan, likelyTask, rangeOf, totalRange, variantsOf } from '../../../src/domain/plan/estimate.ts';
import type { Variant, VariantName } from '../../../src/domain/plan/estimate.ts';
import { totalsOf } from '../../../src/domain/plan/plan-view.ts';
import type { ModelOption, PlanChoices, PlanTask, SoundPlan } from '../../../src/domain/plan/plan.ts';
import { soundPlan } from '../../support/arbitraries.ts';
import { CHOICES, contextFor, graph, planOf, RACE } from '../../support/plans.ts';

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
      because: 'no history',
    });
  });

  it('is drawn from three runs on, and corrects the estimate from five on', () => {
    const two = rangeOf(TASK, { learned: learnedFrom(runs(2, 2)) });
    expect([two.runs, two.because]).toEqual([0, 'no history']);
    const three = rangeOf(TASK, { learned: learnedFrom(runs(2, 2, 2)) });
    expect([three.tokens, three.because]).toEqual([{ low: 4000, likely: 4000, high: 13_600 }, 'from 3 runs']);
    const seven = rangeOf(TASK, { learned: learnedFrom(runs(2, 2, 2, 2, 2, 2, 2)) });
    expect([seven.tokens.likely, seven.cost?.likely, seven.seconds.likely, seven.because]).toEqual([
      8000,
      0.0144,
      20,
      'from 7 runs',
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
    expect([total.tokens.low, total.tokens.high, total.because]).toEqual([95_400, 270_300, 'no history']);
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
    expect([some.runs, some.because]).toEqual([0, 'no history for some tasks']);
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

// What-if: three ways to staff a plan, against prices that were worked out by hand.

const option = (label: string, more: Partial<ModelOption>): ModelOption => ({
  id: ModelId.parse(`p/${label}`),
  label,
  aliases: [label],
  window: 200_000,
  outputLimit: 32_000,
  price: null,
  speed: 50,
  usable: { yes: true },
  ...more,
});

/** Of 1000 tokens, 800 are read and 200 written. Blended: nano $0.40, haiku $1.80, sonnet $5.40, opus $9 a million. */
const MODELS: readonly ModelOption[] = [
  option('sonnet', { grade: 'usual', price: { input: 3, output: 15 }, speed: 80 }),
  option('haiku', { grade: 'fast', price: { input: 1, output: 5 }, speed: 100 }),
  option('opus', { grade: 'deep', price: { input: 5, output: 25 }, speed: 40 }),
  option('older-opus', { grade: 'deep', price: { input: 15, output: 75 } }),
  option('local', {}),
  option('offline', { id: ModelId.parse('offline/analyst'), price: { input: 0, output: 0 }, speed: 1000 }),
  option('mute', { grade: 'fast', price: { input: 0.1, output: 0.1 }, tools: false }),
  option('nano', {
    grade: 'fast',
    price: { input: 0.2, output: 1.2 },
    usable: { yes: false, because: 'denied by enforcement.deniedModels' },
  }),
];
const used = (label: string): PlanChoices['roles'][number]['model'] => ({
  asked: label,
  used: ModelId.parse(`p/${label}`),
  because: null,
});
const choices: PlanChoices = {
  ...CHOICES,
  models: MODELS,
  roles: CHOICES.roles.map((role) => ({ ...role, model: used(role.name === 'finder' ? 'haiku' : 'sonnet') })),
};
const context = contextFor(choices);

const PLAN = planOf(
  {
    reason: 'three',
    tasks: [
      { id: 'look', description: 'look', role: 'finder', model: 'haiku', estimatedTokens: 10_000 },
      {
        id: 'think',
        description: 'think',
        role: 'oracle',
        model: 'opus',
        estimatedTokens: 40_000,
        dependsOn: ['look'],
      },
      { id: 'test', description: 'test', role: 'tester', estimatedTokens: 20_000, dependsOn: ['look'] },
    ],
  },
  context,
);

const by = (plan: SoundPlan, most = 4, from: PlanChoices = choices): Readonly<Record<VariantName, Variant>> => {
  const [cheap, balanced, best] = variantsOf(plan, from, most);
  if (cheap === undefined || balanced === undefined || best === undefined) throw new Error('a variant is missing');
  return { cheap, balanced, best };
};
const told = ({ changes, totals }: Variant): unknown => ({
  changes: changes.map(({ task, from, to }) => `${task}: ${from} -> ${to}`),
  cost: totals.cost,
  tokens: totals.tokens,
  seconds: totals.seconds,
});

describe('what-if', () => {
  it('prices cheap, balanced and best as it comes out by hand', () => {
    // 10k + 40k + 20k tokens. Seconds: a fifth is written, 5 s beside; look first, then the longer of the others.
    // As it is: 0.018 + 0.36 + 0.108; (2000/100) 25 + (8000/40) 205.
    expect(totalsOf(PLAN, 4)).toMatchObject({ cost: 0.486, seconds: 230 });
    const { cheap, balanced, best } = by(PLAN);
    // 70k x 1.80; 25 + (8000/100) 85.
    expect(told(cheap)).toEqual({
      changes: ['think: opus -> haiku', 'test: sonnet -> haiku'],
      cost: 0.126,
      tokens: 70_000,
      seconds: 110,
    });
    // 0.018 + 40k x 5.40 = 0.216 + 0.108; 25 + (8000/80) 105.
    expect(told(balanced)).toEqual({ changes: ['think: opus -> sonnet'], cost: 0.342, tokens: 70_000, seconds: 130 });
    // 70k x 9; (2000/40) 55 + 205.
    expect(told(best)).toEqual({
      changes: ['look: haiku -> opus', 'test: sonnet -> opus'],
      cost: 0.63,
      tokens: 70_000,
      seconds: 260,
    });
  });

  it('prices the critical path under the cap of parallel agents', () => {
    // One at a time: 55 + 205 + (4000/40) 105.
    expect(by(PLAN, 1).best.totals.seconds).toBe(365);
  });

  it('is the edit of models that makes exactly the plan that was priced, with another digest', () => {
    for (const variant of variantsOf(PLAN, choices, 4)) {
      const made = applyEdit(PLAN, variant.edit, context);
      expect(made).toEqual({ ok: true, value: variant.plan });
      expect(planDigest(variant.plan)).not.toBe(planDigest(PLAN));
    }
  });

  it('says where a variant is the plan as it is', () => {
    const again = by(by(PLAN).balanced.plan).balanced;
    expect([again.same, again.changes, again.edit.models]).toEqual([true, [], []]);
    expect(by(PLAN).cheap.same).toBe(false);
  });

  it('never takes a model that is denied, takes no tools, has no price, or stands in', () => {
    const offered = variantsOf(PLAN, choices, 4).flatMap(({ edit }) => edit.models.map(({ model }) => model));
    expect([...new Set(offered)].sort()).toEqual(['haiku', 'opus', 'sonnet']);
    const nothing = {
      ...choices,
      models: choices.models.map((model) => ({ ...model, usable: { yes: false as const, because: 'no key' } })),
    };
    expect(variantsOf(PLAN, nothing, 4).every(({ same }) => same)).toBe(true);
  });

  it('leaves a model without a known price where it is rather than call another one cheaper', () => {
    const local = planOf(
      { reason: '', tasks: [{ id: 'a', description: 'a', role: 'finder', model: 'local', estimatedTokens: 1000 }] },
      context,
    );
    expect(by(local).cheap.same).toBe(true);
    expect(by(local).best.edit.models).toEqual([{ task: 'a', model: 'opus' }]);
  });

  it('takes the dearest for the best where no grade is known', () => {
    const ungraded = { ...choices, models: MODELS.map(({ label, price }) => option(label, { price })) };
    expect(by(PLAN, 4, ungraded).best.edit.models[0]).toEqual({ task: 'look', model: 'older-opus' });
  });

  it('names the tasks that would probably need more than their budget', () => {
    const tight = planOf(
      {
        reason: '',
        tasks: [{ id: 'a', description: 'a', role: 'finder', estimatedTokens: 10_000, budget: { maxCost: 0.05 } }],
      },
      context,
    );
    expect(variantsOf(tight, choices, 4).map(({ overBudget }) => overBudget)).toEqual([[], [], ['a']]);
  });

  it('leaves what rules add alone and counts it', () => {
    const node = {
      role: RoleName.parse('security'),
      model: used('sonnet'),
      triggers: ['always'],
      onFailure: 'block',
      after: [],
      runs: 1,
      estimatedTokens: 1000,
      estimatedCost: 0.0054,
      estimatedSeconds: 10,
      budget: {},
      because: 'a rule',
    } as const;
    const forced = { ...PLAN, forced: [node] };
    const { cheap } = by(forced);
    expect(cheap.plan.forced).toEqual(forced.forced);
    expect(cheap.totals.cost).toBeCloseTo(0.126 + 0.0054, 9);
  });

  it('is sound for any plan: cheap is never dearer, and choosing a variant twice changes nothing', () => {
    const soft = contextFor();
    fc.assert(
      fc.property(soundPlan(), (plan) => {
        for (const variant of variantsOf(plan, CHOICES, 4)) {
          const made = applyEdit(plan, variant.edit, soft);
          expect(made).toEqual({ ok: true, value: variant.plan });
          const twice = variantsOf(variant.plan, CHOICES, 4).find(({ name }) => name === variant.name);
          expect(twice?.same).toBe(true);
        }
        const [cheap] = variantsOf(plan, CHOICES, 4);
        expect(cheap?.totals.knownCost ?? 0).toBeLessThanOrEqual(totalsOf(plan, 4).knownCost);
      }),
      { numRuns: 60 },
    );
  });
});
