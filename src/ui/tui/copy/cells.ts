/** A frame as cells that a cursor walks over, and what of them is selected. Text only: looks are the view's. */
import type { Frame } from '../../../app/views/text/line.ts';
import { plain } from '../../../app/views/text/clip.ts';
import { clusterWidth, graphemes } from '../../../app/views/text/width.ts';

/** Clusters by column; `''` for the second half of a wide one. */
export type Row = readonly string[];

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** From letter to letter over the ends of lines, whole lines, or a rectangle. */
export type Shape = 'letters' | 'lines' | 'block';

export interface Selection {
  readonly from: Place;
  readonly to: Place;
  readonly shape: Shape;
}

export const cellsOf = ({ lines }: Frame): readonly Row[] =>
  lines.map((line) =>
    graphemes(plain(line)).flatMap((cluster) => {
      const width = clusterWidth(cluster);
      return width === 2 ? [cluster, ''] : width === 1 ? [cluster] : [];
    }),
  );

/** The first column of the letter that covers a column. */
export const letterAt = (row: Row, x: number): number => (x > 0 && row[x] === '' ? x - 1 : x);

/** Columns `from` to `until` of a row that are selected; null when none is. */
export function selectedOf(
  { from, to, shape }: Selection,
  row: Row,
  y: number,
): readonly [from: number, until: number] | null {
  const [first, last] = from.y < to.y || (from.y === to.y && from.x <= to.x) ? [from, to] : [to, from];
  if (y < first.y || y > last.y) return null;
  if (shape === 'lines') return [0, row.length];
  if (shape === 'block') return [letterAt(row, Math.min(from.x, to.x)), endOf(row, Math.max(from.x, to.x))];
  return [y === first.y ? letterAt(row, first.x) : 0, y === last.y ? endOf(row, last.x) : row.length];
}

/** Behind the letter that covers a column. */
const endOf = (row: Row, x: number): number => {
  const start = letterAt(row, x);
  return start + (row[start + 1] === '' ? 2 : 1);
};

/** What is selected as people want to paste it: without blanks at the ends of lines, and without the borders of boxes. */
export function textOf(rows: readonly Row[], selection: Selection): string {
  const lines = rows.flatMap((row, y) => {
    const columns = selectedOf(selection, row, y);
    return columns === null ? [] : [row.slice(...columns).join('')];
  });
  return withoutBorders(lines.map((line) => line.trimEnd())).join('\n');
}

const UPRIGHT = /^\s*[│┃] ?/;
const EDGE = /^\s*[╭┌┏╰└┗].*[╮┐┓╯┘┛]\s*$/u;

/** Without uprights at the ends, where all lines have them, and without the upper and lower borders. */
function withoutBorders(lines: readonly string[]): readonly string[] {
  const texts = lines.length > 1 ? lines.filter((line) => !EDGE.test(line)) : lines;
  const boxed = texts.some((line) => line !== '') && texts.every((line) => line === '' || UPRIGHT.test(line));
  return texts.map((line) => (boxed ? line.replace(UPRIGHT, '') : line).replace(/\s*[│┃▐]$/u, '').trimEnd());
}

/** The next place from `at` on (not at it), forward or back and round the end, where `sought` stands; null for nowhere. */
export function find(rows: readonly Row[], sought: string, at: Place, by: 1 | -1): Place | null {
  if (sought === '') return null;
  const places = rows.flatMap((row, y) => matches(row, sought).map((x): Place => ({ x, y })));
  const isAhead = ({ x, y }: Place): boolean =>
    by === 1 ? y > at.y || (y === at.y && x > at.x) : y < at.y || (y === at.y && x < at.x);
  const ahead = places.filter(isAhead);
  return (by === 1 ? (ahead[0] ?? places[0]) : (ahead.at(-1) ?? places.at(-1))) ?? null;
}

/** First columns of where a text stands in a row, whatever its case. */
export function matches(row: Row, sought: string): readonly number[] {
  if (sought === '') return [];
  const text = row.join('').toLowerCase();
  const found: number[] = [];
  for (let at = text.indexOf(sought.toLowerCase()); at !== -1; at = text.indexOf(sought.toLowerCase(), at + 1))
    found.push(columnOf(row, at));
  return found;
}

/** The column of a unit of the row's text. */
function columnOf(row: Row, unit: number): number {
  let units = 0;
  const column = row.findIndex((cluster) => {
    units += cluster.length;
    return units > unit;
  });
  return Math.max(0, column);
}
