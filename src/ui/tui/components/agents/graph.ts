/** The graph of a running plan: a row per task with lanes, activity or blocker, and time. Its selection is the list's. */
import type { Ink, Line, Span } from '../../../../app/views/index.ts';
import { agentTime, clip, expectedTask, fit, fitText, formatDuration, lineWidth } from '../../../../app/views/index.ts';
import { parallelOf, progressOf, restyle, shownStatus, span, toLabel } from '../../../../app/views/index.ts';
import { triggerWords, widthOf } from '../../../../app/views/index.ts';
import type { MandatoryReview } from '../../../../domain/agents/agent.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { waitsFor } from '../../../../domain/plan/writes.ts';
import type { AgentState, RunState } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { inside, pane, strong, tint, windowTop } from '../../text/blocks.ts';
import { clipName, fitName } from '../names.ts';
import { type Remaining, remainingOf } from '../plan/estimate.ts';
import { lanesOf, lanesWidth, MOST_LANES, nodeLine, restLine } from '../plan/list.ts';
import { agentOfTask, bareDoing, taskStateOf, statusSpan } from '../progress.ts';
import { lockOf, pinOf } from '../reviews.ts';

export interface GraphView {
  readonly selected: AgentState | undefined;
  readonly focused: boolean;
}

/** Exactly `height` lines of exactly `width` columns. */
export function graphPane(of: GraphView, context: Context, width: number, height: number): readonly Line[] {
  const { state, glyphs, now } = context;
  const { plan } = state;
  const remaining = remainingOf(state, now);
  const rows = plan === null ? [] : drawn(of, plan, remaining, context, inside({ width, height }, 0));
  return pane({
    width,
    height,
    glyphs,
    focused: of.focused,
    pad: 0,
    title: [strong('Graph', 'muted'), ...mainSelected(of, context)],
    titleEnd: wholeTime(remaining, context, width),
    foot: plan === null ? [] : taskCounts(plan, context, width),
    body: rows.length > 0 ? rows : [[tint(' The graph appears with the plan.', 'faint')]],
  });
}

/** The title shows that main is selected, since main has no row in the graph. */
function mainSelected({ selected, focused }: GraphView, { glyphs }: Context): Line {
  if (selected?.parent !== null) return [];
  return [span(` ${glyphs.selected} ${toLabel(selected.name)}`, { fg: focused ? 'focus' : 'muted', bg: 'selection' })];
}

/** Rows that the graph takes of at most `height`, borders included. */
export function graphHeight({ state }: Context, height: number): number {
  const rows = state.plan === null ? 1 : graphRows(state.plan, state, Math.max(1, height - 2)).length;
  return Math.min(height, rows + 2);
}

/** The agent in row `y` of a graph of `height` rows, borders included; null where there is none. */
export function agentAt(of: GraphView, { state }: Context, height: number, y: number): AgentState | null {
  const room = Math.max(0, height - 2);
  if (state.plan === null || y < 1 || y > room) return null;
  const rows = graphRows(state.plan, state, room);
  const row = rows[topRow(rows, selectedRow(rows, of.selected, state), room) + y - 1];
  return row === undefined ? null : agentOfRow(row, state);
}

/** The columns and the selection, which all rows share. */
interface Sheet {
  readonly plan: SoundPlan;
  readonly remaining: Remaining;
  readonly width: number;
  readonly most: number;
  readonly digits: number;
  readonly name: number;
  readonly time: number;
  /** The descriptions have rows of their own. */
  readonly tall: boolean;
  /** The selected task, for the marks of its dependencies and dependants. */
  readonly chosen: PlanTask | null;
}

function drawn(of: GraphView, plan: SoundPlan, remaining: Remaining, context: Context, size: Size): readonly Line[] {
  const { width, height } = size;
  const rows = graphRows(plan, context.state, height);
  const selected = selectedRow(rows, of.selected, context.state);
  const at = rows[selected];
  const sheet: Sheet = {
    plan,
    remaining,
    // One column for the mark of the selection, one free at the end.
    width: Math.max(0, width - 2),
    most: Math.min(MOST_LANES, Math.max(2, Math.floor((width - 30) / 2))),
    digits: String(plan.tasks.length).length,
    name: nameWidth(plan, context, width),
    time: width < 40 ? 0 : width < 60 ? 9 : 13,
    tall: rows[1]?.is === 'text',
    chosen: at?.is === 'task' ? at.task : null,
  };
  const top = topRow(rows, selected, height);
  const others = rows[selected + 1]?.is === 'text' ? selected + 1 : selected;
  return rows.slice(top, top + height).map((row, index): Line => {
    const chosen = selected !== -1 && top + index >= selected && top + index <= others;
    const mark = tint(chosen ? context.glyphs.selected : ' ', of.focused ? 'focus' : 'muted');
    const line = fit([mark, ...rowLine(row, sheet, context)], width);
    return chosen ? restyle(line, { bg: 'selection' }) : line;
  });
}

