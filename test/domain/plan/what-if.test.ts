/** What-if: three ways to staff a plan, against prices that were worked out by hand. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit } from '../../../src/domain/plan/apply-edit.ts';
import { planDigest } from '../../../src/domain/digest.ts';
import { ModelId, RoleName } from '../../../src/domain/ids.ts';
import { totalsOf } from '../../../src/domain/plan/plan-view.ts';
import type { ModelOption, PlanChoices, SoundPlan } from '../../../src/domain/plan/plan.ts';
import type { Variant, VariantName } from '../../../src/domain/plan/what-if.ts';
import { variantsOf } from '../../../src/domain/plan/what-if.ts';
import { soundPlan } from '../../support/arbitraries.ts';
import { CHOICES, contextFor, planOf } from '../../support/plans.ts';

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
