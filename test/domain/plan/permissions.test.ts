import { describe, expect, it } from 'vitest';
import { applyEdit, editText } from '../../../src/domain/plan/apply-edit.ts';
import { planDigest } from '../../../src/domain/digest.ts';
import { type Permissions, permissionsOf, type SoundPlan, tasksThatAsk } from '../../../src/domain/plan/plan.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { toPersonForm, toPlannerForm } from '../../../src/domain/plan/plan-view.ts';
import { CHOICES, contextFor, planOf, task } from '../../support/plans.ts';

const plan = (permissions?: Permissions, ofFirst?: Permissions): SoundPlan =>
  planOf({
    reason: 'test',
    tasks: [
      { id: 'a', description: 'do a', role: 'refactoring', ...(ofFirst === undefined ? {} : { permissions: ofFirst }) },
      { id: 'b', description: 'do b', role: 'finder' },
    ],
    ...(permissions === undefined ? {} : { permissions }),
  });

const edited = (before: SoundPlan, edit: PlanEdit): SoundPlan => {
  const after = applyEdit(before, edit, contextFor());
  if (!after.ok) throw new Error(after.fault);
  return after.value;
};

describe('the permissions of a plan', () => {
  it('ask unless somebody allows them, and a task may differ from its plan', () => {
    const allowed = plan({ edits: 'allow' }, { edits: 'ask', commands: 'allow' });
    expect([
      permissionsOf(plan()),
      permissionsOf(allowed, allowed.tasks[0]),
      permissionsOf(allowed, allowed.tasks[1]),
    ]).toEqual([
      { edits: 'ask', commands: 'ask' },
      { edits: 'ask', commands: 'allow' },
      { edits: 'allow', commands: 'ask' },
    ]);
  });

  it('are part of its digest, and leave no trace where they say what holds anyway', () => {
    expect(planDigest(plan({ edits: 'ask' }))).toBe(planDigest(plan()));
    expect(planDigest(plan({ edits: 'allow' }))).not.toBe(planDigest(plan()));
    expect(planDigest(plan({}, { edits: 'allow' }))).not.toBe(planDigest(plan()));
  });

  it('survive both printed forms', () => {
    const allowed = plan({ commands: 'allow' }, { commands: 'ask' });
    for (const form of [toPersonForm(allowed), toPlannerForm(allowed)]) expect(planOf(form)).toEqual(allowed);
  });

  it('are changed by an edit for all tasks or for one, and taken back by null', () => {
    const all: PlanEdit = { is: 'permissions', task: null, permissions: { edits: 'allow', commands: 'allow' } };
    const one: PlanEdit = { is: 'permissions', task: task('a'), permissions: { edits: 'ask' } };
    const back: PlanEdit = { is: 'permissions', task: task('a'), permissions: { edits: null } };
    const first = edited(plan(), all);
    const second = edited(first, one);
    expect([first.permissions, second.tasks[0]?.permissions, edited(second, back)]).toEqual([
      { edits: 'allow', commands: 'allow' },
      { edits: 'ask' },
      first,
    ]);
    expect([all, one, back].map((edit) => editText(edit, plan(), plan()))).toEqual([
      'all tasks: edits are allowed, commands are allowed',
      '#1 refactoring: edits ask',
      '#1 refactoring: edits as in the plan',
    ]);
  });

  it('stay with a task through other edits; of two joined tasks the stricter hold', () => {
    const allowed = plan({ edits: 'allow' }, { edits: 'ask' });
    expect(edited(allowed, { is: 'describe', task: task('a'), description: 'new' }).tasks[0]?.permissions).toEqual({
      edits: 'ask',
    });
    expect(edited(allowed, { is: 'role', task: task('a'), role: 'tester' }).tasks[0]?.permissions).toEqual({
      edits: 'ask',
    });
    expect(edited(allowed, { is: 'join', task: task('b'), other: task('a') }).tasks[0]?.permissions).toEqual({
      edits: 'ask',
    });
  });

  it('are refused where a rule holds them at ask, wherever they are written', () => {
    const context = { ...contextFor(), permissionProblem: (what: string) => (what === 'edits' ? 'a rule' : null) };
    const allow = (id: string | null): PlanEdit => ({
      is: 'permissions',
      task: id === null ? null : task(id),
      permissions: { edits: 'allow', commands: 'allow' },
    });
    expect([allow(null), allow('a')].map((edit) => applyEdit(plan(), edit, context))).toEqual([
      { ok: false, fault: 'edits cannot be allowed: a rule' },
      { ok: false, fault: 'a: edits cannot be allowed: a rule' },
    ]);
  });

  it('say which tasks may come to acts that are asked about', () => {
    const roles = CHOICES.roles.map((role) =>
      role.name === 'refactoring' ? { ...role, capabilities: ['read', 'write', 'shell'] } : role,
    );
    expect(
      [plan(), plan({ edits: 'allow' }), plan({}, { commands: 'allow' })].map((one) => tasksThatAsk(one, { roles })),
    ).toEqual([
      { edits: ['a'], commands: ['a'] },
      { edits: [], commands: ['a'] },
      { edits: ['a'], commands: [] },
    ]);
  });
});
