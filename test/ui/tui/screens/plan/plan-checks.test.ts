import { expect, it } from 'vitest';
import type { CheckRun, RunState } from '../../../../../src/events/state.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { FIRST } from '../../../../../src/ui/tui/screens/plan/ui.ts';
import { RACE } from '../../../../support/plans.ts';
import { approving, contextOf } from './context.ts';

const CHECKS = ['npm test', 'npm run lint'].map((run) => ({ run, expect: 0, timeout: 600_000 }));
const PLAN = { ...RACE, tasks: RACE.tasks.map((task, at) => (at < 2 ? { ...task, checks: CHECKS } : task)) };
const [TEST, LINT] = CHECKS.map((check): CheckRun => ({ ...check, attempt: 0, started: 0, end: null }));
const failed = (run: CheckRun | undefined): CheckRun[] =>
  run === undefined
    ? []
    : [{ ...run, end: { passed: false, exit: 1, lines: 'one failed\n\nsum: 3 is not 4', ms: 5, tree: 't' } }];
const tried = (...firstChecks: readonly (CheckRun | undefined)[]): RunState =>
  approving(PLAN, { firstChecks: firstChecks.flatMap((run) => run ?? []) });

const rows = (state: RunState, width: number, height: number): readonly string[] =>
  planScreen.body(FIRST, contextOf(state), { width, height }).lines.map((line) => plain(line).trimEnd());
const press = (state: RunState): unknown =>
  pageOf(planScreen, {}).press({ is: 'key', key: 'V' }, contextOf(state), { width: 120, height: 38 });

it('says above the plan which checks fail before anything has begun, at any size', () => {
  const state = tried(...failed(TEST), LINT);
  expect(rows(state, 120, 38)[0]).toBe(
    ' ! 1 of 2 checks fails before anything has begun: npm test (exit code 1); running: npm run lint',
  );
  expect(rows(state, 40, 9)[0]).toBe(' ! 1 of 2 checks fails before anything …');
  for (const [width, height] of [
    [80, 22],
    [200, 58],
    [40, 8],
    [20, 5],
  ] as const)
    expect(rows(state, width, height)).toHaveLength(height);
  expect(rows(approving(PLAN), 120, 38)[0]).toContain('Plan');
});

it('says beside the checks of a task what each printed last', () => {
  const text = rows(tried(...failed(TEST), LINT), 160, 45).join('\n');
  expect(text).toMatch(/Before {4}npm test fails \(exit code 1\) .*\n.* {2}one failed .*\n.* {2}sum: 3 is not 4 /);
});

it('names the key where nothing was tried, and only for tasks with checks', () => {
  expect(rows(approving(PLAN), 160, 45).join('\n')).toMatch(/Before {4}not tried {2}V /);
  expect(rows(approving(RACE), 160, 45).join('\n')).not.toContain('not tried');
});

it('takes no click on that line', () => {
  const context = contextOf(tried(...failed(TEST)));
  const click = (y: number): unknown =>
    planScreen.input?.(FIRST, context, { is: 'click', x: 4, y }, { width: 120, height: 38 })?.ui?.row;
  expect([click(0), click(2), click(4)]).toEqual([undefined, 0, 1]);
});

it('tries the checks of exactly the shown plan, and stops them while they run', () => {
  const shown = approving(PLAN);
  expect(press(shown)).toEqual({ commands: [{ do: 'try checks', digest: shown.planDigest }] });
  expect(press(tried(...failed(TEST), LINT))).toEqual({ commands: [{ do: 'stop checks' }] });
  expect(press(tried(...failed(TEST)))).toEqual({ commands: [{ do: 'try checks', digest: shown.planDigest }] });
});

it('says why nothing can be tried', () => {
  const why = (text: string) => ({ toast: { level: 'info', text, about: 'screen' } });
  expect(press(approving())).toEqual(why('The plan has no checks.'));
  expect(press(approving(PLAN, { phase: 'running' }))).toEqual(why('The plan is already running.'));
});
