/**
 * Puts a frame into the cell buffer of the screen. The last defence: whatever a view made, each row gets exactly its
 * columns, and no control character becomes a cell. What of it is sent is draw.ts's to say.
 */
import type { Frame, Line } from '../../../../app/views/text/line.ts';
import { clusterWidth, graphemes, isAgreed } from '../../../../app/views/text/width.ts';
import type { Styles } from './styles.ts';
import type { Size } from '../terminal.ts';

/** blessed's cell: attribute and character. A wide cluster stands in the first of its two cells, the second is empty. */
export type Cell = [attribute: number, text: string];
/** blessed's row; `dirty` rows are looked at when drawing. */
export type Row = Cell[] & { dirty?: boolean };

/** Our looks live where blessed's own attributes never reach. */
const OURS = 0x40000000;

/** The style number of a cell; what blessed put there itself is the terminal's own look. */
export const styleOf = (attribute: number): number => ((attribute & OURS) === 0 ? 0 : attribute & 0xffff);

/** Writes a frame into rows of `width` cells, marking the rows that changed. */
export function fill(rows: readonly Row[], width: number, frame: Frame, styles: Styles, unicode: boolean): void {
  const blank = OURS | styles.id({});
  const pen: Pen = { row: [], width, x: 0, attribute: blank, unicode };
  for (const [y, row] of rows.entries()) {
    pen.row = row;
    pen.x = 0;
    writeLine(pen, frame.lines[y] ?? [], styles);
    while (pen.x < width) put(pen, ' ', blank);
  }
}

interface Pen {
  row: Row;
  readonly width: number;
  x: number;
  attribute: number;
  readonly unicode: boolean;
}

function writeLine(pen: Pen, line: Line, styles: Styles): void {
  for (const [text, style] of line) {
    pen.attribute = OURS | styles.id(style);
    if (ASCII_ONLY.test(text)) {
      for (let at = 0; at < text.length && pen.x < pen.width; at++) put(pen, text.charAt(at), pen.attribute);
    } else for (const cluster of graphemes(text)) writeCluster(pen, cluster);
    if (pen.x >= pen.width) return;
  }
}

function writeCluster(pen: Pen, cluster: string): void {
  const { columns, isPlain } = shapeOf(cluster);
  if (columns === 0) return;
  if (pen.x + columns > pen.width) {
    while (pen.x < pen.width) put(pen, ' ', pen.attribute);
    return;
  }
  const shown = pen.unicode || isPlain ? cluster : '?';
  put(pen, shown, pen.attribute);
  if (columns === 2) put(pen, shown === cluster ? '' : '?', pen.attribute);
}

function put(pen: Pen, text: string, attribute: number): void {
  const cell = pen.row[pen.x];
  pen.x += 1;
  if (cell === undefined || (cell[0] === attribute && cell[1] === text)) return;
  cell[0] = attribute;
  cell[1] = text;
  pen.row.dirty = true;
}

const ASCII_ONLY = /^[\x20-\x7e]*$/;
/** What must not be in a cell even when a view forgot to sanitise. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

export interface Shape {
  readonly columns: 0 | 1 | 2;
  /** ASCII. */
  readonly isPlain: boolean;
  /** Every terminal moves its cursor by `columns` for it. */
  readonly isTrusted: boolean;
}

const shapes = new Map<string, Shape>();
const MOST_SHAPES = 4096;

/** What a cluster needs; remembered, as screens show the same few hundred again and again. */
export function shapeOf(cluster: string): Shape {
  const known = shapes.get(cluster);
  if (known !== undefined) return known;
  const shape: Shape = {
    columns: FORBIDDEN.test(cluster) ? 0 : clusterWidth(cluster),
    isPlain: ASCII_ONLY.test(cluster),
    isTrusted: isAgreed(cluster),
  };
  if (shapes.size >= MOST_SHAPES) shapes.clear();
  shapes.set(cluster, shape);
  return shape;
}

export interface CellScreen {
  /** Calls `fill`, lets every element paint, then calls `draw`. */
  render(): void;
  /** New cells, all blank, of a new size. */
  resize(size: Size): void;
  destroy(): void;
}

export interface CellParts {
  fill(rows: Row[]): void;
  draw(rows: Row[]): void;
}
