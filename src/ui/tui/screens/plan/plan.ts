/** The plan screen: list, selected task, schedule and totals; the planning screen before. Keys are in keys.ts. */
import { commitText, isApproved } from '../../../../app/actions/index.ts';
import type { Line } from '../../../../app/views/index.ts';
import { clip, plural, expectedPlan, expectedTask, formatCost, formatDuration } from '../../../../app/views/index.ts';
import { modelName, parallelOf, planAllows, span, toLabel } from '../../../../app/views/index.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import { scheduleOf, stagesOf, totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import { scheduleLines, totalsLine } from '../../components/plan/estimate.ts';
import { crumbs } from '../../components/header.ts';
import { linesAbove, planWaiting } from '../../components/plan/planning.ts';
import { forcedAt, forcedHeight, forcedLines, forcedOf, forcedRows } from '../../components/plan/inspector.ts';
import { inspectorLines, sharesOf } from '../../components/plan/inspector.ts';
import { commonModel, planList, tallRows } from '../../components/plan/list.ts';
import type { Zoom } from '../../components/layout.ts';
import { taskStateOf } from '../../components/progress.ts';
import { firstLines } from '../../../../events/index.ts';
import type { Body, Context, Effect, Screen } from '../../frame/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { beside, type Box, inside, pane, sized, strong, tint, windowTop } from '../../text/blocks.ts';
import { begunWords, isDrafted, PLAN_KEYS, settledDraft, shownPlan, withEdit } from './keys.ts';
import type { PlanPane, PlanUi } from './ui.ts';
import { awaited, changeOf, FIRST, isOffered, isSeen, painted, proposedTask, select, selectedForced } from './ui.ts';
import { selectedRow, selectedTask, tracked } from './ui.ts';

export const planScreen: Screen<PlanUi> = {
  name: 'plan',
  first: FIRST,
  keys: PLAN_KEYS,
  settle: (ui, context) => settledDraft(awaited(ui, context.state), context),
  painted: (ui, { state, now }) => painted(ui, state, now),
  moving: (ui, { state, now }) => isOffered(state) && !isSeen(ui, state, now),
  header: (ui, context, width = 120) => ({
    left: context.state.session === null ? [] : crumbs('Plan', context.state.task, context.glyphs),
    right: [...allowedNow(ui, context, width), ...madeBy(context, width)],
  }),
  body,
  input,
  drafted: withEdit,
  position: (ui, context) => {
    const plan = shownPlan(ui, context);
    return plan === null ? '' : `${selectedRow(ui, plan) + 1}/${plan.tasks.length + forcedOf(plan).length}`;
  },
};

/** `edits allowed, main commits at the end · `; empty where every action asks and nothing is committed. */
function allowedNow(ui: PlanUi, context: Context, width: number): Line {
  const plan = shownPlan(ui, context);
  const words = plan === null ? '' : [planAllows(plan), commitText(plan)].filter((one) => one !== '').join(', ');
  return words === '' || width < 60 ? [] : [tint(`${words} ${context.glyphs.dot} `, 'warn')];
}

/** `planned in 6s (opus-4.5) · $0.01`, `from template review`; empty while planning and in a narrow header. */
function madeBy({ state, glyphs }: Context, width: number): Line {
  if (state.plan === null || state.phase === 'planning' || width < 80) return [];
  // A name with a blank is no model but a template, with its file in brackets, which is left out.
  if (state.planBy.includes(' ')) {
    const from = `from ${toLabel(state.planBy.replace(/ \(.*$/, ''))}`;
    return clip([tint(from, 'muted')], Math.max(16, Math.floor(width / 3)));
  }
  const cost = state.agents.get(ROOT)?.cost ?? 0;
  const spent = cost === 0 ? '' : ` ${glyphs.dot} ${formatCost(cost)}`;
  return [tint(`planned in ${formatDuration(state.planMs)} (${modelName(state.planBy)})${spent}`, 'muted')];
}

function body(ui: PlanUi, context: Context, { width, height }: Size): Body {
  const plan = shownPlan(ui, context);
  if (height < 1) return { lines: [] };
  if (plan === null) return { lines: planWaiting(context, width, height) };
  const above = linesAbove(context.state, width, height, context.glyphs);
  const rest = height - above.length;
  const lines = panes({ ui, context, plan }, planLayout(width, rest, wishOf(ui, plan)));
  const totals = totalsLine(plan, context.state, width, context.glyphs);
  return { lines: [...above, ...sized(lines, width, rest - 1), totals] };
}

