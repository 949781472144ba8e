import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit, editText } from '../../../src/domain/plan/apply-edit.ts';
import { planDigest } from '../../../src/domain/digest.ts';
import { ModelId } from '../../../src/domain/ids.ts';
import type { PlanContext } from '../../../src/domain/plan/check-plan.ts';
import { ok } from '../../../src/domain/result.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import type { SoundPlan } from '../../../src/domain/plan/plan.ts';
import { toPersonForm } from '../../../src/domain/plan/plan-view.ts';
import { planEdit, soundPlan } from '../../support/arbitraries.ts';
import { CHOICES, contextFor, graph, planOf, RACE, task } from '../../support/plans.ts';

const edited = (plan: SoundPlan, edit: PlanEdit): SoundPlan => {
  const result = applyEdit(plan, edit, contextFor());
  if (!result.ok) throw new Error(result.fault);
  return result.value;
};
const refused = (plan: SoundPlan, edit: PlanEdit): string => {
  const result = applyEdit(plan, edit, contextFor());
  return result.ok ? 'not refused' : result.fault;
};
const shape = (plan: SoundPlan): readonly string[] =>
  plan.tasks.map(({ id, dependsOn }) => (dependsOn.length === 0 ? id : `${id}:${dependsOn.join(',')}`));

describe('editing a plan', () => {
  it('uses the new words, model and budget (O104, O112)', () => {
    const a = task('a');
    const plan = edited(graph('a'), { is: 'describe', task: a, description: ' think ' });
    const withModel = edited(plan, { is: 'model', task: a, model: 'gpt-5' });
    const first = edited(withModel, { is: 'budget', task: a, budget: { maxTokens: 100, maxDuration: 60_000 } })
      .tasks[0];
    expect([first?.description, first?.model.used, first?.budget]).toEqual([
      'think',
      'openai/gpt-5',
      { maxTokens: 100, maxCost: 1, maxDuration: 60_000 },
    ]);
  });

  it('lets a new role bring its own tools and model, and keeps what a person chose', () => {
    const a = task('a');
    const plain = edited(graph('a'), { is: 'role', task: a, role: 'oracle' }).tasks[0];
    expect([plain?.model.asked, plain?.tools]).toEqual([
      'o3',
      ['file_operations', 'file_search', 'bash_execution', 'git'],
    ]);
    const narrowed = edited(graph('a'), { is: 'tools', task: a, tools: ['git'] });
    const chosen = edited(edited(narrowed, { is: 'model', task: a, model: 'gpt-5' }), {
      is: 'role',
      task: a,
      role: 'tester',
    });
    expect([chosen.tasks[0]?.model.asked, chosen.tasks[0]?.tools]).toEqual(['gpt-5', ['git']]);
  });

  it('names the model that is used where it is not the one that was asked for', () => {
    const [a, o4] = [task('a'), 'openai/o4-mini'];
    const asDenied: PlanContext = {
      ...contextFor(),
      resolveModel: (asked) => ok({ asked, used: ModelId.parse('openai/o3'), because: asked === o4 ? 'no key' : null }),
    };
    const said = (edit: PlanEdit): string => {
      const after = applyEdit(graph('a'), edit, asDenied);
      return after.ok ? editText(edit, graph('a'), after.value) : after.fault;
    };
    expect([
      said({ is: 'model', task: a, model: 'o3' }),
      said({ is: 'model', task: a, model: o4 }),
      said({ is: 'models', models: [{ task: a, model: o4 }] }),
    ]).toEqual([
      '#1 finder: model is now o3',
      '#1 finder: model is now openai/o4-mini -> openai/o3 (no key)',
      'models changed: #1 finder openai/o4-mini -> openai/o3 (no key)',
    ]);
  });

  it("adds with a fresh id, the role's model and its own place", () => {
    const plan = graph('task-3', 'b:task-3');
    const more = edited(plan, { is: 'add', description: 'check', role: 'reviewer', dependsOn: [task('b')] });
    expect(shape(more)).toEqual(['task-3', 'b:task-3', 'task-4:b']);
    expect(editText({ is: 'add', description: 'check', role: 'reviewer', dependsOn: [task('b')] }, plan, more)).toBe(
      'added #3 reviewer, depends on #2 finder',
    );
  });

  it('expects of an added task what the plan expects of its like: the middle one of its role, else of all', () => {
    const sized = ([8000, 3000, 20_000] as const).reduce<SoundPlan>(
      (plan, estimatedTokens, index) => {
        const tasks = plan.tasks.map((one, at) => (at === index ? { ...one, estimatedTokens } : one));
        return { ...plan, tasks };
      },
      graph('a', 'b', 'c'),
    );
    const added = (role: string): number | undefined =>
      edited(sized, { is: 'add', description: 'check', role, dependsOn: [] }).tasks[3]?.estimatedTokens;
    expect([added('finder'), added('reviewer')]).toEqual([8000, 8000]);
  });

  it('hands the needs of a dropped task to its dependants, and says so', () => {
    const plan = graph('a', 'b', 'c:a,b', 'd:c', 'e:c,a');
    expect(shape(edited(plan, { is: 'drop', task: task('c') }))).toEqual(['a', 'b', 'd:a,b', 'e:a,b']);
    expect(editText({ is: 'drop', task: task('c') }, plan, plan)).toBe(
      'deleted #3 finder; #4 finder now depends on #1 finder, #2 finder; #5 finder now depends on #1 finder, #2 finder',
    );
    expect(refused(graph('a'), { is: 'drop', task: task('a') })).toBe(
      'a plan needs at least one task; discard the plan instead',
    );
  });

  it('refuses a cycle and names it (O057)', () => {
    const plan = graph('a', 'b:a', 'c:b');
    const edit: PlanEdit = { is: 'depends', task: task('a'), dependsOn: [task('c')] };
    expect(refused(plan, edit)).toBe('a: Circular dependency detected in agent graph: a -> c -> b -> a');
  });

  it('moves a task as far as its needs allow', () => {
    const plan = graph('a', 'b', 'c:a');
    expect(shape(edited(plan, { is: 'move', task: task('c'), by: -1 }))).toEqual(['a', 'c:a', 'b']);
    expect(refused(graph('a', 'c:a'), { is: 'move', task: task('c'), by: -1 })).toBe(
      '#2 finder depends on #1 finder, so it cannot come first',
    );
    expect(refused(plan, { is: 'move', task: task('c'), by: 1 })).toBe('#3 finder is already last');
  });

  it('changes several fields in one form', () => {
    const form: PlanEdit = {
      is: 'form',
      task: task('b'),
      description: 'new',
      role: 'rush',
      model: 'haiku-4.5',
      budget: { maxTokens: 9000 },
      dependsOn: [],
    };
    const b = edited(graph('a', 'b:a'), form).tasks[1];
    expect([b?.description, b?.role, b?.tools, b?.budget, b?.dependsOn]).toEqual([
      'new',
      'rush',
      ['file_operations', 'bash_execution'],
      { maxTokens: 9000, maxCost: 1 },
      [],
    ]);
  });

  it('refuses what the first check would have refused, with the same words', () => {
    const a = task('a');
    expect(refused(graph('a'), { is: 'describe', task: a, description: '' })).toContain('description');
    expect(refused(graph('a'), { is: 'model', task: a, model: 'o4-mini' })).toContain('enforcement.allowedModels');
    expect(refused(graph('a'), { is: 'role', task: a, role: 'forbidden' })).toContain('enterprise policy');
    expect(refused(graph('a'), { is: 'budget', task: a, budget: { maxCost: 5 } })).toContain(
      'one agent may use at most 1',
    );
    expect(refused(graph('a'), { is: 'drop', task: task('zz') })).toBe('there is no task "zz" in this plan');
  });

  it('goes back to a plan that was sound before', () => {
    const changed = edited(RACE, { is: 'drop', task: task('task-4') });
    expect(edited(changed, { is: 'replace', plan: RACE })).toEqual(RACE);
  });

  it('keeps a plan sound through any edits, or says why not and leaves it alone', () => {
    fc.assert(
      fc.property(soundPlan(), fc.array(planEdit, { maxLength: 12 }), (start, edits) => {
        let plan = start;
        for (const edit of edits) {
          const before = JSON.stringify(plan);
          const result = applyEdit(plan, edit, contextFor());
          expect(JSON.stringify(plan)).toBe(before);
          expect(editText(edit, plan, plan)).not.toBe('');
          if (result.ok) {
            plan = result.value;
            expect(planOf(JSON.parse(JSON.stringify(toPersonForm(plan))))).toEqual(plan);
            expect(plan.tasks.length).toBeLessThanOrEqual(CHOICES.limits.maxTasks);
          } else expect(result.fault).not.toBe('');
        }
      }),
      { numRuns: 150 },
    );
  });

  it('leaves a sound plan or a listed reason after any 200 edits, and undo restores it byte for byte', () => {
    fc.assert(
      fc.property(soundPlan(), fc.array(planEdit, { minLength: 200, maxLength: 200 }), (start, edits) => {
        let plan = start;
        const history: SoundPlan[] = [];
        for (const edit of edits) {
          const result = applyEdit(plan, edit, contextFor());
          if (!result.ok) {
            expect(result.fault).not.toBe('');
            continue;
          }
          history.push(plan);
          plan = result.value;
        }
        expect(planOf(JSON.parse(JSON.stringify(toPersonForm(plan))))).toEqual(plan);
        for (const before of history.toReversed()) {
          plan = edited(plan, { is: 'replace', plan: before });
          expect(JSON.stringify(plan)).toBe(JSON.stringify(before));
        }
        expect(JSON.stringify(plan)).toBe(JSON.stringify(start));
      }),
      { numRuns: 12 },
    );
  });

  it('has a digest that is the same exactly for the same plan', () => {
    const turned = (plan: SoundPlan): SoundPlan => ({
      tasks: plan.tasks.map((each) => ({ ...Object.fromEntries(Object.entries(each).reverse()), ...each })),
      reason: plan.reason,
    });
    fc.assert(
      fc.property(soundPlan(5), soundPlan(5), (a, b) => {
        expect(planDigest(turned(a))).toBe(planDigest(a));
        expect(planDigest(a) === planDigest(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
    expect(planDigest(graph('a'))).toMatch(/^[0-9a-f]{64}$/);
  });
});
