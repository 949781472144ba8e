/** Breaks lines at words by columns. Leading blanks are kept on the lines that follow, so that lists and code stay readable. */
import { PLAIN } from './clip.ts';
import type { Line, Span, Style } from './line.ts';
import { clusterWidth, graphemes, isSimple, widthOf } from './width.ts';

/** A text with line breaks, as lines of at most `width` columns. An empty text is one empty line. */
export const wrapText = (text: string, width: number, style: Style = PLAIN): readonly Line[] =>
  text.split('\n').flatMap((paragraph) => wrap(paragraph === '' ? [] : [[paragraph, style]], width));

/**
 * One line, broken at blanks into lines of at most `width` columns. Words longer than a line are cut; `hang` columns more
 * than the line's own indentation are put in front of the lines that follow (for the text after a bullet).
 */
export function wrap(line: Line, width: number, hang = 0): readonly Line[] {
  if (width <= 0) return [[]];
  const simple = line.every(([text]) => isSimple(text));
  const columns = line.reduce((sum, [text]) => sum + (simple ? text.length : widthOf(text)), 0);
  if (columns <= width) return [line];
  if (simple) return wrapSimple(line, width, hang);
  const cells = cellsOf(line, width);
  const indent = indentOf(
    cells.findIndex(({ text }) => text !== ' '),
    width,
    hang,
  );
  return rowsOf(cells, width, indent).map((row, index) => (index === 0 ? joined(row) : indented(joined(row), indent)));
}

/** An indentation of more than half the width would leave towers of single words. */
const indentOf = (first: number, width: number, hang: number): number =>
  Math.min(Math.max(0, first) + hang, Math.floor(width / 2));

/** The same where every unit is one column, as in nearly all text: rows are found in the text itself, ten times as fast. */
function wrapSimple(line: Line, width: number, hang: number): readonly Line[] {
  const text = line.length === 1 ? (line[0]?.[0] ?? '') : line.map(([part]) => part).join('');
  const indent = indentOf(text.search(/[^ ]/), width, hang);
  const cut = cutter(line);
  return rowsIn(text, width, Math.max(1, width - indent)).map(([from, to], row) =>
    indented(cut(from, to), row === 0 ? 0 : indent),
  );
}

/** Where the rows of a text begin and end. */
function rowsIn(text: string, width: number, next: number): readonly (readonly [from: number, to: number])[] {
  const rows: (readonly [number, number])[] = [];
  let from = 0;
  for (let limit = width; text.length - from > limit; limit = next) {
    const end = from + limit;
    const at = text[end] === ' ' ? end : blankIn(text, from, end);
    let kept = at;
    while (kept > from && text[kept - 1] === ' ') kept--;
    rows.push([from, kept]);
    // Blanks at the break are the break.
    for (from = at; text[from] === ' '; ) from++;
  }
  if (from < text.length) rows.push([from, text.length]);
  return rows;
}

/** Where units `from` to `end` are best broken: at the last blank behind the first word, else at the end. */
function blankIn(text: string, from: number, end: number): number {
  const at = text.lastIndexOf(' ', end - 1);
  if (at <= from) return end;
  for (let word = from; word < at; word++) if (text[word] !== ' ') return at;
  return end;
}

/** Cuts units out of a line, from its start to its end: each piece begins where the last one ended, or behind that. */
function cutter(line: Line): (from: number, to: number) => Line {
  let [index, start] = [0, 0];
  return (from, to) => {
    const spans: Span[] = [];
    for (; index < line.length; index++) {
      const [text, style] = line[index] ?? ['', PLAIN];
      const piece = text.slice(Math.max(0, from - start), to - start);
      const last = spans.at(-1);
      if (piece !== '' && last?.[1] === style) spans[spans.length - 1] = [last[0] + piece, style];
      else if (piece !== '') spans.push([piece, style]);
      if (start + text.length >= to) break;
      start += text.length;
    }
    return spans;
  };
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
