/**
 * Turns what changed in the cell buffer into bytes: one string a frame, in the brackets of synchronised output. Every run is
 * addressed absolutely; nothing relies on wrapping, or on the terminal's idea of how wide a cluster is.
 */
import type { Cursor } from '../../../../app/views/text/line.ts';
import type { Styles } from './styles.ts';
import { type Cell, type Row, shapeOf, styleOf } from './surface.ts';

/** What the terminal shows by now, as far as was sent. */
export interface Shown {
  rows: Row[];
  cursor: Cursor | null;
}

/** Nothing on the screen, in the terminal's own look. */
export const nothingShown = (width: number, height: number): Shown => ({
  rows: Array.from({ length: height }, (): Row => Array.from({ length: width }, () => [0, ' '])),
  cursor: null,
});

/**
 * The bytes that turn `shown` into `rows` (and note that in `shown`); empty when nothing changed. `clears`: the terminal
 * may show anything by now, and `shown` is empty.
 */
export function draw(
  rows: readonly Row[],
  cursor: Cursor | null,
  shown: Shown,
  styles: Styles,
  { clears = false }: { readonly clears?: boolean } = {},
): string {
  const pen: Pen = { out: clears ? CLEAR : '', x: -1, y: -1, style: 0, doubts: false, styles };
  for (const [y, row] of rows.entries()) {
    if (row.dirty !== true) continue;
    drawRow(pen, row, shown.rows[y] ?? [], y);
    row.dirty = false;
  }
  const before = shown.cursor;
  if (pen.out === '' && same(before, cursor)) return '';
  shown.cursor = cursor;
  return `\u001b[?2026h${cursorAround(before, cellsBy(pen), cursor)}\u001b[?2026l`;
}

/** Back in the terminal's own look; nothing where nothing was drawn. */
function cellsBy({ out, style, doubts, styles }: Pen): string {
  if (out === '') return '';
  const cells = out + styles.step(style, 0);
  // What a terminal takes for wider than it is would go on in the next row, and scroll all rows from the last one.
  return doubts ? `\u001b[?7l${cells}\u001b[?7h` : cells;
}

/** Cells between hiding and showing the cursor: it would be seen flying where synchronised output isn't known. */
function cursorAround(before: Cursor | null, cells: string, cursor: Cursor | null): string {
  const hides = before !== null && (cells !== '' || cursor === null);
  const hidden = hides ? `\u001b[?25l${cells}` : cells;
  if (cursor === null) return hidden;
  return `${hidden}${address(cursor.x, cursor.y)}${before === null || hides ? '\u001b[?25h' : ''}`;
}

interface Pen {
  out: string;
  /** Where the terminal's cursor is known to be; -1 when it isn't. */
  x: number;
  y: number;
  style: number;
  /** Something was sent that terminals disagree about. */
  doubts: boolean;
  readonly styles: Styles;
}

/** Hides the cursor too: where it was is forgotten. */
const CLEAR = '\u001b[?25l\u001b[0m\u001b[2J';

const same = (a: Cursor | null, b: Cursor | null): boolean => a?.x === b?.x && a?.y === b?.y;
const address = (x: number, y: number): string => `\u001b[${y + 1};${x + 1}H`;

function drawRow(pen: Pen, row: Row, old: Row, y: number): void {
  // A cell after one that terminals disagree about is always sent again: it may have been written over.
  let spilled = false;
  for (const [x, cell] of row.entries()) {
    const was = old[x];
    if (was === undefined) return;
    const sends: boolean = cell[1] !== '' && (spilled || !sameCell(cell, was) || cutsWide(row, old, x));
    copy(cell, was);
    spilled = sends && paint(pen, row, x, y) === 'spilled';
  }
}

/** True when the second half of a wide cluster was something else: sending the cluster again takes it over. */
const cutsWide = (row: Row, old: Row, x: number): boolean => row[x + 1]?.[1] === '' && old[x + 1]?.[1] !== '';

const sameCell = (a: readonly [number, string], b: readonly [number, string]): boolean =>
  a[1] === b[1] && styleOf(a[0]) === styleOf(b[0]);

function copy(from: readonly [number, string], to: [number, string]): void {
  to[0] = from[0];
  to[1] = from[1];
}

/** The shortest way to a place: over a few blanks or letters of the same look by writing them once more. */
function move(pen: Pen, row: Row, x: number, y: number): void {
  if (pen.x === x && pen.y === y) return;
  const gap = pen.y === y && pen.x >= 0 ? x - pen.x : 0;
  pen.out += gap > 0 ? forward(pen, row, gap) : address(x, y);
  pen.x = x;
  pen.y = y;
}

function forward(pen: Pen, row: Row, gap: number): string {
  const between = gap <= SHORT ? row.slice(pen.x, pen.x + gap) : [];
  const isSame = between.every(([attribute, text]) => styleOf(attribute) === pen.style && PLAIN.test(text));
  if (between.length > 0 && isSame) return between.map(([, text]) => text).join('');
  return `\u001b[${gap === 1 ? '' : gap}C`;
}

const BLANK: Cell = [0, ' '];
/** Columns that are not longer than the sequence that jumps over them. */
const SHORT = 4;
const PLAIN = /^[\x20-\x7e]$/;

function paint(pen: Pen, row: Row, x: number, y: number): 'spilled' | null {
  const [attribute, text] = row[x] ?? BLANK;
  const { columns, isTrusted } = shapeOf(text);
  const style = styleOf(attribute);
  move(pen, row, x, y);
  pen.out += pen.styles.step(pen.style, style);
  pen.style = style;
  pen.doubts ||= !isTrusted;
  // A terminal that thinks the cluster is narrow would leave the old second half.
  if (columns === 2 && !isTrusted) pen.out += `  ${address(x, y)}`;
  pen.out += text;
  pen.x = isTrusted && x + columns < row.length ? x + columns : -1;
  return columns === 1 && !isTrusted ? 'spilled' : null;
}
