/** What tasks may change, and which are put in order for it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit, editText } from '../../../src/domain/plan/apply-edit.ts';
import { meetingGlobs } from '../../../src/domain/text/glob.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { scheduleOf, toPersonForm, toPlannerForm, wavesOf } from '../../../src/domain/plan/plan-view.ts';
import type { SoundPlan } from '../../../src/domain/plan/plan.ts';
import { planIn } from '../../../src/domain/plan/check-plan.ts';
import { orderLines } from '../../../src/app/views/index.ts';
import { planDigest } from '../../../src/domain/digest.ts';
import { waitsFor } from '../../../src/domain/plan/writes.ts';
import { check, contextFor, planOf, task } from '../../support/plans.ts';

/** `id`, what it may change, what it needs. */
const tester = (id: string, writes?: readonly string[], ...dependsOn: readonly string[]): object => ({
  id,
  description: id,
  role: 'tester',
  dependsOn,
  ...(writes === undefined ? {} : { writes }),
});
const plan = (...tasks: readonly object[]): SoundPlan => planOf({ reason: '', tasks });
const orders = ({ tasks }: SoundPlan): unknown =>
  tasks.flatMap(({ id, after = [] }) => after.map((one) => [id, one.task, one.because]));

function edited(before: SoundPlan, edit: PlanEdit): SoundPlan {
  const after = applyEdit(before, edit, contextFor());
  if (!after.ok) throw new Error(after.fault);
  return after.value;
}

describe('What a task may change', () => {
  it('is the whole project where it is not said, nothing of an oracle and of roles that can not write', () => {
    const of = (role: string, writes?: readonly string[]): readonly string[] | undefined =>
      planOf({ tasks: [{ ...tester('a', writes), role }] }).tasks[0]?.writes;
    expect([of('tester'), of('tester', []), of('tester', ['src/**', 'src/**'])]).toEqual([['**'], [], ['src/**']]);
    expect([of('oracle'), of('oracle', ['notes.md'])]).toEqual([[], ['notes.md']]);
    expect([of('finder'), of('finder', ['src/**'])]).toEqual([[], []]);
  });

  it('is refused with the reason where a glob can not be one', () => {
    const made = check({ tasks: [tester('a', ['../b', 'src/**'])] });
    expect(made).toEqual({ ok: false, fault: [{ task: 'a', problem: 'writes: "../b" leads outside the project' }] });
  });

  it('is what a planner says: null is the whole project, and it can not let tasks take turns', () => {
    const answer = { reason: '', tasks: [{ id: 'a', description: 'x', writes: null, alongside: ['b'] }] };
    expect(planIn(JSON.stringify(answer))).toEqual({ reason: '', tasks: [{ id: 'a', description: 'x' }] });
  });

  it('is changed by an edit, goes with another role where nobody chose it, and null is what the role may', () => {
    const before = plan(tester('a', ['src/**']));
    const said = (edit: PlanEdit): readonly string[] | undefined => edited(before, edit).tasks[0]?.writes;
    const a = task('a');
    expect(said({ is: 'writes', task: a, writes: ['docs/**'] })).toEqual(['docs/**']);
    expect(said({ is: 'writes', task: a, writes: null })).toEqual(['**']);
    expect(said({ is: 'role', task: a, role: 'refactoring' })).toEqual(['src/**']);
    expect(
      edited(edited(plan(tester('a')), { is: 'role', task: a, role: 'finder' }), {
        is: 'role',
        task: a,
        role: 'tester',
      }).tasks[0]?.writes,
    ).toEqual(['**']);
    expect(editText({ is: 'writes', task: a, writes: [] }, before, before)).toBe('#1 tester: may change nothing');
  });
});

describe('A tree of its own', () => {
  const why = 'only a sandbox keeps an agent in its tree, and there is none';
  const context = { ...contextFor(), treeProblem: () => why };
  const fault = [{ task: 'a', problem: `it cannot have a tree of its own: ${why}` }];

  it.each<[string, object, readonly string[]]>([
    ['the plan', { ...tester('a'), tree: 'own' }, []],
    ['the role of the task, from its file or from the configuration,', tester('a'), ['tester']],
  ])('is refused before approval, with the reason, where %s asks for it', (_, asked, own) => {
    const roles = context.choices.roles.map((one) => (own.includes(one.name) ? { ...one, tree: 'own' as const } : one));
    const choices = { ...context.choices, roles };
    expect(check({ tasks: [asked] }, { ...context, choices })).toEqual({ ok: false, fault });
    expect(check({ tasks: [{ ...tester('a'), tree: 'shared' }] }, { ...context, choices }).ok).toBe(true);
  });
});

