/** The tasks of a plan as a list with the lanes of its graph, scrolled to keep the selected task visible. */
import type { Ink, Line, Span, Style } from '../../../../app/views/index.ts';
import { fit, fitText, formatCost, formatTokens, lineWidth, restyle, span } from '../../../../app/views/index.ts';
import { spread, widthOf, wrap } from '../../../../app/views/index.ts';
import type { ModelId, TaskId } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { waitsFor } from '../../../../domain/plan/writes.ts';
import { strong, tint, windowTop } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { fittingModel } from '../names.ts';
import type { TaskState } from '../progress.ts';

export interface PlanList {
  readonly plan: SoundPlan;
  readonly selected: number;
  /** Rows per task: one, or one and those of its description. */
  readonly rows: number;
  /** The description comes first, beside the role; of the figures only the cost, and the model where it is not the common one. */
  readonly compact: boolean;
  readonly focused: boolean;
  changeOf(task: PlanTask): 'edited' | 'added' | null;
  /** True if a person chose another model. */
  modelChanged(task: PlanTask): boolean;
  /** The task with its calibrated estimate; the task itself when left out. */
  expectedOf?(task: PlanTask): PlanTask;
  taskStateOf(task: PlanTask): TaskState | null;
}

/** At most `height` lines of exactly `width` columns. */
export function planList(list: PlanList, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const { tasks } = list.plan;
  const lanes = lanesOf(tasks);
  const most = mostLanes(width);
  const visible = Math.max(1, Math.floor(height / list.rows));
  const top = windowTop(list.selected, tasks.length, visible);
  const marks = marksOf(list);
  const shape: Shape = { lanes, most, digits: String(tasks.length).length, marks, glyphs, width };
  // One task more than fits: a half visible task shows that the list continues.
  const lines = tasks
    .slice(top, top + visible + 1)
    .flatMap((task, row) => taskLines(list, task, top + row, shape))
    .slice(0, Math.max(0, height));
  return lines.map((line) => fit(line, width));
}

const MOST_TEXT = 3;

/** Rows per task, two at least: as many as the longest description needs and the height allows. */
export function tallRows(plan: SoundPlan, width: number, height: number): number {
  const fitting = Math.floor(height / Math.max(1, plan.tasks.length)) - 1;
  // Without room for more rows nothing is measured, so that a long plan is not wrapped in each frame.
  if (fitting <= 1) return 2;
  const { count } = lanesOf(plan.tasks);
  const room = Math.max(1, width - lanesWidth(count, mostLanes(width)) - 6 - String(plan.tasks.length).length);
  const needed = (task: PlanTask): number => wrap([span(firstLine(task))], Math.max(1, room - 1)).length;
  const longest = plan.tasks.reduce((most, task) => Math.max(most, needed(task)), 1);
  return 1 + Math.max(1, Math.min(longest, fitting, MOST_TEXT));
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
    const bar = tint(shape.glyphs.selected, list.focused ? 'focus' : 'muted');
    return restyle([bar, ...fit(line, Math.max(0, shape.width - 1))], { bg: 'selection' });
  };
  const front = gutter(list, task, index, row, shape);
  const room = Math.max(0, shape.width - 1 - lineWidth(front));
  if (list.rows === 1) return [paint([...front, ...oneRow(list, task, room, shape)])];
  if (list.compact)
    return compactRows(list, task, room, shape).map((line, at) =>
      paint([...(at === 0 ? front : lanesUnder(front, row, shape)), ...line]),
    );
  const under = lanesUnder(front, row, shape);
  const text: Style = selected ? { fg: 'fg' } : { fg: 'muted' };
  const words = wrap([span(firstLine(task), text)], Math.max(1, room));
  const below = Array.from({ length: list.rows - 1 }, (_, at): Line => {
    // The last row takes the rest of the description, which is cut where it does not fit.
    const rest = at === list.rows - 2 ? words.slice(at).flatMap((line) => [...line, span(' ')]) : (words[at] ?? []);
    return paint([...under, ...fit(rest, room)]);
  });
  const end = numbers(list, task, tallColumns(room), shape);
  const head = spread([...name(list, task, shape, room - lineWidth(end)), span(' ')], end, room);
  return [paint([...front, ...head]), ...below];
}

/** The lanes below a task, as wide as `front`, which stands beside its first row. */
function lanesUnder(front: Line, row: LaneRow, { lanes, most, glyphs }: Shape): Line {
  const open = restLine(row, lanes.count, most, glyphs);
  return [...open, span(' '.repeat(Math.max(0, lineWidth(front) - lineWidth(open))))];
}

