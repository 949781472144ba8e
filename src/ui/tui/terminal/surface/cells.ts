/**
 * The cells that frames are painted into. The first frames use plain rows; blessed takes over a moment later, since nobody
 * has to wait for its loading. What is sent of the cells is the same either way.
 */
import type { Row } from './surface.ts';
import type { Size } from '../terminal.ts';

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