function nameWidth(plan: SoundPlan, { state }: Context, width: number): number {
  const longest = plan.tasks.reduce(
    (most, { id, role }) => Math.max(most, widthOf(agentOfTask(state, id)?.name ?? role)),
    4,
  );
  return Math.min(longest, width < 50 ? 11 : 16);
}

function rowLine(row: GraphRow, sheet: Sheet, context: Context): Line {
  if (row.is === 'forced') return forcedLine(row, sheet, context);
  const { glyphs } = context;
  const lanes = lanesOf(sheet.plan.tasks);
  const laneRow = lanes.rows[row.index];
  const wide = lanesWidth(lanes.count, sheet.most);
  const gutter = (line: Line): Line => fit(line, wide);
  if (laneRow === undefined) return [];
  if (row.is === 'task') {
    const graph = gutter(nodeLine(laneRow, lanes.count, sheet.most, glyphs, signOf(row.task, sheet.plan, context)));
    return taskLine(row.task, row.index, graph, sheet, context);
  }
  const graph = gutter(restLine(laneRow, lanes.count, sheet.most, glyphs));
  const indent = span(' '.repeat(sheet.digits + 5));
  if (row.is === 'child') return [...graph, indent, ...childLine(row.agent, sheet, context, wide)];
  const about = tint(toLabel(row.task.description.split('\n')[0] ?? ''), 'faint');
  return clip([...graph, indent, about], sheet.width);
}

/** `▆  6 reviewer   waiting for #4 refactoring   ≈ 30s` after the lanes. */
function taskLine(task: PlanTask, index: number, graph: Line, sheet: Sheet, context: Context): Line {
  const { state, glyphs } = context;
  const agent = agentOfTask(state, task.id);
  const front: Line = [
    ...graph,
    tint(sheet.remaining.critical.has(task.id) ? ` ${glyphs.bar.critical}` : '  ', 'fg'),
    needSpan(task, sheet, context),
    tint(` ${String(index + 1).padStart(sheet.digits)} `, 'faint'),
    ...(agent === null ? [] : lockOf(agent, context)),
    strong(fitName(agent?.name ?? task.role, sheet.name), `role:${task.role}`),
    ...(agent === null ? [] : pinOf(agent)),
  ];
  return withEnd(
    front,
    wordsOf(task, sheet.plan, sheet.tall, context),
    timeOf(task, sheet.remaining, sheet.time < 13, context),
    sheet,
  );
}

/** The mark of a dependency or a dependant of the selected task; blank for others. */
function needSpan(task: PlanTask, { chosen }: Sheet, { glyphs }: Context): Span {
  if (chosen === null) return span(' ');
  if (waitsFor(chosen).includes(task.id)) return tint(glyphs.needs, 'warn');
  return waitsFor(task).includes(chosen.id) ? tint(glyphs.unlocks, 'focus') : span(' ');
}

/** A row with the words between the name and the column of the time. */
function withEnd(front: Line, words: Line, time: Span, sheet: Sheet): Line {
  const room = sheet.width - lineWidth(front) - 2 - (sheet.time === 0 ? 0 : sheet.time);
  const text = room < 6 ? fit([], Math.max(0, room + 2)) : [span('  '), ...fit(words, room)];
  const end = sheet.time === 0 ? [] : [span(fitText(time[0], sheet.time, 'right'), time[1])];
  return [...front, ...text, ...end];
}

const CHILD_NAME = 24;

/** `╰ ● finder 2   Search legacyRefresh   14s` */
function childLine(agent: AgentState, sheet: Sheet, context: Context, wide: number): Line {
  const { glyphs } = context;
  const front: Line = [
    tint(`${glyphs.child} `, 'faint'),
    statusSpan(agent, context),
    strong(` ${clipName(agent.name, CHILD_NAME)}`, `role:${agent.role}`),
  ];
  const narrower = { ...sheet, width: sheet.width - wide - sheet.digits - 5 };
  return withEnd(front, bareDoing(agent, context), tookSpan(agent, context), narrower);
}