/** `finder      Find where balances are     $0.02`, and the rest of the description below, with a model that is not common. */
function compactRows(list: PlanList, task: PlanTask, room: number, shape: Shape): readonly Line[] {
  const columns = Math.min(ROLE, Math.max(2, room >> 1));
  const cost = numbers(list, task, { model: 0, tokens: 0, cost: 9 }, shape);
  const model = isCommon(list, task) ? [] : [span(' '), modelSpan(list, task, MODEL, shape.glyphs)];
  const text = room - columns;
  const [first = [], ...rest] = wrap([span(firstLine(task), { fg: 'title' })], Math.max(1, text - lineWidth(cost) - 1));
  const others = wrap(
    restyle(
      rest.flatMap((line) => [...line, span(' ')]),
      { fg: 'muted' },
    ),
    Math.max(1, text - lineWidth(model)),
  );
  return Array.from({ length: list.rows }, (_, at): Line => {
    if (at === 0) return spread([...fit(roleSpans(list, task, shape, columns), columns), ...first], cost, room);
    const line =
      at === list.rows - 1 ? others.slice(at - 1).flatMap((one) => [...one, span(' ')]) : (others[at - 1] ?? []);
    return spread([span(' '.repeat(columns)), ...line], at === 1 ? model : [], room);
  });
}

const MODEL = 14;

/** The model that most tasks of a plan use; null where each task has another one. */
export const commonModel = memoize(
  (plan: SoundPlan) => [plan],
  ({ tasks }): ModelId | null => {
    const groups = [...Map.groupBy(tasks, ({ model }) => model.used)];
    const [most] = groups.toSorted(([, a], [, b]) => b.length - a.length);
    return most === undefined || (most[1].length === 1 && tasks.length > 1) ? null : most[0];
  },
);

/** True where the model need not be shown: most tasks use it, as they were asked to. */
const isCommon = (list: PlanList, task: PlanTask): boolean =>
  task.model.used === commonModel(list.plan) && task.model.because === null && !list.modelChanged(task);

function gutter(list: PlanList, task: PlanTask, index: number, row: LaneRow, shape: Shape): Line {
  const { glyphs } = shape;
  const mark = shape.marks.get(task.id);
  const sign = tint(glyphs.node, row.ink);
  const stands = list.taskStateOf(task);
  const taskState: Span = stands === null ? sign : strong(stands.sign, stands.ink);
  return [
    ...nodeLine(row, shape.lanes.count, shape.most, glyphs, taskState),
    span('  '),
    mark === undefined ? span(' ') : tint(glyphs[mark], mark === 'needs' ? 'warn' : 'focus'),
    tint(` ${fitText(String(index + 1), shape.digits, 'right')} `, index === list.selected ? 'fg' : 'faint'),
  ];
}

/** The role, behind the sign of an edit; what keeps the task from running takes its place. */
function roleSpans(list: PlanList, task: PlanTask, { glyphs }: Shape, columns: number): Line {
  const change = list.changeOf(task) === null ? [] : [tint(`${glyphs.edited} `, 'warn')];
  const short = list.taskStateOf(task)?.short ?? '';
  const role = strong(fitText(task.role, columns - 1 - lineWidth(change)), `role:${task.role}`);
  return short === '' ? [...change, role] : [tint(fitText(short, columns - 1), 'err')];
}

/** The role with an edit or a problem: a word where it fits, else the sign alone. */
function name(list: PlanList, task: PlanTask, { glyphs }: Shape, room: number): Line {
  const change = list.changeOf(task);
  const role = strong(task.role, `role:${task.role}`);
  if (change === null) {
    const stuck = `  ${list.taskStateOf(task)?.short ?? ''}`;
    return lineWidth([role]) + widthOf(stuck) + 2 <= room ? [role, tint(stuck, 'err')] : [role];
  }
  const words = `  ${glyphs.edited} ${change}`;
  const fits = lineWidth([role]) + widthOf(words) + 2 <= room;
  return [role, tint(fits ? words : ` ${glyphs.edited}`, 'warn')];
}

const ROLE = 12;

function oneRow(list: PlanList, task: PlanTask, room: number, shape: Shape): Line {
  const wide = rowColumns(room);
  const model = wide.model === 0 && room >= 56 && !isCommon(list, task) ? MODEL : wide.model;
  const end = numbers(list, task, { ...wide, model }, shape);
  const change = list.changeOf(task) === null ? [] : [tint(`${shape.glyphs.edited} `, 'warn')];
  const short = list.taskStateOf(task)?.short ?? '';
  const stuck = short === '' ? [] : [tint(`${short}  `, 'err')];
  const columns = Math.min(ROLE, Math.max(2, room >> 1));
  const role = strong(`${fitText(task.role, columns - 1)} `, `role:${task.role}`);
  return spread([role, ...change, ...stuck, tint(firstLine(task), 'muted')], end, room);
}

