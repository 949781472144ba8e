/**
 * The plan before it runs: list with graph, everything about the selected task, schedule, totals. While it is being made
 * the planner's words; once it runs, the same to look at. Where the panes are is decided here; keys are in plan-keys.ts.
 */
import type { AgentStatus } from '../../domain/agent.ts';
import { ROOT } from '../../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan.ts';
import { totalsOf, wavesOf } from '../../domain/plan-view.ts';
import { modelName } from '../agents.ts';
import { formatCost, formatDuration } from '../format.ts';
import type { Body, Context, Effect, Screen } from '../screen.ts';
import type { Input, Size } from '../term/terminal.ts';
import { box, inside } from '../text/box.ts';
import { span } from '../text/clip.ts';
import { beside, sized } from '../text/compose.ts';
import type { Line } from '../text/line.ts';
import { crumbs } from '../view/header.ts';
import { forcedAt, forcedHeight, forcedLines, forcedOf, forcedRows, sharesOf } from '../view/plan-forced.ts';
import { inspectorLines } from '../view/plan-inspector.ts';
import { planList, tallRows } from '../view/plan-list.ts';
import { parallelOf, totalsLine } from '../view/plan-totals.ts';
import { planWaiting } from '../view/plan-waiting.ts';
import { scheduleLines, windowTop } from '../view/schedule.ts';
import { PLAN_KEYS } from './plan-keys.ts';
import { planLayout } from './plan-layout.ts';
import type { PlanLayout } from './plan-layout.ts';
import type { PlanUi } from './plan-ui.ts';
import {
  awaited,
  changeOf,
  FIRST,
  isOffered,
  isSeen,
  painted,
  proposedTask,
  select,
  selectedForced,
  selectedRow,
  selectedTask,
  tracked,
} from './plan-ui.ts';

export const planScreen: Screen<PlanUi> = {
  name: 'plan',
  first: FIRST,
  keys: PLAN_KEYS,
  settle: (ui, { state }) => awaited(ui, state),
  painted: (ui, { state, now }) => painted(ui, state, now),
  moving: (ui, { state, now }) => isOffered(state) && !isSeen(ui, state, now),
  header: (ui, context) => ({ left: crumbs('plan', context.state.task, context.glyphs), right: madeBy(context) }),
  body,
  input,
};

/** `by opus-4.5 in 6s · $0.0184`; nothing while the plan is being made. */
function madeBy({ state, glyphs }: Context): Line {
  if (state.plan === null || state.phase === 'planning') return [];
  const cost = state.agents.get(ROOT)?.cost ?? 0;
  const spent = cost === 0 ? '' : ` ${glyphs.dot} ${formatCost(cost)}`;
  return [span(`by ${modelName(state.planBy)} in ${formatDuration(state.planMs)}${spent}`, { fg: 'muted' })];
}

function body(ui: PlanUi, context: Context, { width, height }: Size): Body {
  const plan = shownPlan(context);
  if (height < 1) return { lines: [] };
  if (plan === null) return { lines: planWaiting(context, width, height) };
  const lines = [...panes(ui, context, plan, planLayout(width, height, rowsWanted(plan), ui.pane))];
  return { lines: [...sized(lines, width, height - 1), totalsLine(plan, context.state, width, context.glyphs)] };
}

/** Rows that the list would like to have: its tasks, and what the rules added under a title. */
const rowsWanted = (plan: SoundPlan): number =>
  plan.tasks.length + (forcedOf(plan).length === 0 ? 0 : forcedOf(plan).length + 1);

/** The plan, or null while one is being made: an old one is not looked at any more. */
const shownPlan = ({ state }: Context): SoundPlan | null =>
  state.phase === 'planning' || state.phase === 'starting' ? null : state.plan;

function panes(ui: PlanUi, context: Context, plan: SoundPlan, layout: PlanLayout): readonly Line[] {
  const { list, inspector, schedule } = layout;
  const left = list === null ? [] : listPane(ui, context, plan, list, rowsOf(plan, layout));
  const right = inspector === null ? [] : inspectorPane(ui, context, plan, inspector);
  const above = layout.columns
    ? beside({ lines: left, width: list?.width ?? 0 }, { lines: right, width: inspector?.width ?? 0 })
    : [...left, ...right];
  return schedule === null ? above : [...above, ...schedulePane(ui, context, plan, schedule)];
}

