/** Random plans and texts for properties: sound plans of any shape, edits of any kind, text that wants to break a screen. */
import * as fc from 'fast-check';
import type { Budget } from '../../src/domain/budget.ts';
import type { PlanEdit } from '../../src/domain/plan/plan-edit.ts';
import type { SoundPlan } from '../../src/domain/plan/plan.ts';
import { CHOICES, planOf, task } from './plans.ts';

const HOSTILE = [
  '\u001b[2J',
  '\u009b2J',
  '\u001b]0;x\u0007',
  '\u202e',
  '{bold}',
  '👩‍👩‍👧',
  '漢字',
  '🇩🇪',
  'é',
  '\t',
  '\n',
  '\r',
  '​',
  'ﷺ',
  '\ud800',
];

/** Words among escape sequences, wide letters, joined pictures, text from right to left. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 12 }), fc.lorem({ maxCount: 6 })),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => `x${parts.join(' ')}`);

const roles = CHOICES.roles.map(({ name }) => name);
const models = CHOICES.models.filter(({ usable }) => usable.yes).map(({ label }) => label);

/** Sound plans of up to `most` tasks; dependencies are taken from the tasks before. */
export const soundPlan = (most = 12): fc.Arbitrary<SoundPlan> =>
  fc
    .array(
      fc.record({
        description: hostileText,
        role: fc.constantFrom(...roles),
        model: fc.constantFrom(...models),
        estimatedTokens: fc.option(fc.integer({ min: 0, max: 2_000_000 }), { nil: undefined }),
        needs: fc.array(fc.nat(), { maxLength: 4 }),
        maySpawn: fc.boolean(),
      }),
      { minLength: 1, maxLength: Math.min(most, CHOICES.limits.maxTasks) },
    )
    .map((tasks) =>
      planOf({
        reason: 'because',
        tasks: tasks.map(({ needs, ...rest }, index) => ({
          ...rest,
          id: `t${index}`,
          dependsOn: index === 0 ? [] : needs.map((need) => `t${need % index}`),
        })),
      }),
    );

const id = fc.integer({ min: 0, max: 14 }).map((number) => task(number === 14 ? 'task-3' : `t${number}`));
const ids = fc.array(id, { maxLength: 3 });
const anyRole = fc.constantFrom(...roles, 'main', 'forbidden', 'constructor', '');
const anyModel = fc.constantFrom(...models, 'o4-mini', 'nothing', '');
const description = fc.oneof(hostileText, fc.constantFrom('', '  '));
const budget: fc.Arbitrary<Budget> = fc.record(
  {
    maxTokens: fc.integer({ min: -1, max: 1_000_000 }),
    maxCost: fc.double({ min: -1, max: 3, noNaN: true }),
    maxDuration: fc.integer({ min: 0, max: 1_000_000 }),
  },
  { requiredKeys: [] },
);

/** Edits of every kind, sensible and not. */
export const planEdit: fc.Arbitrary<PlanEdit> = fc.oneof(
  fc.record({ is: fc.constant('describe' as const), task: id, description }),
  fc.record({ is: fc.constant('role' as const), task: id, role: anyRole }),
  fc.record({ is: fc.constant('model' as const), task: id, model: anyModel }),
  fc.record({ is: fc.constant('budget' as const), task: id, budget }),
  fc.record({
    is: fc.constant('tools' as const),
    task: id,
    tools: fc.array(fc.constantFrom('git', 'file_operations', 'Read', '*'), { maxLength: 3 }),
  }),
  fc.record({ is: fc.constant('depends' as const), task: id, dependsOn: ids }),
  fc.record({ is: fc.constant('add' as const), description, role: anyRole, dependsOn: ids }),
  fc.record({ is: fc.constant('drop' as const), task: id }),
  fc.record({
    is: fc.constant('split' as const),
    task: id,
    descriptions: fc.array(description, { minLength: 1, maxLength: 4 }),
    inOrder: fc.boolean(),
  }),
  fc.record({ is: fc.constant('join' as const), task: id, other: id }),
  fc.record({
    is: fc.constant('models' as const),
    models: fc.array(fc.record({ task: id, model: anyModel }), { maxLength: 3 }),
  }),
  fc.record({ is: fc.constant('move' as const), task: id, by: fc.constantFrom(1 as const, -1 as const) }),
  fc.record({
    is: fc.constant('form' as const),
    task: id,
    description,
    role: anyRole,
    model: anyModel,
    budget,
    dependsOn: ids,
  }),
);