/** Widths of the model, the tokens and the cost; 0 for a column that is left out. */
export interface Columns {
  readonly model: number;
  readonly tokens: number;
  readonly cost: number;
}

/** The columns beside a role, where the description has rows of its own. The cost is left out before the model. */
function tallColumns(room: number): Columns {
  const rest = room - ROLE - 1;
  if (rest >= 27) return { model: Math.min(21, rest - 15), tokens: 6, cost: 9 };
  if (rest >= 18) return { model: rest - 6, tokens: 6, cost: 0 };
  return { model: 0, tokens: rest >= 6 ? 6 : 0, cost: 0 };
}

/** The columns beside a description: only the cost, until there is room for all. */
const rowColumns = (room: number): Columns =>
  room >= WIDE ? { model: 14, tokens: 6, cost: 9 } : { model: 0, tokens: 0, cost: room < 36 ? 0 : 9 };

/** Least width of a row with all figures beside a description. */
const WIDE = 90;

/** The columns on the right of a list of `width` columns with `rows` rows per task, for rows below the tasks. */
export function listColumns({ tasks }: SoundPlan, width: number, rows: number, compact: boolean): Columns {
  const lanes = lanesWidth(lanesOf(tasks).count, mostLanes(width));
  const room = Math.max(0, width - 1 - lanes - 5 - String(tasks.length).length);
  return rows === 1 || compact ? rowColumns(compact ? 0 : room) : tallColumns(room);
}

function numbers(list: PlanList, task: PlanTask, columns: Columns, { glyphs }: Shape): Line {
  const { estimatedTokens, estimatedCost } = list.expectedOf?.(task) ?? task;
  const tokens = fitText(formatTokens(estimatedTokens), columns.tokens, 'right');
  const cost = fitText(formatCost(estimatedCost), columns.cost, 'right');
  return [
    ...(columns.model === 0 ? [] : [modelSpan(list, task, columns.model, glyphs)]),
    ...(columns.tokens === 0 ? [] : [tint(tokens, 'muted')]),
    ...(columns.cost === 0 ? [] : [tint(cost, 'fg')]),
  ];
}

/** `haiku-4.5`; `haiku-4.5 → offline` or `→ offline` where another model is used. */
function modelSpan(list: PlanList, task: PlanTask, width: number, glyphs: Glyphs): Span {
  const text = fitText(fittingModel(task.model, width - 1, glyphs), width);
  return tint(text, task.model.because !== null || list.modelChanged(task) ? 'warn' : 'muted');
}

const firstLine = (task: PlanTask): string => task.description.split('\n')[0] ?? '';

// The graph of a plan as lanes from top to bottom. The lane of a task stays open until the last task that depends on it. `┼` crosses a
// lane, a bullet or a tee is connected to it.

/** Most lanes that are drawn. */
export const MOST_LANES = 12;

interface LaneRow {
  readonly node: number;
  readonly ink: Ink;
  /** Lanes of the dependencies; `ends`: no later task depends on it. */
  readonly inputs: readonly { readonly lane: number; readonly ends: boolean }[];
  /** Colour by lane above and below the task; null for a free lane. */
  readonly above: readonly (Ink | null)[];
  readonly below: readonly (Ink | null)[];
}

interface Lanes {
  readonly count: number;
  readonly rows: readonly LaneRow[];
}

/** One row per task; the tasks must be in topological order. */
export const lanesOf = memoize((tasks: readonly PlanTask[]) => [tasks], laidOut);

function laidOut(tasks: readonly PlanTask[]): Lanes {
  const last = lastUses(tasks);
  // Without dependencies one column is enough; several would look like an order.
  const isFlat = tasks.every((task) => waitsFor(task).length === 0);
  const laneOf = new Map<TaskId, number>();
  let lanes: readonly (Ink | null)[] = [];
  let before = -1;
  const rows = tasks.map((task, index): LaneRow => {
    const above = lanes;
    const inputs = [...new Set(waitsFor(task))]
      .flatMap((need) => ({ lane: laneOf.get(need) ?? -1, ends: last.get(need) === index }))
      .filter(({ lane }) => lane >= 0)
      .sort((a, b) => a.lane - b.lane);
    const node = inputs.find(({ ends }) => ends)?.lane ?? (isFlat ? 0 : freeLane(lanes, before));
    const ink: Ink = `role:${task.role}`;
    const ended = new Set(inputs.filter(({ ends }) => ends).map(({ lane }) => lane));
    const below = Array.from({ length: Math.max(lanes.length, node + 1) }, (_, lane) =>
      lane === node ? (last.has(task.id) ? ink : null) : ended.has(lane) ? null : (lanes[lane] ?? null),
    );
    laneOf.set(task.id, node);
    lanes = below;
    before = node;
    return { node, ink, inputs, above, below };
  });
  return { count: rows.reduce((most, { node }) => Math.max(most, node + 1), 0), rows };
}