/** The rows that the list can use: the tasks, and the mandatory reviews with their heading. */
const wishOf = ({ pane, zoom }: PlanUi, plan: SoundPlan): LayoutRequest => ({
  count: plan.tasks.length + (forcedOf(plan).length === 0 ? 0 : forcedOf(plan).length + 1),
  tasks: plan.tasks.length,
  pane,
  zoom,
});

function panes(seen: Seen, layout: PlanLayout): readonly Line[] {
  const { list, inspector, schedule } = layout;
  const left = list === null ? [] : listPane(seen, list, rowsOf(seen.plan, layout), !layout.columns);
  const right = inspector === null ? [] : inspectorPane(seen, inspector);
  const above = layout.columns
    ? beside({ lines: left, width: list?.width ?? 0 }, { lines: right, width: inspector?.width ?? 0 })
    : [...left, ...right];
  return schedule === null ? above : [...above, ...schedulePane(seen, schedule)];
}

/** The wheel scrolls the pane under the pointer; a click selects the task or the pane. */
function input(ui: PlanUi, context: Context, event: Input, { width, height }: Size): Effect<PlanUi> | null {
  const plan = shownPlan(ui, context);
  if (plan === null || (event.is !== 'wheel' && event.is !== 'click')) return null;
  const above = linesAbove(context.state, width, height, context.glyphs).length;
  if (event.y < above) return null;
  const layout = planLayout(width, height - above, wishOf(ui, plan));
  return inPanes({ ui, context, plan }, layout, { ...event, y: event.y - above });
}

type Pointed = Extract<Input, { readonly is: 'wheel' | 'click' }>;

function inPanes(seen: Seen, layout: PlanLayout, event: Pointed): Effect<PlanUi> | null {
  const { ui, context, plan } = seen;
  const hit = paneAt(layout, event.x, event.y);
  if (hit === null) return null;
  const next = tracked(ui, context.state);
  if (hit === 'list') return { ui: inList(next, plan, layout, event) };
  if (event.is === 'click') return { ui: { ...next, pane: hit } };
  if (hit === 'schedule') return { ui: select(next, plan, selectedRow(next, plan) + event.by) };
  return { ui: { ...next, scroll: scrolled(seen, layout, event.by) } };
}

function inList(ui: PlanUi, plan: SoundPlan, layout: PlanLayout, event: Pointed): PlanUi {
  const row = selectedRow(ui, plan);
  if (event.is === 'wheel') return select(ui, plan, row + event.by);
  const hit = rowAt(plan, layout, row, event.y - 1);
  return { ...(hit === null ? ui : select(ui, plan, hit)), pane: 'list' };
}

/** The index of the task or review in row `y` of the list; null where there is none. */
function rowAt(plan: SoundPlan, layout: PlanLayout, selected: number, y: number): number | null {
  const count = plan.tasks.length;
  const rows = rowsOf(plan, layout);
  const { tasks, gap, forced } = sharesOf(plan, inside(layout.list ?? NO_SIZE, 0).height, rows);
  if (y < tasks) {
    const top = windowTop(selected, count, Math.max(1, Math.floor(tasks / rows)));
    return Math.min(count - 1, top + Math.floor(y / rows));
  }
  const locked = forcedAt(plan, selected - count, forced, y - tasks - gap);
  return locked === null ? null : count + locked;
}

function paneAt(layout: PlanLayout, x: number, y: number): PlanPane | null {
  const { list, schedule } = layout;
  const above = heightAbove(layout);
  if (y >= above) return schedule !== null && y < above + schedule.height ? 'schedule' : null;
  return list !== null && x < list.width && y < list.height ? 'list' : 'inspector';
}

const heightAbove = ({ list, inspector, columns }: PlanLayout): number =>
  (list?.height ?? 0) + (columns ? 0 : (inspector?.height ?? 0));

function scrolled(seen: Seen, { inspector }: PlanLayout, by: number): number {
  if (inspector === null) return 0;
  const room = inside(inspector);
  const lines = inspected(seen, room.width);
  return Math.max(0, Math.min(seen.ui.scroll + by * 3, lines.length - room.height));
}

interface Seen {
  readonly ui: PlanUi;
  readonly context: Context;
  readonly plan: SoundPlan;
}

const NO_SIZE: Size = { width: 0, height: 0 };

function rowsOf(plan: SoundPlan, { list, rows }: PlanLayout): number {
  const room = inside(list ?? NO_SIZE, 0);
  return rows === 1 ? 1 : tallRows(plan, room.width, room.height - forcedHeight(plan, room.height));
}

