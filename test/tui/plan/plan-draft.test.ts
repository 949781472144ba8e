import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planDigest } from '../../../src/domain/digest.ts';
import type { PlanEdit } from '../../../src/domain/plan-edit.ts';
import type { AgentStatus } from '../../../src/domain/agent.ts';
import { fold } from '../../../src/events/fold.ts';
import type { RunState } from '../../../src/events/state.ts';
import { overlayFor } from '../../../src/tui/dialogs/open.ts';
import type { Overlay } from '../../../src/tui/dialogs/overlay.ts';
import type { DialogEffect } from '../../../src/tui/dialog.ts';
import { pageOf } from '../../../src/tui/page.ts';
import type { Page } from '../../../src/tui/page.ts';
import type { Context } from '../../../src/tui/screen.ts';
import { planScreen } from '../../../src/tui/screens/plan.ts';
import { plain } from '../../../src/tui/text/clip.ts';
import { widthOf } from '../../../src/tui/text/width.ts';
import { soundPlan } from '../../support/arbitraries.ts';
import { childOf, ROOT } from '../../../src/domain/ids.ts';
import { RACE, task } from '../../support/plans.ts';
import { amendedOf } from './amended.ts';
import { approving, contextOf } from './context.ts';

const SIZE = { width: 120, height: 38 };

/** A run in which the agents of these tasks are where it is said. */
function running(statuses: Readonly<Record<string, AgentStatus>>, plan = RACE): RunState {
  let state: RunState = approving(plan, { phase: 'running', approvedDigest: planDigest(plan) });
  for (const [index, one] of plan.tasks.entries()) {
    const status = statuses[one.id];
    if (status === undefined) continue;
    const agent = childOf(ROOT, index + 1);
    const at = { v: 1, seq: 1000 + index * 3, at: 0 } as const;
    state = fold(state, {
      ...at,
      type: 'agent.created',
      agent,
      parent: ROOT,
      role: one.role,
      name: one.role,
      task: one.description,
      taskId: one.id,
      tools: [],
      budget: {},
      dependsOn: [],
      model: one.model,
      iterations: 9,
    });
    state = fold(state, { ...at, seq: at.seq + 1, type: 'agent.status', agent, status, reason: '' });
  }
  return state;
}

const contextWith = (state: RunState): Context => contextOf(state, { amended: amendedOf(state.plan ?? RACE) });

/** The plan screen as the app drives it: what dialogs draft comes back to it. */
function driver(context: Context): {
  readonly page: Page;
  press(key: string): DialogEffect | null;
  draft(edit: PlanEdit): DialogEffect;
  text(): string;
} {
  const page = pageOf(planScreen, {});
  page.settle(context, SIZE);
  return {
    page,
    press: (key) => page.press({ is: 'key', key }, context, SIZE),
    draft: (edit) => page.drafted(edit, context),
    text: () =>
      page
        .body(context, SIZE)
        .lines.map((line) => plain(line))
        .join('\n'),
  };
}

const cheaper: PlanEdit = { is: 'model', task: task('task-10'), model: 'haiku-4.5' };

