/** Something to read and scroll: the help, long texts. */
import type { Dialog } from '../dialog.ts';
import { lineWidth, span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';
import { upDown } from '../keymap.ts';
import { boxRows, boxWidth, closed, framed, scrolled, stay, windowed } from './overlay.ts';
import type { Overlay } from './overlay.ts';

type ReadDialog = Extract<Dialog, { readonly is: 'read' }>;
const WIDTH = 92;

export const readOverlay = ({ title, lines }: ReadDialog): Overlay =>
  scrollOverlay(title, (width) => lines.flatMap((line) => wrap(line, width, hang(line))));

/** `linesAt` gives the lines for a width, 1 or more; none may be wider. */
export const scrollOverlay = (title: string, linesAt: (width: number) => readonly Line[]): Overlay =>
  open(title, linesAt, 0);

function open(title: string, linesAt: (width: number) => readonly Line[], at: number): Overlay {
  const wrapped = (width: number): readonly Line[] => linesAt(Math.max(1, width - 4));
  return {
    title,
    kind: 'dialog',
    view(context, size) {
      const width = boxWidth(size, WIDTH);
      const lines = wrapped(width);
      const rows = Math.min(lines.length, boxRows(size));
      const { shown, top } = windowed(lines, at, rows);
      const place = lines.length > rows ? [span(`${top + rows}/${lines.length}`, { fg: 'muted' })] : [];
      return { lines: framed({ title, titleEnd: place, width, body: shown }, context), cursor: null };
    },
    press(input, _context, size) {
      if (input.is === 'key' && ['esc', 'q', '?', 'enter'].includes(input.key)) return closed();
      const total = wrapped(boxWidth(size, WIDTH)).length;
      const to = scrolled(input, at, total, Math.min(total, boxRows(size)));
      return stay(to === null ? this : open(title, linesAt, to));
    },
    hints: ({ glyphs }) => [
      { keys: upDown(glyphs), hint: 'scroll' },
      { keys: 'Esc', hint: 'close' },
    ],
  };
}

/** Behind a first span of keys the text goes on under itself. */
const hang = (line: Line): number => (line.length === 2 && line[0] ? lineWidth([line[0]]) : 0);