/** Rows that a task takes in the list. */
function rowsOf(plan: SoundPlan, { list, rows }: PlanLayout): number {
  const room = inside(list?.width ?? 0, list?.height ?? 0, 0);
  return rows === 1 ? 1 : tallRows(plan, room.width, room.height - forcedHeight(plan, room.height));
}

function listPane(
  ui: PlanUi,
  context: Context,
  plan: SoundPlan,
  { width, height }: Size,
  rows: number,
): readonly Line[] {
  const { state, glyphs } = context;
  const focused = ui.pane === 'list';
  const waves = wavesOf(plan).length;
  const count = plan.tasks.length;
  const whole = inside(width, height, 0);
  const shares = sharesOf(plan, whole.height, rows);
  const room = { width: whole.width, height: shares.tasks };
  const selected = selectedRow(ui, plan);
  const forced = forcedOf(plan).length;
  const visible = Math.max(1, Math.floor(room.height / rows));
  const top = windowTop(selected, count, visible);
  const hidden = Math.max(0, count - visible);
  return box({
    width,
    height,
    glyphs,
    border: focused ? 'heavy' : 'light',
    style: { fg: focused ? 'focus' : 'border' },
    kind: 'pane',
    pad: 0,
    title: [
      span('Plan ', { fg: 'title', bold: true }),
      span(`${count} ${count === 1 ? 'agent' : 'agents'} ${glyphs.dot} ${waves} ${waves === 1 ? 'wave' : 'waves'}`, {
        fg: 'muted',
      }),
      ...(forced === 0 ? [] : [span(` ${glyphs.dot} ${glyphs.lock} ${forced} locked`, { fg: 'warn' })]),
      ...(state.phase === 'approving' ? [] : [span(` ${glyphs.dot} approved, read-only`, { fg: 'warn' })]),
    ],
    titleEnd: hidden > 0 ? [span(`${top + 1}-${Math.min(count, top + visible)} of ${count}`, { fg: 'muted' })] : [],
    body: [
      ...sized(
        planList(
          {
            plan,
            selected,
            rows,
            focused,
            changeOf: (task) => changeOf(ui, state, task),
            modelChanged: (task) => (proposedTask(ui, state, task.id) ?? task).model.asked !== task.model.asked,
            statusOf: (task) => statusOf(context, task),
          },
          Math.max(0, room.width - 1),
          room.height,
          glyphs,
        ),
        Math.max(0, room.width - 1),
        room.height,
      ),
      ...Array.from({ length: shares.gap }, (): Line => []),
      ...forcedRows({ plan, selected: selected - count, focused }, Math.max(0, room.width - 1), shares.forced, glyphs),
    ],
  });
}

/** Where the agent of a task stands; null before anything runs. */
function statusOf({ state }: Context, task: PlanTask): AgentStatus | null {
  if (state.phase === 'approving') return null;
  for (const agent of state.agents.values()) if (agent.taskId === task.id) return agent.status;
  return state.approvedDigest === null ? null : 'pending';
}

/** All lines about what is selected, a task or what the rules added. */
function inspected(ui: PlanUi, { state, glyphs }: Context, plan: SoundPlan, width: number): readonly Line[] {
  const forced = selectedForced(ui, plan);
  if (forced !== null) return forcedLines(plan, forced, width, glyphs);
  const task = selectedTask(ui, plan);
  if (task === null) return [];
  const editable = state.phase === 'approving';
  return inspectorLines({ plan, task, before: proposedTask(ui, state, task.id), editable }, width, glyphs);
}

