/**
 * The plan before it runs: list with graph, everything about the selected task, schedule, totals. While it is being made
 * the planner's words; once it runs, the same with where each task stands, and changes to what has not begun. Where a click
 * goes is decided here; the panes are panes.ts, the keys keys.ts.
 */
import { commitWords } from '../../../../app/actions/commit.ts';
import { planAllows } from '../../../../app/views/permissions.ts';
import { ROOT } from '../../../../domain/ids.ts';
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import { formatCost, formatDuration } from '../../../../app/views/text/format.ts';
import type { Body, Context, Effect, Screen } from '../../shell/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { inside } from '../../text/box.ts';
import { clip, span } from '../../../../app/views/text/clip.ts';
import { beside, sized } from '../../text/compose.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { crumbs } from '../../components/header.ts';
import { planFaultLines } from '../../components/plan/fault.ts';
import { forcedAt, forcedOf, sharesOf } from '../../components/plan/reviews.ts';
import { totalsLine } from '../../components/plan/totals.ts';
import { planWaiting } from '../../components/plan/waiting.ts';
import { windowTop } from '../../components/graph/schedule.ts';
import { settledDraft, shownPlan, withEdit } from './draft.ts';
import { PLAN_KEYS } from './keys.ts';
import { planLayout } from './layout.ts';
import type { LayoutWish, PlanLayout } from './layout.ts';
import { inspected, inspectorPane, listPane, rowsOf, schedulePane } from './panes.ts';
import type { Seen } from './panes.ts';
import type { PlanPane, PlanUi } from './ui.ts';
import { awaited, FIRST, isOffered, isSeen, painted, select, selectedRow, tracked } from './ui.ts';

export const planScreen: Screen<PlanUi> = {
  name: 'plan',
  first: FIRST,
  keys: PLAN_KEYS,
  settle: (ui, context) => settledDraft(awaited(ui, context.state), context),
  painted: (ui, { state, now }) => painted(ui, state, now),
  moving: (ui, { state, now }) => isOffered(state) && !isSeen(ui, state, now),
  header: (ui, context, width = 120) => ({
    left: context.state.session === null ? [] : crumbs('plan', context.state.task, context.glyphs),
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

/** `edits allowed, main commits at the end · `; nothing where all of it asks and nothing is committed. */
function allowedNow(ui: PlanUi, context: Context, width: number): Line {
  const plan = shownPlan(ui, context);
  const words = plan === null ? '' : [planAllows(plan), commitWords(plan)].filter((one) => one !== '').join(', ');
  return words === '' || width < 60 ? [] : [span(`${words} ${context.glyphs.dot} `, { fg: 'warn' })];
}

/** `by opus-4.5 in 6s · $0.0184`, `from template review`; nothing while the plan is being made. */
function madeBy({ state, glyphs }: Context, width: number): Line {
  // Where there is hardly room for the task, who planned it can wait.
  if (state.plan === null || state.phase === 'planning' || width < 60) return [];
  // No model has a blank in its name: this is a kept plan and, in brackets, its file, for which there is no room here.
  if (state.planBy.includes(' ')) {
    const from = `from ${toLabel(state.planBy.replace(/ \(.*$/, ''))}`;
    return clip([span(from, { fg: 'muted' })], Math.max(16, Math.floor(width / 3)), glyphs.ellipsis);
  }
  const cost = state.agents.get(ROOT)?.cost ?? 0;
  const spent = cost === 0 ? '' : ` ${glyphs.dot} ${formatCost(cost)}`;
  return [span(`by ${modelName(state.planBy)} in ${formatDuration(state.planMs)}${spent}`, { fg: 'muted' })];
}

function body(ui: PlanUi, context: Context, { width, height }: Size): Body {
  const plan = shownPlan(ui, context);
  if (height < 1) return { lines: [] };
  if (plan === null) return { lines: planWaiting(context, width, height) };
  const above = planFaultLines(context.state, width, height, context.glyphs);
  const rest = height - above.length;
  const lines = panes({ ui, context, plan }, planLayout(width, rest, wishOf(ui, plan)));
  const totals = totalsLine(plan, context.state, width, context.glyphs);
  return { lines: [...above, ...sized(lines, width, rest - 1), totals] };
}

/** The list would like a row for each task, and for what the rules added under a title. */
const wishOf = ({ pane, zoom }: PlanUi, plan: SoundPlan): LayoutWish => ({
  count: plan.tasks.length + (forcedOf(plan).length === 0 ? 0 : forcedOf(plan).length + 1),
  tasks: plan.tasks.length,
  pane,
  zoom,
});

function panes(seen: Seen, layout: PlanLayout): readonly Line[] {
  const { list, inspector, schedule } = layout;
  const left = list === null ? [] : listPane(seen, list, rowsOf(seen.plan, layout));
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
  const above = planFaultLines(context.state, width, height, context.glyphs).length;
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
  if (hit.pane === 'list') return { ui: inList(next, plan, layout, event) };
  if (event.is === 'click') return { ui: { ...next, pane: hit.pane } };
  if (hit.pane === 'schedule') return { ui: select(next, plan, selectedRow(next, plan) + event.by) };
  return { ui: { ...next, scroll: scrolled(seen, layout, event.by) } };
}

function inList(ui: PlanUi, plan: SoundPlan, layout: PlanLayout, event: Pointed): PlanUi {
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

/** Panes stand below each other, but for list and inspector where they stand side by side. */
function paneAt(layout: PlanLayout, x: number, y: number): { readonly pane: PlanPane } | null {
  const { list, schedule } = layout;
  const above = heightAbove(layout);
  if (y >= above) return schedule !== null && y < above + schedule.height ? { pane: 'schedule' } : null;
  return { pane: list !== null && y < list.height && (!layout.columns || x < list.width) ? 'list' : 'inspector' };
}

/** Rows above the schedule. */
const heightAbove = ({ list, inspector, columns }: PlanLayout): number =>
  columns ? (list?.height ?? 0) : (list?.height ?? 0) + (inspector?.height ?? 0);

function scrolled(seen: Seen, { inspector }: PlanLayout, by: number): number {
  if (inspector === null) return 0;
  const room = inside(inspector.width, inspector.height);
  const lines = inspected(seen, room.width);
  return Math.max(0, Math.min(seen.ui.scroll + by * 3, lines.length - room.height));
}