const paneOf = ({ ui, context: { glyphs } }: Seen, name: PlanPane, size: Size, of: Partial<Box>): readonly Line[] =>
  pane({ ...size, glyphs, focused: ui.pane === name, body: [], ...of });

function listPane(seen: Seen, size: Size, rows: number, compact: boolean): readonly Line[] {
  const { ui, context, plan } = seen;
  const { state, glyphs } = context;
  const count = plan.tasks.length;
  const whole = inside(size, 0);
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
    compact,
    focused,
    changeOf: (task: SoundPlan['tasks'][number]) => changeOf(ui, state, task),
    modelChanged: (task: SoundPlan['tasks'][number]) =>
      (proposedTask(ui, state, task.id) ?? task).model.asked !== task.model.asked,
    expectedOf: (task: SoundPlan['tasks'][number]) => expectedTask(task, state),
    taskStateOf: (task: SoundPlan['tasks'][number]) => taskStateOf(plan, task, context),
  };
  return paneOf(seen, 'list', size, {
    pad: 0,
    title: listTitle(seen, compact),
    titleEnd: count > visible ? [tint(`${top + 1}-${Math.min(count, top + visible)} of ${count}`, 'muted')] : [],
    body: [
      ...sized(planList(list, width, shares.tasks, glyphs), width, shares.tasks),
      ...Array.from({ length: shares.gap }, (): Line => []),
      ...forcedRows({ plan, selected: selected - count, focused, rows, compact }, width, shares.forced, glyphs),
    ],
  });
}

/** `Plan 10 tasks · 5 stages · ▣ 1 required`, and the state of a running plan. */
function listTitle({ ui, context, plan }: Seen, compact: boolean): Line {
  const { state, glyphs } = context;
  const able = context.amended !== undefined;
  const forced = forcedOf(plan).length;
  const dot = ` ${glyphs.dot} `;
  const model = compact ? commonModel(plan) : null;
  const words = plan.tasks.every(({ model: { used } }) => used === model) ? '' : 'mostly ';
  return [
    strong('Plan ', 'title'),
    tint(`${plural(plan.tasks.length, 'task')}${dot}${plural(stagesIn(plan), 'stage')}`, 'muted'),
    ...(model === null ? [] : [tint(`${dot}${words}${toLabel(modelName(model))}`, 'muted')]),
    ...(forced === 0 ? [] : [tint(`${dot}${glyphs.lock} ${forced} required`, 'warn')]),
    ...(isApproved(state) ? [tint(`${dot}${approvedWords(ui, state.phase, able)}`, 'warn')] : []),
  ];
}

const stagesIn = memoize((plan: SoundPlan) => [plan], stagesOf);

function approvedWords(ui: PlanUi, phase: string, able: boolean): string {
  if (phase !== 'running' || !able) return 'running (read-only)';
  const { preview } = ui.draft;
  if (preview?.ok === false) return 'draft no longer applies (u undo)';
  if (!isDrafted(ui) || preview === null) return 'running';
  return `draft: ${plural(preview.value.changes.length, 'change')}`;
}

function inspected({ ui, context, plan }: Seen, width: number): readonly Line[] {
  const { state, glyphs } = context;
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
      mode: state.mode,
      taskState: taskStateOf(plan, task, context),
      first: firstLines(state, task),
      critical: slot?.critical ?? false,
    },
    width,
    glyphs,
  );
}

function inspectorPane(seen: Seen, size: Size): readonly Line[] {
  const { ui, context, plan } = seen;
  const { glyphs } = context;
  const focused = ui.pane === 'inspector';
  const row = selectedRow(ui, plan);
  const role = plan.tasks[row]?.role ?? selectedForced(ui, plan)?.role;
  if (role === undefined) return paneOf(seen, 'inspector', size, {});
  const room = inside(size);
  const lines = inspected(seen, room.width);
  const top = Math.max(0, Math.min(ui.scroll, lines.length - room.height));
  const more = lines.length - top - room.height;
  return paneOf(seen, 'inspector', size, {
    title: [tint(row < plan.tasks.length ? `${row + 1} ` : `${glyphs.lock} `, 'muted'), strong(role, `role:${role}`)],
    footEnd:
      more > 0
        ? [tint(focused ? `${glyphs.key.down} ${more} more` : `${glyphs.key.down} ${more} more, Tab`, 'muted')]
        : [],
    body: lines.slice(top),
  });
}