describe('a plan that runs', () => {
  it('shows where each task stands, and changes nothing that has begun', () => {
    const context = contextWith(running({ 'task-1': 'completed', 'task-2': 'running' }));
    const { press, text } = driver(context);
    expect(text()).toContain('Plan 10 agents · 5 waves · runs');
    expect(text()).toContain('✓');
    expect(press('e')?.toast?.text).toBe("#1 finder has begun: it can't be changed any more");
    press('G');
    expect(text()).toMatch(/Agent +○ waits for #3 rush, #8 /);
    expect(press('e')?.dialog?.is).toBe('text');
  });

  it('names who blocks a task, and says what can never run', () => {
    const { press, text } = driver(contextWith(running({ 'task-1': 'completed', 'task-4': 'failed' })));
    expect(text()).toContain('failed');
    for (let row = 0; row < 5; row++) press('down');
    expect(text()).toMatch(/waits for #4 oracle|blocked by #4/);
  });

  it('collects edits, shows them, takes them back, and sends nothing before the difference was agreed to', () => {
    const context = contextWith(running({ 'task-1': 'running' }));
    const { page, press, draft, text } = driver(context);
    expect(press('enter')?.toast?.text).toContain('nothing was changed');
    expect(draft(cheaper)).toEqual({});
    expect(text()).toContain('draft: 1 change');
    expect(text()).toContain('reviewer  ✎ edited');
    expect(draft({ is: 'drop', task: task('task-3') })).toEqual({});
    expect(text()).toContain('Plan 9 agents');
    press('u');
    expect(text()).toContain('Plan 10 agents');
    press('U');
    press('u');
    const question = press('enter')?.dialog;
    expect(question?.is === 'confirm' && question.then.bind(question)().commands?.[0]).toMatchObject({
      do: 'amend plan',
      edits: [cheaper],
      base: planDigest(RACE),
    });
    const after = amendedOf(RACE)([cheaper]);
    const state = after.ok
      ? { ...context.state, plan: after.value.plan, planDigest: after.value.digest }
      : context.state;
    page.settle(contextWith(state), SIZE);
    expect(page.hints(contextWith(state)).map(({ hint }) => hint)).not.toContain('change it');
  });

  it('asks before changes are given up, and is then as it was approved', () => {
    const { press, draft, text } = driver(contextWith(running({})));
    const before = text();
    draft(cheaper);
    const question = press('esc')?.dialog;
    if (question?.is !== 'confirm') throw new Error('not asked');
    const { drafted, app } = question.then.bind(question)();
    expect(app).toEqual({ show: 'run' });
    if (drafted === undefined) throw new Error('nothing given up');
    draft(drafted);
    expect(text()).toBe(before);
    expect(press('esc')).toEqual({ app: { show: 'run' } });
  });

  it('refuses at the field what the run refuses', () => {
    const { draft } = driver(contextWith(running({})));
    expect(draft({ is: 'depends', task: task('task-1'), dependsOn: [task('task-10')] }).toast?.text).toContain(
      'Circular dependency',
    );
  });
});

describe('any keys on the plan screen', () => {
  it('never fail, and every frame has exactly the size', () => {
    const keys = [
      ...'eMmadsS$rbtDJKBwEuU123+_jkgGnyY',
      'enter',
      'esc',
      'tab',
      'down',
      'up',
      'pagedown',
      'ctrl-s',
      ' ',
      'left',
      'right',
    ];
    const size = fc.constantFrom({ width: 40, height: 8 }, { width: 80, height: 22 }, { width: 120, height: 38 });
    const phase = fc.constantFrom('approving' as const, 'running' as const, 'finished' as const);
    fc.assert(
      fc.property(
        soundPlan(12),
        fc.array(fc.constantFrom(...keys), { maxLength: 40 }),
        size,
        phase,
        (plan, typed, room, now) => {
          const context = contextWith({ ...running({}, plan), phase: now });
          const page = pageOf(planScreen, {});
          let box: Overlay | null = null;
          const take = (effect: DialogEffect | null): void => {
            if (effect?.drafted) take(page.drafted(effect.drafted, context));
            if (effect?.dialog) box = overlayFor(effect.dialog, context);
          };
          for (const key of typed) {
            page.settle(context, room);
            if (box === null) take(page.press({ is: 'key', key }, context, room));
            else {
              const { overlay, effect }: ReturnType<Overlay['press']> = box.press({ is: 'key', key }, context, room);
              box = overlay;
              take(effect ?? null);
            }
            const { lines } = page.body(context, room);
            expect(lines.map((line) => widthOf(plain(line)))).toEqual(
              Array.from({ length: room.height }, () => room.width),
            );
            const view = box?.view(context, room);
            for (const line of view?.lines ?? []) expect(widthOf(plain(line))).toBeLessThanOrEqual(room.width);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
