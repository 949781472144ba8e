/**
 * The graph of a plan as lanes from top to bottom: a lane stays open until the last task that needs its owner. Which lane
 * and which sign is decided here; what stands beside the lanes is the list's.
 *
 * Read like a circuit: `┼` passes, a bullet or a tee is connected.
 */
import type { TaskId } from '../../../../domain/ids.ts';
import type { PlanTask } from '../../../../domain/plan/plan.ts';
import { waitsFor } from '../../../../domain/plan/writes.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line, Span } from '../../../../app/views/text/line.ts';

/** More lanes than this can't be followed with the eye. */
export const MOST_LANES = 12;

export interface LaneRow {
  /** Where the task's own sign stands. */
  readonly node: number;
  readonly ink: Ink;
  /** Lanes of the tasks that it needs; `ends` where nobody further down needs them. */
  readonly inputs: readonly { readonly lane: number; readonly ends: boolean }[];
  /** Colour by lane above and below the task; null where the lane is free. */
  readonly above: readonly (Ink | null)[];
  readonly below: readonly (Ink | null)[];
}

export interface Lanes {
  readonly count: number;
  readonly rows: readonly LaneRow[];
}

/** One row a task, for tasks in topological order. */
export function lanesOf(tasks: readonly PlanTask[]): Lanes {
  const known = KNOWN.get(tasks);
  if (known !== undefined) return known;
  const lanes = laidOut(tasks);
  KNOWN.set(tasks, lanes);
  return lanes;
}

/** A plan never changes in place, and its lanes are asked for in each frame. */
const KNOWN = new WeakMap<readonly PlanTask[], Lanes>();

function laidOut(tasks: readonly PlanTask[]): Lanes {
  const last = lastUses(tasks);
  // Where nobody waits for anybody there is nothing to tell apart: one column.
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

/** Columns that `lanesOf` a plan take when at most `most` lanes are drawn: the others share one more column. */
export const lanesWidth = (count: number, most: number): number =>
  count > most ? 2 * most + 1 : Math.max(0, 2 * count - 1);

/** The line with the task's own sign; exactly `lanesWidth` columns. `sign` takes the place of the node. */
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

/** The line below a task: open lanes only. */
export function restLine(row: LaneRow, count: number, most: number, glyphs: Glyphs): Line {
  const line: Span[] = [];
  for (let lane = 0; lane < Math.min(count, most); lane++) {
    const ink = row.below[lane] ?? null;
    if (lane > 0) line.push(span(' '));
    line.push(ink === null ? span(' ') : span(glyphs.lane[0], { fg: ink }));
  }
  if (count > most) {
    const open = row.below.slice(most).some((ink) => ink !== null);
    line.push(span(' '), open ? span(glyphs.ellipsis, { fg: 'faint' }) : span(' '));
  }
  return line;
}

function lastUses(tasks: readonly PlanTask[]): ReadonlyMap<TaskId, number> {
  const last = new Map<TaskId, number>();
  for (const [index, task] of tasks.entries()) for (const need of waitsFor(task)) last.set(need, index);
  return last;
}

/** Not right below a task that nobody needs: two signs on top of each other read as one needing the other. */
function freeLane(lanes: readonly (Ink | null)[], before: number): number {
  const free = lanes.findIndex((ink, lane) => ink === null && lane !== before);
  return free === -1 ? lanes.length : free;
}

const reach = (row: LaneRow): readonly [from: number, to: number] => [
  Math.min(row.node, ...row.inputs.map(({ lane }) => lane)),
  Math.max(row.node, ...row.inputs.map(({ lane }) => lane)),
];

/** The stroke in front of `lane`, in the colour of the need that it leads from. */
function between(row: LaneRow, lane: number, [from, to]: readonly [number, number], glyphs: Glyphs): Span {
  if (lane <= from || lane > to) return span(' ');
  return span(glyphs.lane[1], { fg: strokeInk(row, lane - 0.5) });
}

function strokeInk(row: LaneRow, at: number): Ink {
  const source =
    at > row.node ? row.inputs.find(({ lane }) => lane > at) : row.inputs.findLast(({ lane }) => lane < at);
  return (source && row.above[source.lane]) ?? row.ink;
}

function cell(row: LaneRow, lane: number, [from, to]: readonly [number, number], glyphs: Glyphs): Span {
  const ink = row.above[lane] ?? null;
  const outside = lane < from || lane > to;
  if (ink === null) return outside ? span(' ') : span(glyphs.lane[1], { fg: strokeInk(row, lane) });
  if (outside) return span(glyphs.lane[0], { fg: ink });
  const input = row.inputs.find((each) => each.lane === lane);
  return span(input === undefined ? glyphs.lane[2] : joint(input, [from, to], glyphs), { fg: ink });
}

/** How the lane of a need meets the stroke that leads to the task. */
function joint(input: LaneRow['inputs'][number], [from, to]: readonly [number, number], glyphs: Glyphs): string {
  const [, , , teeRight, teeLeft, teeUp, corner] = glyphs.lane;
  if (input.ends) return input.lane === to ? corner : teeUp;
  if (input.lane === from) return teeRight;
  return input.lane === to ? teeLeft : glyphs.bullet;
}

/** What is left of the lanes that are not drawn: the task itself when it is among them, else a sign that there are more. */
function folded(row: LaneRow, most: number, glyphs: Glyphs, sign: Span): Span {
  if (row.node >= most) return sign;
  const some = row.above.slice(most).some((ink) => ink !== null);
  return some ? span(glyphs.ellipsis, { fg: 'faint' }) : span(' ');
}