function schedulePane(seen: Seen, size: Size): readonly Line[] {
  const { ui, context, plan } = seen;
  const { state, glyphs } = context;
  const maxParallel = parallelOf(state);
  const expected = expectedPlan(plan, state.choices);
  const room = inside(size);
  const focused = ui.pane === 'schedule';
  const about = `est. ${formatDuration(totalsOf(expected, maxParallel).seconds * 1000)}`;
  const critical: Line = [
    tint(`max ${maxParallel} in parallel ${glyphs.dot} `, 'muted'),
    tint(glyphs.bar.critical, 'fg'),
    tint(` critical path ${glyphs.dot} `, 'muted'),
  ];
  return paneOf(seen, 'schedule', size, {
    title: [span('Schedule', focused ? { fg: 'title', bold: true } : { fg: 'muted', bold: true })],
    titleEnd: [...(size.width < 72 ? [] : critical), tint(about, 'muted')],
    body: scheduleLines(
      { plan: expected, maxParallel, selected: selectedRow(ui, plan), focused },
      room.width,
      room.height,
      glyphs,
    ),
  });
}

// The layout of the panes, above the row of the totals.

interface PlanLayout {
  /** Null where another pane is in its place. */
  readonly list: Size | null;
  readonly inspector: Size | null;
  readonly schedule: Size | null;
  readonly columns: boolean;
  readonly rows: 1 | 2;
}

interface LayoutRequest {
  /** Rows of the list with one row per task. */
  readonly count: number;
  readonly tasks: number;
  readonly pane: PlanPane;
  readonly zoom: Zoom;
}

/** The panes in a body of `width` x `height`, which they fill without overlap, except the row of the totals. */
function planLayout(width: number, height: number, wish: LayoutRequest): PlanLayout {
  const rows = Math.max(0, height - 1);
  if (wish.zoom === 'full' || rows < (width >= 100 ? 10 : 14)) return alone(width, rows, wish);
  return width >= 100 ? side(width, rows, wish) : stacked(width, rows, wish);
}

const NONE = { list: null, inspector: null, schedule: null, columns: false, rows: 1 } as const;

const alone = (width: number, rows: number, { pane, count }: LayoutRequest): PlanLayout => ({
  ...NONE,
  [pane]: { width, height: rows },
  rows: rows >= 14 && 2 * count <= rows - 2 ? 2 : 1,
});

/** The list above another pane, with two rows per task where all of them fit into two thirds. */
function stacked(width: number, rows: number, { count, pane, zoom }: LayoutRequest): PlanLayout {
  const most = Math.floor((rows * (zoom === 'half' && pane !== 'list' ? 1 : 2)) / 3);
  const tall = 2 * count + 2 <= most ? 2 : 1;
  const wanted = Math.max(5, Math.min(tall * count + 2, Math.floor(rows * 0.6) + (tall === 2 ? 2 : 0)));
  const above = zoom === 'normal' ? wanted : Math.max(5, pane === 'list' ? Math.floor(rows * 0.75) : most);
  const below = { width, height: rows - above };
  return {
    ...NONE,
    list: { width, height: above },
    ...(pane === 'schedule' ? { schedule: below } : { inspector: below }),
    rows: tall,
  };
}

function side(width: number, rows: number, { count, tasks, pane, zoom }: LayoutRequest): PlanLayout {
  const half = zoom === 'half' ? pane : null;
  const below = scheduleHeight(rows, tasks, pane, zoom);
  const share = half === 'list' ? 0.72 : half === 'inspector' ? 0.4 : width >= 160 ? 0.58 : 0.62;
  const left = Math.floor(width * share);
  const height = rows - below;
  return {
    list: { width: left, height },
    inspector: { width: width - left, height },
    schedule: below === 0 ? null : { width, height: below },
    columns: true,
    rows: 2 * count <= height - 2 || rows >= 24 ? 2 : 1,
  };
}

/** Rows of the schedule: one per task, borders and axis. `rows` is without header, footer and totals, three less than the terminal. */
function scheduleHeight(rows: number, count: number, pane: PlanPane, zoom: Zoom): number {
  if (pane === 'schedule' && zoom === 'half') return Math.max(6, Math.floor(rows / 2));
  if (rows >= 31) return Math.min(count + 3, Math.max(6, Math.floor(rows / 3) + 1));
  return pane === 'schedule' && rows >= 14 ? Math.max(5, Math.min(count + 3, Math.floor(rows / 3))) : 0;
}
