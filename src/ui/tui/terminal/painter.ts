/** Keeps the terminal in step with frames: fills the cells, resolves styles, and sends the difference to what is shown. */
import { clusterWidth, type Cursor, type Frame, graphemes, isAgreed, type Line } from '../../../app/views/index.ts';
import type { Theme } from '../../../domain/theme.ts';
import type { Cell, CellParts, CellScreen, Row } from './blessed-screen.ts';
import { type Depth, Styles } from './styles.ts';
import type { Size } from './terminal.ts';

export interface PainterParts {
  readonly theme: Theme;
  readonly depth: Depth;
  readonly unicode: boolean;
  /** True to send hyperlinks. */
  readonly links?: boolean;
  readonly size: Size;
  /** The terminal's background, dark by default. A theme for the other kind paints its own background. */
  readonly background?: Theme['mode'] | null;
  /** Called at most once per frame, and not if nothing changed. */
  write(bytes: string): void;
}

export class Painter {
  readonly #parts: PainterParts;
  readonly #cells: CellScreen;
  #theme: Theme;
  #background: Theme['mode'];
  #styles: Styles;
  #size: Size;
  #frame: Frame = { lines: [], cursor: null };
  #shown: Shown;
  /** True if the terminal's content is unknown, so that the next frame clears the screen first. */
  #clears = true;
  #last = 0;

