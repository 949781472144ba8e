/** The three panes of the plan screen, each a box: the list with its graph, everything about one task, and the schedule. */
import { expectedPlan, expectedTask } from '../../../../app/views/spending/expected-plan.ts';
import { parallelOf } from '../../../../app/views/agent-counts.ts';
import { scheduleOf, totalsOf, stagesOf } from '../../../../domain/plan/plan-view.ts';
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import { counted, formatDuration } from '../../../../app/views/text/format.ts';
import type { Context } from '../../shell/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { box, inside } from '../../text/box.ts';
import type { Box } from '../../text/box.ts';
import { span } from '../../../../app/views/text/clip.ts';
import { sized } from '../../text/compose.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { forcedHeight, forcedLines, forcedOf, forcedRows, sharesOf } from '../../components/plan/reviews.ts';
import { inspectorLines } from '../../components/plan/inspector.ts';
import { planList, tallRows } from '../../components/plan/list.ts';
import { standingOf } from '../../components/plan/status.ts';
import { scheduleLines, windowTop } from '../../components/graph/schedule.ts';
import { begunWords, isDrafted } from './draft.ts';
import type { PlanLayout } from './layout.ts';
import type { PlanPane, PlanUi } from './ui.ts';
import { changeOf, isApproved, proposedTask, selectedForced, selectedRow, selectedTask } from './ui.ts';

/** What the panes look at. */
export interface Seen {
  readonly ui: PlanUi;
  readonly context: Context;
  readonly plan: SoundPlan;
}

/** Rows that a task takes in the list. */
export function rowsOf(plan: SoundPlan, { list, rows }: PlanLayout): number {
  const room = inside(list?.width ?? 0, list?.height ?? 0, 0);
  return rows === 1 ? 1 : tallRows(plan, room.width, room.height - forcedHeight(plan, room.height));
}

/** A pane's box: heavy and in the colour of the focus while it has the keys. */
function pane({ ui, context: { glyphs } }: Seen, name: PlanPane, size: Size, of: Partial<Box>): readonly Line[] {
  const focused = ui.pane === name;
  return box({
    ...size,
    glyphs,
    border: focused ? 'heavy' : 'light',
    style: { fg: focused ? 'focus' : 'border' },
    kind: 'pane',
    body: [],
    ...of,
  });
}

export function listPane(seen: Seen, size: Size, rows: number): readonly Line[] {
  const { ui, context, plan } = seen;
  const { state, glyphs, now } = context;
  const count = plan.tasks.length;
  const whole = inside(size.width, size.height, 0);
  const width = Math.max(0, whole.width - 1);
  const shares = sharesOf(plan, whole.height, rows);
  const selected = selectedRow(ui, plan);
  const focused = ui.pane === 'list';
  const visible = Math.max(1, Math.floor(shares.tasks / rows));
  const top = windowTop(selected, count, visible);
  const list = {
    plan,
    selected,
    rows,
    focused,
    changeOf: (task: SoundPlan['tasks'][number]) => changeOf(ui, state, task),
    modelChanged: (task: SoundPlan['tasks'][number]) =>
      (proposedTask(ui, state, task.id) ?? task).model.asked !== task.model.asked,
    expectedOf: (task: SoundPlan['tasks'][number]) => expectedTask(task, state),
    standingOf: (task: SoundPlan['tasks'][number]) => standingOf(state, plan, task, glyphs, now),
  };
  return pane(seen, 'list', size, {
    pad: 0,
    title: listTitle(seen),
    titleEnd:
      count > visible ? [span(`${top + 1}-${Math.min(count, top + visible)} of ${count}`, { fg: 'muted' })] : [],
    body: [
      ...sized(planList(list, width, shares.tasks, glyphs), width, shares.tasks),
      ...Array.from({ length: shares.gap }, (): Line => []),
      ...forcedRows({ plan, selected: selected - count, focused, rows }, width, shares.forced, glyphs),
    ],
  });
}

