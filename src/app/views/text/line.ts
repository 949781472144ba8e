/** Lines of styled text: measured, clipped, padded, aligned and wrapped by terminal columns. */
import type { Token } from '../../../domain/theme.ts';
import { clusterWidth, graphemes, isSimple, widthOf } from './width.ts';

/** A colour by its meaning: a theme token, or the colour of a role. */
export type Ink = Token | `role:${string}`;

export interface Style {
  readonly fg?: Ink;
  readonly bg?: Ink;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
  /** The target of a hyperlink: a `file:` or `http(s):` address that Mimir built, percent-encoded. */
  readonly link?: string;
}

export type Span = readonly [text: string, style: Style];
export type Line = readonly Span[];

export interface Cursor {
  readonly x: number;
  readonly y: number;
}

/** A whole screen: one line per row of the terminal, each exactly as wide as the screen. */
export interface Frame {
  readonly lines: readonly Line[];
  /** The position of the text cursor; null if it is hidden. */
  readonly cursor: Cursor | null;
}

export const PLAIN: Style = {};

export const span = (text: string, style: Style = PLAIN): Span => [text, style];

/** The text of a line without styles. */
export const plain = (line: Line): string => line.map(([text]) => text).join('');

export const lineWidth = (line: Line): number => line.reduce((sum, [text]) => sum + widthOf(text), 0);

/** The line with `under` as the base of each span's style. */
export const restyle = (line: Line, under: Style): Line =>
  line.map(([text, style]): Span => [text, { ...under, ...style }]);

/** Cuts a line to at most `width` columns; a cut line ends in `ellipsis`, styled as the last remaining letter. */
export function clip(line: Line, width: number, ellipsis = '…'): Line {
  if (lineWidth(line) <= width) return line;
  const end = widthOf(ellipsis) <= width ? ellipsis : '';
  const left = cut(line, Math.max(0, width - widthOf(end)));
  const style = left.at(-1)?.[1] ?? line[0]?.[1] ?? PLAIN;
  return end === '' ? left : [...left, [end, style]];
}

/** Cuts or pads a line to exactly `width` columns; `pad` styles the padding. */
export function fit(line: Line, width: number, pad: Style = PLAIN, ellipsis = '…'): Line {
  const cutLine = clip(line, width, ellipsis);
  const missing = width - lineWidth(cutLine);
  return missing > 0 ? [...cutLine, [' '.repeat(missing), pad]] : cutLine;
}

/** Cuts or pads a text to exactly `width` columns, for tables. */
export function fitText(text: string, width: number, align: 'left' | 'right' = 'left', ellipsis = '…'): string {
  const cutText = plain(clip([[text, PLAIN]], width, ellipsis));
  const missing = ' '.repeat(Math.max(0, width - widthOf(cutText)));
  return align === 'left' ? cutText + missing : missing + cutText;
}

/** Places `left` and `right` at the ends of exactly `width` columns. If both do not fit, `left` is cut first. */
export function spread(left: Line, right: Line, width: number, pad: Style = PLAIN, ellipsis = '…'): Line {
  const end = clip(right, width, ellipsis);
  const remaining = width - lineWidth(end);
  // One column stays free, otherwise the two texts would read as one word.
  const start = clip(left, Math.max(0, end.length === 0 ? remaining : remaining - 1), ellipsis);
  const gap = remaining - lineWidth(start);
  return gap > 0 ? [...start, [' '.repeat(gap), pad], ...end] : [...start, ...end];
}

/** Centres a line in exactly `width` columns. */
export function centre(line: Line, width: number, pad: Style = PLAIN): Line {
  const cutLine = clip(line, width);
  const before = Math.floor((width - lineWidth(cutLine)) / 2);
  return fit(before > 0 ? [[' '.repeat(before), pad], ...cutLine] : cutLine, width, pad);
}

/** Columns `from` to `to` of a line, padded with spaces; half of a wide letter becomes a space. */
export function columns(line: Line, from: number, to: number): Line {
  const spans: Span[] = [];
  let x = 0;
  for (const [text, style] of line) {
    if (x >= to) break;
    const width = widthOf(text);
    if (x >= from && x + width <= to) spans.push([text, style]);
    else if (x + width > from) spans.push([slice(text, from - x, to - x), style]);
    x += width;
  }
  const missing = Math.max(0, to - from) - lineWidth(spans);
  if (missing > 0) spans.push([' '.repeat(missing), PLAIN]);
  return spans;
}

/** The text between two columns, with spaces for halves of wide letters. */
function slice(text: string, from: number, to: number): string {
  let x = 0;
  let out = '';
  for (const cluster of graphemes(text)) {
    const end = x + clusterWidth(cluster);
    if (x >= from && end <= to) out += end === from ? '' : cluster;
    else out += ' '.repeat(Math.max(0, Math.min(end, to) - Math.max(x, from)));
    x = end;
  }
  return out;
}

/** The first `width` columns; a wide letter that does not fit is left out. */
function cut(line: Line, width: number): Line {
  const spans: Span[] = [];
  let room = width;
  for (const [text, style] of line) {
    const size = widthOf(text);
    if (size <= room) {
      spans.push([text, style]);
      room -= size;
      continue;
    }
    const start = prefixOf(text, room);
    if (start !== '') spans.push([start, style]);
    break;
  }
  return spans;
}