  constructor(parts: PainterParts) {
    this.#parts = parts;
    this.#size = parts.size;
    this.#theme = parts.theme;
    this.#background = parts.background ?? 'dark';
    this.#styles = this.#newStyles();
    this.#shown = nothingShown(parts.size);
    this.#cells = openCells(parts.size, {
      fill: (rows) => fill(rows, this.#size.width, this.#frame, this.#styles, parts.unicode),
      draw: (rows) => {
        const cursor = within(this.#frame.cursor, this.#size);
        const bytes = draw(rows, cursor, this.#shown, this.#styles, { clears: this.#clears });
        this.#clears = false;
        this.#last = bytes.length;
        if (bytes !== '') parts.write(bytes);
      },
    });
  }

  /** The size of the last frame in bytes. */
  get last(): number {
    return this.#last;
  }

  get size(): Size {
    return this.#size;
  }

  paint(frame: Frame): void {
    this.#frame = frame;
    this.#cells.render();
  }

  /** Paints the last frame again, after the terminal was released. */
  paintAgain(): void {
    this.#cells.render();
  }

  /** Forgets what was sent, and sets the size. */
  startOver(size: Size = this.#size): void {
    this.#size = size;
    this.#cells.resize(size);
    this.#shown = nothingShown(size);
    this.#clears = true;
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.#styles = this.#newStyles();
    this.startOver();
  }

  /** Sets the terminal's background; true if that changes the screen. */
  setBackground(background: Theme['mode']): boolean {
    if (background === this.#background) return false;
    this.#background = background;
    this.setTheme(this.#theme);
    return true;
  }

  #newStyles(): Styles {
    return new Styles(this.#theme, this.#parts.depth, this.#parts.links, this.#background);
  }

  destroy(): void {
    this.#cells.destroy();
  }
}

const within = (cursor: Cursor | null, { width, height }: Size): Cursor | null =>
  cursor !== null && cursor.x >= 0 && cursor.y >= 0 && cursor.x < width && cursor.y < height ? cursor : null;

/** Milliseconds after the first frame; a key typed at once is shown before. */
const TAKE_OVER_MS = 100;

/** A cell screen: `fill` paints, then elements, and `draw` sends. Plain rows at first; blessed takes over with equal output. */
export function openCells(size: Size, parts: CellParts): CellScreen {
  let at = size;
  let cells = plainCells(size, parts);
  let isOpen = true;
  const takeOver = async (): Promise<void> => {
    const { blessedCells } = await import('./blessed-screen.ts');
    if (isOpen) cells = blessedCells(at, parts);
  };
  let soon: NodeJS.Timeout | undefined;
  return {
    render() {
      soon ??= setTimeout(() => void takeOver(), TAKE_OVER_MS).unref();
      cells.render();
    },
    resize(next) {
      at = next;
      cells.resize(next);
    },
    destroy() {
      isOpen = false;
      clearTimeout(soon);
      cells.destroy();
    },
  };
}

function plainCells(size: Size, parts: CellParts): CellScreen {
  let rows = blankRows(size);
  return {
    render() {
      parts.fill(rows);
      parts.draw(rows);
    },
    resize(next) {
      rows = blankRows(next);
    },
    destroy: () => undefined,
  };
}

const blankRows = ({ width, height }: Size): Row[] =>
  Array.from({ length: height }, (): Row => Array.from({ length: width }, () => [0, ' ']));

/** What the terminal shows, as far as it was sent. */
interface Shown {
  rows: Row[];
  cursor: Cursor | null;
}

/** An empty screen in the default style. */
export const nothingShown = (size: Size): Shown => ({ rows: blankRows(size), cursor: null });

/** The bytes that change `shown` to `rows`, in synchronised output and with absolute addresses, so that nothing depends on wrapping or on the
 * terminal's cluster widths. Updates `shown`; empty if nothing changed. `clears`: the terminal's content is unknown. */
export function draw(
  rows: readonly Row[],
  cursor: Cursor | null,
  shown: Shown,
  styles: Styles,
  { clears = false }: { readonly clears?: boolean } = {},
): string {
  const pen: Pen = { out: clears ? CLEAR : '', x: -1, y: -1, style: 0, uncertain: false, styles };
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

function cellsBy({ out, style, uncertain, styles }: Pen): string {
  if (out === '') return '';
  const cells = out + styles.step(style, 0);
  // Wrapping is off while widths are uncertain: a cluster that the terminal draws wider would wrap and scroll.
  return uncertain ? `\u001b[?7l${cells}\u001b[?7h` : cells;
}

/** Hides the cursor while drawing, for terminals without synchronised output. */
function cursorAround(before: Cursor | null, cells: string, cursor: Cursor | null): string {
  const hides = before !== null && (cells !== '' || cursor === null);
  const hidden = hides ? `\u001b[?25l${cells}` : cells;
  if (cursor === null) return hidden;
  return `${hidden}${address(cursor.x, cursor.y)}${before === null || hides ? '\u001b[?25h' : ''}`;
}

interface Pen {
  out: string;
  /** The known cursor position; -1 if unknown. */
  x: number;
  y: number;
  style: number;
  /** True if a cluster of uncertain width was sent. */
  uncertain: boolean;
  readonly styles: Styles;
}

const CLEAR = '\u001b[?25l\u001b[0m\u001b[2J';
const same = (a: Cursor | null, b: Cursor | null): boolean => a?.x === b?.x && a?.y === b?.y;
const address = (x: number, y: number): string => `\u001b[${y + 1};${x + 1}H`;

function drawRow(pen: Pen, row: Row, old: Row, y: number): void {
  // A cell after a cluster of uncertain width is always sent again, since it may be overwritten.
  let spilled = false;
  for (const [x, cell] of row.entries()) {
    const was = old[x];
    if (was === undefined) return;
    const sends: boolean = cell[1] !== '' && (spilled || !sameCell(cell, was) || cutsWide(row, old, x));
    [was[0], was[1]] = cell;
    spilled = sends && paint(pen, row, x, y) === 'spilled';
  }
}

/** True if the second half of a wide cluster showed something else, so that the cluster is sent again. */
const cutsWide = (row: Row, old: Row, x: number): boolean => row[x + 1]?.[1] === '' && old[x + 1]?.[1] !== '';

const sameCell = (a: readonly [number, string], b: readonly [number, string]): boolean =>
  a[1] === b[1] && styleOf(a[0]) === styleOf(b[0]);

/** Moves the cursor by the shortest sequence, rewriting a few equal cells where that is shorter. */
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
/** Columns that are at most as long as the sequence that skips them. */
const SHORT = 4;
const PLAIN = /^[\x20-\x7e]$/;

function paint(pen: Pen, row: Row, x: number, y: number): 'spilled' | null {
  const [attribute, text] = row[x] ?? BLANK;
  const { columns, isTrusted } = shapeOf(text);
  const style = styleOf(attribute);
  move(pen, row, x, y);
  pen.out += pen.styles.step(pen.style, style);
  pen.style = style;
  pen.uncertain ||= !isTrusted;
  // A terminal that draws the cluster narrow would keep the old second half.
  if (columns === 2 && !isTrusted) pen.out += `  ${address(x, y)}`;
  pen.out += text;
  pen.x = isTrusted && x + columns < row.length ? x + columns : -1;
  return columns === 1 && !isTrusted ? 'spilled' : null;
}

/** Marks Mimir's style ids, outside blessed's attribute bits. */
const OURS = 0x40000000;

/** The style id of a cell; blessed's own cells have the default style. */
const styleOf = (attribute: number): number => ((attribute & OURS) === 0 ? 0 : attribute & 0xffff);

/** Writes a frame into rows of exactly `width` cells and marks changed rows. Control characters never become a cell, whatever a view returned. */
export function fill(rows: readonly Row[], width: number, frame: Frame, styles: Styles, unicode: boolean): void {
  const blank = OURS | styles.id({});
  const filler: Filler = { row: [], width, x: 0, attribute: blank, unicode };
  for (const [y, row] of rows.entries()) {
    filler.row = row;
    filler.x = 0;
    writeLine(filler, frame.lines[y] ?? [], styles);
    while (filler.x < width) put(filler, ' ', blank);
  }
}

interface Filler {
  row: Row;
  readonly width: number;
  x: number;
  attribute: number;
  readonly unicode: boolean;
}

function writeLine(filler: Filler, line: Line, styles: Styles): void {
  for (const [text, style] of line) {
    filler.attribute = OURS | styles.id(style);
    if (ASCII_ONLY.test(text)) {
      for (let at = 0; at < text.length && filler.x < filler.width; at++)
        put(filler, text.charAt(at), filler.attribute);
    } else for (const cluster of graphemes(text)) writeCluster(filler, cluster);
    if (filler.x >= filler.width) return;
  }
}

function writeCluster(filler: Filler, cluster: string): void {
  const { columns, isPlain } = shapeOf(cluster);
  if (columns === 0) return;
  if (filler.x + columns > filler.width) {
    while (filler.x < filler.width) put(filler, ' ', filler.attribute);
    return;
  }
  const shown = filler.unicode || isPlain ? cluster : '?';
  put(filler, shown, filler.attribute);
  if (columns === 2) put(filler, shown === cluster ? '' : '?', filler.attribute);
}

function put(filler: Filler, text: string, attribute: number): void {
  const cell = filler.row[filler.x];
  filler.x += 1;
  if (cell === undefined || (cell[0] === attribute && cell[1] === text)) return;
  cell[0] = attribute;
  cell[1] = text;
  filler.row.dirty = true;
}

const ASCII_ONLY = /^[\x20-\x7e]*$/;
/** Characters that are never drawn, even if a view did not sanitise. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

interface Shape {
  readonly columns: 0 | 1 | 2;
  readonly isPlain: boolean;
  /** True if every terminal moves its cursor by `columns`. */
  readonly isTrusted: boolean;
}

const shapes = new Map<string, Shape>();
const MAX_SHAPES = 4096;

/** The width and safety of a cluster; cached, since screens repeat a few hundred clusters. */
function shapeOf(cluster: string): Shape {
  const known = shapes.get(cluster);
  if (known !== undefined) return known;
  const shape: Shape = {
    columns: FORBIDDEN.test(cluster) ? 0 : clusterWidth(cluster),
    isPlain: ASCII_ONLY.test(cluster),
    isTrusted: isAgreed(cluster),
  };
  if (shapes.size >= MAX_SHAPES) shapes.clear();
  shapes.set(cluster, shape);
  return shape;
}
