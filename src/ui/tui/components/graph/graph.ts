/**
 * The plan as it runs, as a graph: a row a task with its lanes, what it is at, what blocks it, and how long it will take still.
 * The selection is that of the cards: a task and its agent are the same thing here.
 */
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { waitsFor } from '../../../../domain/writes.ts';
import type { AgentState } from '../../../../events/state.ts';
import { clipName, fitName } from '../../shell/overlays/names.ts';
import type { Remaining } from '../runs/eta.ts';
import { remainingOf } from '../runs/eta.ts';
import type { Context } from '../../shell/screen.ts';
import { box, inside } from '../../text/box.ts';
import { clip, fit, fitText, lineWidth, restyle, span } from '../../../../app/views/text/clip.ts';
import type { Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { statusSpan } from '../agents/card.ts';
import { bareDoing } from '../agents/doing.ts';
import { lockOf, pinOf } from '../plan/mandatory-reviews.ts';
import { triggerWords } from '../../../../app/views/plan/plan-words.ts';
import type { GraphRow } from './graph-rows.ts';
import { agentOfRow, graphRows, selectedRow, topRow } from './graph-rows.ts';
import { signOf, taskCounts, timeOf, tookSpan, wholeTime, wordsOf } from './graph-words.ts';
import { lanesOf, lanesWidth, MOST_LANES, nodeLine, restLine } from './lanes.ts';
import { agentOfTask } from '../plan/status.ts';

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
