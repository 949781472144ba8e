/**
 * The plan as it runs, as a graph: a row a task with its lanes, where it stands, what blocks it, and how long it will take still.
 * The selection is that of the cards: a task and its agent are the same thing here.
 */
import type { PlanTask, SoundPlan } from '../../domain/plan.ts';
import type { AgentState } from '../../events/state.ts';
import { formatDuration } from '../format.ts';
import type { Remaining } from '../remaining.ts';
import { remainingOf } from '../remaining.ts';
import type { Context } from '../screen.ts';
import { box, inside } from '../text/box.ts';
import { clip, fit, lineWidth, restyle, span, spread } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { lanesOf, lanesWidth, MOST_LANES, nodeLine } from './lanes.ts';
import { agentOfTask, standingOf } from './plan-standing.ts';
import { windowTop } from './schedule.ts';

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
  const room = inside(width, height, 0);
  const rows = plan === null ? [] : graphRows(of, plan, remaining, context, room);
  return box({
    width,
    height,
    glyphs,
    border: of.focused ? 'heavy' : 'light',
    style: { fg: of.focused ? 'focus' : 'border' },
    kind: 'pane',
    pad: 0,
    title: [span('Graph', { fg: 'muted', bold: true })],
    titleEnd: titleEnd(remaining, context, width),
    body: rows.length > 0 ? rows : [[span(' The graph is there with the plan.', { fg: 'faint' })]],
  });
}

function titleEnd({ left }: Remaining, { state, glyphs }: Context, width: number): Line {
  if (left === null || state.approvedDigest === null) return [];
  const mark: Line = width < 56 ? [] : [span(`${glyphs.bar[0]} critical path ${glyphs.dot} `, { fg: 'faint' })];
  return [...mark, span(`about ${formatDuration(left)} left`, { fg: 'fg' })];
}

/** Row of the graph -> index of the task, for clicks. */
export function taskAt(plan: SoundPlan, selected: number, height: number, y: number): PlanTask | null {
  const rows = Math.max(1, height - 2);
  const top = windowTop(Math.max(0, selected), plan.tasks.length, rows);
  return y < 1 || y > rows ? null : (plan.tasks[top + y - 1] ?? null);
}

/** Index of the task that the selected agent carries out, or that of the ancestor that does; -1 for main. */
export function selectedTask(plan: SoundPlan, selected: AgentState | undefined, context: Context): number {
  for (let agent = selected; agent !== undefined; ) {
    const { taskId, parent } = agent;
    if (taskId !== null) return plan.tasks.findIndex(({ id }) => id === taskId);
    agent = parent === null ? undefined : context.state.agents.get(parent);
  }
  return -1;
}

function graphRows(
  of: GraphView,
  plan: SoundPlan,
  remaining: Remaining,
  context: Context,
  { width, height }: { readonly width: number; readonly height: number },
): readonly Line[] {
  const lanes = lanesOf(plan.tasks);
  const most = Math.min(MOST_LANES, Math.max(2, Math.floor((width - 30) / 2)));
  const selected = selectedTask(plan, of.selected, context);
  const top = windowTop(Math.max(0, selected), plan.tasks.length, height);
  return plan.tasks.slice(top, top + height).map((task, row): Line => {
    const index = top + row;
    const laneRow = lanes.rows[index];
    const standing = standingOf(context.state, plan, task, context.glyphs, context.now);
    const sign = span(standing?.sign ?? context.glyphs.node, { fg: standing?.ink ?? `role:${task.role}`, bold: true });
    const mark = span(index === selected ? context.glyphs.selected : ' ', { fg: of.focused ? 'focus' : 'muted' });
    const graph =
      laneRow === undefined
        ? []
        : fit(nodeLine(laneRow, lanes.count, most, context.glyphs, sign), lanesWidth(lanes.count, most));
    const name = [mark, ...graph, ...nameOf(task, index, remaining, context)];
    const whole = withWords(name, wordsOf(task, plan, context), timeOf(task, remaining, context), width, context);
    return index === selected ? restyle(whole, { bg: 'selection' }) : whole;
  });
}

function nameOf(task: PlanTask, index: number, { critical }: Remaining, { state, glyphs }: Context): Line {
  const agent = agentOfTask(state, task.id);
  const below = agent === null ? 0 : agent.children.length;
  return [
    span(critical.has(task.id) ? ` ${glyphs.bar[0]}` : '  ', { fg: 'fg' }),
    span(` ${String(index + 1).padStart(2)} `, { fg: 'faint' }),
    span(toLabel(agent?.name ?? task.role), { fg: `role:${task.role}`, bold: true }),
    ...(below === 0 ? [] : [span(` +${below}`, { fg: 'muted' })]),
  ];
}

/** What a person should know of it: what it waits for or is blocked by; else what it is about. */
function wordsOf(task: PlanTask, plan: SoundPlan, context: Context): Line {
  const standing = standingOf(context.state, plan, task, context.glyphs, context.now);
  const about = toLabel(task.description.split('\n')[0] ?? '');
  if (standing === null) return [span(about, { fg: 'muted' })];
  const waits = context.state.agents.size > 0 && agentOfTask(context.state, task.id)?.status === 'pending';
  return standing.stuck || waits ? [span(standing.words, { fg: standing.ink })] : [span(about, { fg: 'muted' })];
}

function withWords(name: Line, words: Line, end: Line, width: number, { glyphs }: Context): Line {
  const room = width - lineWidth(name) - lineWidth(end) - 4;
  const shown = room < 6 ? [] : [span('  '), ...clip(words, room, glyphs.ellipsis)];
  return spread([...name, ...shown], end, width, {}, glyphs.ellipsis);
}

/** `1m 20s`: still to go; a bar's end for what is over. */
function timeOf(task: PlanTask, { byTask }: Remaining, { state, glyphs }: Context): Line {
  const agent = agentOfTask(state, task.id);
  if (agent !== null && agent.outcome !== null) return [];
  const left = byTask.get(task.id);
  if (left === undefined || state.approvedDigest === null) return [];
  if (left === 0 && agent?.status !== 'pending') return [span('longer than thought ', { fg: 'warn' })];
  return [span(`${glyphs.ellipsis === '…' ? '≈' : '~'} ${formatDuration(left)} `, { fg: 'muted' })];
}