/** Columns of `count` lanes when at most `most` are drawn; the others share one more column. */
export const lanesWidth = (count: number, most: number): number =>
  count > most ? 2 * most + 1 : Math.max(0, 2 * count - 1);

/** The line of a task with its `sign`, in exactly `lanesWidth` columns. */
export function nodeLine(row: LaneRow, count: number, most: number, glyphs: Glyphs, sign: Span): Line {
  const [from, to] = reach(row);
  const line: Span[] = [];
  for (let lane = 0; lane < Math.min(count, most); lane++) {
    if (lane > 0) line.push(between(row, lane, [from, to], glyphs));
    line.push(lane === row.node ? sign : cell(row, lane, [from, to], glyphs));
  }
  if (count > most) line.push(between(row, most, [from, to], glyphs), folded(row, most, glyphs, sign));
  return line;
}

/** The line below a task, which has open lanes only. */
export function restLine(row: LaneRow, count: number, most: number, glyphs: Glyphs): Line {
  const line: Span[] = [];
  for (let lane = 0; lane < Math.min(count, most); lane++) {
    const ink = row.below[lane] ?? null;
    if (lane > 0) line.push(span(' '));
    line.push(ink === null ? span(' ') : tint(glyphs.lane.vertical, ink));
  }
  if (count > most) {
    const open = row.below.slice(most).some((ink) => ink !== null);
    line.push(span(' '), open ? tint(glyphs.ellipsis, 'faint') : span(' '));
  }
  return line;
}

function lastUses(tasks: readonly PlanTask[]): ReadonlyMap<TaskId, number> {
  const last = new Map<TaskId, number>();
  for (const [index, task] of tasks.entries()) for (const need of waitsFor(task)) last.set(need, index);
  return last;
}

/** The first free lane, except that of the task before: two signs on top of each other look like a dependency. */
function freeLane(lanes: readonly (Ink | null)[], before: number): number {
  const free = lanes.findIndex((ink, lane) => ink === null && lane !== before);
  return free === -1 ? lanes.length : free;
}

const reach = (row: LaneRow): readonly [from: number, to: number] => [
  Math.min(row.node, ...row.inputs.map(({ lane }) => lane)),
  Math.max(row.node, ...row.inputs.map(({ lane }) => lane)),
];

/** The stroke in front of `lane`, in the colour of the dependency from which it leads. */
const between = (row: LaneRow, lane: number, [from, to]: readonly [number, number], glyphs: Glyphs): Span =>
  lane <= from || lane > to ? span(' ') : tint(glyphs.lane.horizontal, strokeInk(row, lane - 0.5));

function strokeInk(row: LaneRow, at: number): Ink {
  const source =
    at > row.node ? row.inputs.find(({ lane }) => lane > at) : row.inputs.findLast(({ lane }) => lane < at);
  return (source && row.above[source.lane]) ?? row.ink;
}

function cell(row: LaneRow, lane: number, [from, to]: readonly [number, number], glyphs: Glyphs): Span {
  const ink = row.above[lane] ?? null;
  const outside = lane < from || lane > to;
  if (ink === null) return outside ? span(' ') : tint(glyphs.lane.horizontal, strokeInk(row, lane));
  if (outside) return tint(glyphs.lane.vertical, ink);
  const input = row.inputs.find((each) => each.lane === lane);
  return tint(input === undefined ? glyphs.lane.crossing : joint(input, [from, to], glyphs), ink);
}

/** The sign where the lane of a dependency meets the stroke to the task. */
function joint(input: LaneRow['inputs'][number], [from, to]: readonly [number, number], glyphs: Glyphs): string {
  const { teeRight, teeLeft, teeUp, corner } = glyphs.lane;
  if (input.ends) return input.lane === to ? corner : teeUp;
  if (input.lane === from) return teeRight;
  return input.lane === to ? teeLeft : glyphs.bullet;
}

/** The shared column of the lanes that are not drawn: the task's sign if it is among them, else an ellipsis for open lanes. */
function folded(row: LaneRow, most: number, glyphs: Glyphs, sign: Span): Span {
  if (row.node >= most) return sign;
  const some = row.above.slice(most).some((ink) => ink !== null);
  return some ? tint(glyphs.ellipsis, 'faint') : span(' ');
}