function inspectorPane(ui: PlanUi, context: Context, plan: SoundPlan, { width, height }: Size): readonly Line[] {
  const { glyphs } = context;
  const focused = ui.pane === 'inspector';
  const row = selectedRow(ui, plan);
  const role = plan.tasks[row]?.role ?? selectedForced(ui, plan)?.role;
  if (role === undefined) return [];
  const room = inside(width, height);
  const lines = inspected(ui, context, plan, room.width);
  const top = Math.max(0, Math.min(ui.scroll, lines.length - room.height));
  const more = lines.length - top - room.height;
  return box({
    width,
    height,
    glyphs,
    border: focused ? 'heavy' : 'light',
    style: { fg: focused ? 'focus' : 'border' },
    kind: 'pane',
    title: [
      span(row < plan.tasks.length ? `${row + 1} ` : `${glyphs.lock} `, { fg: 'muted' }),
      span(role, { fg: `role:${role}`, bold: true }),
    ],
    footEnd: more > 0 ? [span(focused ? `${more} more` : `${more} more, Tab`, { fg: 'muted' })] : [],
    body: lines.slice(top),
  });
}

function schedulePane(ui: PlanUi, context: Context, plan: SoundPlan, { width, height }: Size): readonly Line[] {
  const { state, glyphs } = context;
  const maxParallel = parallelOf(state);
  const room = inside(width, height);
  return box({
    width,
    height,
    glyphs,
    border: 'light',
    style: { fg: 'border' },
    kind: 'pane',
    title: [span('Schedule', { fg: 'muted', bold: true })],
    titleEnd: [
      span(`max ${maxParallel} in parallel ${glyphs.dot} `, { fg: 'muted' }),
      span(glyphs.bar[0], { fg: 'fg' }),
      span(` critical path ${glyphs.dot} about ${formatDuration(totalsOf(plan, maxParallel).seconds * 1000)}`, {
        fg: 'muted',
      }),
    ],
    body: scheduleLines({ plan, maxParallel, selected: selectedRow(ui, plan) }, room.width, room.height, glyphs),
  });
}

/** The wheel scrolls the pane under the pointer; a click selects the task or the pane. */
function input(ui: PlanUi, context: Context, event: Input, { width, height }: Size): Effect<PlanUi> | null {
  const plan = shownPlan(context);
  if (plan === null || (event.is !== 'wheel' && event.is !== 'click')) return null;
  const layout = planLayout(width, height, rowsWanted(plan), ui.pane);
  const pane = paneAt(layout, event.x, event.y);
  if (pane === null) return null;
  const next = tracked(ui, context.state);
  if (pane === 'list') return { ui: inList(next, plan, layout, event) };
  if (event.is === 'click') return { ui: { ...next, pane: 'inspector' } };
  return { ui: { ...next, scroll: scrolled(next, plan, context, layout, event.by) } };
}

function inList(
  ui: PlanUi,
  plan: SoundPlan,
  layout: PlanLayout,
  event: Extract<Input, { readonly is: 'wheel' | 'click' }>,
): PlanUi {
  const row = selectedRow(ui, plan);
  if (event.is === 'wheel') return select(ui, plan, row + event.by);
  const hit = rowAt(plan, layout, row, event.y - 1);
  return { ...(hit === null ? ui : select(ui, plan, hit)), pane: 'list' };
}

/** What stands in row `y` of the list while `selected` is selected; null where nothing does. */
function rowAt(plan: SoundPlan, layout: PlanLayout, selected: number, y: number): number | null {
  const count = plan.tasks.length;
  const rows = rowsOf(plan, layout);
  const { tasks, gap, forced } = sharesOf(plan, inside(0, layout.list?.height ?? 0, 0).height, rows);
  if (y < tasks) {
    const top = windowTop(selected, count, Math.max(1, Math.floor(tasks / rows)));
    return Math.min(count - 1, top + Math.floor(y / rows));
  }
  const locked = forcedAt(plan, selected - count, forced, y - tasks - gap);
  return locked === null ? null : count + locked;
}

function paneAt(layout: PlanLayout, x: number, y: number): 'list' | 'inspector' | null {
  const { list, inspector, columns } = layout;
  if (list !== null && y < list.height && (!columns || x < list.width)) return 'list';
  const top = list !== null && !columns ? list.height : 0;
  return inspector !== null && y >= top && y < top + inspector.height ? 'inspector' : null;
}

function scrolled(ui: PlanUi, plan: SoundPlan, context: Context, layout: PlanLayout, by: number): number {
  if (layout.inspector === null) return 0;
  const room = inside(layout.inspector.width, layout.inspector.height);
  const lines = inspected(ui, context, plan, room.width);
  return Math.max(0, Math.min(ui.scroll + by * 3, lines.length - room.height));
}
