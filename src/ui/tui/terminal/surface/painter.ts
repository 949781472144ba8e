/** Keeps what the terminal shows in step with frames: cells, styles and the difference that is sent. */
import type { Theme } from '../../../../domain/theme.ts';
import type { Cursor, Frame } from '../../../../app/views/text/line.ts';
import type { Depth } from '../capabilities.ts';
import { type CellScreen, openCells } from './cells.ts';
import { draw, nothingShown, type Shown } from './draw.ts';
import { Styles } from './styles.ts';
import { fill } from './surface.ts';
import type { Size } from '../terminal.ts';

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