/** The longest prefix of at most `width` columns. */
function prefixOf(text: string, width: number): string {
  let room = width;
  let out = '';
  for (const cluster of graphemes(text)) {
    room -= clusterWidth(cluster);
    if (room < 0) break;
    out += cluster;
  }
  return out;
}

/** Wraps a text with line breaks to lines of at most `width` columns. An empty text is one empty line. */
export const wrapText = (text: string, width: number, style: Style = PLAIN): readonly Line[] =>
  text.split('\n').flatMap((paragraph) => wrap(paragraph === '' ? [] : [[paragraph, style]], width));

/**
 * Wraps one line at blanks to lines of at most `width` columns. Longer words are cut. Continuation lines keep the
 * line's indentation plus `hang` columns (for the text after a bullet).
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
  return rowsOf(cells, width, indent).map((row, index) =>
    index === 0 ? joinCells(row) : indented(joinCells(row), indent),
  );
}

/** Limits the indentation to half the width. */
const indentOf = (first: number, width: number, hang: number): number =>
  Math.min(Math.max(0, first) + hang, Math.floor(width / 2));

/** A ten times faster wrap for lines whose characters all take one column. */
function wrapSimple(line: Line, width: number, hang: number): readonly Line[] {
  const text = line.length === 1 ? (line[0]?.[0] ?? '') : line.map(([part]) => part).join('');
  const indent = indentOf(text.search(/[^ ]/), width, hang);
  const cut = createCutter(line);
  return rowsIn(text, width, Math.max(1, width - indent)).map(([from, to], row) =>
    indented(cut(from, to), row === 0 ? 0 : indent),
  );
}

/** Start and end of each row of a text. */
function rowsIn(text: string, width: number, next: number): readonly (readonly [from: number, to: number])[] {
  const rows: (readonly [number, number])[] = [];
  let from = 0;
  for (let limit = width; text.length - from > limit; limit = next) {
    const end = from + limit;
    const at = text[end] === ' ' ? end : breakBefore(text, from, end);
    let kept = at;
    while (kept > from && text[kept - 1] === ' ') kept--;
    rows.push([from, kept]);
    // Blanks at a break are dropped.
    for (from = at; text[from] === ' '; ) from++;
  }
  if (from < text.length) rows.push([from, text.length]);
  return rows;
}

/** The best break between `from` and `end`: the last blank after the first word, otherwise `end`. */
function breakBefore(text: string, from: number, end: number): number {
  const at = text.lastIndexOf(' ', end - 1);
  if (at <= from) return end;
  for (let word = from; word < at; word++) if (text[word] !== ' ') return at;
  return end;
}

/** Returns a function that cuts consecutive pieces out of a line, in ascending order. */
function createCutter(line: Line): (from: number, to: number) => Line {
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

/** A letter wider than the whole line becomes a dot. */
const cellsOf = (line: Line, width: number): readonly Cell[] =>
  line.flatMap(([text, style]) =>
    graphemes(text).map((cluster) => {
      const size = clusterWidth(cluster);
      return size > width ? { text: '.', width: 1, style } : { text: cluster, width: size, style };
    }),
  );

/** Rows being built: the closed ones, and the open one with its used and available columns. */
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
  while (rows.used + cell.width > rows.limit && rows.open.length > 0) closeRow(rows, cell);
  // A blank at the break is dropped; a letter wider than the row cannot be shown.
  if ((cell.text === ' ' && rows.open.length === 0 && rows.closed.length > 0) || cell.width > rows.limit) return;
  rows.open.push(cell);
  rows.used += cell.width;
}

/** Closes the open row before `cell`, at a blank if there is one, and moves a cut word to the next row. */
function closeRow(rows: Rows, cell: Cell): void {
  const at = cell.text === ' ' ? 0 : breakOf(rows.open);
  const kept = at > 0 ? rows.open.slice(0, at) : rows.open;
  const rest = at > 0 ? rows.open.slice(at) : [];
  rows.closed.push(kept.slice(0, kept.findLastIndex(({ text }) => text !== ' ') + 1));
  rows.open = [];
  rows.used = 0;
  rows.limit = rows.next;
  for (const word of rest) add(rows, word);
}

/** The best break of a row: its last blank after the first word, otherwise behind a wide letter, otherwise 0. */
function breakOf(row: readonly Cell[]): number {
  const word = row.findIndex(({ text }) => text !== ' ');
  for (let at = row.length - 1; at > word; at--) {
    if (row[at]?.text === ' ') return at;
    if (row[at]?.width === 2) return at + 1;
  }
  return 0;
}

const indented = (line: Line, indent: number): Line => (indent > 0 ? [[' '.repeat(indent), PLAIN], ...line] : line);

/** Joins adjacent cells of one style into spans. */
function joinCells(cells: readonly Pick<Cell, 'text' | 'style'>[]): Line {
  const spans: Span[] = [];
  let text = '';
  let style: Style | null = null;
  for (const cell of cells) {
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
