import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit } from '../../../../../src/domain/plan/apply-edit.ts';
import { planDigest } from '../../../../../src/domain/digest.ts';
import type { PlanEdit } from '../../../../../src/domain/plan/plan-edit.ts';
import type { AgentStatus } from '../../../../../src/domain/agents/agent.ts';
import { fold } from '../../../../../src/events/fold.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import type { Command } from '../../../../../src/ports/controls.ts';
import { overlayFor } from '../../../../../src/ui/tui/dialogs/open.ts';
import { OverlayStack } from '../../../../../src/ui/tui/shell/overlay-stack.ts';
import type { Overlay } from '../../../../../src/ui/tui/frame/overlay.ts';
import type { Context, DialogEffect } from '../../../../../src/ui/tui/frame/screen.ts';
import { type Page, pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import type { Size } from '../../../../../src/ui/tui/terminal/terminal.ts';
import { type Line, lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { soundPlan } from '../../../../support/arbitraries.ts';
import { childOf, RoleName, ROOT } from '../../../../../src/domain/ids.ts';
import { contextFor, RACE, task } from '../../../../support/plans.ts';
import { SESSION } from '../../../../support/recorded-run.ts';
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
    const at = { v: 1, seq: 1000 + index * 3, time: '2026-11-21T12:00:00Z', session: SESSION } as const;
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

/** The plan screen as the app drives it: what dialogs draft shows it again. */
function driver(context: Context): {
  readonly page: Page;
  readonly press: (key: string) => DialogEffect | null;
  readonly draft: (edit: PlanEdit) => DialogEffect;
  readonly text: () => string;
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
    expect(text()).toContain('Plan 10 tasks · 5 stages · running');
    expect(text()).toContain('✓');
    expect(press('e')?.toast?.text).toBe('#1 finder has started and cannot be edited');
    press('G');
    expect(text()).toMatch(/Agent +○ waiting for #3 rush, #8 /);
    expect(press('e')?.dialog?.is).toBe('form');
  });

  it('looks like the plan, with a draft in it (120 x 40)', async () => {
    const statuses = { 'task-1': 'completed', 'task-2': 'running', 'task-3': 'running', 'task-4': 'running' } as const;
    const { press, draft, text } = driver(contextWith(running(statuses)));
    draft(cheaper);
    draft({ is: 'add', description: 'Write the release notes', role: RoleName.parse('librarian'), dependsOn: [] });
    press('G');
    await expect(`${text()}\n`).toMatchFileSnapshot('goldens/plan-draft-120x40.txt');
  });

  it('names who blocks a task, and says what can never run', () => {
    const { press, text } = driver(contextWith(running({ 'task-1': 'completed', 'task-4': 'failed' })));
    expect(text()).toContain('failed');
    for (let row = 0; row < 5; row++) press('down');
    expect(text()).toMatch(/waiting for #4 oracle|blocked by #4/);
  });

  it('collects edits, shows them, takes them back, and sends nothing before the difference was agreed to', () => {
    const context = contextWith(running({ 'task-1': 'running' }));
    const { page, press, draft, text } = driver(context);
    expect(press('enter')?.toast?.text).toContain('Nothing changed yet');
    expect(draft(cheaper)).toEqual({});
    expect(text()).toContain('draft: 1 change');
    expect(text()).toContain('reviewer  ✎ edited');
    expect(draft({ is: 'drop', task: task('task-3') })).toEqual({});
    expect(text()).toContain('Plan 9 tasks');
    press('u');
    expect(text()).toContain('Plan 10 tasks');
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

  it('changes nothing while the run is asked, and is done again when it has answered', () => {
    const state = running({});
    const { page, text } = driver(contextWith(state));
    const asked = contextOf(state, { amended: () => null });
    const before = text();
    const press = (key: string, context: Context) => page.press({ is: 'key', key }, context, SIZE);
    expect(page.drafted(cheaper, asked)).toEqual({ checking: true });
    expect(text()).toBe(before);
    expect(page.drafted(cheaper, contextWith(state))).toEqual({});
    const drafted = text();
    expect(drafted).toContain('draft: 1 change');
    for (const key of ['enter', 'J']) expect(press(key, asked)).toEqual({ checking: true });
    expect(press('u', asked)).toEqual({});
    expect(press('U', asked)).toEqual({ checking: true });
    expect(text()).toBe(before);
    press('U', contextWith(state));
    // Another plan is in force by now: the draft stays as it was shown until it is judged anew.
    page.settle(contextOf({ ...state, planDigest: 'another' }, { amended: () => null }), SIZE);
    expect(text()).toBe(drafted);
  });

  it('keeps a form as it was typed while the run is asked', () => {
    const state = running({});
    const asked = contextOf(state, { amended: () => null });
    const { page } = driver(contextWith(state));
    const dialog = page.press({ is: 'key', key: 'e' }, asked, SIZE)?.dialog;
    if (dialog === undefined) throw new Error('no form');
    const boxes = new OverlayStack();
    boxes.push(overlayFor(dialog, asked));
    boxes.press({ is: 'paste', text: ' and more' }, asked, SIZE);
    expect(boxes.press({ is: 'key', key: 'ctrl-s' }, asked, SIZE)).toEqual({ checking: true });
    const [box] = boxes.all;
    expect(
      box
        ?.view(asked, SIZE)
        .lines.map((line) => plain(line))
        .join(''),
    ).toContain('and more');
  });

  it('refuses at the field what the run refuses', () => {
    const { draft } = driver(contextWith(running({})));
    expect(draft({ is: 'depends', task: task('task-1'), dependsOn: [task('task-10')] }).toast?.text).toContain(
      'Circular dependency',
    );
  });
});

/** The screen and its boxes as the app has them; edits of a proposed plan are made as the run would. */
function session(start: RunState, room: Size): { readonly press: (key: string) => readonly (readonly number[])[] } {
  const page = pageOf(planScreen, {});
  let context = contextWith(start);
  let boxes: readonly Overlay[] = [];
  const take = (effect: DialogEffect | null): void => {
    if (effect?.drafted) take(page.drafted(effect.drafted, context));
    if (effect?.dialog) boxes = [overlayFor(effect.dialog, context)];
    for (const command of effect?.commands ?? []) context = after(context, command);
  };
  const widths = (lines: readonly Line[]): readonly number[] => lines.map(lineWidth);
  return {
    press(key) {
      page.settle(context, room);
      const [box] = boxes;
      const pressed = box?.press({ is: 'key', key }, context, room);
      if (pressed) boxes = pressed.overlay === null ? [] : [pressed.overlay];
      take(pressed ? (pressed.effect ?? null) : page.press({ is: 'key', key }, context, room));
      return [page.body(context, room).lines, ...boxes.map((one) => one.view(context, room).lines)].map(widths);
    },
  };
}

/** What the run makes of a command: edits of a proposed plan, as far as they can be made. */
function after(context: Context, command: Command): Context {
  const { plan } = context.state;
  const next = command.do === 'edit plan' && plan !== null ? applyEdit(plan, command.edit, contextFor()) : null;
  if (next?.ok !== true) return context;
  return contextWith({ ...context.state, plan: next.value, planDigest: planDigest(next.value) });
}

const KEYS =
  'e M m a d s S $ r b t D J K B w E u U 1 2 3 + _ j k g G n y Y enter esc tab down up pagedown ctrl-s left right'.split(
    ' ',
  );

describe('any keys on the plan screen', () => {
  it('never fail, and every frame has exactly the size', () => {
    const size = fc.constantFrom({ width: 40, height: 8 }, { width: 80, height: 22 }, { width: 120, height: 38 });
    const phase = fc.constantFrom('approving' as const, 'running' as const, 'finished' as const);
    const typed = fc.array(fc.constantFrom(...KEYS), { maxLength: 40 });
    fc.assert(
      fc.property(soundPlan(12), typed, size, phase, (plan, keys, room, now) => {
        const { press } = session({ ...running({}, plan), phase: now }, room);
        for (const key of keys) {
          const [body, box = []] = press(key);
          expect(body).toEqual(Array.from({ length: room.height }, () => room.width));
          expect(Math.max(0, ...box)).toBeLessThanOrEqual(room.width);
        }
      }),
      { numRuns: 60 },
    );
  });
});