/** `Plan 10 agents · 5 waves · ▣ 1 locked`, and what may be done with it. */
function listTitle({ ui, context, plan }: Seen): Line {
  const { state, glyphs } = context;
  const able = context.amended !== undefined;
  const forced = forcedOf(plan).length;
  const dot = ` ${glyphs.dot} `;
  return [
    span('Plan ', { fg: 'title', bold: true }),
    span(`${counted(plan.tasks.length, 'agent')}${dot}${counted(stagesIn(plan), 'stage')}`, { fg: 'muted' }),
    ...(forced === 0 ? [] : [span(`${dot}${glyphs.lock} ${forced} locked`, { fg: 'warn' })]),
    ...(isApproved(state) ? [span(`${dot}${approvedWords(ui, state.phase, able)}`, { fg: 'warn' })] : []),
  ];
}

/** Counted once a plan: it never changes in place. */
function stagesIn(plan: SoundPlan): number {
  const known = STAGES.get(plan) ?? stagesOf(plan);
  STAGES.set(plan, known);
  return known;
}
const STAGES = new WeakMap<SoundPlan, number>();

function approvedWords(ui: PlanUi, phase: string, able: boolean): string {
  if (phase !== 'running' || !able) return 'approved, read-only';
  const { preview } = ui.draft;
  if (preview?.ok === false) return 'your changes can not be made any more (u)';
  if (!isDrafted(ui) || preview === null) return 'runs';
  return `draft: ${counted(preview.value.changes.length, 'change')}`;
}

/** All lines about what is selected, a task or what the rules added. */
export function inspected({ ui, context, plan }: Seen, width: number): readonly Line[] {
  const { state, glyphs, now } = context;
  const forced = selectedForced(ui, plan);
  if (forced !== null) return forcedLines(plan, forced, width, glyphs);
  const task = selectedTask(ui, plan);
  if (task === null) return [];
  const free = state.phase === 'running' && context.amended !== undefined && begunWords(state, plan, task) === null;
  const editable = state.phase === 'approving' || free;
  const slot = scheduleOf(expectedPlan(plan, state.choices), parallelOf(state))[plan.tasks.indexOf(task)];
  return inspectorLines(
    {
      plan,
      task,
      before: proposedTask(ui, state, task.id),
      editable,
      choices: state.choices,
      standing: standingOf(state, plan, task, glyphs, now),
      critical: slot?.critical ?? false,
    },
    width,
    glyphs,
  );
}

export function inspectorPane(seen: Seen, size: Size): readonly Line[] {
  const { ui, context, plan } = seen;
  const { glyphs } = context;
  const focused = ui.pane === 'inspector';
  const row = selectedRow(ui, plan);
  const role = plan.tasks[row]?.role ?? selectedForced(ui, plan)?.role;
  if (role === undefined) return pane(seen, 'inspector', size, {});
  const room = inside(size.width, size.height);
  const lines = inspected(seen, room.width);
  const top = Math.max(0, Math.min(ui.scroll, lines.length - room.height));
  const more = lines.length - top - room.height;
  return pane(seen, 'inspector', size, {
    title: [
      span(row < plan.tasks.length ? `${row + 1} ` : `${glyphs.lock} `, { fg: 'muted' }),
      span(role, { fg: `role:${role}`, bold: true }),
    ],
    footEnd: more > 0 ? [span(focused ? `${more} more` : `${more} more, Tab`, { fg: 'muted' })] : [],
    body: lines.slice(top),
  });
}

export function schedulePane(seen: Seen, size: Size): readonly Line[] {
  const { ui, context, plan } = seen;
  const { state, glyphs } = context;
  const maxParallel = parallelOf(state);
  const expected = expectedPlan(plan, state.choices);
  const room = inside(size.width, size.height);
  const focused = ui.pane === 'schedule';
  const about = `about ${formatDuration(totalsOf(expected, maxParallel).seconds * 1000)}`;
  const critical: Line = [
    span(`max ${maxParallel} in parallel ${glyphs.dot} `, { fg: 'muted' }),
    span(glyphs.bar[0], { fg: 'fg' }),
    span(` critical path ${glyphs.dot} `, { fg: 'muted' }),
  ];
  return pane(seen, 'schedule', size, {
    title: [span('Schedule', focused ? { fg: 'title', bold: true } : { fg: 'muted', bold: true })],
    titleEnd: [...(size.width < 72 ? [] : critical), span(about, { fg: 'muted' })],
    body: scheduleLines(
      { plan: expected, maxParallel, selected: selectedRow(ui, plan), focused },
      room.width,
      room.height,
      glyphs,
    ),
  });
}