/** `○    ▣ security   after tasks that write`: a mandatory review, with its result once it ran. */
function forcedLine(row: Extract<GraphRow, { readonly is: 'forced' }>, sheet: Sheet, context: Context): Line {
  const { glyphs } = context;
  const { node, agent } = row;
  const wide = lanesWidth(lanesOf(sheet.plan.tasks).count, sheet.most);
  const sign = agent === null ? tint(glyphs.status.pending, 'faint') : statusSpan(agent, context);
  const front: Line = [
    ...fit([sign], Math.max(1, wide)),
    tint(glyphs.lock.padStart(sheet.digits + 4), 'warn'),
    strong(` ${fitText(toLabel(node.role), sheet.name)}`, `role:${node.role}`),
  ];
  const words: Line = agent === null ? [tint(triggerWords(node.triggers), 'faint')] : bareDoing(agent, context);
  return withEnd(front, words, tookSpan(agent, context), sheet);
}

// The rows of the graph: the tasks, with their descriptions and child agents as far as there is room, then the mandatory reviews. Rows
// hold no text, so that a plan of hundreds of tasks is cheap.

/** `index` is that of the task whose lanes are at the left; reviews have no lanes. */
type GraphRow =
  | { readonly is: 'task'; readonly index: number; readonly task: PlanTask }
  | { readonly is: 'text'; readonly index: number; readonly task: PlanTask }
  | { readonly is: 'child'; readonly index: number; readonly agent: AgentState }
  | { readonly is: 'forced'; readonly node: MandatoryReview; readonly agent: AgentState | null };

function graphRows(plan: SoundPlan, state: RunState, height: number): readonly GraphRow[] {
  const forced = (plan.forced ?? []).map(
    (node): GraphRow => ({ is: 'forced', node, agent: agentOfForced(node, state) }),
  );
  const room = height - forced.length;
  const tall = plan.tasks.length * 2 <= room;
  const children = plan.tasks.reduce((sum, { id }) => sum + (agentOfTask(state, id)?.children.length ?? 0), 0);
  const withChildren = plan.tasks.length * (tall ? 2 : 1) + children <= room;
  const rows = plan.tasks.flatMap((task, index): readonly GraphRow[] => {
    const below = withChildren ? childrenOf(agentOfTask(state, task.id), state) : [];
    return [
      { is: 'task', index, task },
      ...(tall ? [{ is: 'text', index, task } as const] : []),
      ...below.map((agent): GraphRow => ({ is: 'child', index, agent })),
    ];
  });
  return [...rows, ...forced];
}

const childrenOf = (agent: AgentState | null, { agents }: RunState): readonly AgentState[] =>
  agent === null ? [] : agent.children.flatMap((id) => agents.get(id) ?? []);

/** The last agent of a mandatory review; null before the first one. */
export const agentOfForced = ({ role }: MandatoryReview, { agents }: RunState): AgentState | null =>
  [...agents.values()].findLast((agent) => agent.forced !== null && agent.role === role) ?? null;

function selectedRow(rows: readonly GraphRow[], selected: AgentState | undefined, state: RunState): number {
  for (let agent = selected; agent !== undefined; ) {
    const { id, taskId, parent } = agent;
    const at = rows.findIndex((row) =>
      row.is === 'task' ? taskId !== null && row.task.id === taskId : row.is !== 'text' && row.agent?.id === id,
    );
    if (at !== -1) return at;
    agent = parent === null ? undefined : state.agents.get(parent);
  }
  return -1;
}

const topRow = (rows: readonly GraphRow[], selected: number, height: number): number =>
  windowTop(Math.max(0, selected), rows.length, height);

const agentOfRow = (row: GraphRow, state: RunState): AgentState | null =>
  row.is === 'task' || row.is === 'text' ? agentOfTask(state, row.task.id) : row.agent;

// The texts of the graph.

/** `▆ critical path · about 30s left`: the legend and the remaining time. */
function wholeTime(remaining: Remaining, context: Context, width: number): Line {
  const { state, glyphs } = context;
  const left = leftWords(remaining, state);
  const words = width < 56 ? 'critical' : 'critical path';
  const mark: Line = width < 44 ? [] : [tint(`${glyphs.bar.critical} ${words} ${glyphs.dot} `, 'faint')];
  return left === '' ? [] : [...mark, tint(left, 'fg')];
}

