/** Cutting the work another way: one task into several, two into one, several models at once. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit, editText } from '../../../src/domain/plan/apply-edit.ts';
import type { PlanContext } from '../../../src/domain/plan/check-plan.ts';
import { RoleName } from '../../../src/domain/ids.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import type { PlanChoices, PlanTask, SoundPlan } from '../../../src/domain/plan/plan.ts';
import { ok } from '../../../src/domain/result.ts';
import { soundPlan } from '../../support/arbitraries.ts';
import { CHOICES, contextFor, graph, planOf, task } from '../../support/plans.ts';

/** Some roles of these change files. */
const choices: PlanChoices = {
  ...CHOICES,
  roles: CHOICES.roles.map((role) =>
    role.name === 'tester' || role.name === 'refactoring'
      ? { ...role, capabilities: ['read', 'write', 'shell'] }
      : role,
  ),
};
const edited = (plan: SoundPlan, edit: PlanEdit, context: PlanContext = contextFor(choices)): SoundPlan => {
  const result = applyEdit(plan, edit, context);
  if (!result.ok) throw new Error(result.fault);
  return result.value;
};
const refused = (plan: SoundPlan, edit: PlanEdit): string => {
  const result = applyEdit(plan, edit, contextFor(choices));
  return result.ok ? 'not refused' : result.fault;
};
const shape = (plan: SoundPlan): readonly string[] =>
  plan.tasks.map(({ id, dependsOn }) => (dependsOn.length === 0 ? id : `${id}:${dependsOn.join(',')}`));
const at = (plan: SoundPlan, id: string): PlanTask => {
  const one = plan.tasks.find((each) => each.id === id);
  if (one === undefined) throw new Error(`no ${id}`);
  return one;
};
const splitOf = (id: string, descriptions: readonly string[], inOrder: boolean): PlanEdit => ({
  is: 'split',
  task: task(id),
  descriptions,
  inOrder,
});
const joinOf = (id: string, other: string): PlanEdit => ({ is: 'join', task: task(id), other: task(other) });
const one = (more: object, id = 'a'): object => ({ id, description: `do ${id}`, role: 'finder', ...more });
const plan = (...tasks: readonly object[]): SoundPlan => planOf({ reason: '', tasks }, contextFor(choices));

describe('splitting a task', () => {
  it('puts the parts one after the other, or side by side, and rewires who needed it', () => {
    const whole = graph('a', 'b:a', 'c:b', 'd:b,a');
    expect(shape(edited(whole, splitOf('b', ['one', 'two', 'three'], true)))).toEqual([
      'a',
      'b:a',
      'task-5:b',
      'task-6:task-5',
      'c:task-6',
      'd:task-6,a',
    ]);
    expect(shape(edited(whole, splitOf('b', ['one', 'two'], false)))).toEqual([
      'a',
      'b:a',
      'task-5:a',
      'c:b,task-5',
      'd:b,task-5,a',
    ]);
    expect(editText(splitOf('b', ['one', 'two'], false), whole, whole)).toBe('#2 finder: split into 2, parallel');
  });

  it('shares the estimate to the token, and takes budgets anew where nobody chose one', () => {
    const parts = edited(plan(one({ estimatedTokens: 10_001 })), splitOf('a', ['x', 'y', 'z'], true)).tasks;
    expect(parts.map(({ estimatedTokens }) => estimatedTokens)).toEqual([3334, 3334, 3333]);
    expect(parts.map(({ budget }) => budget)).toEqual([{ maxCost: 1 }, { maxCost: 1 }, { maxCost: 1 }]);
  });

  it('shares a budget that somebody chose: the parts never have more than the whole had', () => {
    const whole = plan(one({ budget: { maxTokens: 1000, maxCost: 0.1, maxDuration: 60_000 } }));
    const budgets = (inOrder: boolean): unknown =>
      edited(whole, splitOf('a', ['x', 'y', 'z'], inOrder)).tasks.map(({ budget }) => budget)[0];
    expect(budgets(true)).toEqual({ maxTokens: 333, maxCost: 0.033333, maxDuration: 20_000 });
    // Side by side each has all of the time.
    expect(budgets(false)).toEqual({ maxTokens: 333, maxCost: 0.033333, maxDuration: 60_000 });
  });

  it('keeps role, model, tools, writes and the right to start children in every part', () => {
    const whole = plan(one({ role: 'tester', model: 'gpt-5', tools: ['git'], writes: ['src/**'], maySpawn: true }));
    for (const part of edited(whole, splitOf('a', ['x', 'y'], false)).tasks) {
      expect([part.role, part.model.asked, part.tools, part.writes, part.maySpawn]).toEqual([
        'tester',
        'gpt-5',
        ['git'],
        ['src/**'],
        true,
      ]);
    }
  });

  it('refuses one text, an empty one, and more tasks than are allowed', () => {
    expect(refused(graph('a'), splitOf('a', ['x'], true))).toBe('a split needs at least two texts');
    expect(refused(graph('a'), splitOf('a', ['x', '  '], true))).toBe('part 2 of the split has no text');
    expect(refused(graph('a'), splitOf('a', Array.from({ length: 51 }, String), true))).toBe(
      'the plan would have 51 tasks; at most 50 are allowed',
    );
    expect(refused(graph('a'), splitOf('b', ['x', 'y'], true))).toBe('there is no task "b" in this plan');
  });
});