describe('Two tasks that may change the same file', () => {
  it('are put in the order of the plan, with the reason', () => {
    expect(orders(plan(tester('a', ['src/**']), tester('b', ['src/**']), tester('c', ['docs/**'])))).toEqual([
      ['b', 'a', 'both may change src/**'],
    ]);
    expect(orders(plan(tester('a'), tester('b', ['src/*.ts'])))).toEqual([['b', 'a', 'both may change src/*.ts']]);
    expect(orders(plan(tester('a', ['**/*.md']), tester('b', ['docs/**'])))).toEqual([
      ['b', 'a', '**/*.md and docs/** may be the same files'],
    ]);
    expect(orders(plan(tester('a'), tester('b')))).toEqual([['b', 'a', 'both may change the whole project']]);
  });

  it('are left as they are where one waits for the other anyway, by whatever way', () => {
    expect(orders(plan(tester('a'), tester('b', [], 'a'), tester('c', ['**'], 'b')))).toEqual([]);
    expect(orders(plan(tester('a'), tester('b'), tester('c')))).toEqual([
      ['b', 'a', 'both may change the whole project'],
      ['c', 'b', 'both may change the whole project'],
    ]);
  });

  it('two oracles are not', () => {
    expect(orders(planOf({ tasks: [1, 2].map((n) => ({ ...tester(`o${n}`), role: 'oracle' })) }))).toEqual([]);
  });

  it('count in waves, in the schedule and in what is printed, and are read back as they are', () => {
    const made = plan(tester('a', ['src/**']), tester('b', ['src/**']));
    expect(wavesOf(made).map((wave) => wave.map(({ id }) => id))).toEqual([['a'], ['b']]);
    const [first, second] = scheduleOf(made, 4);
    expect([second?.start, second?.critical]).toEqual([first?.end, true]);
    for (const form of [toPersonForm(made), toPlannerForm(made)]) {
      expect(form.tasks[1]?.after).toEqual([{ task: 'a', because: 'both may change src/**' }]);
      expect(planOf(JSON.parse(JSON.stringify(form)))).toEqual(made);
    }
  });

  it('take turns where a person says so, which is kept through other edits and can be taken back', () => {
    const before = plan(tester('a', ['src/**']), tester('b', ['src/**']));
    const edit: PlanEdit = { is: 'alongside', task: task('b'), others: [task('a')] };
    expect(editText(edit, before, before)).toBe('#2 tester: takes turns with #1 tester');
    const beside = edited(before, edit);
    expect(orders(beside)).toEqual([]);
    const [first, second] = scheduleOf(beside, 4);
    expect([second?.start, beside.tasks.map((one) => orderLines(beside, one))]).toEqual([
      first?.end,
      [
        ['takes turns with #2 tester: the one that is ready first goes first'],
        ['takes turns with #1 tester: the one that is ready first goes first'],
      ],
    ]);
    expect(planDigest(beside)).not.toBe(planDigest(before));
    const later = edited(beside, { is: 'describe', task: task('a'), description: 'other' });
    expect([orders(later), later.tasks[1]?.alongside]).toEqual([[], ['a']]);
    expect(planOf(JSON.parse(JSON.stringify(toPersonForm(later))))).toEqual(later);
    // Said of either, it holds for both.
    expect(orders(edited(later, { is: 'alongside', task: task('a'), others: [] }))).toEqual(orders(before));
    expect(edited(beside, { is: 'drop', task: task('a') }).tasks[0]?.alongside).toBeUndefined();
  });

  it('are in the other order when the later one is moved before the other', () => {
    const moved = edited(plan(tester('a'), tester('b')), { is: 'move', task: task('b'), by: -1 });
    expect(orders(moved)).toEqual([['a', 'b', 'both may change the whole project']]);
  });

  it('any plan: all that may meet have an order, none waits for a later one, and a second check changes nothing', () => {
    const globs = fc.subarray(['src/**', 'src/*.ts', 'docs/**', '**/*.md', 'a.md']);
    const tasks = fc.array(fc.tuple(globs, fc.array(fc.nat({ max: 7 }), { maxLength: 2 })), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(tasks, (drafts) => {
        const made = plan(
          ...drafts.map(([writes, needs], at) =>
            tester(`t${at}`, writes, ...needs.filter((need) => need < at).map((need) => `t${need}`)),
          ),
        );
        const before = new Map<string, Set<string>>();
        for (const one of made.tasks) {
          const all = waitsFor(one).flatMap((id) => [id, ...(before.get(id) ?? ['missing'])]);
          before.set(one.id, new Set(all));
        }
        expect([...before.values()].some((all) => all.has('missing'))).toBe(false);
        for (const [at, one] of made.tasks.entries())
          for (const other of made.tasks.slice(at + 1))
            if (meetingGlobs(one.writes, other.writes) !== null) expect(before.get(other.id)).toContain(one.id);
        expect(planOf(JSON.parse(JSON.stringify(toPersonForm(made))))).toEqual(made);
      }),
    );
  });
});
