import { describe, expect, it } from 'vitest';
import { planDigest } from '../../../../../src/domain/digest.ts';
import type { PlanEdit } from '../../../../../src/domain/plan/plan-edit.ts';
import { fail } from '../../../../../src/domain/result.ts';
import type { Dialog, DialogEffect } from '../../../../../src/ui/tui/frame/screen.ts';
import { addToRunning, amendQuestion, modelOfPending } from '../../../../../src/ui/tui/screens/plan/amend.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { RACE, task } from '../../../../support/plans.ts';
import { amendedOf } from './amended.ts';
import { approving, contextOf } from './context.ts';

const running = contextOf(approving(RACE, { phase: 'running', approvedDigest: planDigest(RACE) }), {
  amended: amendedOf(RACE),
});
const cheaper: PlanEdit = { is: 'model', task: task('task-10'), model: 'haiku-4.5' };

function asked(effect: DialogEffect): Extract<Dialog, { readonly is: 'confirm' }> {
  if (effect.dialog?.is !== 'confirm') throw new Error('not asked');
  return effect.dialog;
}

describe('changing a plan that runs', () => {
  it('shows each difference and what the plan comes to before a yes sends it', () => {
    const preview = amendedOf(RACE)([cheaper]);
    const question = asked(amendQuestion([cheaper], running));
    expect([question.title, ...question.lines.map((line) => plain(line))]).toEqual([
      'Change 1 task of the running plan?',
      '~ #10 reviewer: model gpt-5 → haiku-4.5',
      '',
      'Now    159k tokens · $0.70 · about 4m 36s',
      'After  159k tokens · $0.69 · about 4m 26s',
    ]);
    expect(question.then.bind(question)()).toEqual({
      commands: [
        {
          do: 'amend plan',
          edits: [cheaper],
          base: planDigest(RACE),
          digest: preview.ok ? preview.value.digest : '',
        },
      ],
    });
  });

  it('says in words why it cannot be done, and asks nothing where nothing differs', () => {
    const begun = { ...running, amended: () => fail('#1 finder has begun already') };
    expect(amendQuestion([cheaper], begun).toast?.text).toBe('#1 finder has begun already');
    expect(amendQuestion([cheaper], { ...running, amended: () => null })).toEqual({ checking: true });
    expect(amendQuestion([], running).toast?.text).toBe('This is the current plan: nothing would change.');
    expect(amendQuestion([cheaper], contextOf()).toast?.text).toBe('No plan is running.');
  });

  it('warns of what would be over the cap', () => {
    const over = contextOf({ ...running.state, budget: { maxCost: 0.1 } }, { amended: amendedOf(RACE) });
    expect(plain(asked(amendQuestion([cheaper], over)).lines.at(-1) ?? [])).toContain('is over the budget of $0.10');
  });

  it('lets another screen add an agent, or choose the model of one that has not begun', () => {
    const form = addToRunning(running).dialog;
    if (form?.is !== 'form') throw new Error('no form');
    const question = asked(form.then({ texts: { task: 'Check it', role: 'reviewer' }, checks: { needs: [] } }));
    expect(plain(question.lines[0] ?? [])).toBe('+ #11 reviewer: Check it');
    const list = modelOfPending(task('task-10'), running).dialog;
    if (list?.is !== 'pick') throw new Error('no list');
    expect(plain(asked(list.then('haiku-4.5')).lines[0] ?? [])).toBe('~ #10 reviewer: model gpt-5 → haiku-4.5');
    expect(modelOfPending(task('nobody'), running).toast?.level).toBe('warn');
  });
});