describe('joining two tasks', () => {
  it('puts both texts and needs into one, and who needed either needs that', () => {
    const whole = graph('a', 'b', 'c:a', 'd:b,c', 'e:c,d');
    const joined = edited(whole, joinOf('c', 'd'));
    expect(shape(joined)).toEqual(['a', 'b', 'c:a,b', 'e:c']);
    expect(at(joined, 'c')).toMatchObject({ description: 'do c\n\ndo d', estimatedTokens: 8000 });
    expect(editText(joinOf('c', 'd'), whole, whole)).toBe('#4 finder merged into #3 finder');
    // The other way round as well: the later one may be what is left.
    expect(shape(edited(whole, joinOf('d', 'c')))).toEqual(['a', 'b', 'd:b,a', 'e:d']);
  });

  it('refuses where a third stands between them, and names it', () => {
    const whole = graph('a', 'b:a', 'c:b');
    const words = '#2 finder is between them';
    expect(refused(whole, joinOf('a', 'c'))).toBe(`#3 finder cannot be merged into #1 finder: ${words}`);
    expect(refused(whole, joinOf('c', 'a'))).toBe(`#1 finder cannot be merged into #3 finder: ${words}`);
    expect(refused(whole, joinOf('a', 'a'))).toBe('#1 finder cannot be merged with itself');
    expect(refused(whole, joinOf('a', 'x'))).toBe('there is no task "x" in this plan');
  });

  it('adds up budgets within what one agent may use, or takes them anew where nobody chose one', () => {
    const chosen = plan(one({ budget: { maxTokens: 1000, maxCost: 0.7 } }), one({ budget: { maxCost: 0.6 } }, 'b'));
    expect(at(edited(chosen, joinOf('a', 'b')), 'a').budget).toEqual({ maxCost: 1 });
    const plain = plan(one({ estimatedTokens: 6000 }), one({ estimatedTokens: 7000 }, 'b'));
    expect(at(edited(plain, joinOf('a', 'b')), 'a').budget).toEqual({ maxCost: 1 });
  });

  it('keeps what either had of tools as far as the role has them, and the right to start children', () => {
    const whole = plan(one({ tools: ['git'] }), one({ role: 'tester', maySpawn: true }, 'b'));
    const { role, tools, maySpawn } = at(edited(whole, joinOf('a', 'b')), 'a');
    expect([role, tools, maySpawn]).toEqual(['finder', ['git', 'file_operations'], true]);
  });

  it('may change what both may: the whole project where one of them may', () => {
    const writes = (a: object, b: object): readonly string[] =>
      at(edited(plan(one(a), one(b, 'b')), joinOf('a', 'b')), 'a').writes;
    const tester = { role: 'tester', writes: ['a/**'] };
    expect(writes(tester, { role: 'tester', writes: ['b/**', 'a/**'] })).toEqual(['a/**', 'b/**']);
    expect(writes(tester, { role: 'tester' })).toEqual(['**']);
    // A finder changes nothing, whatever was said, nor does what it takes over.
    expect(writes(tester, { writes: ['b/**'] })).toEqual(['a/**']);
    expect(writes({ writes: ['b/**'] }, tester)).toEqual([]);
  });

  it('refuses a text that would be too long', () => {
    const long = { description: 'x'.repeat(10_001) };
    expect(refused(plan(one(long), one(long, 'b')), joinOf('a', 'b'))).toBe(
      'the text would be longer than 20000 characters',
    );
  });
});

