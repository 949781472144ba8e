/**
 * The plan as it runs, as a graph: a row a task with its lanes, what it is at, what blocks it, and how long it will take still.
 * The selection is that of the cards: a task and its agent are the same thing here.
 */
import { parallelOf, shownStatus } from '../../../../app/views/agent-counts.ts';
import { triggerWords } from '../../../../app/views/plan/plan-words.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import { expectedTask } from '../../../../app/views/spending/expected-plan.ts';
import { clip, fit, fitText, lineWidth, restyle, span } from '../../../../app/views/text/clip.ts';
import { formatDuration } from '../../../../app/views/text/format.ts';
import type { Ink, Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { waitsFor } from '../../../../domain/plan/writes.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { clipName, fitName } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { box, inside } from '../../text/box.ts';
import { bareDoing } from './doing.ts';
import { lockOf, pinOf } from '../plan/mandatory-reviews.ts';
import { agentOfTask, standingOf, statusSpan } from '../plan/status.ts';
import { type Remaining, remainingOf } from '../runs/eta.ts';
import { lanesOf, lanesWidth, MOST_LANES, nodeLine, restLine } from '../plan/lanes.ts';
import { windowTop } from '../plan/schedule.ts';

export interface GraphView {
  /** The selected agent, or the one whose sub-agent is. */
  readonly selected: AgentState | undefined;
  readonly focused: boolean;
}

/** Exactly `height` lines of exactly `width` columns. */
export function graphPane(of: GraphView, context: Context, width: number, height: number): readonly Line[] {
  const { state, glyphs, now } = context;
  const { plan } = state;
  const remaining = remainingOf(state, now);
  const rows = plan === null ? [] : drawn(of, plan, remaining, context, inside(width, height, 0));
  return box({
    width,
    height,
    glyphs,
    border: of.focused ? 'heavy' : 'light',
    style: { fg: of.focused ? 'focus' : 'border' },
    kind: 'pane',
    pad: 0,
    title: [span('Graph', { fg: 'muted', bold: true }), ...mainSelected(of, context)],
    titleEnd: wholeTime(remaining, context, width),
    foot: plan === null ? [] : taskCounts(plan, context, width),
    body: rows.length > 0 ? rows : [[span(' The graph is there with the plan.', { fg: 'faint' })]],
  });
}

/** Main is no task and has no row: that it is selected is said in the title, or the arrow keys would seem dead. */
function mainSelected({ selected, focused }: GraphView, { glyphs }: Context): Line {
  if (selected?.parent !== null) return [];
  return [span(` ${glyphs.selected} ${toLabel(selected.name)}`, { fg: focused ? 'focus' : 'muted', bg: 'selection' })];
}

/** Rows that the graph of the plan takes where it may have `height`, borders and all. */
export function graphHeight({ state }: Context, height: number): number {
  const rows = state.plan === null ? 1 : graphRows(state.plan, state, Math.max(1, height - 2)).length;
  return Math.min(height, rows + 2);
}

/** The agent in row `y` of a graph of `height` rows, borders and all; null where there is none. */
export function agentAt(of: GraphView, { state }: Context, height: number, y: number): AgentState | null {
  const room = Math.max(0, height - 2);
  if (state.plan === null || y < 1 || y > room) return null;
  const rows = graphRows(state.plan, state, room);
  const row = rows[topRow(rows, selectedRow(rows, of.selected, state), room) + y - 1];
  return row === undefined ? null : agentOfRow(row, state);
}

/** What all rows share: where the columns are, and what is selected. */
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
  /** The selected row's task, for the marks of what it needs and unlocks. */
  readonly chosen: PlanTask | null;
}

function drawn(
  of: GraphView,
  plan: SoundPlan,
  remaining: Remaining,
  context: Context,
  { width, height }: { readonly width: number; readonly height: number },
): readonly Line[] {
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
    const mark = span(chosen ? context.glyphs.selected : ' ', { fg: of.focused ? 'focus' : 'muted' });
    const line = fit([mark, ...rowLine(row, sheet, context)], width, {}, context.glyphs.ellipsis);
    return chosen ? restyle(line, { bg: 'selection' }) : line;
  });
}

/** The longest name of a task's agent, up to 16 columns: what follows stands under each other. */
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
  const about = span(toLabel(row.task.description.split('\n')[0] ?? ''), { fg: 'faint' });
  return clip([...graph, indent, about], sheet.width, glyphs.ellipsis);
}

