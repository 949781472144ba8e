/** The tasks of a plan as a list with its graph: one or two rows each. Scrolled around the selected one. */
import type { TaskId } from '../../../../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { waitsFor } from '../../../../domain/plan/writes.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import { formatCost, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { fit, fitText, lineWidth, restyle, span, spread } from '../../../../app/views/text/clip.ts';
import type { Line, Span, Style } from '../../../../app/views/text/line.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { type LaneRow, type Lanes, lanesOf, lanesWidth, MOST_LANES, nodeLine, restLine } from './lanes.ts';
import type { Standing } from './status.ts';
import { windowTop } from './schedule.ts';

export interface PlanList {
  readonly plan: SoundPlan;
  readonly selected: number;
  /** Rows a task takes: one, or one and those of its description. */
  readonly rows: number;
  readonly focused: boolean;
  /** What a person did to a task since it was proposed. */
  changeOf(task: PlanTask): 'edited' | 'added' | null;
  /** A person chose another model. */
  modelChanged(task: PlanTask): boolean;
  /** The task with what it is expected to use; itself when left out. */
  expectedOf?(task: PlanTask): PlanTask;
  /** Where the task's agent stands; null while nothing runs. */
  standingOf(task: PlanTask): Standing | null;
}

/** Exactly `width` columns a line, at most `height` lines. */
export function planList(list: PlanList, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const { tasks } = list.plan;
  const lanes = lanesOf(tasks);
  const most = mostLanes(width);
  const visible = Math.max(1, Math.floor(height / list.rows));
  const top = windowTop(list.selected, tasks.length, visible);
  const marks = marksOf(list);
  const shape: Shape = { lanes, most, digits: String(tasks.length).length, marks, glyphs, width };
  // One more than fits whole: half a task at the end says that the list goes on.
  const lines = tasks
    .slice(top, top + visible + 1)
    .flatMap((task, row) => taskLines(list, task, top + row, shape))
    .slice(0, Math.max(0, height));
  return lines.map((line) => fit(line, width, {}, glyphs.ellipsis));
}

/** Most rows that a description is given, however much room there is. */
const MOST_TEXT = 3;

/** Rows a task takes in a list of two or more a task: as many as the longest description needs and the height allows. */
export function tallRows(plan: SoundPlan, width: number, height: number): number {
  const fitting = Math.floor(height / Math.max(1, plan.tasks.length)) - 1;
  // Nothing to measure where there is no room for more: a long plan is not wrapped in each frame.
  if (fitting <= 1) return 2;
  const { count } = lanesOf(plan.tasks);
  const room = Math.max(1, width - lanesWidth(count, mostLanes(width)) - 6 - String(plan.tasks.length).length);
  const needed = (task: PlanTask): number => wrap([span(firstLine(task))], Math.max(1, room - 1)).length;
  const longest = plan.tasks.reduce((most, task) => Math.max(most, needed(task)), 1);
  const rows = 1 + Math.max(1, Math.min(longest, fitting, MOST_TEXT));
  // Texts of several rows run into the next task unless a row stays empty between them.
  return rows > 2 && rows * plan.tasks.length + plan.tasks.length <= height ? rows + 1 : rows;
}

const mostLanes = (width: number): number => Math.max(1, Math.min(MOST_LANES, Math.floor(width / 8)));

interface Shape {
  readonly lanes: Lanes;
  readonly most: number;
  readonly digits: number;
  readonly marks: ReadonlyMap<TaskId, 'needs' | 'unlocks'>;
  readonly glyphs: Glyphs;
  readonly width: number;
}

function marksOf({ plan, selected }: PlanList): ReadonlyMap<TaskId, 'needs' | 'unlocks'> {
  const chosen = plan.tasks[selected];
  if (chosen === undefined) return new Map();
  const needs = waitsFor(chosen).map((id) => [id, 'needs'] as const);
  const unlocks = plan.tasks.filter((task) => waitsFor(task).includes(chosen.id));
  return new Map([...needs, ...unlocks.map(({ id }) => [id, 'unlocks'] as const)]);
}

function taskLines(list: PlanList, task: PlanTask, index: number, shape: Shape): readonly Line[] {
  const row = shape.lanes.rows[index];
  if (row === undefined) return [];
  const selected = index === list.selected;
  const paint = (line: Line): Line => {
    if (!selected) return [span(' '), ...line];
    const bar = span(shape.glyphs.selected, { fg: list.focused ? 'focus' : 'muted' });
    return restyle([bar, ...fit(line, Math.max(0, shape.width - 1))], { bg: 'selection' });
  };
  const front = gutter(list, task, index, row, shape);
  const room = Math.max(0, shape.width - 1 - lineWidth(front));
  if (list.rows === 1) return [paint([...front, ...oneRow(list, task, room, shape)])];
  const lanes = restLine(row, shape.lanes.count, shape.most, shape.glyphs);
  const behind = span(' '.repeat(Math.max(0, lineWidth(front) - lineWidth(lanes))));
  const text: Style = selected ? { fg: 'fg' } : { fg: 'muted' };
  const words = wrap([span(firstLine(task), text)], Math.max(1, room));
  const below = Array.from({ length: list.rows - 1 }, (_, at): Line => {
    // The last row takes the rest, which is cut where it doesn't fit.
    const rest = at === list.rows - 2 ? words.slice(at).flatMap((line) => [...line, span(' ')]) : (words[at] ?? []);
    return paint([...lanes, behind, ...fit(rest, room, {}, shape.glyphs.ellipsis)]);
  });
  const end = numbers(list, task, tallColumns(room), shape);
  const head = spread([...name(list, task, shape, room - lineWidth(end)), span(' ')], end, room);
  return [paint([...front, ...head]), ...below];
}

/** Lanes, mark and number. */
function gutter(list: PlanList, task: PlanTask, index: number, row: LaneRow, shape: Shape): Line {
  const { glyphs } = shape;
  const mark = shape.marks.get(task.id);
  const sign = span(glyphs.node, { fg: row.ink });
  const stands = list.standingOf(task);
  const standing: Span = stands === null ? sign : span(stands.sign, { fg: stands.ink, bold: true });
  return [
    ...nodeLine(row, shape.lanes.count, shape.most, glyphs, standing),
    span('  '),
    mark === undefined ? span(' ') : span(glyphs[mark], { fg: mark === 'needs' ? 'warn' : 'focus' }),
    span(` ${fitText(String(index + 1), shape.digits, 'right')} `, { fg: index === list.selected ? 'fg' : 'faint' }),
  ];
}

/** The role, and what was done to the task or keeps it: a word where it fits, else the sign alone. */
function name(list: PlanList, task: PlanTask, { glyphs }: Shape, room: number): Line {
  const change = list.changeOf(task);
  const role = span(task.role, { fg: `role:${task.role}`, bold: true });
  if (change === null) {
    const stuck = `  ${list.standingOf(task)?.short ?? ''}`;
    return lineWidth([role]) + widthOf(stuck) + 2 <= room ? [role, span(stuck, { fg: 'err' })] : [role];
  }
  const words = `  ${glyphs.edited} ${change}`;
  const fits = lineWidth([role]) + widthOf(words) + 2 <= room;
  return [role, span(fits ? words : ` ${glyphs.edited}`, { fg: 'warn' })];
}

/** Number of columns that a role's name takes in a list of one row each. */
const ROLE = 12;

function oneRow(list: PlanList, task: PlanTask, room: number, shape: Shape): Line {
  const end = numbers(list, task, rowColumns(room), shape);
  const change = list.changeOf(task) === null ? [] : [span(`${shape.glyphs.edited} `, { fg: 'warn' })];
  const short = list.standingOf(task)?.short ?? '';
  const stuck = short === '' ? [] : [span(`${short}  `, { fg: 'err' })];
  const columns = Math.min(ROLE, Math.max(2, room >> 1));
  const role = span(`${fitText(task.role, columns - 1)} `, {
    fg: `role:${task.role}`,
    bold: true,
  });
  return spread(
    [role, ...change, ...stuck, span(firstLine(task), { fg: 'muted' })],
    end,
    room,
    {},
    shape.glyphs.ellipsis,
  );
}

/** Columns of the model, the tokens and the cost; 0 for what there is no room for. */
export interface Columns {
  readonly model: number;
  readonly tokens: number;
  readonly cost: number;
}

/** Where the description has rows of its own, only the role's name is beside them. The model matters more than the cost. */
function tallColumns(room: number): Columns {
  const rest = room - ROLE - 1;
  if (rest >= 27) return { model: Math.min(21, rest - 15), tokens: 6, cost: 9 };
  if (rest >= 18) return { model: rest - 6, tokens: 6, cost: 0 };
  return { model: 0, tokens: rest >= 6 ? 6 : 0, cost: 0 };
}

/** Where the description shares the row, it keeps at least as much as the numbers. */
function rowColumns(room: number): Columns {
  if (room < 32) return { model: 0, tokens: 0, cost: 0 };
  return { model: room < 56 ? 0 : 14, tokens: 6, cost: room < 44 ? 0 : 9 };
}

/** The columns on the right of a list of `width` columns with `rows` rows a task: what stands below the tasks keeps to them. */
export function listColumns({ tasks }: SoundPlan, width: number, rows: number): Columns {
  const lanes = lanesWidth(lanesOf(tasks).count, mostLanes(width));
  const room = Math.max(0, width - 1 - lanes - 5 - String(tasks.length).length);
  return rows === 1 ? rowColumns(room) : tallColumns(room);
}

function numbers(list: PlanList, task: PlanTask, columns: Columns, { glyphs }: Shape): Line {
  const { estimatedTokens, estimatedCost } = list.expectedOf?.(task) ?? task;
  const tokens = fitText(formatTokens(estimatedTokens), columns.tokens, 'right');
  const cost = fitText(formatCost(estimatedCost), columns.cost, 'right');
  return [
    ...(columns.model === 0 ? [] : [modelSpan(list, task, columns.model, glyphs)]),
    ...(columns.tokens === 0 ? [] : [span(tokens, { fg: 'muted' })]),
    ...(columns.cost === 0 ? [] : [span(cost, { fg: 'fg' })]),
  ];
}

/** `haiku-4.5`; `haiku-4.5 → offline` where another is used and there is room, else `→ offline`. */
function modelSpan(list: PlanList, task: PlanTask, width: number, glyphs: Glyphs): Span {
  const { asked, used, because } = task.model;
  if (because === null)
    return span(fitText(modelName(asked), width), { fg: list.modelChanged(task) ? 'warn' : 'muted' });
  const whole = `${modelName(asked)} ${glyphs.arrow} ${modelName(used)}`;
  const short = `${glyphs.arrow} ${modelName(used)}`;
  return span(fitText(whole.length < width ? whole : short, width), { fg: 'warn' });
}

const firstLine = (task: PlanTask): string => task.description.split('\n')[0] ?? '';
