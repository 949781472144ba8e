import { describe, expect, it } from 'vitest';
import { planDigest } from '../../../src/domain/digest.ts';
import { applyEdit, editText } from '../../../src/domain/plan/apply-edit.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { toPersonForm, toPlannerForm } from '../../../src/domain/plan/plan-view.ts';
import { checkText, readChecks } from '../../../src/domain/plan/task-checks.ts';
import { check, contextFor, planOf, task } from '../../support/plans.ts';

const one = (fields: object): unknown => ({ tasks: [{ id: 'a', description: 'build', role: 'tester', ...fields }] });
const problemOf = (fields: object): string | undefined => {
  const plan = check(one(fields));
  return plan.ok ? undefined : plan.fault[0]?.problem;
};
const TEST = { run: 'npm test', expect: 0, timeout: 600_000 };

describe('the checks of a task', () => {
  it('are written as a command, or with what differs, and get everything that is executed', () => {
    const written = { checks: ['npm test', { run: 'grep -r TODO src', expect: 1, timeout: '30s' }] };
    const [made] = planOf(one(written)).tasks;
    expect(made?.checks).toEqual([TEST, { run: 'grep -r TODO src', expect: 1, timeout: 30_000 }]);
    expect(made?.attempts).toBe(2);
  });

  it('leave a plan without them, and its digest, as they were', () => {
    const plan = planOf(one({ checks: [], attempts: 5 }));
    expect(plan).toEqual(planOf(one({})));
    // Recorded before plans had checks.
    expect(planDigest(plan)).toBe('a3dc3476b1ec066990297fc0cee5826bce188a08f4581cfa5e03607a9224154b');
  });

  it('are part of the digest, and read back from both spellings of a printed plan', () => {
    const plan = planOf(one({ checks: ['npm test', { run: 'make', timeout: '2m' }], attempts: 3 }));
    expect(planDigest(plan)).not.toBe(planDigest(planOf(one({ checks: ['npm test'], attempts: 3 }))));
    for (const printed of [toPersonForm(plan), toPlannerForm(plan)]) expect(planOf(printed)).toEqual(plan);
  });

  it('that cannot be run are named', () => {
    expect(problemOf({ checks: ['make', 'make'] })).toBe('the check make is named twice');
    expect(problemOf({ checks: [{ run: 'make', timeout: 'long' }] })).toBe(
      'the timeout "long" of make is no time such as 90s or 10m',
    );
    expect(problemOf({ checks: [{ run: 'make', timeout: 60 }] })).toBe(
      'the timeout "60" of make is no time such as 90s or 10m',
    );
    expect(problemOf({ checks: [{ run: 'make', timeout: '2h' }] })).toBe(
      'the check make may take 120m; at most 30m are allowed',
    );
    expect(problemOf({ checks: Array.from({ length: 11 }, (_, at) => `make t${at}`) })).toBe(
      'it has 11 checks; at most 10 are allowed',
    );
    expect(problemOf({ checks: ['make\nrm x'] })).toBe('tasks.0.checks.0: a check is one line');
  });

  it('are added, changed and removed by an edit, and stay when another field is edited', () => {
    const plan = planOf(one({}));
    const after = (edit: PlanEdit, from = plan) => {
      const changed = applyEdit(from, edit, contextFor());
      if (!changed.ok) throw new Error(changed.fault);
      return changed.value;
    };
    const edit: PlanEdit = { is: 'checks', task: task('a'), checks: ['npm test'], attempts: 3 };
    const checked = after(edit);
    expect(checked.tasks[0]?.checks).toEqual([TEST]);
    expect(editText(edit, plan, plan)).toBe('#1 tester: checks are now npm test (3 attempts)');
    const described = after({ is: 'describe', task: task('a'), description: 'other' }, checked);
    expect(described.tasks[0]).toMatchObject({ description: 'other', checks: [TEST], attempts: 3 });
    expect(after({ is: 'role', task: task('a'), role: 'refactoring' }, checked).tasks[0]?.checks).toEqual([TEST]);
    expect(after({ is: 'checks', task: task('a'), checks: [] }, checked)).toEqual(plan);
  });

  it('stay with the last part of a task that is split in order, and come together in a merged one', () => {
    const plan = planOf(one({ checks: ['npm test'] }));
    const split = applyEdit(
      plan,
      { is: 'split', task: task('a'), descriptions: ['x', 'y'], inOrder: true },
      contextFor(),
    );
    expect(split.ok && split.value.tasks.map(({ checks }) => checks)).toEqual([undefined, [TEST]]);
    const two = planOf({
      tasks: ['npm test', 'make'].map((run, at) => ({ id: `t${at}`, description: 'x', role: 'tester', checks: [run] })),
    });
    const joined = applyEdit(two, { is: 'join', task: task('t0'), other: task('t1') }, contextFor());
    expect(joined.ok && joined.value.tasks[0]?.checks?.map(({ run }) => run)).toEqual(['npm test', 'make']);
  });

  it('are typed one a line, as they are shown', () => {
    const checks = [TEST, { run: 'make', expect: 1, timeout: 90_000 }, { run: 'a => b', expect: 0, timeout: 60_000 }];
    const typed = checks.map(checkText).join('\n');
    expect(typed).toBe('npm test\nmake => exit 1, 90s\na => b => 1m');
    expect(planOf(one({ checks: readChecks(typed) })).tasks[0]?.checks).toEqual(checks);
  });
});
