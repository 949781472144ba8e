/**
 * The only place that knows blessed. It gives the cell buffer, the tree and the order of drawing; it never sees the real
 * terminal: its streams lead nowhere, its handlers of signals and crashes are taken away. Its widgets stay
 * unread.
 */
import { Duplex, PassThrough } from 'node:stream';
import Screen from 'blessed/lib/widgets/screen.js';
import type { Size } from '../terminal.ts';
import type { CellParts, CellScreen } from './surface.ts';

/** Cells of a blessed screen: blank, and to be looked at as a whole when they are drawn first, whatever is shown by then. */
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
        // Sizes come when we say so.
        resizeTimeout: 0,
      }),
  );
  for (const [event, ours] of known) {
    for (const listener of events.listeners(event)) {
      if (isListener(listener) && !ours.has(listener)) events.removeListener(event, listener);
    }
  }
  // Before its elements: what is put on the screen later (a chart) paints over ours.
  screen.on('prerender', () => {
    parts.fill(screen.lines);
  });
  screen.draw = () => {
    parts.draw(screen.lines);
  };
  for (const row of screen.lines) row.dirty = true;
  return {
    render: () => {
      screen.render();
    },
    resize({ width, height }) {
      output.columns = width;
      output.rows = height;
      screen.program.cols = width;
      screen.program.rows = height;
      screen.alloc();
    },
    destroy: () => {
      screen.destroy();
    },
  };
}

const PROCESS_EVENTS: readonly string[] = ['uncaughtException', 'SIGTERM', 'SIGINT', 'SIGQUIT', 'exit'];
const events: NodeJS.EventEmitter = process;
const isListener = (value: unknown): value is (...args: unknown[]) => void => typeof value === 'function';

/** blessed asks `tmux -V` and waits for it when it thinks that it is inside of one. */
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

/** Swallows what blessed writes on its own: start, end, cursor. */
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
