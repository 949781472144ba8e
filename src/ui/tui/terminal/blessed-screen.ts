/** The only module that uses blessed, for cells and drawing order: its streams are virtual, its process handlers removed. */
import { Duplex, PassThrough } from 'node:stream';
import type { Size } from './terminal.ts';
import Screen from 'blessed/lib/widgets/screen.js';

/** A cell: attribute and character. A wide cluster is in the first of its two cells, the second is empty. */
export type Cell = [attribute: number, text: string];
/** A row; only `dirty` rows are drawn. */
export type Row = Cell[] & { dirty?: boolean };

export interface CellScreen {
  /** Calls `fill`, lets the elements paint, then calls `draw`. */
  render(): void;
  /** Creates blank cells of a new size. */
  resize(size: Size): void;
  destroy(): void;
}

export interface CellParts {
  fill(rows: Row[]): void;
  draw(rows: Row[]): void;
}

/** The cells of a blessed screen, blank at first and drawn completely the first time. */
export function blessedCells(size: Size, parts: CellParts): CellScreen {
  const output = new VirtualOutput(size);
  const known = new Map(PROCESS_EVENTS.map((event) => [event, new Set<unknown>(events.listeners(event))]));
  const screen = withoutTmux(
    () =>
      new Screen({
        input: new VirtualInput(),
        output,
        terminal: 'xterm-256color',
        forceUnicode: true,
        fullUnicode: false,
        // Sizes are set by `resize`.
        resizeTimeout: 0,
      }),
  );
  for (const [event, ours] of known) {
    for (const listener of events.listeners(event)) {
      if (isListener(listener) && !ours.has(listener)) events.removeListener(event, listener);
    }
  }
  // Fills before the elements paint over.
  screen.on('prerender', () => parts.fill(screen.lines));
  screen.draw = () => parts.draw(screen.lines);
  for (const row of screen.lines) row.dirty = true;
  return {
    render: () => screen.render(),
    resize({ width, height }) {
      output.columns = width;
      output.rows = height;
      screen.program.cols = width;
      screen.program.rows = height;
      screen.alloc();
    },
    destroy: () => screen.destroy(),
  };
}

const PROCESS_EVENTS: readonly string[] = ['uncaughtException', 'SIGTERM', 'SIGINT', 'SIGQUIT', 'exit'];
const events: NodeJS.EventEmitter = process;
const isListener = (value: unknown): value is (...args: unknown[]) => void => typeof value === 'function';

/** blessed runs `tmux -V` synchronously if TMUX is set. */
function withoutTmux<T>(open: () => T): T {
  const tmux = process.env['TMUX'];
  delete process.env['TMUX'];
  try {
    return open();
  } finally {
    if (tmux !== undefined) process.env['TMUX'] = tmux;
  }
}

class VirtualInput extends PassThrough {
  readonly isTTY = true;
  isRaw = false;

  setRawMode(mode: boolean): this {
    this.isRaw = mode;
    return this;
  }
}

class VirtualOutput extends Duplex {
  readonly isTTY = true;
  columns: number;
  rows: number;

  constructor({ width, height }: Size) {
    super();
    this.columns = width;
    this.rows = height;
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}
