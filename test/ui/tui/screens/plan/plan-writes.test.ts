/** The dialogs of the plan screen about files: what a task may change, and the order that follows from it. */
import { describe, expect, it } from 'vitest';
import { applyEdit } from '../../../../../src/domain/plan/apply-edit.ts';
import type { PlanEdit } from '../../../../../src/domain/plan/plan-edit.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import type { Dialog } from '../../../../../src/ui/tui/frame/screen.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { FIRST } from '../../../../../src/ui/tui/screens/plan/ui.ts';
import { contextFor, planOf, RACE, task } from '../../../../support/plans.ts';
import { approving, contextOf } from './context.ts';

/** The form that `key` opens for the task. */
function form(key: string, state: RunState, id: string): Extract<Dialog, { readonly is: 'form' }> {
  const ui = { ...FIRST, selected: task(id) };
  const context = contextOf(state);
  const binding = planScreen.keys.find((one) => one.keys.includes(key) && one.whyNot(ui, context) === null);
  const dialog = binding?.run(ui, context, key).dialog;
  if (dialog?.is !== 'form') throw new Error(`no form for ${key}`);
  return dialog;
}
const edits = (edit: PlanEdit): unknown => ({ commands: [{ do: 'edit plan', edit }] });
const applied = (state: RunState, edit: PlanEdit): RunState => {
  const plan = state.plan && applyEdit(state.plan, edit, contextFor());
  if (!plan?.ok) throw new Error('not applied');
  return approving(plan.value);
};

describe('dialogs about files that a task may change', () => {
  const [first] = RACE.tasks;
  if (first === undefined) throw new Error('the plan of the test is empty');
  const values = (
    texts: Readonly<Record<string, string>>,
    checks: Readonly<Record<string, readonly string[]>> = {},
  ) => ({
    texts,
    checks,
  });

  it('W opens the form at its globs, with spaces between them, "nothing", or "all", judged at the field', () => {
    const asked = form('W', approving(), first.id);
    const texts = Object.fromEntries(asked.fields.flatMap((one) => ('value' in one ? [[one.name, one.value]] : [])));
    const typed = (writes: string) => values({ ...texts, writes });
    const sent = (writes: string): unknown => asked.then(typed(writes));
    expect(sent('docs/** *.md')).toHaveProperty('commands.0.edit.writes', ['docs/**', '*.md']);
    expect(sent('all')).toHaveProperty('commands.0.edit.writes', ['**']);
    expect(asked.check(typed('docs/**'))).toBeNull();
    expect(asked.check(typed('../elsewhere/**'))).not.toBeNull();
  });

  it('o lists the tasks that wait for each other for their files, with the reason, and lets them take turns or work in an own tree', () => {
    const meeting = planOf({
      reason: '',
      tasks: ['a', 'b'].map((id) => ({ id, description: `do ${id}`, role: 'oracle', estimatedTokens: 4000 })),
    });
    const state = applied(applied(approving(meeting), { is: 'writes', task: task('a'), writes: ['src/**'] }), {
      is: 'writes',
      task: task('b'),
      writes: ['src/a.ts'],
    });
    const asked = form('o', state, 'a');
    const [place, field] = asked.fields;
    expect(place).toMatchObject({ is: 'choice', value: 'shared', choices: [{ value: 'own' }, { value: 'shared' }] });
    expect(field).toMatchObject({ is: 'checks', values: [], choices: [{ value: 'b', whyNot: null }] });
    expect(field).toHaveProperty('label', 'Take turns');
    expect(asked.then(values({}, { turns: ['b'] }))).toEqual(
      edits({ is: 'alongside', task: task('a'), others: [task('b')] }),
    );
    const own: PlanEdit = { is: 'tree', task: task('a'), tree: 'own' };
    expect(asked.then(values({ tree: 'own' }, { turns: [] }))).toEqual(edits(own));
    const apart = form('o', applied(state, own), 'a');
    expect(apart.fields).toHaveLength(1);
    expect(apart.then(values({ tree: 'shared' }))).toEqual(edits({ ...own, tree: 'shared' }));
  });

  it('m has them as one of its fields, which stays out of the edit where nobody touched it', () => {
    const asked = form('m', approving(), first.id);
    const texts = Object.fromEntries(asked.fields.flatMap((one) => ('value' in one ? [[one.name, one.value]] : [])));
    const sent = (more: Readonly<Record<string, string>>): unknown => asked.then(values({ ...texts, ...more }));
    expect(sent({})).not.toHaveProperty('commands.0.edit.writes');
    expect(sent({ writes: 'docs/**' })).toHaveProperty('commands.0.edit.writes', ['docs/**']);
  });
});
