/** Breaks lines at words by columns. Leading blanks are kept on the lines that follow, so that lists and code stay readable. */
import { PLAIN } from './clip.ts';
import type { Line, Span, Style } from './line.ts';
import { clusterWidth, graphemes, widthOf } from './width.ts';

/** A text with line breaks, as lines of at most `width` columns. An empty text is one empty line. */
export const wrapText = (text: string, width: number, style: Style = PLAIN): readonly Line[] =>
  text.split('\n').flatMap((paragraph) => wrap(paragraph === '' ? [] : [[paragraph, style]], width));

/**
 * One line, broken at blanks into lines of at most `width` columns. Words longer than a line are cut; `hang` columns more
 * than the line's own indentation are put in front of the lines that follow (for the text after a bullet).
 */
export function wrap(line: Line, width: number, hang = 0): readonly Line[] {
  if (width <= 0) return [[]];
  if (line.reduce((sum, [text]) => sum + widthOf(text), 0) <= width) return [line];
  const cells = cellsOf(line, width);
  const first = cells.findIndex(({ text }) => text !== ' ');
  // An indentation of more than half the width would leave towers of single words.
  const indent = Math.min((first === -1 ? 0 : first) + hang, Math.floor(width / 2));
  return rowsOf(cells, width, indent).map((row, index) => (index === 0 ? joined(row) : indented(joined(row), indent)));
}

interface Cell {
  readonly text: string;
  readonly width: number;
  readonly style: Style;
}

/** A letter wider than the whole line can't be shown and becomes a dot. */
const cellsOf = (line: Line, width: number): readonly Cell[] =>
  line.flatMap(([text, style]) =>
    graphemes(text).map((cluster) => {
      const size = clusterWidth(cluster);
      return size > width ? { text: '.', width: 1, style } : { text: cluster, width: size, style };
    }),
  );

/** The rows under way: those that are closed, and the open one with the columns it uses and may use. */
interface Rows {
  readonly closed: Cell[][];
  open: Cell[];
  used: number;
  limit: number;
  readonly next: number;
}

function rowsOf(cells: readonly Cell[], width: number, indent: number): readonly (readonly Cell[])[] {
  const rows: Rows = { closed: [], open: [], used: 0, limit: width, next: Math.max(1, width - indent) };
  for (const cell of cells) add(rows, cell);
  return rows.open.length > 0 || rows.closed.length === 0 ? [...rows.closed, rows.open] : rows.closed;
}

function add(rows: Rows, cell: Cell): void {
  while (rows.used + cell.width > rows.limit && rows.open.length > 0) turnOver(rows, cell);
  // A blank at the break is the break; a wide letter in one column can't be shown.
  if ((cell.text === ' ' && rows.open.length === 0 && rows.closed.length > 0) || cell.width > rows.limit) return;
  rows.open.push(cell);
  rows.used += cell.width;
}

/** Closes the open row before `cell`, at a blank where there is one; the word that was cut off goes on the next. */
function turnOver(rows: Rows, cell: Cell): void {
  const at = cell.text === ' ' ? 0 : breakOf(rows.open);
  const kept = at > 0 ? rows.open.slice(0, at) : rows.open;
  const rest = at > 0 ? rows.open.slice(at) : [];
  rows.closed.push(kept.slice(0, kept.findLastIndex(({ text }) => text !== ' ') + 1));
  rows.open = [];
  rows.used = 0;
  rows.limit = rows.next;
  for (const word of rest) add(rows, word);
}

/** Where a row is best broken: at its last blank after the first word, else behind a wide letter, else nowhere (0). */
function breakOf(row: readonly Cell[]): number {
  const word = row.findIndex(({ text }) => text !== ' ');
  for (let at = row.length - 1; at > word; at--) {
    if (row[at]?.text === ' ') return at;
    if (row[at]?.width === 2) return at + 1;
  }
  return 0;
}

const indented = (line: Line, indent: number): Line => (indent > 0 ? [[' '.repeat(indent), PLAIN], ...line] : line);

/** Cells of one style become one span again. */
function joined(row: readonly Cell[]): Line {
  const spans: Span[] = [];
  let text = '';
  let style: Style | null = null;
  for (const cell of row) {
    if (style !== null && cell.style !== style) {
      spans.push([text, style]);
      text = '';
    }
    style = cell.style;
    text += cell.text;
  }
  if (style !== null) spans.push([text, style]);
  return spans;
}
