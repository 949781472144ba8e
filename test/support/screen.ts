/** A terminal of our own to look at: what a program wrote, as rows, cells and colours (xterm, grapheme-aware widths). */
import { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes';
import xterm from '@xterm/headless';

export interface Cell {
  /** The whole cluster; empty for the second half of a wide one. */
  readonly text: string;
  readonly width: number;
  /** `#rrggbb`, a palette number, or null for the terminal's own. */
  readonly fg: string | number | null;
  readonly bg: string | number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
}

export interface TestScreen {
  /** Resolves when everything written so far is on the screen. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** The rows that are seen now, without blanks at their ends. */
  rows(): readonly string[];
  /** Throws outside of the screen. */
  cell(x: number, y: number): Cell;
  cursor(): { readonly x: number; readonly y: number };
  title(): string;
  isAltScreen(): boolean;
  resize(cols: number, rows: number): void;
  /** What the terminal answers to queries. */
  onReply(listener: (bytes: string) => void): void;
}

/** An empty screen of this size. */
export function openScreen(cols: number, rows: number): TestScreen {
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, scrollback: 1000 });
  terminal.loadAddon(new UnicodeGraphemesAddon());
  terminal.unicode.activeVersion = '15-graphemes';
  let title = '';
  terminal.onTitleChange((text) => {
    title = text;
  });
  const lineAt = (y: number): ReturnType<typeof terminal.buffer.active.getLine> =>
    terminal.buffer.active.getLine(terminal.buffer.active.baseY + y);
  return {
    write: (bytes) =>
      new Promise((resolve) => {
        terminal.write(bytes, resolve);
      }),
    rows: () => Array.from({ length: terminal.rows }, (_, y) => lineAt(y)?.translateToString(true) ?? ''),
    cell(x, y) {
      const cell = lineAt(y)?.getCell(x);
      if (cell === undefined) throw new Error(`no cell at ${x},${y}`);
      return {
        text: cell.getChars(),
        width: cell.getWidth(),
        fg: colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
        bg: colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
        bold: cell.isBold() !== 0,
        dim: cell.isDim() !== 0,
        italic: cell.isItalic() !== 0,
        underline: cell.isUnderline() !== 0,
        inverse: cell.isInverse() !== 0,
      };
    },
    cursor: () => ({ x: terminal.buffer.active.cursorX, y: terminal.buffer.active.cursorY }),
    title: () => title,
    isAltScreen: () => terminal.buffer.active.type === 'alternate',
    resize(width, height) {
      terminal.resize(width, height);
    },
    onReply(listener) {
      terminal.onData(listener);
    },
  };
}

function colour(isDefault: boolean, isRgb: boolean, value: number): string | number | null {
  if (isDefault) return null;
  return isRgb ? `#${value.toString(16).padStart(6, '0')}` : value;
}