/** `about 30s left`; `at least` where an agent exceeds its estimate; empty where no plan runs. */
export function leftWords({ left, byTask }: Remaining, state: RunState): string {
  if (left === null || state.approvedDigest === null) return '';
  const late = state.plan?.tasks.some(({ id }) => byTask.get(id) === 0 && isBegun(agentOfTask(state, id))) === true;
  return `${late ? 'at least' : 'about'} ${formatDuration(left)} left`;
}

const isBegun = (agent: AgentState | null): boolean => agent?.firstRunAt != null;

/** `2 of 6 done · 2 running · 2 queued (4 at once) · 1 failed`. */
export function taskCounts(plan: SoundPlan, context: Context, width: number): Line {
  const { state, glyphs } = context;
  if (state.approvedDigest === null) return [];
  const counts = { completed: 0, running: 0, queued: 0, interrupted: 0, failed: 0, waiting: 0, held: 0 };
  let stuck = 0;
  for (const task of plan.tasks) {
    const agent = agentOfTask(state, task.id);
    const status = agent === null ? 'queued' : shownStatus(agent);
    if (status === 'failed' || taskStateOf(plan, task, context)?.stuck !== true) counts[status] += 1;
    else stuck += 1;
  }
  const some = (count: number, words: string, ink: Ink = 'muted'): Line =>
    count === 0 ? [] : [tint(` ${glyphs.dot} `, 'faint'), tint(`${count} ${words}`, ink)];
  return [
    tint(`${progressOf(state).done} of ${plan.tasks.length} done`, 'muted'),
    ...some(counts.running, 'running'),
    ...some(counts.waiting + counts.held, 'waiting'),
    ...some(counts.queued, width < 70 ? 'queued' : `queued (${parallelOf(state)} at once)`),
    ...some(counts.interrupted, 'interrupted', 'warn'),
    ...some(counts.failed, 'failed', 'err'),
    ...some(stuck, "can't start", 'err'),
  ];
}

/** The sign of the task's agent; before its start, the sign of the task's state. */
function signOf(task: PlanTask, plan: SoundPlan, context: Context): Span {
  const agent = agentOfTask(context.state, task.id);
  if (agent !== null && agent.status !== 'pending') return statusSpan(agent, context);
  const taskState = taskStateOf(plan, task, context);
  return strong(taskState?.sign ?? context.glyphs.node, taskState?.ink ?? `role:${task.role}`);
}

/** The activity of a task and the number of its children; the description of a finished task, unless it has a row of its own. */
function wordsOf(task: PlanTask, plan: SoundPlan, tall: boolean, context: Context): Line {
  const agent = agentOfTask(context.state, task.id);
  const about: Line = [tint(toLabel(task.description.split('\n')[0] ?? ''), 'muted')];
  const taskState = taskStateOf(plan, task, context);
  if (taskState === null) return about;
  if (agent === null) return taskState.stuck ? [tint(taskState.words, taskState.ink)] : about;
  if (agent.status === 'pending' || agent.outcome === 'skipped') return [tint(taskState.words, taskState.ink)];
  return [...belowOf(agent), ...(agent.status === 'completed' && !tall ? about : bareDoing(agent, context))];
}

const belowOf = ({ children }: AgentState): Line =>
  children.length === 0 ? [] : [strong(`+${children.length} `, 'info')];

/** `≈ 30s` remaining, `1m 43s over` the estimate (`+1m 43s` where narrow); for a finished task the time it took. */
function timeOf(task: PlanTask, { byTask }: Remaining, narrow: boolean, context: Context): Span {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  if (agent !== null && agent.outcome !== null) return tookSpan(agent, context);
  const left = byTask.get(task.id);
  if (left === undefined || state.approvedDigest === null) return span('');
  if (left === 0 && agent !== null && isBegun(agent)) {
    const over = formatDuration(agentTime(agent, state, now) - expectedTask(task, state).estimatedSeconds * 1000);
    return tint(narrow ? `+${over}` : `${over} over`, 'warn');
  }
  return tint(`${glyphs.ellipsis === '…' ? '≈' : '~'} ${formatDuration(left)}`, 'muted');
}

const tookSpan = (agent: AgentState | null, { state, now }: Context): Span =>
  tint(agent === null || !isBegun(agent) ? '' : formatDuration(agentTime(agent, state, now)), 'faint');