describe('several models at once', () => {
  const models = (...pairs: readonly (readonly [string, string])[]): PlanEdit => ({
    is: 'models',
    models: pairs.map(([id, model]) => ({ task: task(id), model })),
  });

  it('changes those that are named and nothing else', () => {
    const whole = graph('a', 'b:a', 'c');
    const after = edited(whole, models(['a', 'gpt-5'], ['c', 'o3']));
    expect(after.tasks.map(({ model }) => model.asked)).toEqual(['gpt-5', 'haiku-4.5', 'o3']);
    expect(at(after, 'b')).toEqual(at(whole, 'b'));
    expect(editText(models(['a', 'gpt-5'], ['c', 'o3']), whole, whole)).toBe(
      'models changed: #1 finder gpt-5, #3 finder o3',
    );
  });

  it('is said in a line however many they are', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const pairs = ids.map((id) => [id, id === 'e' ? 'o3' : 'gpt-5'] as const);
    expect(editText(models(...pairs), graph(...ids), graph(...ids))).toBe(
      'models of 5 tasks changed: gpt-5 (4), o3 (1)',
    );
    expect(editText(models(), graph('a'), graph('a'))).toBe('models stay as they are');
  });

  it('refuses a task that is not there or named twice, and a model that is denied', () => {
    expect(refused(graph('a'), models(['x', 'gpt-5']))).toBe('there is no task "x" in this plan');
    expect(refused(graph('a'), models(['a', 'gpt-5'], ['a', 'o3']))).toBe('#1 finder has two models');
    expect(refused(graph('a'), models(['a', 'o4-mini']))).toContain('enforcement.allowedModels');
  });
});

describe('what rules add', () => {
  it('is made anew by the rules at each of these edits, and never by the edit', () => {
    const seen: number[] = [];
    const context: PlanContext = {
      ...contextFor(choices),
      forced(tasks) {
        seen.push(tasks.length);
        const [first] = tasks;
        if (first === undefined) return ok([]);
        const { model, estimatedTokens, estimatedCost, estimatedSeconds, budget } = first;
        const role = RoleName.parse('security');
        const own = { role, model, triggers: ['on-write' as const], onFailure: 'block' as const, because: 'a rule' };
        const after = tasks.map(({ id }) => id);
        return ok([{ ...own, after, runs: after.length, estimatedTokens, estimatedCost, estimatedSeconds, budget }]);
      },
    };
    const start = edited(graph('a', 'b:a'), { is: 'describe', task: task('a'), description: 'look' }, context);
    const split = edited(start, splitOf('a', ['x', 'y'], false), context);
    expect(split.forced?.[0]?.after).toEqual(split.tasks.map(({ id }) => id));
    expect(edited(split, joinOf('a', 'b'), context).forced?.[0]?.runs).toBe(2);
    expect(seen.length).toBe(3);
  });
});

describe('there and back', () => {
  it('has the same tokens and needs after a split in two and a join of both', () => {
    fc.assert(
      fc.property(soundPlan(8), fc.nat(), fc.boolean(), (start, pick, inOrder) => {
        const whole = start.tasks[pick % start.tasks.length];
        if (whole === undefined) return;
        const parts = edited(start, splitOf(whole.id, ['x', 'y'], inOrder), contextFor());
        const fresh = parts.tasks.find(({ id }) => !start.tasks.some((each) => each.id === id));
        const back = edited(parts, joinOf(whole.id, fresh?.id ?? ''), contextFor());
        expect(at(back, whole.id).estimatedTokens).toBe(whole.estimatedTokens);
        const needs = (of: SoundPlan): unknown =>
          Object.fromEntries(of.tasks.map(({ id, dependsOn }) => [id, dependsOn.toSorted()]));
        expect(needs(back)).toEqual(needs(start));
      }),
      { numRuns: 100 },
    );
  });
});
