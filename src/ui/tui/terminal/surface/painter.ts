/** Keeps what the terminal shows in step with frames: cells, styles and the difference that is sent. */
import type { Cursor, Frame } from '../../../../app/views/text/line.ts';
import type { Theme } from '../../../../domain/theme.ts';
import type { Depth } from '../capabilities.ts';
import type { Size } from '../terminal.ts';
import { Styles } from './styles.ts';
import { fill, shapeOf, styleOf, type Cell, type Row, type CellScreen, type CellParts } from './surface.ts';

export interface PainterParts {
  readonly theme: Theme;
  readonly depth: Depth;
  readonly unicode: boolean;
  /** Links are sent; not when left out. */
  readonly links?: boolean;
  readonly size: Size;
  /** What is known of the terminal's background: a theme made for the other kind paints its own. Dark when left out. */
  readonly background?: Theme['mode'] | null;
  /** Called once a frame at most, never when nothing changed. */
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
  /** The terminal may show anything: the next frame begins with a clear screen. */
  #clears = true;
  #last = 0;

  constructor(parts: PainterParts) {
    this.#parts = parts;
    this.#size = parts.size;
    this.#theme = parts.theme;
    this.#background = parts.background ?? 'dark';
    this.#styles = this.#newStyles();
    this.#shown = nothingShown(parts.size.width, parts.size.height);
    this.#cells = openCells(parts.size, {
      fill: (rows) => {
        fill(rows, this.#size.width, this.#frame, this.#styles, parts.unicode);
      },
      draw: (rows) => {
        const cursor = within(this.#frame.cursor, this.#size);
        const bytes = draw(rows, cursor, this.#shown, this.#styles, { clears: this.#clears });
        this.#clears = false;
        this.#last = bytes.length;
        if (bytes !== '') parts.write(bytes);
      },
    });
  }

  /** Bytes of the last frame, about. */
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

  /** The last frame once more, for a terminal that was away. */
  paintAgain(): void {
    this.#cells.render();
  }

  /** Nothing of what was sent is on the screen any more, whose size is now this. */
  startOver(size: Size = this.#size): void {
    this.#size = size;
    this.#cells.resize(size);
    this.#shown = nothingShown(size.width, size.height);
    this.#clears = true;
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.#styles = this.#newStyles();
    this.startOver();
  }

  /** The terminal said how light its background is. True when that changes what is shown. */
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

/** A cursor outside of the screen isn't shown. */
const within = (cursor: Cursor | null, { width, height }: Size): Cursor | null =>
  cursor !== null && cursor.x >= 0 && cursor.y >= 0 && cursor.x < width && cursor.y < height ? cursor : null;

// The cells that frames are painted into. The first frames use plain rows; blessed takes over a moment later, since nobody
// has to wait for its loading. What is sent of the cells is the same either way.

/** From the first frame on: a key that is typed at once is shown before. */
const SOON_MS = 100;

/** A screen of cells: at each rendering `fill` paints into them, elements paint over that, and `draw` sends them. */
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
      soon ??= setTimeout(() => void takeOver(), SOON_MS).unref();
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

// Turns what changed in the cell buffer into bytes: one string a frame, in the brackets of synchronised output. Every run is
// addressed absolutely; nothing relies on wrapping, or on the terminal's idea of how wide a cluster is.

/** What the terminal shows by now, as far as was sent. */
interface Shown {
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
