/**
 * Turns what changed in the cell buffer into bytes: one string a frame, in the brackets of synchronised output. Every run is
 * addressed absolutely; nothing relies on wrapping, or on the terminal's idea of how wide a cluster is.
 */
import type { Cursor } from '../text/line.ts';
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
  const pen: Pen = { out: clears ? '\u001b[0m\u001b[2J' : '', x: -1, y: -1, style: 0, styles };
  for (const [y, row] of rows.entries()) {
    if (row.dirty !== true) continue;
    drawRow(pen, row, shown.rows[y] ?? [], y);
    row.dirty = false;
  }
  const before = shown.cursor;
  if (pen.out === '' && same(before, cursor)) return '';
  shown.cursor = cursor;
  const cells = pen.out === '' ? '' : pen.out + styles.step(pen.style, 0);
  return `\u001b[?2026h${cursorAround(before, cells, cursor)}\u001b[?2026l`;
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
  readonly styles: Styles;
}

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
    spilled = sends && paint(pen, cell, x, y, row.length) === 'spilled';
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

function move(pen: Pen, x: number, y: number): void {
  if (pen.x === x && pen.y === y) return;
  const gap = x - pen.x;
  pen.out += pen.y === y && pen.x >= 0 && gap > 0 ? `\u001b[${gap === 1 ? '' : gap}C` : address(x, y);
  pen.x = x;
  pen.y = y;
}

function paint(pen: Pen, [attribute, text]: Cell, x: number, y: number, width: number): 'spilled' | null {
  const { columns, isTrusted } = shapeOf(text);
  const style = styleOf(attribute);
  move(pen, x, y);
  pen.out += pen.styles.step(pen.style, style);
  pen.style = style;
  // A terminal that thinks the cluster is narrow would leave the old second half.
  if (columns === 2 && !isTrusted) pen.out += `  ${address(x, y)}`;
  pen.out += text;
  pen.x = isTrusted && x + columns < width ? x + columns : -1;
  return columns === 1 && !isTrusted ? 'spilled' : null;
}