/** `▆  6 reviewer   waits for #4 refactoring   ≈ 30s` after the lanes. */
function taskLine(task: PlanTask, index: number, graph: Line, sheet: Sheet, context: Context): Line {
  const { state, glyphs } = context;
  const agent = agentOfTask(state, task.id);
  const front: Line = [
    ...graph,
    span(sheet.remaining.critical.has(task.id) ? ` ${glyphs.bar[0]}` : '  ', { fg: 'fg' }),
    needSpan(task, sheet, context),
    span(` ${String(index + 1).padStart(sheet.digits)} `, { fg: 'faint' }),
    ...(agent === null ? [] : lockOf(agent, context)),
    span(fitName(agent?.name ?? task.role, sheet.name, glyphs), {
      fg: `role:${task.role}`,
      bold: true,
    }),
    ...(agent === null ? [] : pinOf(agent)),
  ];
  return withEnd(
    front,
    wordsOf(task, sheet.plan, sheet.tall, context),
    timeOf(task, sheet.remaining, sheet.time < 13, context),
    sheet,
    context,
  );
}

/** Of the selected task: what it needs, what it unlocks. */
function needSpan(task: PlanTask, { chosen }: Sheet, { glyphs }: Context): Span {
  if (chosen === null) return span(' ');
  if (waitsFor(chosen).includes(task.id)) return span(glyphs.needs, { fg: 'warn' });
  return waitsFor(task).includes(chosen.id) ? span(glyphs.unlocks, { fg: 'focus' }) : span(' ');
}

/** The words get what is left between the name and the time, which stands in a column of its own. */
function withEnd(front: Line, words: Line, time: Span, sheet: Sheet, { glyphs }: Context): Line {
  const room = sheet.width - lineWidth(front) - 2 - (sheet.time === 0 ? 0 : sheet.time);
  const text =
    room < 6 ? fit([], Math.max(0, room + 2)) : [span('  '), ...fit(clip(words, room, glyphs.ellipsis), room)];
  const end = sheet.time === 0 ? [] : [span(fitText(time[0], sheet.time, 'right', glyphs.ellipsis), time[1])];
  return [...front, ...text, ...end];
}

/** Columns that the name of a child may take. */
const CHILD_NAME = 24;

/** `╰ ● finder 2   Search legacyRefresh   14s` */
function childLine(agent: AgentState, sheet: Sheet, context: Context, wide: number): Line {
  const { glyphs } = context;
  const front: Line = [
    span(`${glyphs.child} `, { fg: 'faint' }),
    statusSpan(agent, context),
    span(` ${clipName(agent.name, CHILD_NAME, glyphs)}`, { fg: `role:${agent.role}`, bold: true }),
  ];
  const narrower = { ...sheet, width: sheet.width - wide - sheet.digits - 5 };
  return withEnd(front, bareDoing(agent, context), tookSpan(agent, context), narrower, context);
}

/** `○    ▣ security   after tasks that write`: what the rules add; once it ran, what it found. */
function forcedLine(row: Extract<GraphRow, { readonly is: 'forced' }>, sheet: Sheet, context: Context): Line {
  const { glyphs } = context;
  const { node, agent } = row;
  const wide = lanesWidth(lanesOf(sheet.plan.tasks).count, sheet.most);
  const sign = agent === null ? span(glyphs.status.pending, { fg: 'faint' }) : statusSpan(agent, context);
  const front: Line = [
    ...fit([sign], Math.max(1, wide)),
    span(glyphs.lock.padStart(sheet.digits + 4), { fg: 'warn' }),
    span(` ${fitText(toLabel(node.role), sheet.name, 'left', glyphs.ellipsis)}`, {
      fg: `role:${node.role}`,
      bold: true,
    }),
  ];
  const words: Line = agent === null ? [span(triggerWords(node.triggers), { fg: 'faint' })] : bareDoing(agent, context);
  return withEnd(front, words, tookSpan(agent, context), sheet, context);
}

// Which rows the graph of a running plan has: a row a task, and, as far as there is room, its description and its sub-agents; at
// the end what the rules add. Only what they stand for, so that a plan of hundreds costs a frame nothing; graph.ts draws them.

/** `index` is that of the task whose lanes stand at the left; the forced ones have none. */
type GraphRow =
  | { readonly is: 'task'; readonly index: number; readonly task: PlanTask }
  | { readonly is: 'text'; readonly index: number; readonly task: PlanTask }
  | { readonly is: 'child'; readonly index: number; readonly agent: AgentState }
  | { readonly is: 'forced'; readonly node: ForcedNode; readonly agent: AgentState | null };

/** All rows of the graph in `height` rows: the fullest of three forms that fits, else a row a task. */
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

/** The last agent that the rules made run for this role; null before the first one. */
const agentOfForced = ({ role }: ForcedNode, { agents }: RunState): AgentState | null =>
  [...agents.values()].findLast((agent) => agent.forced !== null && agent.role === role) ?? null;

/** The row of the selected agent, else that of its nearest ancestor that has one; -1 for main. */
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

/** First of the `height` rows that are seen. */
const topRow = (rows: readonly GraphRow[], selected: number, height: number): number =>
  windowTop(Math.max(0, selected), rows.length, height);

/** The agent of a row; null of a task that has none yet. */
const agentOfRow = (row: GraphRow, state: RunState): AgentState | null =>
  row.is === 'task' || row.is === 'text' ? agentOfTask(state, row.task.id) : row.agent;

// What the graph of a running plan says of a task: its sign, what it is at or waits for, its time; and of the whole plan.

/** `▆ critical path · about 30s left`; at least that long where somebody takes longer than estimated. */
function wholeTime({ left, byTask }: Remaining, context: Context, width: number): Line {
  const { state, glyphs } = context;
  if (left === null || state.approvedDigest === null) return [];
  const words = width < 56 ? 'critical' : 'critical path';
  const mark: Line = width < 44 ? [] : [span(`${glyphs.bar[0]} ${words} ${glyphs.dot} `, { fg: 'faint' })];
  // Whoever takes longer than estimated may take any time more.
  const late = state.plan?.tasks.some(({ id }) => byTask.get(id) === 0 && isBegun(agentOfTask(state, id))) === true;
  const time = formatDuration(left);
  return [...mark, span(late ? `at least ${time} left` : `about ${time} left`, { fg: 'fg' })];
}

const isBegun = (agent: AgentState | null): boolean => agent?.firstRunAt != null;

/** `2 of 6 done · 2 running · 2 queued (4 at once) · 1 failed`: what is not as it should be stands out. */
export function taskCounts(plan: SoundPlan, { state, glyphs, now }: Context, width: number): Line {
  if (state.approvedDigest === null) return [];
  const counts = { completed: 0, running: 0, queued: 0, interrupted: 0, failed: 0, waiting: 0, held: 0 };
  let stuck = 0;
  for (const task of plan.tasks) {
    const agent = agentOfTask(state, task.id);
    const status = agent === null ? 'queued' : shownStatus(agent);
    if (status === 'failed' || standingOf(state, plan, task, glyphs, now)?.stuck !== true) counts[status] += 1;
    else stuck += 1;
  }
  const some = (count: number, words: string, ink: Ink = 'muted'): Line =>
    count === 0 ? [] : [span(` ${glyphs.dot} `, { fg: 'faint' }), span(`${count} ${words}`, { fg: ink })];
  return [
    span(`${counts.completed} of ${plan.tasks.length} done`, { fg: 'muted' }),
    ...some(counts.running, 'running'),
    ...some(counts.waiting + counts.held, 'waiting'),
    ...some(counts.queued, width < 70 ? 'queued' : `queued (${parallelOf(state)} at once)`),
    ...some(counts.interrupted, 'interrupted', 'warn'),
    ...some(counts.failed, 'failed', 'err'),
    ...some(stuck, "can't begin", 'err'),
  ];
}

/** The sign of its agent, as on the cards; before that one begins, that of what keeps it. */
function signOf(task: PlanTask, plan: SoundPlan, context: Context): Span {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  if (agent !== null && agent.status !== 'pending') return statusSpan(agent, context);
  const standing = standingOf(state, plan, task, glyphs, now);
  return span(standing?.sign ?? glyphs.node, { fg: standing?.ink ?? `role:${task.role}`, bold: true });
}

/** What it is at, and how many work for it; of what is over, what it was about, unless that has a row of its own. */
function wordsOf(task: PlanTask, plan: SoundPlan, tall: boolean, context: Context): Line {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  const about: Line = [span(toLabel(task.description.split('\n')[0] ?? ''), { fg: 'muted' })];
  const standing = standingOf(state, plan, task, glyphs, now);
  if (standing === null) return about;
  if (agent === null) return standing.stuck ? [span(standing.words, { fg: standing.ink })] : about;
  if (agent.status === 'pending' || agent.outcome === 'skipped') return [span(standing.words, { fg: standing.ink })];
  return [...belowOf(agent), ...(agent.status === 'completed' && !tall ? about : bareDoing(agent, context))];
}

const belowOf = ({ children }: AgentState): Line =>
  children.length === 0 ? [] : [span(`+${children.length} `, { fg: 'info', bold: true })];

/** `≈ 30s` still, `1m 43s over` what was estimated (`+1m 43s` where it is narrow); of what is over, how long it took. */
function timeOf(task: PlanTask, { byTask }: Remaining, narrow: boolean, context: Context): Span {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  if (agent !== null && agent.outcome !== null) return tookSpan(agent, context);
  const left = byTask.get(task.id);
  if (left === undefined || state.approvedDigest === null) return span('');
  if (left === 0 && agent !== null && isBegun(agent)) {
    const over = formatDuration(agentTime(agent, state, now) - expectedTask(task, state).estimatedSeconds * 1000);
    return span(narrow ? `+${over}` : `${over} over`, { fg: 'warn' });
  }
  return span(`${glyphs.ellipsis === '…' ? '≈' : '~'} ${formatDuration(left)}`, { fg: 'muted' });
}

/** How long an agent worked; nothing where it never did. */
const tookSpan = (agent: AgentState | null, { state, now }: Context): Span =>
  span(agent === null || !isBegun(agent) ? '' : formatDuration(agentTime(agent, state, now)), { fg: 'faint' });
